//! The checks behind `/healthz`, `/livez` and `/readyz`.

use axum::http::StatusCode;

use super::answer::Answer;
use super::query::Query;
use super::verbose;
use crate::view::board::Path;
use crate::view::{LEASE, Operator, Stream, Tick, View, line};

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Check {
    /// Its name in `?exclude=` and behind the path.
    pub(super) name: String,
    /// What is wrong, in one line; absent while nothing is.
    pub(super) failure: Option<String>,
    /// Whether it fails because a restart is requested.
    is_restart: bool,
}

impl Check {
    fn new(name: impl Into<String>, failure: Option<String>) -> Self {
        Self { name: name.into(), failure, is_restart: false }
    }
}

/// What a path answers, and whether a probe learns by it that a restart is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checked {
    pub(super) answer: Answer,
    pub(super) failed_for: Option<Tick>,
}

/// Answers `path`, or `path/only`. `None`: there is no such check; the names are in the second value.
pub(super) fn answer(
    path: Path,
    only: Option<&str>,
    query: &Query,
    view: &View,
    now: Tick,
) -> Result<Checked, Vec<String>> {
    let is_stale = view.is_stale(now);
    let checks = checks(path, view, is_stale);
    if only.is_some_and(|only| !checks.iter().any(|check| check.name == only)) {
        return Err(checks.into_iter().map(|check| check.name).collect());
    }
    let counts = |check: &&Check| match only {
        Some(only) => check.name == only,
        None => !query.exclude.contains(&check.name),
    };
    let failed: Vec<&Check> = checks.iter().filter(counts).filter(|check| check.failure.is_some()).collect();
    let status = match (failed.is_empty(), path) {
        (true, _) => StatusCode::OK,
        (false, Path::Readyz) => StatusCode::SERVICE_UNAVAILABLE,
        (false, Path::Healthz | Path::Livez) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let is_restart = failed.iter().any(|check| check.is_restart);
    let failed_for = view.operators.iter().map(|operator| &operator.verdict).find(|verdict| verdict.is_failing);
    let mut body = match path {
        Path::Healthz => healthz_line(view, is_stale, only.is_some(), &failed),
        Path::Livez | Path::Readyz => plain_line(&failed),
    };
    if query.is_verbose {
        verbose::append(&mut body, path, view, &checks, query, is_stale);
        let passed = if failed.is_empty() { "passed" } else { "failed" };
        body.extend(["\n", path.as_str(), " check ", passed]);
    }
    Ok(Checked {
        answer: Answer::text(status, body),
        failed_for: failed_for.filter(|_| is_restart).map(|verdict| verdict.since),
    })
}

fn checks(path: Path, view: &View, is_stale: bool) -> Vec<Check> {
    match path {
        Path::Healthz => view.operators.iter().flat_map(|operator| health(view, operator, is_stale)).collect(),
        Path::Livez => life(view, is_stale),
        Path::Readyz => readiness(view),
    }
}

/// What an operator's checks and streams are called; with several operators their names tell them apart.
fn name_of(view: &View, operator: &Operator, kind: &str, name: &str) -> String {
    let parts = [Some(kind), (view.operators.len() > 1).then_some(&operator.name[..]), Some(name)];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// A check per stream, which fails while a restart is requested for it, and the operator's own. A view that is too old
/// to say anything fails none.
fn health(view: &View, operator: &Operator, is_stale: bool) -> Vec<Check> {
    let verdict = &operator.verdict;
    let asleep = verdict.subject.as_deref().filter(|_| verdict.is_failing);
    let mut names: Vec<&str> = operator.streams.iter().map(Stream::name).collect();
    names.extend(operator.lease.as_ref().map(|_| LEASE));
    // A configuration that was just reloaded may not have the stream any more.
    names.extend(asleep.filter(|asleep| !names.contains(asleep)));
    let mut checks: Vec<Check> = names
        .into_iter()
        .map(|name| {
            let is_restart = asleep == Some(name) && !is_stale;
            let failure = is_restart.then(|| verdict.line.clone());
            Check { is_restart, ..Check::new(name_of(view, operator, "stream", name), failure) }
        })
        .collect();
    if let Some(check) = &operator.own_check {
        let failure = line::own_check(check).filter(|_| !is_stale);
        checks.push(Check::new(name_of(view, operator, "operator", ""), failure));
    }
    checks
}

/// dogwatch itself: its loop turns, and its tasks are alive.
fn life(view: &View, is_stale: bool) -> Vec<Check> {
    let stopped = is_stale.then(|| format!("nothing since {}", line::second(view.made.wall)));
    let tasks = view.tasks.iter().map(|task| Check::new(format!("task/{}", task.name), task.ended.clone()));
    std::iter::once(Check::new("loop", stopped)).chain(tasks).collect()
}

/// The configuration is in force, and each resource has a complete list or a documented reason.
fn readiness(view: &View) -> Vec<Check> {
    let config = view.operators.is_empty().then(|| {
        view.config.problem.clone().unwrap_or_else(|| "the configuration was not put into force yet".to_owned())
    });
    let lists = view.operators.iter().flat_map(|operator| {
        operator.streams.iter().map(move |stream| {
            let problem = stream.list.problem.as_deref().map_or_else(String::new, |problem| format!(": {problem}"));
            let failure = (!stream.list.is_ready).then(|| format!("no complete list yet{problem}"));
            Check::new(name_of(view, operator, "list", stream.name()), failure)
        })
    });
    std::iter::once(Check::new("config", config)).chain(lists).collect()
}

fn healthz_line(view: &View, is_stale: bool, is_single: bool, failed: &[&Check]) -> String {
    // A requested restart comes before the operator's own check: it is the one that dogwatch answers for.
    let first = failed.iter().find(|check| check.is_restart).or_else(|| failed.first());
    if let Some(failure) = first.and_then(|check| check.failure.clone()) {
        return failure;
    }
    match view.worst() {
        _ if is_stale => line::stale(view),
        _ if is_single => "ok".to_owned(),
        None => line::without_operator(view),
        Some(operator) if operator.verdict.is_failing => {
            line::fit(&format!("ok {}: excluded here; {}", operator.verdict.decision, operator.verdict.line))
        }
        Some(operator) => operator.verdict.line.clone(),
    }
}

fn plain_line(failed: &[&Check]) -> String {
    if failed.is_empty() {
        return "ok".to_owned();
    }
    let reason = |check: &&Check| format!("{}: {}", check.name, check.failure.as_deref().unwrap_or_default());
    line::fit(&format!("failed: {}", failed.iter().map(reason).collect::<Vec<_>>().join("; ")))
}
