//! A world in steps of one second: an API server, an operator, a kubelet, and dogwatch's loop around the judge.

mod dog;
mod kubelet;
mod operator;
mod thing;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use jiff::Timestamp;

use crate::judge::decision::{Budget, Decision, Effect, Gate, Mode, Outcome, Policy, Transition};
use crate::judge::diagnosis::{Diagnosis, Settings};
use crate::judge::ledger::Listed;
use crate::judge::state::Moment;
use crate::judge::tick::Tick;
pub(super) use dog::Dog;
pub(super) use kubelet::Kubelet;
pub(super) use operator::Operator;
pub(super) use thing::{Deletion, Thing};

/// 2026-03-01, long enough after the boot for old objects.
const WALL: i64 = 1_772_323_200;
/// The boot clock when the world begins, so that nothing hides at zero.
const BOOT: u64 = 100_000;

#[allow(clippy::struct_excessive_bools)] // independent switches for scripts
pub(super) struct World {
    /// Seconds since the world began.
    pub(super) now: u64,
    /// What the wall clock is ahead of where it began.
    pub(super) wall_jump: i64,
    /// The clock of the second API server is ahead by so much; every other list goes there.
    pub(super) other_server_ahead: i64,
    pub(super) things: Vec<Thing>,
    pub(super) version: u64,
    pub(super) operator: Operator,
    pub(super) kubelet: Kubelet,
    pub(super) dog: Option<Dog>,
    pub(super) settings: Settings,
    pub(super) policy: Policy,
    pub(super) stream_count: usize,
    pub(super) has_state_file: bool,
    pub(super) state_file: Option<Vec<u8>>,
    pub(super) gate: Gate,
    /// Absent: no lease.
    pub(super) leads: Option<bool>,
    /// Changes as long as the operator renews its lease.
    pub(super) renewal: u64,
    pub(super) is_paused: bool,
    pub(super) is_terminating: bool,
    pub(super) mode: Mode,
    /// Lists fail part-way.
    pub(super) lists_fail: bool,
    /// Re-reads do not agree.
    pub(super) rereads_disagree: bool,
    /// Every second is a step, whatever the announced moment.
    pub(super) steps_always: bool,
    // What happened.
    pub(super) transitions: Vec<(u64, Transition)>,
    pub(super) outcomes: Vec<Outcome>,
    pub(super) effects: Vec<Effect>,
    pub(super) diagnoses: BTreeMap<(usize, Diagnosis), u64>,
    pub(super) last_ack: [Option<u64>; 2],
    pub(super) listed: Vec<Listed>,
    /// Requests for a restart since the state file was made.
    pub(super) requested: Vec<u64>,
    /// Kills since the state file was made.
    pub(super) caused: Vec<u64>,
}

pub(super) const MINUTE: u64 = 60;
pub(super) const HOUR: u64 = 3600;

pub(super) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(super) fn common_settings() -> Settings {
    Settings {
        overdue_after: seconds(300),
        asleep_after: seconds(900),
        max_attempt: seconds(900),
        own_cure: seconds(600),
        min_overdue: 1,
        interval: seconds(30),
        restart: true,
        require_proof: true,
    }
}

pub(super) fn common_policy() -> Policy {
    Policy {
        confirm: seconds(30),
        grace: seconds(180),
        budget: Budget { max: 3, window: seconds(24 * HOUR), min_gap: seconds(900) },
    }
}

impl World {
    /// A quiet one: five served objects, an operator that serves an object in a second and runs for hours.
    pub(super) fn new() -> Self {
        let mut world = Self {
            now: 0,
            wall_jump: 0,
            other_server_ahead: 0,
            things: Vec::new(),
            version: 1000,
            operator: Operator {
                service: 1,
                writes_every: None,
                deaf: [false; 2],
                deaf_after: None,
                is_blocked: false,
                started: 0,
                life: 1,
                down_until: None,
                queue: VecDeque::new(),
                busy: None,
            },
            kubelet: Kubelet { back_off: 3, is_wired: true, failures: 0, failed: Vec::new(), kills: Vec::new() },
            dog: None,
            settings: common_settings(),
            policy: common_policy(),
            stream_count: 1,
            has_state_file: false,
            state_file: None,
            gate: Gate::Open,
            leads: None,
            renewal: 0,
            is_paused: false,
            is_terminating: false,
            mode: Mode::Enforce,
            lists_fail: false,
            rereads_disagree: false,
            steps_always: false,
            transitions: Vec::new(),
            outcomes: Vec::new(),
            effects: Vec::new(),
            diagnoses: BTreeMap::new(),
            last_ack: [None; 2],
            listed: Vec::new(),
            requested: Vec::new(),
            caused: Vec::new(),
        };
        for _ in 0..5 {
            let index = world.create(0);
            let thing = &mut world.things[index];
            (thing.created, thing.wanted_at) = (WALL - 20_000, WALL - 20_000);
            (thing.acked, thing.token, thing.heard) = (1, 1, 1);
        }
        world
    }

    pub(super) fn wall(&self) -> i64 {
        WALL + self.now.cast_signed() + self.wall_jump
    }

    pub(super) fn moment(&self) -> Moment {
        Moment { wall: Timestamp::from_second(self.wall()).unwrap(), elapsed: seconds(BOOT + self.now) }
    }

    /// The moment as the API server tells it that answers the list of this second.
    fn server_moment(&self) -> Moment {
        let ahead = if (self.now / 30).is_multiple_of(2) { 0 } else { self.other_server_ahead };
        Moment { wall: Timestamp::from_second(self.wall() + ahead).unwrap(), ..self.moment() }
    }

    pub(super) fn tick_of(second: u64) -> Tick {
        Tick::from_millis((BOOT + second).cast_signed() * 1000)
    }

    pub(super) fn create(&mut self, stream: usize) -> usize {
        self.version += 1;
        let index = self.things.len();
        self.things.push(Thing {
            uid: format!("0f8fad5b-d9cb-469f-a165-{index:012x}"),
            stream,
            version: self.version,
            created: self.wall(),
            wanted: 1,
            wanted_at: self.wall(),
            acked: 0,
            token: 0,
            progress: None,
            status: None,
            deletion: None,
            is_gone: false,
            is_filtered: false,
            is_ignored: false,
            heard: 0,
        });
        index
    }

    pub(super) fn change(&mut self, index: usize) {
        let wall = self.wall();
        let thing = self.write(index);
        thing.wanted += 1;
        thing.wanted_at = wall;
    }

    /// A write that gives the object a new resourceVersion.
    pub(super) fn write(&mut self, index: usize) -> &mut Thing {
        self.version += 1;
        let thing = &mut self.things[index];
        thing.version = self.version;
        thing
    }

    /// The operator writes the status and acknowledges nothing.
    pub(super) fn write_status(&mut self, index: usize, reports_failure: bool) {
        let wall = self.wall();
        self.write(index).status = Some((wall, reports_failure));
    }

    pub(super) fn serve(&mut self, index: usize, wanted: u64) {
        let thing = self.write(index);
        thing.acked = wanted;
        thing.token += 1;
        thing.progress = None;
        if matches!(thing.deletion, Some(Deletion::Held(_))) {
            thing.deletion = Some(Deletion::Others);
        }
    }

    /// The youngest object is no more.
    pub(super) fn forget_last(&mut self) {
        self.things.pop();
        let count = self.things.len();
        self.operator.queue.retain(|index| *index < count);
        self.operator.busy = self.operator.busy.filter(|(index, ..)| *index < count);
        self.version += 1;
    }

    pub(super) fn unserved(&self) -> usize {
        self.things.iter().filter(|thing| !thing.is_served()).count()
    }

    pub(super) fn decision(&self) -> Decision {
        self.dog.as_ref().map_or(Decision::Starting, |dog| dog.decider.decision())
    }

    pub(super) fn took(&self, row: Transition) -> bool {
        self.transitions.iter().any(|(_, taken)| *taken == row)
    }

    pub(super) fn kills(&self) -> usize {
        self.kubelet.kills.len()
    }

    pub(super) fn dog(&self) -> &Dog {
        self.dog.as_ref().unwrap()
    }

    /// Runs until second `end`; `script` changes the world at the beginning of each second.
    pub(super) fn run(&mut self, end: u64, mut script: impl FnMut(&mut Self)) -> &mut Self {
        while self.now < end {
            script(self);
            self.second();
        }
        self
    }

    fn second(&mut self) {
        self.step_operator();
        self.step_dog();
        // As the shell does it: each minute, once everything was seen.
        if self.now.is_multiple_of(60) && self.decision() != Decision::Starting {
            self.save();
        }
        self.step_kubelet();
        self.now += 1;
    }
}
