//! What is logged: one line per change of a decision or a diagnosis, and at rest one summary an hour.

use std::time::Duration;

use super::operator::Operator;
use super::shared::Known;
use crate::judge::decision::{Decision, EventReason, Outcome, Step, Transition, Withheld};
use crate::judge::diagnosis::{Diagnosis, Explanation};
use crate::judge::state::{Moment, State};
use crate::judge::tick::Tick;
use crate::view::line;

const SUMMARY_EVERY: Duration = Duration::from_hours(1);

/// The fields that every line about a stream carries.
struct Fields<'f> {
    operator: &'f str,
    resource: Option<&'f str>,
    diagnosis: Option<Diagnosis>,
    decision: Decision,
    since: Option<String>,
    last_ack: Option<String>,
    overdue: Option<u64>,
    oldest: Option<String>,
    evidence: String,
    next: Option<String>,
    /// The row of the table, on the lines of a decision.
    transition: Option<&'static str>,
}

impl<'f> Fields<'f> {
    fn of(operator: &'f Operator, step: &'f Step, about: Option<&'f Explanation>, now: Moment) -> Self {
        let time = |tick: Tick| now.wall_at(tick).strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let oldest = about.and_then(|about| operator.object_name(&about.stream, *about.oldest.first()?));
        Self {
            operator: &operator.name,
            resource: about.map(|about| about.stream.as_str()),
            diagnosis: about.map(|about| about.diagnosis),
            decision: step.decision,
            since: about.and_then(|about| about.silent_since.or(about.oldest_pending)).map(time),
            last_ack: about.and_then(|about| about.last_ack).map(time),
            overdue: about.map(|about| about.overdue),
            oldest,
            evidence: told_evidence(operator, about),
            next: step.changes_at.map(|at| time(Moment { elapsed: at, ..now }.tick())),
            transition: None,
        }
    }

    fn log(&self, is_warning: bool, message: &str) {
        let Self { operator, resource, overdue, transition, .. } = self;
        let diagnosis = self.diagnosis.map(Diagnosis::as_str);
        let decision = self.decision.as_str();
        let (since, last_ack) = (self.since.as_deref(), self.last_ack.as_deref());
        let (oldest, next) = (self.oldest.as_deref(), self.next.as_deref());
        let evidence = self.evidence.as_str();
        if is_warning {
            tracing::warn!(
                operator,
                resource,
                diagnosis,
                decision,
                transition,
                since,
                lastAck = last_ack,
                overdue,
                oldest,
                evidence,
                next,
                "{message}"
            );
        } else {
            tracing::info!(
                operator,
                resource,
                diagnosis,
                decision,
                transition,
                since,
                lastAck = last_ack,
                overdue,
                oldest,
                evidence,
                next,
                "{message}"
            );
        }
    }
}

/// Everything that is evidence now, of one stream and of the connections.
fn evidence(operator: &Operator, about: Option<&Explanation>) -> String {
    let stream = about.and_then(|about| operator.streams.get(operator.stream(&about.stream)?));
    let mut words = stream.map(|stream| stream.evidence.words()).unwrap_or_default();
    words.extend(operator.connections.words());
    words.join(", ")
}

/// The same for the log, which also says where nothing can be seen.
fn told_evidence(operator: &Operator, about: Option<&Explanation>) -> String {
    let evidence = evidence(operator, about);
    match operator.connections.problem() {
        _ if !evidence.is_empty() => evidence,
        Some(_) => "unavailable".to_owned(),
        None => "none".to_owned(),
    }
}

/// One line per change that `step` brought, compared with the step before.
pub(super) fn changes(operator: &mut Operator, step: &Step, now: Moment) {
    habits(operator, step, now);
    for (index, explanation) in step.streams.iter().enumerate() {
        let Some(facts) = operator.facts.get_mut(index) else { continue };
        let before = facts.diagnosis;
        if before.is_some_and(|(diagnosis, _)| diagnosis == explanation.diagnosis) {
            continue;
        }
        facts.diagnosis = Some((explanation.diagnosis, now.tick()));
        // What was never anything else than unknown is no change.
        let is_first_sight = before.is_none() && explanation.diagnosis == Diagnosis::Unknown;
        if !is_first_sight {
            let is_warning = explanation.diagnosis != Diagnosis::Healthy;
            let before = before.map_or("nothing", |(diagnosis, _)| diagnosis.as_str());
            let message = format!("diagnosis {}, before: {before}", explanation.diagnosis);
            Fields::of(operator, step, Some(explanation), now).log(is_warning, &message);
        }
    }
    // Rows that were passed through on the way, in one step.
    for row in step.transitions.iter().take(step.transitions.len().saturating_sub(1)) {
        let fields =
            Fields { decision: row.to(), transition: Some(row.as_str()), ..Fields::of(operator, step, None, now) };
        fields.log(false, &format!("{}: {}", row.to(), line::because(Some(*row))));
    }
    if operator.step.as_ref().is_none_or(|before| before.headline != step.headline) {
        let about = step.headline.about.as_ref();
        let is_warning = !matches!(step.decision, Decision::Starting | Decision::Watching | Decision::Standby);
        let transition = step.headline.by.map(Transition::as_str);
        Fields { transition, ..Fields::of(operator, step, about, now) }.log(is_warning, &operator.line);
    }
}

/// One line for each habit of a stream that was learnt since the step before.
fn habits(operator: &Operator, step: &Step, now: Moment) {
    for explanation in &step.streams {
        let before = operator.step.as_ref().and_then(|before| {
            let known = before.streams.iter().find(|known| known.stream == explanation.stream)?;
            Some(&known.habits)
        });
        for learnt in &explanation.habits {
            if before.is_some_and(|before| before.iter().any(|known| known.habit == learnt.habit)) {
                continue;
            }
            let message =
                format!("habit {}, learnt from {}: {}", learnt.habit, learnt.proofs, learnt.habit.explained());
            Fields::of(operator, step, Some(explanation), now).log(false, &message);
        }
    }
}

/// A restart is due and not requested.
pub(super) fn withheld(operator: &Operator, step: &Step, reason: Withheld, now: Moment) {
    let about = step.subject.as_deref().and_then(|name| step.streams.iter().find(|it| it.stream == name));
    Fields::of(operator, step, about, now).log(true, &format!("a restart is due and withheld: {reason}"));
}

/// Once an hour, how it stands.
pub(super) fn summary(known: &mut Known, now: Moment) {
    if now.elapsed.saturating_sub(known.summed_up) < SUMMARY_EVERY {
        return;
    }
    known.summed_up = now.elapsed;
    for operator in &known.operators {
        let Some(step) = &operator.step else { continue };
        let sum = |count: fn(&Explanation) -> u64| step.streams.iter().map(count).sum::<u64>();
        tracing::info!(
            operator = %operator.name,
            decision = step.decision.as_str(),
            streams = step.streams.len(),
            objects = sum(|it| it.states.total()),
            pending = sum(|it| it.states.of(State::Pending)),
            overdue = sum(|it| it.overdue),
            budgetRemaining = step.budget_remaining,
            "summary"
        );
    }
}

/// What came of a restart.
pub(super) fn outcome(operator: &Operator, step: &Step, stream: &str, outcome: Outcome, now: Moment) {
    let about = step.streams.iter().find(|it| it.stream == stream);
    Fields::of(operator, step, about, now)
        .log(outcome != Outcome::Cured, &format!("outcome of the restart: {outcome}"));
}

/// What an Event says beside its reason. Without times, so that the same again is counted up.
pub(super) fn event_message(operator: &Operator, step: &Step, reason: EventReason, stream: Option<&str>) -> String {
    let about = stream.and_then(|name| step.streams.iter().find(|it| it.stream == name));
    let facts = about.map_or_else(String::new, |about| {
        let oldest = about.offenders.first().and_then(|(uid, _)| operator.object_name(&about.stream, *uid));
        let oldest = oldest.map_or_else(String::new, |oldest| format!(", oldest {oldest}"));
        let evidence = match evidence(operator, Some(about)).as_str() {
            "" => String::new(),
            words => format!(", {words}"),
        };
        format!(" ({} overdue{oldest}{evidence})", about.overdue)
    });
    let facts = format!("{facts}{}", told_metrics(operator, reason));
    let text = match reason {
        EventReason::OperatorSuspect => format!("asleep{facts}; it is being confirmed before a restart"),
        EventReason::OperatorAsleep => format!("asleep{facts}; a restart is requested through the liveness probe"),
        EventReason::OperatorRestarted => "restarted, or about to be; the outcome is awaited".to_owned(),
        EventReason::OperatorRecovered => "acknowledges again, or is no longer suspected".to_owned(),
        EventReason::RestartHadNoEffect => {
            format!("the restart was not seen, or nothing was acknowledged after it{facts}")
        }
        EventReason::RestartBudgetExhausted => {
            format!("asleep{facts}; a restart is due and restart.budget does not allow it")
        }
        EventReason::ServerStale => {
            format!("the API server's side is at fault{facts}; a restart would not help")
        }
        EventReason::Blind => "nothing can be judged; nothing is restarted".to_owned(),
    };
    match stream {
        Some(stream) => format!("{}, {stream}: {text}", operator.name),
        None => format!("{}: {text}", operator.name),
    }
}

/// What the operator's own metrics say to a suspicion; nothing where they are not read.
fn told_metrics(operator: &Operator, reason: EventReason) -> String {
    let is_about_sleep = !matches!(
        reason,
        EventReason::OperatorRecovered | EventReason::OperatorRestarted | EventReason::ServerStale | EventReason::Blind
    );
    let words = operator.own.seen_metrics.as_ref().filter(|_| is_about_sleep).map(|seen| seen.words(None));
    match words.unwrap_or_default().join(", ") {
        words if words.is_empty() => words,
        words => format!("; operator metrics: {words}"),
    }
}

/// Whether a person should look.
pub(super) const fn is_warning(reason: EventReason) -> bool {
    !matches!(reason, EventReason::OperatorRecovered | EventReason::OperatorRestarted)
}
