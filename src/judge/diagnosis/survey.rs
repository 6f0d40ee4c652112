//! One pass over the remembered objects of a stream.

use super::{Evidence, Excuse, INSTANT, Ledger, OFFENDERS, OLDEST, Settings, Tick, Uid};
use crate::judge::ledger::{Clock, Entry, Standing};

/// What the objects say together at one moment.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) pending: u64,
    pub(super) overdue: u64,
    /// The oldest overdue objects.
    pub(super) offenders: Vec<(Uid, Tick)>,
    pub(super) oldest_pending: Option<Tick>,
    pub(super) candidates: u64,
    /// First seen of the oldest candidate.
    pub(super) oldest_candidate: Option<Tick>,
    /// When the first of the changes that the candidates wait for was sent, at the earliest; absent unless all are known.
    pub(super) first_event: Option<Tick>,
    pub(super) excused: Vec<(Excuse, u64)>,
    pub(super) oldest: Vec<Uid>,
    pub(super) in_flight_until: Option<Tick>,
    pub(super) changes_at: Option<Tick>,
}

/// Work that is written to the status and not acknowledged counts as work for at most so many attempts.
const LONGEST_SILENT_ATTEMPTS: u32 = 2;
/// A missed canary stands for so many objects.
const CANARY_COUNTS_AS: u64 = 2;

impl Survey {
    /// `evidence`: what is known of the canary. `started`: of the operator's container.
    pub(super) fn of(ledger: &Ledger, settings: &Settings, evidence: Evidence, started: Tick, now: Tick) -> Self {
        let mut survey = Self::default();
        let mut missed = evidence.canary_missed;
        let mut candidates = Vec::new();
        let mut overdue = Vec::new();
        let mut events = Vec::new();
        for (uid, entry) in ledger.entries() {
            survey.watch_movement(entry, settings, now);
            let Some(clock) = entry.pending_clock(now) else { continue };
            if entry.marks().conditional && !ledger.signal_exists() {
                continue;
            }
            if survey.count(&clock, settings, now) {
                overdue.push((clock.since(), uid));
            }
            if !survey.is_due(overdue_at(clock.first_seen, settings), now) {
                continue;
            }
            let is_canary = evidence.canary == Some(uid);
            let unproven = (is_canary && missed.is_none()).then_some(Excuse::Canary);
            if let Some(excuse) = excuse(entry, &clock, ledger, settings, started).or(unproven) {
                survey.excuse(excuse);
                missed = missed.filter(|_| !is_canary);
                continue;
            }
            events.push(entry.event(&clock));
            candidates.push((clock.first_seen, clock.since(), uid));
        }
        // One of the two that it stands for is the object itself, which is read again before a restart as any other.
        let is_among = evidence.canary.is_some_and(|canary| candidates.iter().any(|(.., uid)| *uid == canary));
        survey.offenders = oldest(overdue, OFFENDERS).map(|(since, uid)| (uid, since)).collect();
        survey.candidates = candidates.len() as u64;
        survey.oldest_candidate = candidates.iter().map(|(first_seen, ..)| *first_seen).min();
        survey.first_event = events.into_iter().collect::<Option<Vec<Tick>>>().and_then(|all| all.into_iter().min());
        survey.oldest = oldest(candidates, OLDEST).map(|(.., uid)| uid).collect();
        if let Some(changed) = missed.filter(|changed| survey.is_due(overdue_at(*changed, settings), now)) {
            survey.candidates += CANARY_COUNTS_AS - u64::from(is_among);
            survey.oldest_candidate = Some(survey.oldest_candidate.map_or(changed, |oldest| oldest.min(changed)));
        }
        survey.excused.sort_unstable();
        survey
    }

    /// Counts a pending object; says whether it is overdue.
    fn count(&mut self, clock: &Clock, settings: &Settings, now: Tick) -> bool {
        let since = clock.since();
        self.pending += 1;
        self.oldest_pending = Some(self.oldest_pending.map_or(since, |oldest| oldest.min(since)));
        let is_overdue = self.is_due(overdue_at(since, settings), now);
        self.overdue += u64::from(is_overdue);
        is_overdue
    }

    fn excuse(&mut self, excuse: Excuse) {
        match self.excused.iter_mut().find(|(known, _)| *known == excuse) {
            Some((_, count)) => *count += 1,
            None => self.excused.push((excuse, 1)),
        }
    }

    fn watch_movement(&mut self, entry: &Entry, settings: &Settings, now: Tick) {
        let (deadline, moved) = match (entry.standing(), entry.written_behind()) {
            (Standing::Moving { deadline, moved }, _) => (deadline, moved),
            // An operator that writes the status and does not acknowledge may be at long work, as long as nothing better
            // is known of its habits; but not for longer than work in flight may delay.
            (Standing::Pending, Some((since, written))) => {
                (Some(since.after(settings.max_attempt.saturating_mul(LONGEST_SILENT_ATTEMPTS))), Some(written))
            }
            _ => return,
        };
        let is_waiting = deadline.is_none_or(|deadline| !self.is_due(deadline.after(INSTANT), now));
        if let (true, Some(moved)) = (is_waiting, moved) {
            let until = moved.after(settings.max_attempt);
            if !self.is_due(until, now) {
                self.in_flight_until = self.in_flight_until.max(Some(until));
            }
        }
    }

    /// Whether a moment has come; if not, something changes when it does.
    fn is_due(&mut self, at: Tick, now: Tick) -> bool {
        let is_due = at <= now;
        if !is_due {
            self.changes_at = Some(self.changes_at.map_or(at, |earliest| earliest.min(at)));
        }
        is_due
    }
}

/// The `count` smallest, in order.
fn oldest<T: Ord>(mut all: Vec<T>, count: usize) -> impl Iterator<Item = T> {
    if all.len() > count {
        all.select_nth_unstable(count);
        all.truncate(count);
    }
    all.sort_unstable();
    all.into_iter()
}

/// Overdue is what is pending for longer than `overdueAfter`.
fn overdue_at(since: Tick, settings: &Settings) -> Tick {
    since.after(settings.overdue_after).after(INSTANT)
}

/// Why an overdue object may not speak for a restart.
fn excuse(entry: &Entry, clock: &Clock, ledger: &Ledger, settings: &Settings, started: Tick) -> Option<Excuse> {
    let marks = entry.marks();
    let is_passed_over =
        ledger.served_through().is_some_and(|through| through > clock.wanted_seen().after(settings.overdue_after));
    if marks.ignored {
        Some(Excuse::Ignored)
    } else if marks.holder_unknown {
        Some(Excuse::HolderUnknown)
    } else if clock.wanted_since() < started {
        Some(Excuse::BeforeStart)
    } else if is_passed_over {
        Some(Excuse::PassedOver)
    } else {
        None
    }
}
