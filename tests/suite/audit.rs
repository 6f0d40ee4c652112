//! `dogwatch audit` on files, as a user runs it.

use crate::run::{Run, dogwatch, dogwatch_with, shown};

const NOON: &[&str] = &["--now", "2026-03-01T12:00:00Z"];

fn audit(arguments: &[&str]) -> Run {
    dogwatch(&[&["audit"], arguments, NOON].concat())
}

fn report(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", run.stdout, run.stderr))
}

/// State and reason of every object, in the order of the dump.
fn states(arguments: &[&str]) -> Vec<String> {
    let run = audit(&[arguments, &["-o", "json", "--all", "--limit", "0"]].concat());
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    let objects = report(&run)["objects"].as_array().cloned().unwrap_or_default();
    objects.iter().map(|it| format!("{} {} {}", text(&it["name"]), text(&it["state"]), text(&it["reason"]))).collect()
}

#[test]
fn the_table_names_the_deaf_operator_and_the_next_step() {
    insta::assert_snapshot!(shown(&audit(&["-f", "audit/fleet.yaml"])));
}

#[test]
fn wide_lists_every_object_that_is_not_simply_processed() {
    insta::assert_snapshot!(shown(&audit(&["-f", "audit/fleet.yaml", "-o", "wide"])));
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let run = audit(&["-f", "audit/fleet.yaml", "-o", "json", "widgets", "-n", "blue"]);
    let generated = report(&run)["generatedAt"].as_str().unwrap_or_default().to_owned();
    insta::assert_snapshot!(shown(&run).replace(&generated, "GENERATED"));
}

#[test]
fn names_are_what_kubectl_takes() {
    insta::assert_snapshot!(shown(&audit(&["-f", "audit/fleet.yaml", "-o", "name"])));
}

#[test]
fn hostile_objects_are_unknown_and_the_rest_is_judged() {
    insta::assert_snapshot!("hostile_states", states(&["-f", "audit/hostile.json"]).join("\n"));
    let table = audit(&["-f", "audit/hostile.json", "-o", "wide", "--all"]);
    assert!(!table.stdout.contains(['\u{1b}', '\u{202e}']), "{}", table.stdout);
    insta::assert_snapshot!(shown(&table));
}

#[test]
fn a_nested_object_and_a_bomb_do_not_end_the_process() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let object = |spec: &str| {
        format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"deep","generation":1}},"spec":{spec},"status":{{"observedGeneration":1}}}}"#
        )
    };
    let run = dogwatch_with(&["audit", "-f", "-", "-o", "json", "--all"], &[], &object(&deep));
    assert_eq!(report(&run)["objects"][0]["state"], "processed", "what the rule does not read does not matter");
    let kopf = ["audit", "-f", "-", "-o", "json", "--all", "--rule", "kopf"];
    assert_eq!(report(&dogwatch_with(&kopf, &[], &object(&deep)))["objects"][0]["reason"], "undecodable");
    let large = format!("\"{}\"", "x".repeat(5 << 20));
    let run = dogwatch_with(&["audit", "-f", "-", "-o", "json", "--all"], &[], &object(&large));
    let message = "the object has 5243013 bytes, more than the 4194304 that are read of one object";
    assert_eq!(report(&run)["objects"][0]["message"], message);
    assert_eq!(run.code, 3, "there was an object and it could not be judged");
}

#[test]
fn exit_codes_follow_what_was_found() {
    let code = |arguments: &[&str]| audit(&[&["-f", "audit/fleet.yaml"], arguments].concat()).code;
    assert_eq!(code(&[]), 1, "objects are overdue");
    assert_eq!(code(&["--fail-on", "never"]), 0);
    assert_eq!(code(&["--fail-on", "asleep"]), 1);
    assert_eq!(code(&["gadgets"]), 0, "nothing is overdue");
    assert_eq!(code(&["gadgets", "--fail-on", "failing"]), 1);
    assert_eq!(code(&["gadgets", "--fail-on", "asleep,pending"]), 0);
    assert_eq!(code(&["reports"]), 3, "named, and nothing to judge by");
    assert_eq!(code(&["reports", "--allow-partial"]), 0);
    assert_eq!(code(&["--overdue-after", "10h"]), 0, "a resource without signal that nobody named changes nothing");
    assert_eq!(code(&["reports", "--fail-on", "unknown"]), 1, "a finding is a fact whatever else was not seen");
    assert_eq!(code(&["gizmos"]), 2, "no such resource");
    assert_eq!(code(&["--state", "pendin"]), 2);
    assert_eq!(code(&["--rule", "kopff"]), 2);
    assert_eq!(code(&["-l", "a=b"]), 2, "selectors need a cluster");
}

#[test]
fn wrong_input_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("broken.yaml");
    std::fs::write(&path, "kind: [").expect("written");
    let broken = path.to_string_lossy().into_owned();
    let run = audit(&["-f", "audit/fleet.yaml", "-f", &broken]);
    assert_eq!(run.code, 2);
    assert!(run.stdout.contains("widgets.example.com"), "the rest is judged: {}", run.stdout);
    assert!(run.stderr.contains(&format!("{broken}:1:")), "{}", run.stderr);
    for (name, content) in [("none.json", r#"{"a":1}"#), ("empty.json", "")] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        let run = audit(&["-f", &path.to_string_lossy()]);
        assert_eq!(run.code, 2, "{name}");
        assert!(run.stderr.contains("no Kubernetes object"), "{}", run.stderr);
    }
    let run = audit(&["-f", "nowhere.json"]);
    assert_eq!((run.code, run.stderr.contains("cannot read nowhere.json")), (2, true), "{}", run.stderr);
}

#[test]
fn without_a_cluster_the_error_says_what_to_do() {
    insta::assert_snapshot!(shown(&dogwatch(&["audit"])));
}

#[test]
fn a_report_can_go_to_several_places() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.json");
    let target = format!("json={}", path.display());
    let run = audit(&["-f", "audit/fleet.yaml", "-o", &target, "-o", "name"]);
    assert!(run.stdout.starts_with("widgets.example.com/"), "{}", run.stdout);
    let written = std::fs::read_to_string(path).expect("written");
    assert!(written.contains("\"kind\": \"AuditReport\""));
    let run = audit(&["-f", "audit/fleet.yaml", "-o", "json=/nowhere/report.json"]);
    assert_eq!((run.code, run.stderr.contains("/nowhere/report.json")), (4, true), "{}", run.stderr);
}

#[test]
fn flags_come_before_the_environment() {
    let arguments = [&["audit", "-f", "audit/fleet.yaml", "gadgets"], NOON].concat();
    let environment = [("DOGWATCH_FAIL_ON", "failing")];
    assert_eq!(dogwatch_with(&arguments, &environment, "").code, 1);
    let with_flag = [&arguments[..], &["--fail-on", "never"]].concat();
    assert_eq!(dogwatch_with(&with_flag, &environment, "").code, 0);
}

#[test]
fn the_configuration_says_what_is_meant_and_how() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("config.yaml");
    let config = "
apiVersion: dogwatch/v1
kind: Config
operator: {name: fleet}
resources:
- {resource: widgets.example.com, namespaces: [blue], overdueAfter: 2h, selector: a=b}
";
    std::fs::write(&path, config).expect("written");
    let path = path.to_string_lossy().into_owned();
    let run = audit(&["-f", "audit/fleet.yaml", "--config", &path, "-o", "json"]);
    let report = report(&run);
    assert_eq!(report["operators"][0]["operator"], "fleet");
    assert_eq!(report["summary"]["objects"], 2);
    assert_eq!(report["summary"]["overdue"], 0);
    assert_eq!(report["warnings"][0], "the selector of widgets.example.com is not applied to a dump");
    assert_eq!(audit(&["-f", "audit/fleet.yaml", "--config", &path, "widgets"]).code, 2, "both exclude each other");
    let run = audit(&["-f", "audit/fleet.yaml", "--config", "nowhere.yaml"]);
    assert_eq!((run.code, run.stderr.contains("nowhere.yaml")), (2, true), "{}", run.stderr);
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("many.json");
    let object = r#"{"apiVersion":"v1","kind":"Widget","metadata":{"name":"a","generation":2},"status":{"observedGeneration":1}}"#;
    std::fs::write(&path, object.repeat(20_000)).expect("written");
    let command = format!("{} audit -f {} -o json | head -1", env!("CARGO_BIN_EXE_dogwatch"), path.display());
    let output = std::process::Command::new("sh").args(["-c", &command]).output().expect("ran");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\n");
}
