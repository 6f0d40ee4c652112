use super::{describe, json, text};
use crate::config::rule_from_flag;
use crate::judge::object::parse_time;
use crate::judge::rule::{Choice, Reader};

fn shown(name: &str, width: Option<usize>) -> String {
    let rule = describe::named(name).expect("a rule");
    let mut out = Vec::new();
    text::whole(&rule, width, &mut out).expect("written");
    String::from_utf8(out).expect("text")
}

#[test]
fn every_rule_that_is_shown_can_be_named_and_its_examples_are_what_they_say() {
    let now = parse_time("2026-03-01T12:00:00Z").expect("a time");
    for rule in describe::all() {
        let Ok(Choice::Named(named)) = rule_from_flag(rule.name) else { panic!("{} cannot be named", rule.name) };
        assert_eq!(named.name(), rule.name);
        // Those of the table are tried where their entries are at hand.
        for example in rule.kinds.iter().flat_map(|kinds| kinds.examples).filter(|_| rule.kinds.len() == 1) {
            let reader = Reader::new(named.clone(), Vec::new());
            let state = reader.judge(example.object.as_bytes(), now, |_, judgement| judgement.state);
            assert_eq!(state, example.state, "{}: {}", rule.name, example.object);
        }
    }
}

#[test]
fn one_rule_is_shown_in_the_words_of_its_data() {
    let flux = shown("flux", None);
    for expected in [
        "Reported as:   flux\n",
        "  paused:      spec.suspend is true\n",
        "request-not-processed: annotation reconcile.fluxcd.io/requestedAt is not repeated in status.lastHandledReconcileAt\n",
        "condition Ready is False with a reason other than DependencyNotReady, Progressing or SourceNotReady for the \
         current generation\n",
        "Finalizers:    finalizers.fluxcd.io\n",
        "Durations:     overdueAfter 5m, asleepAfter 30m, maxAttempt 30m\n",
        "Examples:      processed    {\"metadata\":",
    ] {
        assert!(flux.contains(expected), "{expected} in {flux}");
    }
}

#[test]
fn what_is_said_fits_the_terminal_and_objects_stay_whole() {
    for rule in describe::all() {
        for line in shown(rule.name, Some(80)).lines().filter(|line| !line.contains('{')) {
            // A path alone may be longer.
            assert!(line.chars().count() <= 80 || line.trim().split(' ').count() <= 2, "{line}");
        }
    }
    let mut out = Vec::new();
    text::table(&describe::all(), Some(80), "dogwatch", &mut out).expect("written");
    assert!(String::from_utf8(out).expect("text").lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn programs_read_the_same() {
    let mut out = Vec::new();
    json::write(&describe::all(), &mut out).expect("written");
    let list: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(list["kind"], "RuleList");
    let rules = list["rules"].as_array().expect("a list");
    assert_eq!(rules.len(), describe::all().len());
    assert!(rules.iter().all(|rule| rule["kinds"][0]["maxAttemptSeconds"].as_u64() > Some(0)));
}
