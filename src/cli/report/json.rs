//! The report as JSON. The fields are a contract: version 1 only gains some.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::{Report, Resource};
use crate::judge::state::{Reason, State};
use crate::judge::tally::{Diagnosis, Finding, States};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AuditReport<'r> {
    api_version: &'static str,
    kind: &'static str,
    generated_at: String,
    now: String,
    now_from: &'static str,
    context: Option<&'r str>,
    summary: SummaryEntry,
    operators: Vec<OperatorEntry<'r>>,
    resources: Vec<ResourceEntry<'r>>,
    warnings: &'r [String],
    objects_left_out: u64,
    objects: Vec<ObjectEntry<'r>>,
}

#[derive(Serialize)]
struct SummaryEntry {
    objects: u64,
    overdue: u64,
    states: BTreeMap<&'static str, u64>,
    diagnoses: BTreeMap<&'static str, u64>,
    incomplete: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OperatorEntry<'r> {
    operator: &'r str,
    diagnosis: &'static str,
    objects: u64,
    overdue: u64,
    oldest_pending: Option<String>,
    last_ack: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceEntry<'r> {
    operator: &'r str,
    resource: &'r str,
    version: &'r str,
    kind: &'r str,
    rule: &'static str,
    rule_from: &'static str,
    overdue_after_seconds: serde_json::Number,
    diagnosis: &'static str,
    oldest_pending: Option<String>,
    last_ack: Option<String>,
    objects: u64,
    overdue: u64,
    states: BTreeMap<&'static str, u64>,
    error: Option<ErrorEntry<'r>>,
}

#[derive(Serialize)]
struct ErrorEntry<'r> {
    reason: &'static str,
    message: &'r str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectEntry<'r> {
    operator: &'r str,
    resource: &'r str,
    version: &'r str,
    kind: &'r str,
    namespace: Option<&'r str>,
    name: &'r str,
    uid: &'r str,
    state: &'static str,
    overdue: bool,
    reason: Option<&'static str>,
    since: Option<String>,
    since_from: Option<&'static str>,
    age_seconds: Option<i64>,
    message: &'r str,
    rule: &'static str,
}

/// Writes the report with at most `limit` objects; without a limit all of them.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write(report: &Report, limit: Option<usize>, out: &mut dyn io::Write) -> io::Result<()> {
    let (findings, objects_left_out) = report.findings(limit);
    let view = AuditReport {
        api_version: "dogwatch/v1",
        kind: "AuditReport",
        generated_at: seconds(report.generated_at),
        now: report.now.to_string(),
        now_from: report.now_from.as_str(),
        context: report.context.as_deref(),
        summary: summary(report),
        operators: operators(report),
        resources: report.resources.iter().map(resource).collect(),
        warnings: &report.warnings,
        objects_left_out,
        objects: findings.into_iter().map(|(resource, finding)| object(report.now, resource, finding)).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &view)?;
    writeln!(out)
}

fn summary(report: &Report) -> SummaryEntry {
    let states = report.states();
    let mut diagnoses: BTreeMap<&'static str, u64> = Diagnosis::ALL.iter().map(|it| (it.as_str(), 0)).collect();
    for resource in &report.resources {
        *diagnoses.entry(resource.summary.diagnosis.as_str()).or_default() += 1;
    }
    SummaryEntry {
        objects: states.total(),
        overdue: report.overdue(),
        states: by_state(&states),
        diagnoses,
        incomplete: report.is_incomplete(),
    }
}

fn operators(report: &Report) -> Vec<OperatorEntry<'_>> {
    report
        .operators()
        .into_iter()
        .map(|operator| OperatorEntry {
            operator: operator.operator,
            diagnosis: operator.diagnosis.as_str(),
            objects: operator.objects,
            overdue: operator.overdue,
            oldest_pending: operator.oldest_pending.map(text),
            last_ack: operator.last_ack.map(text),
        })
        .collect()
}

fn resource(resource: &Resource) -> ResourceEntry<'_> {
    let summary = &resource.summary;
    ResourceEntry {
        operator: &resource.operator,
        resource: &resource.resource,
        version: &resource.version,
        kind: &resource.kind,
        rule: resource.rule,
        rule_from: resource.rule_from.as_str(),
        overdue_after_seconds: number(resource.overdue_after),
        diagnosis: summary.diagnosis.as_str(),
        oldest_pending: summary.oldest_pending.map(text),
        last_ack: summary.last_ack.map(text),
        objects: summary.states.total(),
        overdue: summary.overdue,
        states: by_state(&summary.states),
        error: resource
            .error
            .as_ref()
            .map(|error| ErrorEntry { reason: error.reason.as_str(), message: &error.message }),
    }
}

fn object<'r>(now: Timestamp, resource: &'r Resource, finding: &'r Finding) -> ObjectEntry<'r> {
    let version = finding.api_version.as_deref().map(|version| version.rsplit('/').next().unwrap_or(version));
    ObjectEntry {
        operator: &resource.operator,
        resource: &resource.resource,
        version: version.unwrap_or(&resource.version),
        kind: finding.kind.as_deref().unwrap_or(&resource.kind),
        namespace: finding.namespace.as_deref(),
        name: &finding.name,
        uid: &finding.uid,
        state: finding.state.as_str(),
        overdue: finding.overdue,
        reason: finding.reason.map(Reason::as_str),
        since: finding.since.map(|since| text(since.at)),
        since_from: finding.since.map(|since| since.from.as_str()),
        age_seconds: finding.since.map(|since| now.duration_since(since.at).as_secs()),
        message: &finding.message,
        rule: resource.rule,
    }
}

fn by_state(states: &States) -> BTreeMap<&'static str, u64> {
    State::ALL.iter().map(|state| (state.as_str(), states.of(*state))).collect()
}

fn text(at: Timestamp) -> String {
    at.to_string()
}

/// Seconds, with a fraction only where there is one.
fn number(duration: Duration) -> serde_json::Number {
    let whole = serde_json::Number::from(duration.as_secs());
    if duration.subsec_nanos() == 0 {
        return whole;
    }
    serde_json::Number::from_f64(duration.as_secs_f64()).unwrap_or(whole)
}

fn seconds(at: Timestamp) -> String {
    at.round(jiff::Unit::Second).unwrap_or(at).to_string()
}
