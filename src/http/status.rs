//! `/status`: everything that is known and decided, as JSON. The fields are a contract: version 1 only gains some.

mod beside;
mod connections;
mod operator;
mod stream;

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use crate::view::board::Probes;
use crate::view::{Gate, Tick, View};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'v> {
    api_version: &'static str,
    kind: &'static str,
    version: &'static str,
    made_at: String,
    started_at: String,
    /// Whether the view is too old to say anything; every decision is `blind` then and every diagnosis `unknown`.
    stale: bool,
    config: ConfigEntry<'v>,
    api_gate: &'static str,
    tasks: Vec<TaskEntry<'v>>,
    probes: Vec<ProbeEntry>,
    operators: Vec<operator::Entry<'v>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfigEntry<'v> {
    loaded_at: Option<String>,
    problem: Option<&'v str>,
    warnings: &'v [String],
}

#[derive(Serialize)]
struct TaskEntry<'v> {
    name: &'v str,
    ended: Option<&'v str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProbeEntry {
    path: &'static str,
    agent: &'static str,
    last_at: String,
}

/// What is read by every entry.
#[derive(Clone, Copy)]
struct Scene<'v> {
    view: &'v View,
    is_stale: bool,
}

impl Scene<'_> {
    fn at(self, tick: Tick) -> String {
        text(self.view.wall_at(tick))
    }

    fn maybe_at(self, tick: Option<Tick>) -> Option<String> {
        tick.map(|tick| self.at(tick))
    }
}

/// The document, for people and programs alike: indented, and with a line end.
pub(super) fn json(view: &View, probes: &Probes, now: Tick) -> Result<String, serde_json::Error> {
    let scene = Scene { view, is_stale: view.is_stale(now) };
    let asked = probes.last.iter().map(|((path, agent), at)| ProbeEntry {
        path: path.as_str(),
        agent: agent.as_str(),
        last_at: scene.at(*at),
    });
    let status = Status {
        api_version: "dogwatch/v1",
        kind: "Status",
        version: env!("CARGO_PKG_VERSION"),
        made_at: text(view.made.wall),
        started_at: text(view.started.wall),
        stale: scene.is_stale,
        config: ConfigEntry {
            loaded_at: view.config.loaded.map(text),
            problem: view.config.problem.as_deref(),
            warnings: &view.config.warnings,
        },
        api_gate: match view.gate {
            Gate::Open => "open",
            Gate::Closed => "closed",
        },
        tasks: view.tasks.iter().map(|task| TaskEntry { name: &task.name, ended: task.ended.as_deref() }).collect(),
        probes: asked.collect(),
        operators: view.operators.iter().map(|operator| operator::entry(scene, operator)).collect(),
    };
    let mut document = serde_json::to_string_pretty(&status)?;
    document.push('\n');
    Ok(document)
}

/// Whole seconds: what lies below is the noise of two clocks.
fn text(at: Timestamp) -> String {
    crate::view::line::second(at)
}

/// Seconds, with a fraction only where there is one.
fn seconds(duration: Duration) -> serde_json::Number {
    let whole = serde_json::Number::from(duration.as_secs());
    if duration.subsec_nanos() == 0 {
        return whole;
    }
    serde_json::Number::from_f64(duration.as_secs_f64()).unwrap_or(whole)
}
