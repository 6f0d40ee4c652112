//! The report for a person: operators, the oldest overdue objects, what could not be judged, and what to do next.

use std::io;

use anstyle::AnsiColor;
use jiff::Timestamp;

use super::super::age::short;
use super::super::columns::{Cell, Columns, visible};
use super::{NowFrom, Report, Resource};
use crate::judge::state::{Reason, SinceFrom, State};
use crate::judge::tally::{Diagnosis, Finding};

/// How the table is to look.
#[derive(Debug, Clone)]
pub struct Options {
    /// The terminal's width; `None` where the table goes to a file or a pipe.
    pub width: Option<usize>,
    /// Every object that the report lists, with all that is known of it.
    pub is_wide: bool,
    /// At most so many objects.
    pub limit: Option<usize>,
    /// How this program was called, for the commands that the table proposes.
    pub program: String,
}

/// Without `-o wide` the table names so many overdue objects; a longer list is what `wide` and `json` are for.
const FEW: usize = 10;

/// Writes the table.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write(report: &Report, options: &Options, out: &mut dyn io::Write) -> io::Result<()> {
    let mut lines = vec![context(report)];
    section(&mut lines, &operators(report), options);
    if options.is_wide {
        section(&mut lines, &resources(report), options);
    }
    section(&mut lines, &objects(report, options), options);
    if let Some(more) = more_overdue(report, options) {
        lines.push(more);
    }
    section(&mut lines, &unjudged(report), options);
    if !report.warnings.is_empty() {
        lines.push(String::new());
        lines.extend(report.warnings.iter().map(|warning| format!("warning: {}", visible(warning))));
    }
    lines.push(String::new());
    lines.push(summary(report));
    lines.extend(next(report, options));
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

fn section(lines: &mut Vec<String>, columns: &Columns, options: &Options) {
    if !columns.is_empty() {
        lines.push(String::new());
        lines.extend(columns.lines(options.width));
    }
}

fn context(report: &Report) -> String {
    let place = report.context.as_ref().map_or_else(String::new, |context| format!("context {}, ", visible(context)));
    let clock = match report.now_from {
        NowFrom::Server => "by the API server's clock",
        NowFrom::Clock => "by this machine's clock",
        NowFrom::Mtime => "by the file's time",
        NowFrom::Flag => "as given by --now",
    };
    let now = report.now.round(jiff::Unit::Second).unwrap_or(report.now);
    let shown = report.resources.iter().filter(|resource| resource.summary.states.total() > 0).count();
    format!(
        "{place}{} in {}, at {now} {clock}",
        count(report.states().total(), "object"),
        count(shown as u64, "resource")
    )
}

fn operators(report: &Report) -> Columns {
    let mut columns = Columns::new(&["OPERATOR", "DIAGNOSIS", ">OBJECTS", ">OVERDUE", ">OLDEST", ">LAST ACK"]);
    for operator in report.operators() {
        // What has no objects needs no row, and what has no signal is told in one line further down.
        let is_shown = |resource: &Resource| resource.summary.states.total() > 0 && !is_silent(resource);
        if !report.resources.iter().any(|resource| resource.operator == operator.operator && is_shown(resource)) {
            continue;
        }
        columns.row(vec![
            Cell::new(operator.operator),
            diagnosis(operator.diagnosis),
            Cell::new(operator.objects.to_string()),
            Cell::new(operator.overdue.to_string()),
            Cell::new(oldest(report.now, operator.oldest_pending)),
            Cell::new(age(report.now, operator.last_ack)),
        ]);
    }
    columns
}

fn resources(report: &Report) -> Columns {
    let header = [
        "RESOURCE",
        "DIAGNOSIS",
        "RULE",
        "RULE FROM",
        ">OVERDUE AFTER",
        ">OBJECTS",
        ">OVERDUE",
        ">OLDEST",
        ">LAST ACK",
    ];
    let mut columns = Columns::new(&header);
    for resource in report.resources.iter().filter(|resource| resource.summary.states.total() > 0) {
        let summary = &resource.summary;
        columns.row(vec![
            Cell::new(&resource.resource),
            diagnosis(summary.diagnosis),
            Cell::new(resource.rule),
            Cell::new(resource.rule_from.as_str()),
            Cell::new(short(resource.overdue_after)),
            Cell::new(summary.states.total().to_string()),
            Cell::new(summary.overdue.to_string()),
            Cell::new(oldest(report.now, summary.oldest_pending)),
            Cell::new(age(report.now, summary.last_ack)),
        ]);
    }
    columns
}

fn objects(report: &Report, options: &Options) -> Columns {
    let (findings, _) = report.findings(options.limit);
    if options.is_wide {
        let header = ["RESOURCE", "NAMESPACE", "NAME", "STATE", "REASON", ">AGE", "SINCE FROM", "MESSAGE"];
        let mut columns = Columns::new(&header);
        for (resource, finding) in findings {
            columns.row(vec![
                Cell::new(&resource.resource),
                Cell::new(finding.namespace.as_deref().unwrap_or("")),
                Cell::new(&finding.name),
                state(finding),
                Cell::new(finding.reason.map_or("", Reason::as_str)),
                Cell::new(finding_age(report.now, finding)),
                Cell::new(finding.since.map_or("", |since| since.from.as_str())),
                Cell::new(&finding.message),
            ]);
        }
        return columns;
    }
    let mut columns = Columns::new(&["OVERDUE OBJECT", "NAMESPACE", "NAME", "REASON", ">AGE"]);
    for (resource, finding) in findings.into_iter().filter(|(_, finding)| finding.overdue).take(FEW) {
        columns.row(vec![
            Cell::new(&resource.resource),
            Cell::new(finding.namespace.as_deref().unwrap_or("")),
            Cell::new(&finding.name),
            Cell::new(finding.reason.map_or("", Reason::as_str)),
            Cell::new(finding_age(report.now, finding)),
        ]);
    }
    columns
}

fn more_overdue(report: &Report, options: &Options) -> Option<String> {
    let more = report.overdue().saturating_sub(FEW as u64);
    (more > 0 && !options.is_wide).then(|| format!("... and {more} more"))
}

fn unjudged(report: &Report) -> Columns {
    let mut columns = Columns::new(&["NOT JUDGED", ">OBJECTS", "REASON", "MESSAGE"]);
    let mut silent: Vec<&Resource> = Vec::new();
    for resource in &report.resources {
        if let Some(error) = &resource.error {
            columns.row(vec![
                Cell::new(&resource.resource),
                Cell::new("?"),
                Cell::new(error.reason.as_str()),
                Cell::new(&error.message),
            ]);
        }
        if is_silent(resource) {
            silent.push(resource);
            continue;
        }
        for (reason, objects) in &resource.summary.unknown {
            columns.row(vec![
                Cell::new(&resource.resource),
                Cell::new(objects.to_string()),
                Cell::new(reason.as_str()),
                Cell::new(format!("rule {}; see -o wide --state unknown", resource.rule)),
            ]);
        }
    }
    if let Some((first, others)) = silent.split_first() {
        let objects: u64 = silent.iter().map(|resource| resource.summary.states.total()).sum();
        let names = if others.is_empty() { first.resource.clone() } else { count(silent.len() as u64, "resource") };
        let example = if others.is_empty() { String::new() } else { format!(", among them {}", first.resource) };
        columns.row(vec![
            Cell::new(names),
            Cell::new(objects.to_string()),
            Cell::new(Reason::NoSignal.as_str()),
            Cell::new(format!("no sign of what was processed{example}")),
        ]);
    }
    columns
}

/// Whether no object shows anything that its rule could read, and nothing else is wrong.
fn is_silent(resource: &Resource) -> bool {
    matches!(resource.summary.unknown[..], [(Reason::NoSignal, _)]) && resource.is_unjudged()
}

/// The first few names, and how many there are beyond them.
fn few(names: &[&str]) -> String {
    match names {
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second}, {third} and {} more", rest.len())
        }
        names => names.join(", "),
    }
}

fn summary(report: &Report) -> String {
    let states = report.states();
    let parts: Vec<String> = State::ALL
        .iter()
        .filter(|state| states.of(**state) > 0)
        .map(|state| format!("{} {state}", states.of(*state)))
        .collect();
    let asleep: Vec<&str> = report
        .resources
        .iter()
        .filter(|resource| resource.summary.diagnosis == Diagnosis::Asleep)
        .map(|resource| resource.resource.as_str())
        .collect();
    let verdict = match (&asleep[..], report.overdue()) {
        ([], 0) if report.is_incomplete() => "Nothing overdue in what could be read; not everything could.".to_owned(),
        ([], 0) if states.total() == 0 => "No objects.".to_owned(),
        ([], 0) if states.total() == states.of(State::Unknown) => "Nothing could be judged.".to_owned(),
        ([], 0) => "Nothing overdue.".to_owned(),
        ([], overdue) => format!("{} overdue.", count(overdue, "object")),
        (asleep, overdue) => format!("{} overdue; asleep: {}.", count(overdue, "object"), few(asleep)),
    };
    if parts.is_empty() {
        verdict
    } else {
        format!("{verdict} Of {}: {}.", count(states.total(), "object"), parts.join(", "))
    }
}

/// The command that shows more, where there is more to see.
fn next(report: &Report, options: &Options) -> Option<String> {
    if options.is_wide || report.overdue() == 0 {
        return None;
    }
    let worst = report.resources.iter().min_by_key(|resource| resource.summary.diagnosis)?;
    report.is_live.then(|| format!("Next: {} audit {} -o wide", options.program, visible(&worst.resource)))
}

fn diagnosis(diagnosis: Diagnosis) -> Cell {
    let colour = match diagnosis {
        Diagnosis::Asleep => AnsiColor::Red,
        Diagnosis::Partial | Diagnosis::ServerStale => AnsiColor::Yellow,
        Diagnosis::Unknown => AnsiColor::Magenta,
        Diagnosis::Healthy => AnsiColor::Green,
    };
    Cell::new(diagnosis.as_str()).coloured(colour)
}

fn state(finding: &Finding) -> Cell {
    let cell = Cell::new(if finding.overdue { "overdue" } else { finding.state.as_str() });
    if finding.overdue { cell.coloured(AnsiColor::Red) } else { cell }
}

fn age(now: Timestamp, at: Option<Timestamp>) -> String {
    at.map_or_else(|| "-".to_owned(), |at| short(now.duration_since(at).try_into().unwrap_or_default()))
}

/// A pending object whose age nobody knows counts from now, and may be of any age.
fn oldest(now: Timestamp, at: Option<Timestamp>) -> String {
    if at == Some(now) { ">=0s".to_owned() } else { age(now, at) }
}

/// With `>=` in front where the truth may be more.
fn finding_age(now: Timestamp, finding: &Finding) -> String {
    let is_bound = finding.since.is_some_and(|since| since.from == SinceFrom::FirstSeen);
    let age = age(now, finding.since.map(|since| since.at));
    if is_bound { format!(">={age}") } else { age }
}

fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
