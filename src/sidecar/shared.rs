//! What the tasks know together. The lock is held for a moment only, never while waiting.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;

use super::Options;
use super::canary::Kept;
use super::gate::Gate;
use super::operator::Operator;
use super::own_pod::OwnPod;
use super::plan;
use super::post::Letters;
use super::state_file::{self, StateFile};
use crate::clock::Clock;
use crate::judge::state::Moment;
use crate::view::board::Board;
use crate::view::{self, Task};

/// `Date` has whole seconds and the answer was under way for a while: a smaller skew is none.
const LEAST_SKEW: SignedDuration = SignedDuration::from_secs(2);

/// What all tasks hold.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) options: Options,
    pub(super) clock: Clock,
    /// What was to be listened on at the start.
    pub(super) listen: SocketAddr,
    pub(super) board: Arc<Board>,
    /// Something that decides has changed: the loop must take a step.
    pub(super) changed: Notify,
    /// Something was posted.
    pub(super) posted: Notify,
    /// What the API server serves may have changed.
    pub(super) unserved: Notify,
    /// The API server's clock minus ours, in milliseconds.
    skew: AtomicI64,
    known: Mutex<Known>,
}

/// What is known now.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) started: Moment,
    pub(super) gate: Gate,
    pub(super) config: view::Config,
    pub(super) tasks: Vec<Task>,
    pub(super) pod: OwnPod,
    pub(super) operators: Vec<Operator>,
    /// The canary; absent where none is configured.
    pub(super) canary: Option<Kept>,
    pub(super) random: fastrand::Rng,
    pub(super) letters: Letters,
    pub(super) state_file: Option<StateFile>,
    /// Which boot of the machine this is.
    pub(super) boot: String,
    /// When the state file was last written, on the boot clock.
    pub(super) saved: Duration,
    /// When the last summary was logged, on the boot clock.
    pub(super) summed_up: Duration,
}

impl Shared {
    pub(super) fn new(options: Options, clock: Clock, board: Arc<Board>) -> Self {
        let started = Moment { wall: clock.wall(), elapsed: clock.boot() };
        let known = Known {
            started,
            gate: Gate::default(),
            config: view::Config::default(),
            tasks: Vec::new(),
            pod: OwnPod::default(),
            operators: Vec::new(),
            canary: None,
            random: options.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed),
            letters: Letters::default(),
            state_file: None,
            boot: state_file::boot(),
            saved: started.elapsed,
            summed_up: started.elapsed,
        };
        Self {
            listen: plan::listen(&options),
            options,
            clock,
            board,
            changed: Notify::new(),
            posted: Notify::new(),
            unserved: Notify::new(),
            skew: AtomicI64::new(0),
            known: Mutex::new(known),
        }
    }

    /// Reads or changes what is known. A task that panicked meanwhile has ended, which the view says; the others go on
    /// with what it left.
    pub(super) fn with<R>(&self, look: impl FnOnce(&mut Known) -> R) -> R {
        look(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Now, on the API server's wall clock and on the boot clock.
    pub(super) fn now(&self) -> Moment {
        let skew = SignedDuration::from_millis(self.skew.load(Ordering::Relaxed));
        let wall = self.clock.wall();
        Moment { wall: wall.checked_add(skew).unwrap_or(wall), elapsed: self.clock.boot() }
    }

    /// Now, on the clock of this machine, by which the kubelet writes.
    pub(super) fn machine_now(&self) -> Moment {
        Moment { wall: self.clock.wall(), elapsed: self.clock.boot() }
    }

    /// Takes in the API server's clock as a fresh answer shows it.
    pub(super) fn set_server_time(&self, date: Timestamp) {
        let skew = date.duration_since(self.clock.wall());
        let skew = if skew.abs() < LEAST_SKEW { SignedDuration::ZERO } else { skew };
        self.skew.store(i64::try_from(skew.as_millis()).unwrap_or(0), Ordering::Relaxed);
    }
}

impl Known {
    /// The operator of that name.
    pub(super) fn operator(&mut self, name: &str) -> Option<&mut Operator> {
        self.operators.iter_mut().find(|operator| operator.name == name)
    }

    /// Whether a part of dogwatch has ended.
    pub(super) fn has_ended_task(&self) -> bool {
        self.tasks.iter().any(|task| task.ended.is_some())
    }

    /// Notes that the tasks of these names live.
    pub(super) fn tasks_begin(&mut self, names: &[&str]) {
        let begin = |name: &&str| Task { name: (*name).to_owned(), ended: None };
        self.tasks.retain(|task| !names.contains(&task.name.as_str()));
        self.tasks.extend(names.iter().map(begin));
    }

    /// Notes how a task ended.
    pub(super) fn task_ended(&mut self, name: &str, how: &str) {
        let task = self.tasks.iter_mut().find(|task| task.name == name);
        if let Some(task) = task {
            task.ended = Some(how.to_owned());
        }
    }
}
