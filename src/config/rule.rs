//! The value of `rule`: NAME, or {NAME: {options}}.

use std::time::Duration;

use super::cursor::{Cursor, Section};
use super::expression;
use super::problem::{nearest, quoted};
use crate::judge::rule::cel::{self, Cel};
use crate::judge::rule::generation::Generation;
use crate::judge::rule::kopf::{Kopf, Mode, Options, Storage};
use crate::judge::rule::table::{self, Ecosystem, Table};
use crate::judge::rule::{Choice, Rule};

/// Makes a rule of what stands at its name, and of its options where there are any.
type Read = fn(&Cursor<'_>, Option<&Cursor<'_>>) -> Choice;

/// Every name that `rule` takes beside those of the table.
const RULES: [(&str, Read); 4] = [("auto", auto), ("kopf", kopf), ("generation", generation), ("cel", cel)];

const STORAGES: [(&str, Storage); 3] =
    [("auto", Storage::Auto), ("annotations", Storage::Annotations), ("status", Storage::Status)];

const MODES: [(&str, Mode); 4] = [
    ("auto", Mode::Auto),
    ("change", Mode::Change),
    ("event-only", Mode::EventOnly),
    ("daemon-only", Mode::DaemonOnly),
];

/// Reads the value of `rule` or of the flag `--rule`.
pub(super) fn choice(cursor: &Cursor<'_>) -> Option<Choice> {
    cursor.short_or_long(by_name, with_options)
}

fn by_name(cursor: &Cursor<'_>) -> Option<Choice> {
    let name = cursor.text()?;
    if let Some((_, read)) = RULES.iter().find(|(known, _)| *known == name) {
        return Some(read(cursor, None));
    }
    if let Some(ecosystem) = table::named(&name) {
        return Some(of_table(ecosystem, None));
    }
    cursor.refuse(unknown(&name));
    None
}

/// What to say of a name that is no rule's.
pub(super) fn unknown(name: &str) -> String {
    let hint = nearest(name, &names()).map_or_else(
        || "`dogwatch rules` lists those that there are".to_owned(),
        |nearest| format!("did you mean `{nearest}`?"),
    );
    format!("unknown rule {}; {hint}", quoted(name))
}

/// Every name that `rule` takes.
fn names() -> Vec<&'static str> {
    RULES.iter().map(|(name, _)| *name).chain(table::ALL.iter().map(|ecosystem| ecosystem.name)).collect()
}

fn with_options(section: &mut Section<'_>) -> Option<Choice> {
    section.call_keys("rule");
    let mut choice = None;
    // All of them are read, so that each shows its own problems.
    for (name, read) in RULES {
        if let Some(options) = section.written(name) {
            choice = Some(read(&options, Some(&options)));
        }
    }
    for ecosystem in table::ALL {
        if let Some(options) = section.written(ecosystem.name) {
            choice = Some(of_table(ecosystem, Some(&options)));
        }
    }
    match section.len() {
        0 => section.refuse("names no rule; write one, as in `rule: auto`"),
        1 => {}
        count => section.refuse(format!("names {count} rules; keep one")),
    }
    choice
}

fn auto(_: &Cursor<'_>, options: Option<&Cursor<'_>>) -> Choice {
    Choice::Auto { max_attempt: max_attempt_alone(options) }
}

fn generation(_: &Cursor<'_>, options: Option<&Cursor<'_>>) -> Choice {
    let rule = max_attempt_alone(options).map_or_else(Generation::default, Generation::new);
    Choice::Named(Rule::Generation(rule))
}

fn of_table(ecosystem: &'static Ecosystem, options: Option<&Cursor<'_>>) -> Choice {
    Choice::Named(Rule::Table(Table::new(ecosystem).with_max_attempt(max_attempt_alone(options))))
}

fn kopf(_: &Cursor<'_>, options: Option<&Cursor<'_>>) -> Choice {
    let options = options.and_then(|options| options.section(kopf_options)).unwrap_or_default();
    Choice::Named(Rule::Kopf(Kopf::new(options)))
}

/// What is refused leaves a choice behind, so that reading goes on.
fn cel(at: &Cursor<'_>, options: Option<&Cursor<'_>>) -> Choice {
    let Some(options) = options else {
        at.refuse("has no expressions; write them, as in `rule: {cel: {processed: \"has(self.status)\"}}`");
        return Choice::Auto { max_attempt: None };
    };
    let rule = options.section(cel_options).flatten();
    rule.map_or(Choice::Auto { max_attempt: None }, |rule| Choice::Named(Rule::Cel(Box::new(rule))))
}

fn cel_options(section: &mut Section<'_>) -> Option<Cel> {
    let hint = "write the expression that is true once the operator has served the object";
    let processed = section.required("processed", hint, expression::condition);
    let mut condition = |key| section.read(key, expression::condition);
    let [in_progress, failing] = ["inProgress", "failing"].map(&mut condition);
    let [paused, pending] = ["paused", "pending"].map(&mut condition);
    let since = section.read("since", expression::time);
    let max_attempt = max_attempt(section);
    let options = cel::Options { processed: processed?, in_progress, failing, paused, pending, since };
    Some(Cel::new(options, max_attempt))
}

fn max_attempt_alone(options: Option<&Cursor<'_>>) -> Option<Duration> {
    options?.section(max_attempt).flatten()
}

/// The option that every rule takes.
fn max_attempt(section: &mut Section<'_>) -> Option<Duration> {
    section.read("maxAttempt", Cursor::duration)
}

fn kopf_options(section: &mut Section<'_>) -> Options {
    let default = Options::default();
    let mut text = |key| section.read(key, Cursor::text);
    Options {
        prefix: text("prefix"),
        key: text("key"),
        status_field: text("statusField"),
        finalizer: text("finalizer"),
        storage: section.read("storage", |cursor| cursor.word(&STORAGES)).unwrap_or(default.storage),
        ignored_fields: section.read("ignoredFields", Cursor::texts).unwrap_or(default.ignored_fields),
        mode: section.read("mode", |cursor| cursor.word(&MODES)).unwrap_or(default.mode),
        max_attempt: max_attempt(section).unwrap_or(default.max_attempt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::problem::Problems;
    use crate::config::raw;

    #[test]
    fn every_option_of_kopf_is_converted() {
        let text = "{prefix: ops.example.com, key: last, storage: status, statusField: kopf.state, \
                    finalizer: ops.example.com/hold, ignoredFields: [spec.seen], mode: daemon-only, maxAttempt: 20m}";
        let (node, problems) = (raw::read(text).unwrap(), Problems::default());
        let options = Cursor::root(&node, &problems).section(kopf_options);
        assert_eq!(
            options,
            Some(Options {
                prefix: Some("ops.example.com".into()),
                key: Some("last".into()),
                storage: Storage::Status,
                status_field: Some("kopf.state".into()),
                finalizer: Some("ops.example.com/hold".into()),
                ignored_fields: vec!["spec.seen".into()],
                mode: Mode::DaemonOnly,
                max_attempt: Duration::from_mins(20),
            })
        );
        assert_eq!(problems.into_sorted(), []);
    }
}
