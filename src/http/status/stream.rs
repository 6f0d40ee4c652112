//! One stream of `/status`.

use serde::Serialize;

use super::operator::{Counted, counted};
use super::{Scene, seconds, text};
use crate::view::{Excuse, Explanation, Hold, List, ListResult, RuleFrom, State, Stream, Watch, WatchType};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry<'v> {
    resource: &'v str,
    namespace: Option<&'v str>,
    rule: Option<&'static str>,
    rule_from: Option<&'static str>,
    #[serde(flatten)]
    explained: Explained<'v>,
    diagnosis_since: String,
    overdue_after_seconds: serde_json::Number,
    objects: u64,
    states: Counted,
    /// What is evidence now; that nothing is says nothing.
    evidence: Vec<&'static str>,
    list: ListEntry<'v>,
    watch: Option<WatchEntry>,
}

/// A diagnosis with what it stands on; the lease has one as well.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Explained<'v> {
    stream: &'v str,
    diagnosis: &'static str,
    pending: u64,
    overdue: u64,
    oldest_pending: Option<String>,
    candidates: u64,
    candidates_needed: u64,
    excused: Counted,
    last_ack: Option<String>,
    silent_since: Option<String>,
    asleep_after_seconds: serde_json::Number,
    holds: Vec<&'static str>,
    held_until: Option<String>,
    may_restart: bool,
    proven: bool,
    fruitless_restarts: u32,
    objects_left_out: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListEntry<'v> {
    ready: bool,
    last_success: Option<String>,
    duration_seconds: Option<serde_json::Number>,
    interval_seconds: serde_json::Number,
    bytes: u64,
    results: Counted,
    problem: Option<&'v str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WatchEntry {
    last_event: Option<String>,
    events: Counted,
}

pub(super) fn entry<'v>(scene: Scene<'v>, stream: &'v Stream) -> Entry<'v> {
    let states = &stream.explanation.states;
    let (diagnosis, since) = stream.diagnosis(scene.view, scene.is_stale);
    let explained = Explained {
        diagnosis: diagnosis.as_str(),
        last_ack: stream.last_ack(scene.view).map(text),
        ..explained(scene, &stream.explanation)
    };
    Entry {
        resource: &stream.resource,
        namespace: stream.namespace.as_deref(),
        rule: stream.rule,
        rule_from: stream.rule_from.map(RuleFrom::as_str),
        explained,
        diagnosis_since: text(since),
        overdue_after_seconds: seconds(stream.overdue_after),
        objects: states.total(),
        states: State::ALL.iter().map(|state| (state.as_str(), states.of(*state))).collect(),
        evidence: stream.evidence.words(),
        list: list(scene, &stream.list),
        watch: stream.watch.as_ref().map(|watch| self::watch(scene, watch)),
    }
}

pub(super) fn explained<'v>(scene: Scene<'_>, explanation: &'v Explanation) -> Explained<'v> {
    Explained {
        stream: &explanation.stream,
        diagnosis: explanation.diagnosis.as_str(),
        pending: explanation.pending,
        overdue: explanation.overdue,
        oldest_pending: scene.maybe_at(explanation.oldest_pending),
        candidates: explanation.candidates,
        candidates_needed: explanation.enough,
        excused: explanation.excused.iter().map(|(excuse, count): &(Excuse, u64)| (excuse.as_str(), *count)).collect(),
        last_ack: scene.maybe_at(explanation.last_ack),
        silent_since: scene.maybe_at(explanation.silent_since),
        asleep_after_seconds: seconds(explanation.asleep_after),
        holds: explanation.holds.iter().map(|hold: &Hold| hold.as_str()).collect(),
        held_until: scene.maybe_at(explanation.held_until),
        may_restart: explanation.may_restart,
        proven: explanation.is_proven,
        fruitless_restarts: explanation.fruitless,
        objects_left_out: explanation.left_out,
    }
}

fn list<'v>(scene: Scene<'_>, list: &'v List) -> ListEntry<'v> {
    ListEntry {
        ready: list.is_ready,
        last_success: scene.maybe_at(list.last_success),
        duration_seconds: list.duration.map(seconds),
        interval_seconds: seconds(list.interval),
        bytes: list.bytes,
        results: counted(ListResult::ALL, &list.results, ListResult::as_str),
        problem: list.problem.as_deref(),
    }
}

fn watch(scene: Scene<'_>, watch: &Watch) -> WatchEntry {
    WatchEntry {
        last_event: scene.maybe_at(watch.last_event),
        events: counted(WatchType::ALL, &watch.events, WatchType::as_str),
    }
}
