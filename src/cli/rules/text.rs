//! Rules for a person.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use unicode_width::UnicodeWidthStr;

use super::describe::{Described, Kinds};
use crate::cli::columns::{Cell, Columns};
use crate::config::duration::show;
use crate::judge::rule::Durations;

/// One line a rule.
pub(super) fn table(rules: &[Described], width: Option<usize>, program: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut columns = Columns::new(&["NAME", ">OVERDUE AFTER", ">ASLEEP AFTER", ">MAX ATTEMPT", "READS"]);
    for rule in rules {
        let range = |pick: fn(&Durations) -> Duration| {
            // A kind on which nothing is ever acknowledged is never overdue.
            let judged = rule.kinds.iter().filter(|kinds| !kinds.is_static).map(|kinds| pick(&kinds.durations));
            let (least, most) = (judged.clone().min().unwrap_or_default(), judged.max().unwrap_or_default());
            if least == most { show(least) } else { format!("{}..{}", show(least), show(most)) }
        };
        columns.row(vec![
            Cell::new(rule.name),
            Cell::new(range(|durations| durations.overdue_after)),
            Cell::new(range(|durations| durations.asleep_after)),
            Cell::new(range(|durations| durations.max_attempt)),
            Cell::new(rule.about),
        ]);
    }
    for line in columns.lines(width) {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "\nWhat one of them reads, kind by kind: {program} rules NAME")
}

/// Everything about one rule.
pub(super) fn whole(rule: &Described, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    let mut line = |heading: &str, said: &str| field(&mut text, heading, said, width);
    line("Name:", rule.name);
    line("Reads:", rule.about);
    line("Chosen:", rule.chosen);
    if let Some(project) = rule.project {
        line("Reported as:", project);
    }
    for kinds in &rule.kinds {
        text.push('\n');
        section(&mut text, kinds, width);
    }
    out.write_all(text.as_bytes())
}

fn section(text: &mut String, kinds: &Kinds, width: Option<usize>) {
    let resources = kinds.resources.join("; ");
    let resources = if resources.is_empty() { "those that are not listed by group" } else { &resources };
    field(text, "Resources:", resources, width);
    field(text, "", kinds.about, width);
    for (state, said) in &kinds.states {
        for (number, said) in said.iter().enumerate() {
            let heading = if number == 0 { format!("  {state}:") } else { String::new() };
            field(text, &heading, said, width);
        }
    }
    if kinds.is_static {
        return;
    }
    field(text, "Finalizers:", &kinds.finalizers, width);
    let Durations { overdue_after, asleep_after, max_attempt } = kinds.durations;
    let durations = format!(
        "overdueAfter {}, asleepAfter {}, maxAttempt {}",
        show(overdue_after),
        show(asleep_after),
        show(max_attempt)
    );
    field(text, "Durations:", &durations, width);
    for (number, example) in kinds.examples.iter().enumerate() {
        // Objects are to be copied, so they are never broken.
        field(
            text,
            if number == 0 { "Examples:" } else { "" },
            &format!("{:<12} {}", example.state, example.object),
            None,
        );
    }
}

/// Where what is said begins.
const INDENT: usize = 15;

/// A heading and what is said under it, in lines that fit `width`.
fn field(text: &mut String, heading: &str, said: &str, width: Option<usize>) {
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(INDENT).max(20));
    let mut line = String::new();
    let mut heading = heading;
    for word in said.split(' ') {
        if !line.is_empty() && line.width() + 1 + word.width() > room {
            let _ = writeln!(text, "{heading:<INDENT$}{line}");
            heading = "";
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(text, "{heading:<INDENT$}{line}");
}
