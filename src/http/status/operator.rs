//! One operator of `/status`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::{Scene, seconds, text};
use super::{beside, connections, stream};
use crate::http::verbose;
use crate::view::{
    Counts, EventResult, Hold, Leadership, NudgeOutcome, Offender, Operator, Outcome, OwnCheck, Pod, Restart, Restarts,
    Transition, Withheld, line,
};

/// How often each word of a closed set was counted.
pub(super) type Counted = BTreeMap<&'static str, u64>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry<'v> {
    operator: &'v str,
    decision: &'static str,
    decision_since: String,
    /// The row of the table that led to it, and what it means.
    transition: Option<&'static str>,
    because: &'static str,
    /// The first line of `/healthz`, the operator's own check left out.
    line: Cow<'v, str>,
    subject: Option<&'v str>,
    failing: bool,
    next: String,
    mode: &'static str,
    leadership: &'static str,
    holds: Vec<&'static str>,
    pod: Option<PodEntry<'v>>,
    probe: Option<ProbeEntry>,
    operator_check: Option<CheckEntry<'v>>,
    peering: Option<beside::PeeringEntry<'v>>,
    operator_metrics: Option<beside::MetricsEntry<'v>>,
    nudges: Option<NudgesEntry<'v>>,
    budget_remaining: u32,
    restarts: RestartsEntry<'v>,
    connections: connections::Entry<'v>,
    events: Counted,
    streams: Vec<stream::Entry<'v>>,
    lease: Option<stream::Explained<'v>>,
    overdue_objects: Vec<OffenderEntry<'v>>,
    overdue_objects_left_out: u64,
}

#[derive(Serialize)]
struct PodEntry<'v> {
    terminating: bool,
    container: Option<ContainerEntry<'v>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContainerEntry<'v> {
    id: &'v str,
    running: bool,
    started_at: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProbeEntry {
    period_seconds: serde_json::Number,
    failure_threshold: u32,
    termination_grace_seconds: serde_json::Number,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckEntry<'v> {
    failed_since: Option<String>,
    failures_in_a_row: u32,
    failures: u64,
    problem: Option<&'v str>,
}

/// Objects that were touched, by what came of it.
#[derive(Serialize)]
struct NudgesEntry<'v> {
    outcomes: Counted,
    waiting: usize,
    problem: Option<&'v str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RestartsEntry<'v> {
    requested: u64,
    outcomes: Counted,
    withheld: Counted,
    last_at: Option<String>,
    history: Vec<RestartEntry<'v>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RestartEntry<'v> {
    stream: &'v str,
    requested_at: String,
    outcome: Option<&'static str>,
    outcome_at: Option<String>,
}

#[derive(Serialize)]
struct OffenderEntry<'v> {
    stream: &'v str,
    namespace: Option<&'v str>,
    name: &'v str,
    since: String,
}

pub(super) fn entry<'v>(scene: Scene<'v>, operator: &'v Operator) -> Entry<'v> {
    let verdict = &operator.verdict;
    let (decision, since) = operator.decision(scene.view, scene.is_stale);
    let offenders = operator.offenders();
    let overdue: u64 = operator.streams.iter().map(|stream| stream.explanation.overdue).sum();
    Entry {
        operator: &operator.name,
        decision: decision.as_str(),
        decision_since: text(since),
        transition: verdict.by.map(Transition::as_str).filter(|_| !scene.is_stale),
        because: if scene.is_stale { "the loop of dogwatch stands still" } else { line::because(verdict.by) },
        line: if scene.is_stale { line::stale(scene.view).into() } else { Cow::Borrowed(&verdict.line) },
        subject: verdict.subject.as_deref(),
        failing: operator.is_failing() && !scene.is_stale,
        next: verbose::next(scene.view, operator),
        mode: verbose::mode(operator),
        leadership: match operator.leadership {
            Leadership::NotNeeded => "not-needed",
            Leadership::Unreadable => "unreadable",
            Leadership::Elsewhere => "elsewhere",
            Leadership::Ours { .. } => "ours",
        },
        holds: verdict.holds.iter().map(|hold: &Hold| hold.as_str()).collect(),
        pod: pod(scene, &operator.pod),
        probe: operator.probe.map(|probe| ProbeEntry {
            period_seconds: seconds(probe.period),
            failure_threshold: probe.failure_threshold,
            termination_grace_seconds: seconds(probe.termination_grace),
        }),
        operator_check: operator.own_check.as_ref().map(check),
        peering: operator.peering.as_ref().map(beside::peering),
        operator_metrics: operator.metrics.as_ref().map(|metrics| beside::metrics(scene, metrics)),
        nudges: operator.nudges.as_ref().map(|nudges| NudgesEntry {
            outcomes: counted(NudgeOutcome::ALL, &nudges.outcomes, NudgeOutcome::as_str),
            waiting: nudges.waiting,
            problem: nudges.problem.as_deref(),
        }),
        budget_remaining: verdict.budget_remaining,
        restarts: restarts(&operator.restarts),
        connections: connections::entry(scene, &operator.connections),
        events: counted(EventResult::ALL, &operator.events, EventResult::as_str),
        streams: operator.streams.iter().map(|stream| stream::entry(scene, stream)).collect(),
        lease: operator.lease.as_ref().map(|lease| stream::explained(scene, lease)),
        overdue_objects_left_out: overdue.saturating_sub(offenders.len() as u64),
        overdue_objects: offenders.into_iter().filter_map(|found| offender(scene, operator, found)).collect(),
    }
}

fn pod<'v>(scene: Scene<'_>, pod: &'v Pod) -> Option<PodEntry<'v>> {
    let Pod::Read { container, is_terminating } = pod else { return None };
    let container = container.as_ref().map(|container| ContainerEntry {
        id: &container.id,
        running: container.is_running,
        started_at: scene.at(container.started),
    });
    Some(PodEntry { terminating: *is_terminating, container })
}

fn check(check: &OwnCheck) -> CheckEntry<'_> {
    CheckEntry {
        failed_since: check.failed.map(text),
        failures_in_a_row: check.in_a_row,
        failures: check.failures,
        problem: check.problem.as_deref(),
    }
}

fn restarts(restarts: &Restarts) -> RestartsEntry<'_> {
    let history = restarts.history.iter().map(|restart: &Restart| RestartEntry {
        stream: &restart.stream,
        requested_at: text(restart.requested),
        outcome: restart.outcome.map(|(outcome, _)| outcome.as_str()),
        outcome_at: restart.outcome.map(|(_, at)| text(at)),
    });
    RestartsEntry {
        requested: restarts.requested,
        outcomes: counted(Outcome::ALL, &restarts.outcomes, Outcome::as_str),
        withheld: counted(Withheld::ALL, &restarts.withheld, Withheld::as_str),
        last_at: restarts.last.map(text),
        history: history.collect(),
    }
}

fn offender<'v>(
    scene: Scene<'_>,
    operator: &'v Operator,
    (position, offender): (usize, &'v Offender),
) -> Option<OffenderEntry<'v>> {
    Some(OffenderEntry {
        stream: operator.streams.get(position)?.name(),
        namespace: offender.namespace.as_deref(),
        name: &offender.name,
        since: scene.at(offender.since),
    })
}

/// Every word with its count, zeros included: what is not there cannot be told from what is not known.
pub(super) fn counted<K: Ord + Copy>(all: &[K], counts: &Counts<K>, word: impl Fn(K) -> &'static str) -> Counted {
    all.iter().map(|key| (word(*key), counts.of(*key))).collect()
}
