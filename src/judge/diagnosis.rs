//! What can be said of one stream at one moment, and until when it can be said.
//!
//! # How the shell drives this
//!
//! It builds one [`Stream`] per stream, keeps its [`Stream::settings`] and [`Stream::evidence`] up to date and feeds its
//! [`Stream::ledger`]; [`super::decision::Decider::step`] asks for the [`Explanation`]s and hands them on. They hold
//! everything that `/status`, metrics and logs print of a stream. Times on the boot clock become wall times through
//! [`super::state::Moment::wall_at`].

mod evidence;
mod hold;
mod survey;

use std::time::Duration;

use super::connection::Reception;
use super::ledger::{Learnt, Ledger, Uid};
use super::state::{Excuse, Moment};
pub use super::tally::Diagnosis;
use super::tally::States;
use super::tick::Tick;
pub use evidence::Evidence;
pub use hold::Hold;
pub(super) use hold::HoldEnd;
use survey::Survey;

/// What the configuration and the rule say of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// How long an object may stay pending before it is overdue.
    pub overdue_after: Duration,
    /// How long a stream with candidates may stay silent before it is asleep.
    pub asleep_after: Duration,
    /// The longest that one attempt of the operator takes.
    pub max_attempt: Duration,
    /// Within which time the rule's framework heals a silent stream by itself: kopf 70 s, every other rule 10 min.
    pub own_cure: Duration,
    /// So many candidates before the stream can be asleep.
    pub min_overdue: u64,
    /// The interval of lists in force.
    pub interval: Duration,
    /// Whether this stream alone may restart the operator.
    pub restart: bool,
    /// Whether a processed object must have been seen before a restart.
    pub require_proof: bool,
}

/// One stream: what it is judged by and what is remembered of it.
#[derive(Debug, Clone)]
pub struct Stream {
    name: String,
    /// What it is judged by.
    pub settings: Settings,
    /// What others say.
    pub evidence: Evidence,
    /// What is remembered.
    pub ledger: Ledger,
    fruitless: u32,
    hold: HoldEnd,
}

/// What is the same for all streams of an operator at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// Holds of the whole operator.
    pub holds: &'a [Hold],
    /// When the last of them ended; now if one is on.
    pub held_until: Option<Tick>,
    /// Since when the operator's container runs; where nobody can see it, since when dogwatch watches.
    pub started: Tick,
    /// `restart.grace`.
    pub grace: Duration,
    /// What the operator's connections tell.
    pub reception: Reception,
}

/// Grace lasts at most so long, however long the operator takes to read its first lists.
const LONGEST_GRACE: Duration = Duration::from_mins(15);
/// A list older than so many intervals is not fresh.
const FRESH_INTERVALS: u32 = 3;
/// The smallest step of a [`Tick`]: "longer than" begins so much later.
const INSTANT: Duration = Duration::from_millis(1);

/// A diagnosis with everything it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The stream's name.
    pub stream: String,
    /// The diagnosis.
    pub diagnosis: Diagnosis,
    /// Objects by state in the newest complete list.
    pub states: States,
    /// Remembered objects that are pending.
    pub pending: u64,
    /// Those of them that are pending for longer than `overdueAfter`, by the earlier of own time and first seen.
    pub overdue: u64,
    /// The oldest overdue objects, excused or not, with the moment since which they are pending; at most [`OFFENDERS`].
    pub offenders: Vec<(Uid, Tick)>,
    /// Objects that are not processed and not remembered either.
    pub left_out: u64,
    /// Since when the oldest pending object is pending, for reports.
    pub oldest_pending: Option<Tick>,
    /// What may speak for a restart; a missed canary counts as two.
    pub candidates: u64,
    /// So many are needed.
    pub enough: u64,
    /// Overdue objects that may not speak, by reason; zeros left out.
    pub excused: Vec<(Excuse, u64)>,
    /// The oldest candidates, oldest first, at most [`OLDEST`]: the ones to read again before a restart.
    pub oldest: Vec<Uid>,
    /// Since when the stream is silent: the latest of last ack, end of the last hold, first seen of the oldest
    /// candidate. Absent without candidates and while a hold is on.
    pub silent_since: Option<Tick>,
    /// Silence beyond which it is asleep, floors and evidence counted in.
    pub asleep_after: Duration,
    /// When dogwatch last saw an acknowledgement.
    pub last_ack: Option<Tick>,
    /// Holds of the operator and of the stream.
    pub holds: Vec<Hold>,
    /// When the last hold ended; now while one is on. Absent if there never was one.
    pub held_until: Option<Tick>,
    /// Whether the stream may restart the operator, and a processed object was seen if that is required.
    pub is_proven: bool,
    /// Whether the stream alone may restart the operator.
    pub may_restart: bool,
    /// When the newest complete list began.
    pub listed_from: Option<Tick>,
    /// Until when some object of the stream counts as work in flight.
    pub in_flight_until: Option<Tick>,
    /// How many restarts of this stream had no effect since the last one that had.
    pub fruitless: u32,
    /// How many deletions that the operator's finalizer held have come to their end, since dogwatch watches.
    pub released: u64,
    /// What was learnt of how the operator acknowledges.
    pub habits: Vec<Learnt>,
    /// The next moment at which any of this can change by itself.
    pub changes_at: Option<Tick>,
}

/// So many overdue objects are told apart.
pub const OFFENDERS: usize = 50;
/// So many of the oldest candidates are read again before a restart.
pub const OLDEST: usize = 20;

impl Stream {
    /// A stream of which nothing is known yet. `name` tells it apart within its operator, also in the state file.
    pub fn new(name: impl Into<String>, settings: Settings) -> Self {
        Self {
            name: name.into(),
            settings,
            evidence: Evidence::default(),
            ledger: Ledger::new(),
            fruitless: 0,
            hold: HoldEnd::Never,
        }
    }

    /// The stream's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many restarts had no effect since the last one that had.
    pub fn fruitless(&self) -> u32 {
        self.fruitless
    }

    pub(super) fn set_fruitless(&mut self, fruitless: u32) {
        self.fruitless = fruitless;
    }

    /// The stream's diagnosis, and the end of its holds remembered.
    pub fn diagnose(&mut self, now: Moment, around: &Surroundings<'_>) -> Explanation {
        let tick = now.tick();
        let own_holds = self.own_holds(tick, around);
        self.hold.update(!own_holds.is_empty(), tick);
        let is_held = !(own_holds.is_empty() && around.holds.is_empty());
        let held_until = self.hold.at(tick).max(around.held_until);
        self.ledger
            .set_undisturbed_since((!is_held).then(|| held_until.map_or(around.started, |at| at.max(around.started))));

        let survey = Survey::of(&self.ledger, &self.settings, self.evidence, around.started, tick);
        self.evidence.silent_connection = survey.first_event.is_some_and(|event| around.reception.misses(event));
        let enough = enough(self.settings.min_overdue, self.fruitless);
        let asleep_after = self.asleep_after(tick);
        let silent_since = survey
            .oldest_candidate
            .filter(|_| !is_held)
            .map(|oldest| oldest.max(held_until.unwrap_or(oldest)).max(self.ledger.last_ack().unwrap_or(oldest)));
        let is_asleep =
            survey.candidates >= enough && silent_since.is_some_and(|since| tick >= since.after(asleep_after));
        let diagnosis = self.name_it(tick, &survey, is_asleep);
        let falls_asleep_at = silent_since.filter(|_| survey.candidates >= enough).map(|at| at.after(asleep_after));
        let changes_at = survey
            .changes_at
            .into_iter()
            .chain(falls_asleep_at)
            .chain(self.turns(tick, around))
            .filter(|at| *at > tick)
            .min();
        Explanation {
            stream: self.name.clone(),
            diagnosis,
            states: self.ledger.states(),
            pending: survey.pending,
            overdue: survey.overdue,
            offenders: survey.offenders,
            left_out: self.ledger.left_out(),
            oldest_pending: survey.oldest_pending,
            candidates: survey.candidates,
            enough,
            excused: survey.excused,
            oldest: survey.oldest,
            silent_since,
            asleep_after,
            last_ack: self.ledger.last_ack(),
            holds: around.holds.iter().copied().chain(own_holds).collect(),
            held_until,
            is_proven: !self.settings.require_proof || self.ledger.is_proven(),
            may_restart: self.settings.restart,
            listed_from: self.ledger.listed().map(|(began, _)| began),
            in_flight_until: survey.in_flight_until,
            fruitless: self.fruitless,
            released: self.ledger.released(),
            habits: self.ledger.learnt().collect(),
            changes_at,
        }
    }

    fn name_it(&self, now: Tick, survey: &Survey, is_asleep: bool) -> Diagnosis {
        let states = self.ledger.states();
        let is_unreadable = states.total() > 0 && states.of(super::state::State::Unknown) == states.total();
        if !self.is_fresh(now) || (is_unreadable && survey.pending == 0) {
            return Diagnosis::Unknown;
        }
        match (self.evidence.server_stale, is_asleep, survey.overdue) {
            (true, ..) => Diagnosis::ServerStale,
            (false, true, _) => Diagnosis::Asleep,
            (false, false, 1..) => Diagnosis::Partial,
            (false, false, 0) => Diagnosis::Healthy,
        }
    }

    fn is_fresh(&self, now: Tick) -> bool {
        self.fresh_until().is_some_and(|until| now < until)
    }

    fn fresh_until(&self) -> Option<Tick> {
        self.ledger.listed().map(|(_, ended)| ended.after(self.settings.interval.saturating_mul(FRESH_INTERVALS)))
    }

    fn own_holds(&self, now: Tick, around: &Surroundings<'_>) -> Vec<Hold> {
        let is_in_grace = self.grace_ends(around) > now && !around.holds.contains(&Hold::NotRunning);
        [
            (self.ledger.is_reloaded(), Hold::Reloaded),
            (!self.is_fresh(now) && !self.ledger.is_reloaded(), Hold::ListNotFresh),
            (is_in_grace, Hold::Grace),
        ]
        .into_iter()
        .filter_map(|(is_on, hold)| is_on.then_some(hold))
        .collect()
    }

    /// An operator that still receives and has acknowledged nothing may be reading its first lists.
    fn grace_ends(&self, around: &Surroundings<'_>) -> Tick {
        let ends = around.started.after(around.grace);
        let has_acked = self.ledger.last_ack().is_some_and(|ack| ack >= around.started);
        let is_warming = !has_acked && around.reception.is_receiving_since(ends);
        if is_warming { ends.max(around.started.after(LONGEST_GRACE)) } else { ends }
    }

    /// Silence beyond which the stream is asleep.
    fn asleep_after(&self, now: Tick) -> Duration {
        let settings = &self.settings;
        let twice = self.ledger.longest(now).map_or(Duration::ZERO, |(longest, _)| longest.saturating_mul(2));
        let common =
            settings.asleep_after.max(settings.max_attempt).max(twice.min(settings.asleep_after.saturating_mul(4)));
        if self.evidence.silent_connection {
            // It speaks for a restart, so it never makes one wait.
            let cured = settings.own_cure.saturating_add(Duration::from_mins(1));
            return common.min(settings.overdue_after.max(cured));
        }
        common
    }

    /// Moments at which time alone changes holds and floors.
    fn turns(&self, now: Tick, around: &Surroundings<'_>) -> impl Iterator<Item = Tick> {
        let longest_until = self.ledger.longest(now).map(|(_, until)| until);
        [self.fresh_until(), Some(self.grace_ends(around)), longest_until].into_iter().flatten()
    }
}

/// A restart without effect makes the next one harder.
pub(super) fn enough(min_overdue: u64, fruitless: u32) -> u64 {
    min_overdue.max(1).saturating_mul(1_u64.checked_shl(fruitless).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
