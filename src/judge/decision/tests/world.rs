//! A world in steps of one second: an API server, an operator, a kubelet, and dogwatch's loop around the judge.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use jiff::Timestamp;

use crate::judge::connection::Reception;
use crate::judge::decision::snapshot::{Owner, Snapshot};
use crate::judge::decision::{
    Budget, Container, Decider, Decision, Effect, Gate, Given, Inputs, Leadership, Mode, Outcome, Peering, Pod, Policy,
    Probe, Reread, Step, Transition,
};
use crate::judge::diagnosis::{Diagnosis, Settings, Stream};
use crate::judge::ledger::{ListEnd, Listed, Source, Uid};
use crate::judge::object::Identity;
use crate::judge::state::{Excuse, Judgement, Moment, Reason, Since, SinceFrom, State, StatusWrite};
use crate::judge::tick::Tick;

/// 2026-03-01, long enough after the boot for old objects.
const WALL: i64 = 1_772_323_200;
/// The boot clock when the world begins, so that nothing hides at zero.
const BOOT: u64 = 100_000;

/// One custom resource object.
#[derive(Debug, Clone)]
pub(super) struct Thing {
    pub(super) uid: String,
    pub(super) stream: usize,
    pub(super) version: u64,
    pub(super) created: i64,
    /// Counts desired states.
    pub(super) wanted: u64,
    pub(super) wanted_at: i64,
    /// The newest desired state that was acknowledged; 0: none.
    pub(super) acked: u64,
    /// Counts acknowledgements.
    pub(super) token: u64,
    /// Wall time until which the operator promised to move, and when it last did.
    pub(super) progress: Option<(i64, i64)>,
    /// When the status was last written without any acknowledgement, and whether it reported a failure.
    pub(super) status: Option<(i64, bool)>,
    pub(super) deletion: Option<Deletion>,
    /// The operator does not see it.
    /// Is no more.
    pub(super) is_gone: bool,
    pub(super) is_filtered: bool,
    pub(super) is_ignored: bool,
    heard: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deletion {
    /// The operator's finalizer stands on it.
    Held(i64),
    /// Somebody else's does, and the rule knows its own.
    Others,
    /// Some finalizer does, and the rule does not know its own.
    HolderUnknown(i64),
}

impl Thing {
    pub(super) fn is_served(&self) -> bool {
        self.acked == self.wanted && self.deletion.is_none()
    }

    pub(super) fn judge(&self, wall: i64) -> Judgement {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let since = |second, from| Some(Since::new(at(second), from));
        let mut judgement = match (self.deletion, self.progress) {
            (Some(Deletion::Others), _) => Judgement::new(State::Processed, Reason::HeldByOthers, ""),
            (Some(Deletion::Held(asked)), _) => Judgement {
                since: since(asked, SinceFrom::Deletion),
                held: true,
                ..Judgement::new(State::Pending, Reason::DeletionNotProcessed, "")
            },
            (Some(Deletion::HolderUnknown(asked)), _) => Judgement {
                since: since(asked, SinceFrom::Deletion),
                excuse: Some(Excuse::HolderUnknown),
                ..Judgement::new(State::Pending, Reason::DeletionNotProcessed, "")
            },
            (None, Some((until, _))) if wall > until => Judgement {
                since: since(until, SinceFrom::Deadline),
                ..Judgement::new(State::Pending, Reason::ProgressStopped, "")
            },
            (None, Some((until, moved))) => Judgement {
                until: Some(at(until)),
                moved_at: Some(at(moved)),
                ..Judgement::new(State::InProgress, Reason::Working, "")
            },
            (None, None) if self.acked == self.wanted => Judgement::new(State::Processed, None, ""),
            (None, None) if self.acked == 0 => Judgement {
                since: since(self.created, SinceFrom::Creation),
                ..Judgement::new(State::Pending, Reason::NeverProcessed, "")
            },
            (None, None) => Judgement {
                since: since(self.wanted_at, SinceFrom::ManagedFields),
                status_write: self.status.map(|(second, reports_failure)| StatusWrite {
                    at: at(second),
                    reports_failure,
                    attempt: seconds(900),
                }),
                ..Judgement::new(State::Pending, Reason::ChangeNotProcessed, "")
            },
        };
        if self.is_ignored {
            judgement.excuse = Some(Excuse::Ignored);
        }
        judgement.token = if self.deletion.is_some() { 0 } else { self.token };
        judgement.desired = self.wanted;
        judgement.desired_at = Some(at(self.wanted_at));
        judgement.created_at = Some(at(self.created));
        judgement.signalled = self.token > 0;
        judgement.shows_change = self.acked > 1;
        judgement
    }
}

/// The operator's process.
#[derive(Debug, Clone)]
pub(super) struct Operator {
    /// Seconds that one object takes.
    pub(super) service: u64,
    /// While it works on an object it writes the status once in so many seconds.
    pub(super) writes_every: Option<u64>,
    /// Streams from which no event arrives any more; a restart cures that.
    pub(super) deaf: [bool; 2],
    /// Deaf again so many seconds after each start.
    pub(super) deaf_after: Option<u64>,
    /// Nothing is ever served, also after a restart.
    pub(super) is_blocked: bool,
    pub(super) started: u64,
    pub(super) life: u32,
    /// Down until then.
    pub(super) down_until: Option<u64>,
    queue: VecDeque<usize>,
    busy: Option<(usize, u64, u64)>,
}

/// The kubelet's side of the liveness probe.
#[derive(Debug, Clone)]
pub(super) struct Kubelet {
    pub(super) back_off: u64,
    /// Whether it asks dogwatch at all.
    pub(super) is_wired: bool,
    failures: u32,
    /// When a 500 was given, and the age of the container that got it.
    pub(super) failed: Vec<(u64, u64)>,
    pub(super) kills: Vec<u64>,
}

/// dogwatch's process.
pub(super) struct Dog {
    pub(super) decider: Decider,
    pub(super) streams: Vec<Stream>,
    pub(super) last: Option<Step>,
    seen: Option<Inputs>,
    given: Option<Given>,
    /// Seconds at which the newest list began.
    listed: Option<u64>,
    reread: Option<Reread>,
}

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

    fn step_operator(&mut self) {
        if let Some(until) = self.operator.down_until {
            if self.now < until {
                return;
            }
            self.operator.down_until = None;
            self.start_operator();
        }
        if self.operator.deaf_after.is_some_and(|after| self.now == self.operator.started + after) {
            self.operator.deaf = [true; 2];
        }
        for index in 0..self.things.len() {
            let thing = &mut self.things[index];
            let is_new = thing.heard != thing.wanted || matches!(thing.deletion, Some(Deletion::Held(_)));
            if is_new && !self.operator.deaf[thing.stream] && !self.operator.queue.contains(&index) {
                thing.heard = thing.wanted;
                self.operator.queue.push_back(index);
            }
        }
        if self.operator.is_blocked {
            return;
        }
        if let Some((index, until, _)) = self.operator.busy
            && let Some(every) = self.operator.writes_every
            && until > self.now
            && (until - self.now).is_multiple_of(every)
        {
            self.write_status(index, false);
        }
        if let Some((index, until, wanted)) = self.operator.busy
            && until <= self.now
        {
            self.operator.busy = None;
            self.serve(index, wanted);
        }
        while self.operator.busy.is_none() {
            let Some(index) = self.operator.queue.pop_front() else { break };
            if self.things[index].is_filtered {
                continue;
            }
            let wanted = self.things[index].wanted;
            if self.operator.service == 0 {
                self.serve(index, wanted);
            } else {
                self.operator.busy = Some((index, self.now + self.operator.service, wanted));
            }
        }
    }

    /// A new container lists everything.
    fn start_operator(&mut self) {
        let operator = &mut self.operator;
        operator.started = self.now;
        operator.life += 1;
        operator.deaf = [false; 2];
        operator.busy = None;
        operator.queue.clear();
        for (index, thing) in self.things.iter_mut().enumerate() {
            thing.heard = thing.wanted;
            if !thing.is_served() && thing.deletion != Some(Deletion::Others) {
                operator.queue.push_back(index);
            }
        }
    }

    pub(super) fn inputs(&self) -> Inputs {
        let container = Container {
            id: format!("containerd://{}", self.operator.life),
            is_running: self.operator.down_until.is_none(),
            started: Self::tick_of(self.operator.started),
        };
        Inputs {
            mode: self.mode,
            gate: self.gate,
            leadership: match self.leads {
                None => Leadership::NotNeeded,
                Some(true) => Leadership::Ours { renewal: self.renewal, duration: seconds(60) },
                Some(false) => Leadership::Elsewhere,
            },
            pod: Pod::Read { container: Some(container), is_terminating: self.is_terminating },
            probe: Some(Probe::default()),
            peering: if self.is_paused { Peering::Paused } else { Peering::NotNeeded },
            has_ended_task: false,
            reception: Reception::default(),
            given: self.dog.as_ref().and_then(|dog| dog.given),
            reread: None,
            jitter: seconds(15),
        }
    }

    fn owner() -> Owner<'static> {
        Owner { operator: "demo", boot: "boot-1" }
    }

    /// Starts dogwatch, with the state file if there is one.
    pub(super) fn start_dog(&mut self) {
        let names = ["widgets.example.com", "gadgets.example.com"];
        let mut streams: Vec<Stream> =
            names.iter().take(self.stream_count).map(|name| Stream::new(*name, self.settings.clone())).collect();
        // As the shell does it, a file that cannot be read counts as none.
        let decider = if let Some(snapshot) = self.state_file.as_deref().and_then(|file| Snapshot::parse(file).ok()) {
            let (owner, now) = (Self::owner(), self.moment());
            Decider::restore(self.policy, snapshot, now, owner, &mut streams, |_| "rule".to_owned()).unwrap()
        } else {
            self.requested.clear();
            self.caused.clear();
            Decider::new(self.policy, self.moment())
        };
        self.dog = Some(Dog { decider, streams, last: None, seen: None, given: None, listed: None, reread: None });
    }

    fn save(&mut self) {
        let (moment, has_state_file) = (self.moment(), self.has_state_file);
        if let (Some(dog), true) = (&self.dog, has_state_file) {
            let snapshot = dog.decider.snapshot(moment, Self::owner(), &dog.streams, |_| "rule".to_owned());
            self.state_file = Some(serde_json::to_vec(&snapshot).unwrap());
        }
    }

    fn step_dog(&mut self) {
        if self.dog.is_none() {
            self.start_dog();
        }
        let is_probing = matches!(self.decision(), Decision::Suspect | Decision::Restarting);
        let interval = self.settings.interval.as_secs();
        let mut is_due = self.steps_always;
        if self.gate == Gate::Open {
            // The cadence: each interval, and once more soon after a suspicion began.
            let since = self.dog().last.as_ref().map(|step| step.since.elapsed().as_secs() - BOOT);
            let is_extra = is_probing && since.is_some_and(|since| self.now == since + 5);
            if self.dog().listed.is_none_or(|listed| self.now >= listed + interval) || is_extra {
                self.list();
                is_due = true;
            }
            if is_probing && self.now.is_multiple_of(10) {
                self.reread();
                is_due = true;
            }
        }
        let mut inputs = self.inputs();
        let dog = self.dog.as_mut().unwrap();
        let announced = dog.last.as_ref().and_then(|step| step.changes_at);
        is_due |= announced.is_some_and(|at| seconds(BOOT + self.now) >= at) || dog.seen.as_ref() != Some(&inputs);
        if !is_due {
            return;
        }
        dog.seen = Some(inputs.clone());
        inputs.reread = dog.reread.take();
        let moment = Moment {
            wall: Timestamp::from_second(WALL + self.now.cast_signed() + self.wall_jump).unwrap(),
            elapsed: seconds(BOOT + self.now),
        };
        let step = dog.decider.step(moment, &inputs, &mut dog.streams);
        self.note(step);
    }

    fn note(&mut self, step: Step) {
        for transition in &step.transitions {
            self.transitions.push((self.now, *transition));
            if *transition == Transition::Restart {
                self.requested.push(self.now);
            }
        }
        for effect in &step.effects {
            if let Effect::Outcome { outcome, .. } = effect {
                self.outcomes.push(*outcome);
            }
        }
        for (index, explanation) in step.streams.iter().enumerate() {
            *self.diagnoses.entry((index, explanation.diagnosis)).or_default() += 1;
        }
        if step.effects.contains(&Effect::Save) {
            self.save();
        }
        self.effects.extend(step.effects.clone());
        self.dog.as_mut().unwrap().last = Some(step);
    }

    fn list(&mut self) {
        let moment = self.server_moment();
        let wall = moment.wall.as_second();
        let (now, fails, version) = (self.now, self.lists_fail, self.version.to_string());
        let dog = self.dog.as_mut().unwrap();
        for (index, stream) in dog.streams.iter_mut().enumerate() {
            stream.ledger.begin_list(stream.settings.overdue_after, moment);
            let things = self.things.iter().filter(|thing| thing.stream == index && !thing.is_gone);
            let count = if fails { things.clone().count() / 2 } else { usize::MAX };
            for thing in things.take(count) {
                let noted = observe(stream, Source::List, thing, wall, moment);
                if noted {
                    self.last_ack[index] = Some(now);
                }
            }
            let end = if fails { ListEnd::Partial } else { ListEnd::Complete { version: Some(&version) } };
            self.listed.push(stream.ledger.end_list(end, moment, |signal| signal.signalled > 0));
        }
        dog.listed = Some(now);
    }

    /// Reads the oldest candidates again, as the shell does by GET.
    fn reread(&mut self) {
        let moment = self.moment();
        let wall = moment.wall.as_second();
        let dog = self.dog.as_mut().unwrap();
        let Some(subject) = dog.last.as_ref().and_then(|step| step.subject.clone()) else { return };
        let explanations = &dog.last.as_ref().unwrap().streams;
        let Some(index) = explanations.iter().position(|explanation| explanation.stream == subject) else { return };
        let oldest = explanations[index].oldest.clone();
        let Some(stream) = dog.streams.get_mut(index) else {
            // The lease: nothing but its renewal confirms it.
            dog.reread = Some(Reread { stream: subject, began: moment.tick(), agrees: true });
            return;
        };
        let mut agrees = !oldest.is_empty() && !self.rereads_disagree;
        for thing in self.things.iter().filter(|thing| oldest.contains(&Uid::of(&thing.uid))) {
            if thing.is_gone {
                stream.ledger.gone(&thing.uid);
                agrees = false;
                continue;
            }
            let is_acked = observe(stream, Source::Single, thing, wall, moment);
            if is_acked {
                self.last_ack[index] = Some(self.now);
            }
            agrees &= !is_acked && thing.judge(wall).state == State::Pending;
        }
        dog.reread = Some(Reread { stream: subject, began: moment.tick(), agrees });
    }

    fn step_kubelet(&mut self) {
        let is_failing = self.dog.as_ref().is_some_and(|dog| dog.last.as_ref().is_some_and(|step| step.is_failing));
        if self.operator.down_until.is_some() {
            self.kubelet.failures = 0;
            return;
        }
        if !self.now.is_multiple_of(10) {
            return;
        }
        if !is_failing || !self.kubelet.is_wired {
            self.kubelet.failures = 0;
            return;
        }
        self.kubelet.failures += 1;
        let dog = self.dog.as_mut().unwrap();
        let since = dog.last.as_ref().unwrap().since;
        let in_a_row = dog.given.filter(|given| given.since == since).map_or(0, |given| given.in_a_row) + 1;
        dog.given = Some(Given { since, in_a_row });
        self.kubelet.failed.push((self.now, self.now - self.operator.started));
        if self.kubelet.failures >= 3 {
            self.kubelet.failures = 0;
            self.kubelet.kills.push(self.now);
            self.caused.push(self.now);
            self.operator.down_until = Some(self.now + self.kubelet.back_off);
        }
    }
}

fn observe(stream: &mut Stream, source: Source, thing: &Thing, wall: i64, moment: Moment) -> bool {
    let version = thing.version.to_string();
    let identity = Identity { uid: Some(&thing.uid), resource_version: Some(&version), ..Identity::default() };
    stream.ledger.apply(source, identity, &thing.judge(wall), moment).ack
}
