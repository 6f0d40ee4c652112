//! Rules for programs.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;

use super::describe::{Described, Kinds};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'r> {
    api_version: &'static str,
    kind: &'static str,
    rules: Vec<Rule<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule<'r> {
    name: &'r str,
    project: Option<&'r str>,
    reads: &'r str,
    chosen: &'r str,
    kinds: Vec<Entry<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'r> {
    resources: &'r [String],
    about: &'r str,
    r#static: bool,
    states: serde_json::Map<String, serde_json::Value>,
    finalizers: &'r str,
    overdue_after_seconds: u64,
    asleep_after_seconds: u64,
    max_attempt_seconds: u64,
    examples: Vec<Example<'r>>,
}

#[derive(Serialize)]
struct Example<'r> {
    state: &'r str,
    object: &'r RawValue,
}

/// Writes a `RuleList`.
pub(super) fn write(rules: &[Described], out: &mut dyn Write) -> io::Result<()> {
    let rules = rules.iter().map(rule).collect::<Result<_, _>>()?;
    serde_json::to_writer(&mut *out, &List { api_version: "dogwatch/v1", kind: "RuleList", rules })?;
    writeln!(out)
}

fn rule(rule: &Described) -> Result<Rule<'_>, serde_json::Error> {
    Ok(Rule {
        name: rule.name,
        project: rule.project,
        reads: rule.about,
        chosen: rule.chosen,
        kinds: rule.kinds.iter().map(entry).collect::<Result<_, _>>()?,
    })
}

fn entry(kinds: &Kinds) -> Result<Entry<'_>, serde_json::Error> {
    let states = kinds.states.iter().map(|(state, said)| (state.to_string(), said.clone().into()));
    let examples = kinds
        .examples
        .iter()
        .map(|example| Ok(Example { state: example.state.as_str(), object: serde_json::from_str(example.object)? }));
    Ok(Entry {
        resources: &kinds.resources,
        about: kinds.about,
        r#static: kinds.is_static,
        states: states.collect(),
        finalizers: &kinds.finalizers,
        overdue_after_seconds: kinds.durations.overdue_after.as_secs(),
        asleep_after_seconds: kinds.durations.asleep_after.as_secs(),
        max_attempt_seconds: kinds.durations.max_attempt.as_secs(),
        examples: examples.collect::<Result<_, serde_json::Error>>()?,
    })
}
