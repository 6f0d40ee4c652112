//! Makes the view of what is known.

use super::decide::{PERIOD, probe};
use super::operator::{Facts, Operator};
use super::shared::Known;
use crate::judge::decision::{LEASE, Mode, Pod, Step};
use crate::judge::diagnosis;
use crate::judge::diagnosis::OFFENDERS;
use crate::judge::state::Moment;
use crate::view::{self, Explanation, List, Offender, Verdict, View};

/// Everything that is known now, in one value.
pub(super) fn view(known: &Known, now: Moment) -> View {
    let mut config = known.config.clone();
    config.warnings.extend(known.pod.problem.clone());
    config.warnings.extend(known.canary_problem());
    View {
        made: now,
        period: PERIOD,
        started: known.started,
        gate: known.gate.state(),
        config,
        tasks: known.tasks.clone(),
        operators: known.operators.iter().filter_map(|it| operator(it, known, now)).collect(),
    }
}

fn operator(operator: &Operator, known: &Known, now: Moment) -> Option<view::Operator> {
    let step = operator.step.as_ref()?;
    let pod = &known.pod;
    let own = operator.streams.iter().zip(&operator.facts).zip(&step.streams);
    let streams = own
        .map(|((judged, facts), explanation)| view::Stream {
            canary: known.canary_of(&operator.name, judged.name()),
            ..stream(operator, judged, facts, explanation, now)
        })
        .collect();
    let beside = operator.plan.beside.as_ref();
    Some(view::Operator {
        name: operator.name.clone(),
        verdict: Verdict::of(step, operator.line.as_str()),
        streams,
        lease: lease(step),
        mode: beside.map_or(Mode::Observe, |_| pod.mode(operator.plan.mode())),
        leadership: operator.leadership,
        pod: beside.map_or(Pod::Unread, |_| pod.judged()),
        probe: probe(operator, pod),
        own_check: operator.own.shown_check(!known.has_ended_task()),
        peering: operator.own.peering.clone(),
        metrics: operator.own.seen_metrics.clone(),
        nudges: operator.nudges.as_ref().map(super::nudge::Nudges::shown),
        restarts: operator.restarts.clone(),
        connections: operator.connections.shown(),
        events: operator.events.clone(),
    })
}

fn lease(step: &Step) -> Option<Explanation> {
    step.streams.last().filter(|last| last.stream == LEASE).cloned()
}

fn stream(
    operator: &Operator,
    judged: &diagnosis::Stream,
    facts: &Facts,
    explanation: &Explanation,
    now: Moment,
) -> view::Stream {
    let watched = operator.watched(&facts.resource);
    let rule = watched.and_then(|watched| watched.rule.as_ref());
    view::Stream {
        resource: facts.resource.clone(),
        namespace: facts.namespace.clone(),
        rule: rule.map(|rule| rule.reader.rule().name()),
        rule_from: rule.map(|rule| rule.rule_from),
        explanation: explanation.clone(),
        diagnosis_since: facts.diagnosis.map_or(now.tick(), |(_, since)| since),
        overdue_after: judged.settings.overdue_after,
        evidence: judged.evidence,
        shown_ack: judged.ledger.shown_ack(),
        offenders: offenders(explanation, facts),
        list: List {
            is_ready: judged.ledger.is_ready(),
            ..watched.map(|watched| watched.list.clone()).unwrap_or_default()
        },
        watch: watched.and_then(|watched| watched.watch.clone()),
        stale: facts.freshness.stale().cloned(),
        regression: facts.regression,
        time_to_ack: facts.time_to_ack.clone(),
        canary: None,
    }
}

/// The oldest overdue objects, as far as they have names.
fn offenders(explanation: &Explanation, facts: &Facts) -> Vec<Offender> {
    let named = explanation.offenders.iter().filter_map(|(uid, since)| {
        let name = facts.names.of(*uid)?;
        Some(Offender {
            namespace: name.namespace.as_deref().map(str::to_owned),
            name: name.called.to_string(),
            since: *since,
        })
    });
    named.take(OFFENDERS).collect()
}
