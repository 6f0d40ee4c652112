//! What was seen and said while a scenario was played, and what a naive watchdog would have done.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::sim::Simulation;
use crate::sim::operator::{Options, Report};
use crate::view::{Diagnosis, Explanation, State, View};

/// Worst first: what a row of the table tells.
const WORST_FIRST: [Diagnosis; 5] =
    [Diagnosis::Asleep, Diagnosis::ServerStale, Diagnosis::Partial, Diagnosis::Unknown, Diagnosis::Healthy];

/// What was seen and said.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Each diagnosis of each stream, in order.
    pub(super) diagnoses: BTreeMap<String, Vec<Diagnosis>>,
    /// The worst moment: the rank of its diagnosis, what was seen, and what it stands on.
    worst: Option<(usize, String, String)>,
    /// When `/healthz` first failed.
    pub(super) failed_at: Option<u64>,
    pub(super) naive: Naive,
}

impl Record {
    /// Forgets what was said before the story begins.
    pub(super) fn begin(&mut self) {
        *self = Self::default();
    }

    pub(super) fn note(&mut self, second: u64, view: &View) {
        let Some(operator) = view.operators.first() else { return };
        if operator.is_failing() && self.failed_at.is_none() {
            self.failed_at = Some(second);
        }
        let streams = operator.streams.iter().map(|stream| {
            let problem = stream.list.problem.as_deref();
            (stream.resource.as_str(), &stream.explanation, problem)
        });
        let lease = operator.lease.iter().map(|lease| ("lease", lease, None));
        for (name, explanation, problem) in streams.chain(lease) {
            let passed = self.diagnoses.entry(name.to_owned()).or_default();
            if passed.last() != Some(&explanation.diagnosis) {
                passed.push(explanation.diagnosis);
            }
            let rank = rank(explanation.diagnosis);
            // Of one rank a later moment counts: more is known then.
            let is_told = |worst: usize| rank < worst || (rank == worst && second.is_multiple_of(60));
            if self.worst.as_ref().is_none_or(|(worst, ..)| is_told(*worst)) {
                self.worst = Some((rank, seen(explanation, problem), stands_on(explanation, view)));
            }
        }
    }

    /// The worst diagnosis of all streams.
    pub(super) fn worst(&self) -> Diagnosis {
        let passed = self.diagnoses.values().flatten();
        passed.copied().min_by_key(|diagnosis| rank(*diagnosis)).unwrap_or(Diagnosis::Unknown)
    }

    /// What was seen at the worst moment, and what the diagnosis stood on.
    pub(super) fn worst_moment(&self) -> (&str, &str) {
        self.worst.as_ref().map_or(("", ""), |(_, seen, evidence)| (seen, evidence))
    }
}

fn rank(diagnosis: Diagnosis) -> usize {
    WORST_FIRST.iter().position(|other| *other == diagnosis).unwrap_or(WORST_FIRST.len())
}

fn seen(explanation: &Explanation, problem: Option<&str>) -> String {
    if let Some(problem) = problem {
        return problem.split(": ").last().unwrap_or_default().chars().take(40).collect();
    }
    let states = &explanation.states;
    let named = [State::Pending, State::InProgress, State::Failing, State::Paused, State::Unknown];
    let counts = named.map(|state| (states.of(state), state.as_str())).into_iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    if words.is_empty() { "all processed".to_owned() } else { words.join(", ") }
}

fn stands_on(explanation: &Explanation, view: &View) -> String {
    let mut words = Vec::new();
    if explanation.overdue > 0 {
        words.push(format!("overdue {}", explanation.overdue));
        words.push(format!("candidates {}/{}", explanation.candidates, explanation.enough));
    }
    for (excuse, count) in &explanation.excused {
        words.push(format!("{count} {}", excuse.as_str()));
    }
    if let Some(since) = explanation.silent_since {
        words.push(format!("silent {}m", view.made.tick().since(since).as_secs() / 60));
    }
    for hold in &explanation.holds {
        words.push(format!("hold {}", hold.as_str()));
    }
    let operator = view.operators.first();
    let stream =
        operator.and_then(|operator| operator.streams.iter().find(|s| s.explanation.stream == explanation.stream));
    if let Some(evidence) = stream.map(|stream| stream.evidence) {
        let flags = [(evidence.silent_connection, "silent-connection"), (evidence.server_stale, "server-stale")];
        words.extend(flags.into_iter().filter(|(is_on, _)| *is_on).map(|(_, word)| word.to_owned()));
    }
    words.join(", ")
}

/// The rule that a script would follow: an object is pending for more than 300 s, and nobody was served since the oldest
/// pending one; then restart, and again every 300 s. It knows no holds and no excuses, takes every write into a status
/// for service, and has its own dates from the objects.
#[derive(Debug, Default)]
pub(super) struct Naive {
    /// Since when each object, by uid, is pending.
    pending: BTreeMap<String, u64>,
    versions: BTreeMap<String, String>,
    last_ack: u64,
    last_restart: Option<u64>,
    /// How many restarts it would have made.
    pub(super) restarts: usize,
}

const OVERDUE: u64 = 300;

impl Naive {
    pub(super) fn look(&mut self, now: u64, sim: &Simulation, kind: &Options) {
        let objects: Vec<_> = kind.resources.iter().flat_map(|resource| sim.objects(&resource.name())).collect();
        let mut pending = BTreeMap::new();
        for object in &objects {
            let uid = object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
            if is_served(object, kind.report) {
                if self.pending.contains_key(&uid) {
                    self.last_ack = now;
                }
            } else {
                let since = self.pending.get(&uid).copied().unwrap_or(now);
                pending.insert(uid.clone(), since);
            }
            let written = written_by_operator(object);
            if self.versions.insert(uid, written.clone()).is_some_and(|old| old != written) {
                self.last_ack = now;
            }
        }
        self.pending = pending;
        let Some(oldest) = self.pending.values().copied().min() else { return };
        let is_due = self.last_restart.is_none_or(|last| now >= last + OVERDUE);
        if now > oldest + OVERDUE && self.last_ack <= oldest && is_due {
            self.last_restart = Some(now);
            self.restarts += 1;
        }
    }
}

fn is_served(object: &Value, report: Report) -> bool {
    if object["metadata"].get("deletionTimestamp").is_some() {
        return false;
    }
    match report {
        Report::Kopf { .. } => {
            let mark = &object["metadata"]["annotations"]["kopf.zalando.org/last-handled-configuration"];
            let mark: Option<Value> = mark.as_str().and_then(|mark| serde_json::from_str(mark).ok());
            mark.is_some_and(|mark| mark["spec"] == object["spec"])
        }
        _ => object["status"]["observedGeneration"].as_i64() >= object["metadata"]["generation"].as_i64(),
    }
}

/// The newest time at which the operator wrote, as `managedFields` has it.
fn written_by_operator(object: &Value) -> String {
    let entries = object["metadata"]["managedFields"].as_array().map_or(&[][..], Vec::as_slice);
    let own = entries.iter().filter(|entry| matches!(entry["manager"].as_str(), Some("operator" | "kopf")));
    own.filter_map(|entry| entry["time"].as_str()).max().unwrap_or_default().to_owned()
}
