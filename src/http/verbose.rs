//! What `?verbose` adds below the first line.

use super::check::Check;
use super::query::Query;
use crate::view::board::Path;
use crate::view::{Decision, Explanation, Hold, Mode, Operator, Stream, View, Watch, line};

/// Appends every check and, to `/healthz`, what the decision stands on.
pub(super) fn append(body: &mut String, path: Path, view: &View, checks: &[Check], query: &Query, is_stale: bool) {
    let mut lines: Vec<String> = checks.iter().map(|check| check_line(check, query)).collect();
    if path == Path::Healthz {
        if is_stale {
            lines.push(format!("note: what follows was known at {}", line::second(view.made.wall)));
        }
        for operator in &view.operators {
            lines.extend(operator_lines(view, operator));
        }
    }
    if path == Path::Readyz {
        lines.extend(view.config.warnings.iter().map(|warning| format!("warn: {warning}")));
    }
    let unknown: Vec<&str> =
        query.exclude.iter().filter(|name| !checks.iter().any(|it| it.name == **name)).map(String::as_str).collect();
    if !unknown.is_empty() {
        lines.push(format!("warn: cannot exclude what is no check: {}", unknown.join(", ")));
    }
    for text in lines {
        body.push('\n');
        body.extend(text.chars().map(|character| if character.is_control() { ' ' } else { character }));
    }
}

fn check_line(check: &Check, query: &Query) -> String {
    match &check.failure {
        _ if query.exclude.contains(&check.name) => format!("[+]{} excluded: ok", check.name),
        Some(failure) => format!("[-]{} failed: {failure}", check.name),
        None => format!("[+]{} ok", check.name),
    }
}

fn operator_lines(view: &View, operator: &Operator) -> Vec<String> {
    let mut lines: Vec<String> = Hold::ALL.iter().map(|hold| hold_line(operator, *hold)).collect();
    if view.operators.len() > 1 {
        lines.insert(0, format!("operator {}: {}", operator.name, operator.verdict.line));
    }
    for stream in &operator.streams {
        lines.push(stream_line(view, stream));
        lines.push(format!("evidence/{}: {}", stream.name(), told(view, stream)));
        lines.extend(stream.watch.as_ref().map(|watch| watch_line(view, stream, watch)));
        lines.extend(stream.canary.as_ref().map(|canary| {
            let words = canary.words(|at| line::second(view.wall_at(at)));
            format!("canary/{}: {words}", stream.name())
        }));
    }
    if let Some(lease) = &operator.lease {
        let renewed = lease.last_ack.map_or_else(|| "never".to_owned(), |at| line::second(view.wall_at(at)));
        lines.push(format!("stream lease: {}; last seen renewed {renewed}", lease.diagnosis));
    }
    lines.extend(operator.peering.as_ref().map(|peering| format!("peering {}: {}", peering.object, peering.words())));
    if let Some(metrics) = &operator.metrics {
        let words = metrics.words(Some(&|at| line::second(view.wall_at(at))));
        let words = if words.is_empty() { "none".to_owned() } else { words.join(", ") };
        lines.push(format!("evidence/operator-metrics: {words}"));
    }
    lines.extend(operator.nudges.as_ref().map(|nudges| format!("nudges: {}", nudges.words())));
    lines.extend(connection_lines(view, operator));
    lines.push(format!("restarts: {} left in the budget, mode {}", operator.verdict.budget_remaining, mode(operator)));
    lines.push(format!("next: {}", next(view, operator)));
    lines
}

/// What TCP tells, and one line for each connection with which something is wrong.
fn connection_lines(view: &View, operator: &Operator) -> Vec<String> {
    let connections = &operator.connections;
    if let Some(problem) = &connections.problem {
        return vec![format!("connections: unavailable: {problem}")];
    }
    let count = connections.open.len() as u64 + connections.left_out;
    let last = connections.last_receive.map_or_else(|| "never".to_owned(), |at| line::second(view.wall_at(at)));
    let mut lines = vec![format!("connections: {count} to the API server, last byte received {last}")];
    lines.extend(connections.open.iter().filter_map(|open| {
        let fault = open.fault()?;
        let (unread, unacknowledged) = (open.receive_queue, open.send_queue);
        Some(format!(
            "connection {} to {}: {fault}; {unread} bytes not read, {unacknowledged} not acknowledged, sent again {} times",
            open.local, open.peer, open.retransmits,
        ))
    }));
    lines
}

fn hold_line(operator: &Operator, hold: Hold) -> String {
    if operator.verdict.holds.contains(&hold) {
        return format!("[+]hold/{hold} holding: {}", reason(hold));
    }
    let has = |explanation: &&Explanation| explanation.holds.contains(&hold);
    let explanations = operator.streams.iter().map(|stream| &stream.explanation).chain(&operator.lease);
    let streams: Vec<&str> = explanations.filter(has).map(|explanation| &explanation.stream[..]).collect();
    if streams.is_empty() {
        return format!("[+]hold/{hold} ok");
    }
    format!("[+]hold/{hold} holding: {} ({})", reason(hold), streams.join(", "))
}

fn reason(hold: Hold) -> &'static str {
    match hold {
        Hold::Starting => "dogwatch has not seen everything yet",
        Hold::Reloaded => "the rule or the selector changed and nothing was listed since",
        Hold::ListNotFresh => "the newest complete list is older than three intervals, or there is none",
        Hold::GateClosed => "the API server does not answer reliably",
        Hold::NotRunning => "the operator's container does not run",
        Hold::Grace => "the operator's container has only just started",
        Hold::NotLeader => "another replica leads, or none",
        Hold::NewLeader => "this replica leads only since a moment ago",
        Hold::LeaseUnreadable => "nobody can see who leads",
        Hold::Paused => "the operator is paused by its peering",
        Hold::PeeringUnreadable => "nobody can see whether the operator is paused by its peering",
        Hold::Terminating => "the Pod is being deleted",
        Hold::TaskEnded => "a task of dogwatch has ended",
    }
}

fn stream_line(view: &View, stream: &Stream) -> String {
    let explanation = &stream.explanation;
    let since = line::second(view.wall_at(stream.diagnosis_since));
    let rule = stream.rule.unwrap_or("not chosen yet");
    let ack = stream.last_ack(view).map_or_else(|| "none seen".to_owned(), line::second);
    let listed = stream.list.last_success.map_or_else(|| "never".to_owned(), |at| line::second(view.wall_at(at)));
    let silent = explanation.silent_since.map_or_else(String::new, |silent| {
        let until = line::second(view.wall_at(silent.after(explanation.asleep_after)));
        format!("; silent since {}, asleep from {until}", line::second(view.wall_at(silent)))
    });
    let excused: Vec<String> =
        explanation.excused.iter().map(|(excuse, count)| format!(", {count} excused ({excuse})")).collect();
    let habits: Vec<String> = explanation
        .habits
        .iter()
        .map(|learnt| format!("; acknowledges {}, learnt from {}", learnt.habit, learnt.proofs))
        .collect();
    let problem = stream.list.problem.as_deref().map_or_else(String::new, |problem| format!("; {problem}"));
    format!(
        "stream {}: {} since {since}; rule {rule}; {} pending, {} overdue, {} of {} candidates{}; last ack {ack}\
         {silent}{}; listed {listed}{problem}",
        stream.name(),
        explanation.diagnosis,
        explanation.pending,
        explanation.overdue,
        explanation.candidates,
        explanation.enough,
        excused.concat(),
        habits.concat(),
    )
}

/// The evidence of a stream in words.
fn told(view: &View, stream: &Stream) -> String {
    let mut told: Vec<String> = stream.evidence.words().into_iter().map(str::to_owned).collect();
    if let Some(stale) = &stream.stale {
        let who = match (stale.by_watch, stale.by_list) {
            (true, true) => "a new watch and a list with resourceVersion=0 lack",
            (true, false) => "a new watch lacks",
            (false, _) => "a list with resourceVersion=0 lacks",
        };
        told.push(format!(
            "since {} {who} what GET shows: {} at resourceVersion {}",
            line::second(view.wall_at(stale.since)),
            stale.object,
            stale.version,
        ));
    }
    if let Some((regression, at)) = &stream.regression {
        let at = line::second(view.wall_at(*at));
        told.push(format!("resourceVersion went back from {} to {} at {at}", regression.from, regression.to));
    }
    if told.is_empty() { "none".to_owned() } else { told.join(", ") }
}

fn watch_line(view: &View, stream: &Stream, watch: &Watch) -> String {
    let last = watch.last_event.map_or_else(|| "never".to_owned(), |at| line::second(view.wall_at(at)));
    let problem = watch.problem.as_deref().map_or_else(String::new, |problem| format!("; {problem}"));
    format!("watch/{}: {} open; last event {last}{problem}", stream.name(), watch.open)
}

pub(super) const fn mode(operator: &Operator) -> &'static str {
    match operator.mode {
        Mode::Enforce => "enforce",
        Mode::Observe => "observe",
    }
}

/// What happens next, and when it is looked at again though nothing was observed.
pub(super) fn next(view: &View, operator: &Operator) -> String {
    let what = match (operator.verdict.decision, operator.mode) {
        (Decision::Starting, _) => "watching, once the API server answers, the Pod was read and everything was listed",
        (Decision::Watching, _) => "suspect, once a stream that may restart the operator is asleep",
        (Decision::Suspect, Mode::Observe) => "nothing, as the mode is observe; otherwise a restart once confirmed",
        (Decision::Suspect, Mode::Enforce) => "a restart, once confirmed; none if anything is acknowledged before",
        (Decision::Restarting, _) => "recovering, once the kubelet has acted or was told often enough",
        (Decision::Recovering, _) => "watching, once the outcome of the restart is known",
        (Decision::Exhausted, _) => "suspect, once the budget allows a restart",
        (Decision::Standby, _) => "watching, once this replica leads",
        (Decision::Blind, _) => "watching, once it can be seen again what is served",
    };
    let at = operator.verdict.changes_at.map_or_else(String::new, |elapsed| {
        format!("; looked at again at {} at the latest", line::second(view.wall_of(elapsed)))
    });
    format!("{what}{at}")
}
