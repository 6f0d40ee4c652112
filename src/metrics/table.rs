//! The table. A metric that stands here is exposed, and nothing else is.

use super::{Kind, Metric, Of, Row, Sample};
use crate::view::{
    Decision, Diagnosis, EventResult, Gate, Leadership, ListResult, NudgeOutcome, Outcome, State, WatchType, Withheld,
};

const fn gauge(name: &'static str, help: &'static str, of: Of) -> Metric {
    Metric { name, help, kind: Kind::Gauge, label: None, of }
}

const fn counter(name: &'static str, help: &'static str, of: Of) -> Metric {
    Metric { name, help, kind: Kind::Counter, label: None, of }
}

const fn by(label: &'static str, metric: Metric) -> Metric {
    Metric { label: Some(label), ..metric }
}

/// Every metric.
pub const TABLE: &[Metric] = &[
    by(
        "version",
        gauge(
            "build_info",
            "Always 1; the version is in the label.",
            Of::Process(|_, out| out.count_of(env!("CARGO_PKG_VERSION"), 1)),
        ),
    ),
    by(
        "state",
        gauge("objects", "Objects by state in the newest complete list; absent before the first.", Of::Stream(objects)),
    ),
    gauge(
        "overdue_objects",
        "Objects that are pending for longer than overdueAfter; absent before the first complete list.",
        Of::Stream(|row, out| {
            if is_counted(row) {
                out.count(row.stream.explanation.overdue);
            }
        }),
    ),
    gauge(
        "overdue_after_seconds",
        "How long an object may stay pending before it is overdue.",
        Of::Stream(|row, out| out.seconds(row.stream.overdue_after)),
    ),
    gauge(
        "oldest_pending_timestamp_seconds",
        "Since when the oldest pending object is pending; absent while none is.",
        Of::Stream(|row, out| out.time(row.stream.explanation.oldest_pending.map(|at| row.scene.view.wall_at(at)))),
    ),
    gauge(
        "last_ack_timestamp_seconds",
        "The newest acknowledgement by the operator, seen happening or shown by a processed object; absent where there \
         is none.",
        Of::Stream(|row, out| out.time(row.stream.last_ack(row.scene.view))),
    ),
    Metric {
        name: "time_to_ack_seconds",
        help: "From first seen pending to acknowledgement.",
        kind: Kind::Histogram,
        label: None,
        of: Of::Stream(|row, out| out.histogram(&row.stream.time_to_ack)),
    },
    gauge(
        "overdue_object_since_timestamp_seconds",
        "Since when an overdue object is pending; the oldest 50 of an operator, each until it is resolved.",
        Of::Offender(|scene, offender, out| out.time(Some(scene.view.wall_at(offender.since)))),
    ),
    gauge(
        "overdue_objects_truncated",
        "Overdue objects that have no series of their own.",
        Of::Stream(|row, out| {
            if is_counted(row) {
                out.count(row.stream.explanation.overdue.saturating_sub(row.named()));
            }
        }),
    ),
    Metric {
        name: "canary_round_trip_seconds",
        help: "From a change of the canary to its acknowledgement; absent where none is configured.",
        kind: Kind::Histogram,
        label: None,
        of: Of::Stream(|row, out| {
            if let Some(canary) = &row.stream.canary {
                out.histogram(&canary.round_trip);
            }
        }),
    },
    by(
        "diagnosis",
        gauge(
            "diagnosis",
            "1 for the diagnosis in force, 0 for the others; unknown while dogwatch's own loop stands still.",
            Of::Stream(|row, out| {
                let (diagnosis, _) = row.stream.diagnosis(row.scene.view, row.scene.is_stale);
                for word in Diagnosis::ALL {
                    out.count_of(word.as_str(), u64::from(*word == diagnosis));
                }
            }),
        ),
    ),
    gauge(
        "diagnosis_since_timestamp_seconds",
        "Since when the diagnosis is in force.",
        Of::Stream(|row, out| {
            let (_, since) = row.stream.diagnosis(row.scene.view, row.scene.is_stale);
            out.time(Some(since));
        }),
    ),
    by(
        "decision",
        gauge(
            "decision",
            "1 for the decision in force, 0 for the others; blind while dogwatch's own loop stands still.",
            Of::Operator(|scene, operator, out| {
                let (decision, _) = operator.decision(scene.view, scene.is_stale);
                for word in Decision::ALL {
                    out.count_of(word.as_str(), u64::from(*word == decision));
                }
            }),
        ),
    ),
    gauge(
        "decision_since_timestamp_seconds",
        "Since when the decision is in force.",
        Of::Operator(|scene, operator, out| {
            let (_, since) = operator.decision(scene.view, scene.is_stale);
            out.time(Some(since));
        }),
    ),
    gauge(
        "liveness_failed",
        "1 while /healthz answers 500.",
        Of::Operator(|scene, operator, out| out.flag(operator.is_failing() && !scene.is_stale)),
    ),
    counter(
        "restarts_requested_total",
        "Restarts of the operator that were requested.",
        Of::Operator(|_, operator, out| out.count(operator.restarts.requested)),
    ),
    by(
        "outcome",
        counter(
            "restarts_total",
            "Restarts by what came of them.",
            Of::Operator(|_, operator, out| {
                for word in Outcome::ALL {
                    out.count_of(word.as_str(), operator.restarts.outcomes.of(*word));
                }
            }),
        ),
    ),
    by(
        "reason",
        counter(
            "restarts_withheld_total",
            "Restarts that were due and not requested, once per suspicion and reason.",
            Of::Operator(|_, operator, out| {
                for word in Withheld::ALL {
                    out.count_of(word.as_str(), operator.restarts.withheld.of(*word));
                }
            }),
        ),
    ),
    by(
        "outcome",
        counter(
            "nudges_total",
            "Overdue objects that were touched, by what came of it; absent where nudges are not enabled.",
            Of::Operator(|_, operator, out| {
                let Some(nudges) = &operator.nudges else { return };
                for word in NudgeOutcome::ALL {
                    out.count_of(word.as_str(), nudges.outcomes.of(*word));
                }
            }),
        ),
    ),
    gauge(
        "last_restart_timestamp_seconds",
        "When the last restart was requested; absent if none was.",
        Of::Operator(|_, operator, out| out.time(operator.restarts.last)),
    ),
    gauge(
        "restart_budget_remaining",
        "Restarts that the budget still allows within its window.",
        Of::Operator(|_, operator, out| out.count(u64::from(operator.verdict.budget_remaining))),
    ),
    counter(
        "operator_check_failures_total",
        "Failures of the operator's own check; absent where none is configured.",
        Of::Operator(|_, operator, out| {
            if let Some(check) = &operator.own_check {
                out.count(check.failures);
            }
        }),
    ),
    by(
        "result",
        counter(
            "lists_total",
            "Lists by how they ended.",
            Of::Stream(|row, out| {
                for word in ListResult::ALL {
                    out.count_of(word.as_str(), row.stream.list.results.of(*word));
                }
            }),
        ),
    ),
    gauge(
        "list_duration_seconds",
        "How long the newest complete list took; absent before the first.",
        Of::Stream(|row, out| {
            if let Some(duration) = row.stream.list.duration {
                out.seconds(duration);
            }
        }),
    ),
    counter(
        "list_bytes_total",
        "Bytes of lists that were read.",
        Of::Stream(|row, out| out.count(row.stream.list.bytes)),
    ),
    gauge(
        "list_last_success_timestamp_seconds",
        "When the newest complete list ended; absent before the first.",
        Of::Stream(|row, out| out.time(row.stream.list.last_success.map(|at| row.scene.view.wall_at(at)))),
    ),
    by(
        "type",
        counter(
            "watch_events_total",
            "Events of dogwatch's own watch by type; absent where it does not watch.",
            Of::Stream(|row, out| {
                let Some(watch) = &row.stream.watch else { return };
                for word in WatchType::ALL {
                    out.count_of(word.as_str(), watch.events.of(*word));
                }
            }),
        ),
    ),
    gauge(
        "watch_last_event_timestamp_seconds",
        "When dogwatch's own watch received its newest event, bookmarks included; absent before the first.",
        Of::Stream(|row, out| {
            let last_event = row.stream.watch.as_ref().and_then(|watch| watch.last_event);
            out.time(last_event.map(|at| row.scene.view.wall_at(at)));
        }),
    ),
    gauge(
        "operator_connection_last_receive_timestamp_seconds",
        "When the operator last received a byte from the API server over TCP; absent while that is not known.",
        Of::Operator(|scene, operator, out| {
            let connections = &operator.connections;
            let last = connections.last_receive.filter(|_| connections.problem.is_none());
            out.time(last.map(|at| scene.view.wall_at(at)));
        }),
    ),
    gauge(
        "probe_last_request_timestamp_seconds",
        "When the kubelet or dogwatch probe last asked for /healthz; absent if none ever did.",
        Of::Process(|scene, out| out.time(scene.probes.last_healthz().map(|at| scene.view.wall_at(at)))),
    ),
    gauge(
        "api_gate_open",
        "1 while the API server answers reliably.",
        Of::Process(|scene, out| out.flag(scene.view.gate == Gate::Open)),
    ),
    gauge(
        "leader",
        "1 while the operator's lease is this Pod's, 0 while it is not; absent where no lease is configured or it \
         cannot be read.",
        Of::Operator(|_, operator, out| match operator.leadership {
            Leadership::Ours { .. } => out.flag(true),
            Leadership::Elsewhere => out.flag(false),
            Leadership::NotNeeded | Leadership::Unreadable => {}
        }),
    ),
    by(
        "result",
        counter(
            "events_total",
            "Kubernetes Events by what became of them.",
            Of::Operator(|_, operator, out| {
                for word in EventResult::ALL {
                    out.count_of(word.as_str(), operator.events.of(*word));
                }
            }),
        ),
    ),
    gauge(
        "config_last_reload_successful",
        "1 while the newest configuration is in force, 0 while it cannot be used.",
        Of::Process(|scene, out| out.flag(scene.view.config.problem.is_none())),
    ),
    gauge(
        "config_last_reload_success_timestamp_seconds",
        "When the configuration in force was read; absent while there is none.",
        Of::Process(|scene, out| out.time(scene.view.config.loaded)),
    ),
];

/// Zero objects before anything was listed would read as "nothing to do".
fn is_counted(row: &Row<'_>) -> bool {
    row.stream.explanation.listed_from.is_some()
}

fn objects(row: &Row<'_>, out: &mut Sample) {
    if is_counted(row) {
        for word in State::ALL {
            out.count_of(word.as_str(), row.stream.explanation.states.of(*word));
        }
    }
}
