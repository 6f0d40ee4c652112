//! One stream of `/status`.

use serde::Serialize;

use super::operator::{Counted, counted};
use super::{Scene, seconds, text};
use crate::view::{
    Excuse, Explanation, Hold, Learnt, List, ListResult, Regression, RuleFrom, SeenCanary, Stale, State, Stream, Watch,
    WatchType,
};

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
    watch: Option<WatchEntry<'v>>,
    server_stale: Option<StaleEntry<'v>>,
    resource_version_went_back: Option<RegressionEntry>,
    canary: Option<CanaryEntry<'v>>,
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
    /// What was learnt of how the operator acknowledges.
    habits: Vec<HabitEntry>,
    objects_left_out: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HabitEntry {
    habit: &'static str,
    meaning: &'static str,
    /// From so many acknowledgements, one after the other; for `never`, objects or lists.
    learnt_from: u32,
    /// How long an object may be behind, if that is longer than maxAttempt, and at most four times as long.
    allowance_seconds: Option<serde_json::Number>,
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
struct WatchEntry<'v> {
    open: u32,
    last_event: Option<String>,
    events: Counted,
    problem: Option<&'v str>,
}

/// What the API server's cache lacks.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StaleEntry<'v> {
    since: String,
    object: &'v str,
    resource_version: &'v str,
    lacking_in_new_watch: bool,
    lacking_in_cached_list: bool,
}

/// The object that dogwatch changes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CanaryEntry<'v> {
    object: &'v str,
    acknowledged: u32,
    evidence: bool,
    outstanding_since: Option<String>,
    last_round_trip_seconds: Option<serde_json::Number>,
    problem: Option<&'static str>,
    message: Option<&'v str>,
}

#[derive(Serialize)]
struct RegressionEntry {
    at: String,
    from: u64,
    to: u64,
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
        server_stale: stream.stale.as_ref().map(|stale| self::stale(scene, stale)),
        resource_version_went_back: stream.regression.map(|(Regression { from, to }, at)| RegressionEntry {
            at: text(scene.view.wall_at(at)),
            from,
            to,
        }),
        canary: stream.canary.as_ref().map(|canary| self::canary(scene, canary)),
    }
}

fn canary<'v>(scene: Scene<'_>, canary: &'v SeenCanary) -> CanaryEntry<'v> {
    CanaryEntry {
        object: &canary.object,
        acknowledged: canary.acks,
        evidence: canary.is_proven,
        outstanding_since: canary.outstanding.map(|at| text(scene.view.wall_at(at))),
        last_round_trip_seconds: canary.last_round_trip.map(seconds),
        problem: canary.problem.as_ref().map(|(problem, _)| problem.as_str()),
        message: canary.problem.as_ref().map(|(_, message)| message.as_str()),
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
        habits: explanation.habits.iter().map(habit).collect(),
        objects_left_out: explanation.left_out,
    }
}

fn habit(learnt: &Learnt) -> HabitEntry {
    HabitEntry {
        habit: learnt.habit.as_str(),
        meaning: learnt.habit.explained(),
        learnt_from: learnt.proofs,
        allowance_seconds: learnt.allowance.map(seconds),
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

fn stale<'v>(scene: Scene<'_>, stale: &'v Stale) -> StaleEntry<'v> {
    StaleEntry {
        since: text(scene.view.wall_at(stale.since)),
        object: &stale.object,
        resource_version: &stale.version,
        lacking_in_new_watch: stale.by_watch,
        lacking_in_cached_list: stale.by_list,
    }
}

fn watch<'v>(scene: Scene<'_>, watch: &'v Watch) -> WatchEntry<'v> {
    WatchEntry {
        open: watch.open,
        problem: watch.problem.as_deref(),
        last_event: scene.maybe_at(watch.last_event),
        events: counted(WatchType::ALL, &watch.events, WatchType::as_str),
    }
}
