//! dogwatch's process: the loop around the judge.

use jiff::Timestamp;

use super::thing::Thing;
use super::{BOOT, WALL, World, seconds};
use crate::judge::connection::Reception;
use crate::judge::decision::snapshot::{Owner, Snapshot};
use crate::judge::decision::{
    Container, Decider, Decision, Effect, Gate, Given, Inputs, Leadership, Peering, Pod, Probe, Reread, Step,
    Transition,
};
use crate::judge::diagnosis::Stream;
use crate::judge::ledger::{ListEnd, Source, Uid};
use crate::judge::object::Identity;
use crate::judge::state::{Moment, State};

/// dogwatch's process.
pub(in crate::judge::decision::tests) struct Dog {
    pub(in crate::judge::decision::tests) decider: Decider,
    pub(in crate::judge::decision::tests) streams: Vec<Stream>,
    pub(in crate::judge::decision::tests) last: Option<Step>,
    pub(super) seen: Option<Inputs>,
    pub(super) given: Option<Given>,
    /// Seconds at which the newest list began.
    pub(super) listed: Option<u64>,
    pub(super) reread: Option<Reread>,
}

impl World {
    pub(in crate::judge::decision::tests) fn inputs(&self) -> Inputs {
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
    pub(in crate::judge::decision::tests) fn start_dog(&mut self) {
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

    pub(super) fn save(&mut self) {
        let (moment, has_state_file) = (self.moment(), self.has_state_file);
        if let (Some(dog), true) = (&self.dog, has_state_file) {
            let snapshot = dog.decider.snapshot(moment, Self::owner(), &dog.streams, |_| "rule".to_owned());
            self.state_file = Some(serde_json::to_vec(&snapshot).unwrap());
        }
    }

    pub(super) fn step_dog(&mut self) {
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
}

fn observe(stream: &mut Stream, source: Source, thing: &Thing, wall: i64, moment: Moment) -> bool {
    let version = thing.version.to_string();
    let identity = Identity { uid: Some(&thing.uid), resource_version: Some(&version), ..Identity::default() };
    stream.ledger.apply(source, identity, &thing.judge(wall), moment).ack
}
