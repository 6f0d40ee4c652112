//! What dogwatch says of a stream, and what that stands on, as its `/status` has it.

use serde_json::Value;

/// Worst first: what a row of the table tells.
const WORST_FIRST: [&str; 5] = ["asleep", "server-stale", "partial", "unknown", "healthy"];

/// One diagnosis.
#[derive(Debug, Clone, Default)]
pub(crate) struct Verdict {
    /// Empty before the first.
    pub(crate) diagnosis: String,
    /// What was seen of its objects: `2 pending`.
    pub(crate) seen: String,
    /// What the diagnosis stood on: `overdue 2, candidates 2/1, silent-connection`.
    pub(crate) evidence: String,
}

impl Verdict {
    /// The worst of all streams now and of what was said before. Of two that are equal the later counts: more is known
    /// then.
    pub(crate) fn worst(status: &Value, before: Self) -> Self {
        let operators = status["operators"].as_array().into_iter().flatten();
        let streams = operators.flat_map(|operator| {
            let streams = operator["streams"].as_array().into_iter().flatten();
            streams.map(|stream| Self::of(operator, stream))
        });
        streams.fold(before, |worst, other| if other.rank() <= worst.rank() { other } else { worst })
    }

    fn of(operator: &Value, stream: &Value) -> Self {
        let mut evidence = evidence(stream);
        evidence.extend(words(&operator["connections"]["evidence"]).map(str::to_owned));
        Self {
            diagnosis: stream["diagnosis"].as_str().unwrap_or_default().to_owned(),
            seen: seen(stream),
            evidence: evidence.join(", "),
        }
    }

    fn rank(&self) -> usize {
        WORST_FIRST.iter().position(|other| *other == self.diagnosis).unwrap_or(WORST_FIRST.len())
    }
}

fn seen(stream: &Value) -> String {
    if let Some(problem) = stream["list"]["problem"].as_str() {
        return problem.rsplit(": ").next().unwrap_or_default().chars().take(40).collect();
    }
    let states = stream["states"].as_object().into_iter().flatten();
    let states = states.filter(|(state, count)| *state != "processed" && count.as_u64() > Some(0));
    let words: Vec<String> = states.map(|(state, count)| format!("{count} {state}")).collect();
    if words.is_empty() { "all processed".to_owned() } else { words.join(", ") }
}

fn evidence(stream: &Value) -> Vec<String> {
    let mut evidence = Vec::new();
    if stream["overdue"].as_u64() > Some(0) {
        evidence.push(format!("overdue {}", stream["overdue"]));
        evidence.push(format!("candidates {}/{}", stream["candidates"], stream["candidatesNeeded"]));
    }
    let excused = stream["excused"].as_object().into_iter().flatten();
    evidence.extend(excused.map(|(excuse, count)| format!("{count} {excuse}")));
    evidence.extend(words(&stream["holds"]).map(|hold| format!("hold {hold}")));
    evidence.extend(words(&stream["evidence"]).map(str::to_owned));
    evidence
}

fn words(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
