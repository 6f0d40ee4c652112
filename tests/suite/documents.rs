//! What the documents say is checked against the code.

use std::collections::BTreeSet;

use clap::CommandFactory;
use dogwatch::cli::Cli;
use dogwatch::cli::exit::Exit;

use crate::run::{dogwatch_in, root};

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).expect("readable")
}

/// The blocks of a kind, without their fences.
fn blocks(text: &str, kind: &str) -> Vec<String> {
    let fence = format!("```{kind}\n");
    text.split(&fence).skip(1).filter_map(|part| part.split("\n```").next()).map(str::to_owned).collect()
}

/// The first cells of the rows of the table with this heading.
fn first_cells(text: &str, heading: &str) -> Vec<String> {
    let table = text.split(&format!("| {heading} |")).nth(1).expect("the table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| row.split('|').nth(1)).map(|cell| cell.trim().to_owned()).collect()
}

#[test]
fn the_output_in_the_readme_is_what_the_binary_prints() {
    let blocks = blocks(&readme(), "console");
    assert!(!blocks.is_empty());
    for block in blocks {
        let (command, expected) = block.split_once('\n').expect("a command and its output");
        let arguments: Vec<&str> = command.strip_prefix("$ dogwatch ").expect("a command").split(' ').collect();
        assert_eq!(dogwatch_in(&root(), &arguments, &[], "").stdout.trim_end(), expected, "{command}");
    }
}

/// The long flags of every command, in the spelling of the command line.
fn flags() -> BTreeSet<String> {
    let command = Cli::command();
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let arguments = shown.flat_map(|command| command.get_arguments().filter(|argument| !argument.is_hide_set()));
    arguments.filter_map(|argument| argument.get_long()).map(|long| format!("--{long}")).collect()
}

#[test]
fn every_flag_is_in_the_readme_and_every_flag_of_the_readme_exists() {
    // kubectl's, which the readme names in their short form.
    let short = ["--namespace", "--all-namespaces", "--selector", "--filename", "--output"];
    let text = readme();
    for flag in flags().iter().filter(|flag| !short.contains(&flag.as_str())) {
        assert!(text.contains(&format!("`{flag}")), "{flag} is not in the readme");
    }
    let words = text.split(|character: char| !(character.is_ascii_alphanumeric() || character == '-'));
    let others = ["--release", "--show-managed-fields", "--target", "--help"];
    for word in words.filter(|word| word.starts_with("--") && word.len() > 3 && !others.contains(word)) {
        assert!(flags().contains(word), "the readme names {word}");
    }
}

/// The configuration in the examples is one, and the probes of their Pods are what the readme says.
#[test]
fn the_examples_hold_a_valid_configuration_and_name_flags_that_exist() {
    for name in ["exec.yaml", "http.yaml"] {
        let text = std::fs::read_to_string(root().join("docs/examples").join(name)).expect("readable");
        if let Some((_, config)) = text.split_once("config.yaml: |\n") {
            let lines = config.lines().take_while(|line| line.starts_with("    ") || line.is_empty());
            let config: Vec<&str> = lines.map(|line| line.strip_prefix("    ").unwrap_or_default()).collect();
            dogwatch::config::parse(&config.join("\n"), name).expect("valid");
        }
        let arguments = text.split([' ', '[', ']', ',']).filter(|word| word.starts_with("--") && *word != "--version");
        for flag in arguments {
            assert!(flags().contains(flag), "{name} names {flag}");
        }
    }
}

#[test]
fn the_exit_codes_in_the_readme_are_those_of_the_code() {
    let all = [Exit::Clean, Exit::Findings, Exit::Usage, Exit::Undetermined, Exit::Failure];
    let codes: Vec<String> = all.iter().map(|exit| exit.code().to_string()).collect();
    assert_eq!(first_cells(&readme(), "exit code"), codes);
}

#[test]
fn the_rules_in_the_readme_are_those_of_the_code() {
    for name in first_cells(&readme(), "rule") {
        let name = name.trim_matches('`');
        assert!(dogwatch::config::rule_from_flag(name).is_ok(), "{name}");
    }
}

#[test]
fn every_rule_is_in_the_readme_and_their_table_is_what_the_binary_says() {
    let list = dogwatch_in(&root(), &["rules", "-o", "json"], &[], "").stdout;
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    let time = |kinds: &serde_json::Value, key: &str| {
        dogwatch::config::duration::show(std::time::Duration::from_secs(kinds[key].as_u64().expect("seconds")))
    };
    let mut expected =
        "# Rules\n\nThe built-in rules by the resources that they are chosen for. `dogwatch rules NAME` shows what \
                        each of them reads. Kinds without times are settings, on which nothing is ever acknowledged.\n\n| rule | resources | overdueAfter | asleepAfter | maxAttempt |\n\
                        |---|---|---|---|---|\n"
            .to_owned();
    for rule in list["rules"].as_array().expect("a list") {
        let name = rule["name"].as_str().expect("a name");
        assert!(readme().contains(&format!("`{name}`")), "{name} is not in the readme");
        for kinds in rule["kinds"].as_array().expect("a list") {
            let resources: Vec<&str> =
                kinds["resources"].as_array().expect("a list").iter().filter_map(|it| it.as_str()).collect();
            let resources = if resources.is_empty() {
                rule["reads"].as_str().expect("text").to_owned()
            } else {
                resources.join("; ")
            };
            let keys = ["overdueAfterSeconds", "asleepAfterSeconds", "maxAttemptSeconds"];
            let is_static = kinds["static"] == true;
            let times = keys.map(|key| if is_static { String::new() } else { time(kinds, key) }).join(" | ");
            let row = format!("| `{name}` | {} | {times} |\n", resources.replace('*', "\\*"));
            expected.push_str(&row);
        }
    }
    let path = root().join("docs/rules.md");
    if std::env::var_os("DOGWATCH_WRITE_DOCUMENTS").is_some() {
        std::fs::write(&path, &expected).expect("written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, expected, "write it anew with DOGWATCH_WRITE_DOCUMENTS=1 cargo test every_rule_is");
}

#[test]
fn no_document_names_this_machine() {
    let tracked = std::process::Command::new("git").args(["ls-files"]).current_dir(root()).output().expect("git");
    let hostile = ["/wo\u{72}k/", "/roo\u{74}/", "crates\u{2e}io", "pypi\u{2e}org", "proxy\u{2e}golang\u{2e}org"];
    for name in String::from_utf8_lossy(&tracked.stdout).lines() {
        let is_lock = name.ends_with("Cargo.lock") || name.ends_with("go.sum");
        let Ok(text) = std::fs::read_to_string(root().join(name)) else { continue };
        for word in hostile {
            assert!(is_lock || !text.contains(word), "{name} names {word}");
        }
    }
}

#[test]
fn reports_are_what_their_schema_says_and_its_words_are_those_of_the_code() {
    use dogwatch::judge::state::{Reason, SinceFrom, State};
    let schema = std::fs::read_to_string(root().join("docs/audit-report.schema.json")).expect("readable");
    let schema: serde_json::Value = serde_json::from_str(&schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for file in ["tests/fixtures/audit/fleet.yaml", "tests/fixtures/audit/hostile.json"] {
        let arguments = ["audit", "-f", file, "-o", "json", "--all", "--overdue-after", "1500ms"];
        let report = dogwatch_in(&root(), &arguments, &[], "").stdout;
        let report = serde_json::from_str(&report).expect("JSON");
        let faults: Vec<String> =
            validator.iter_errors(&report).map(|it| format!("{}: {it}", it.instance_path())).collect();
        assert!(faults.is_empty(), "{file}: {faults:?}");
    }
    let words = |pointer: &str| {
        let list = schema.pointer(pointer).and_then(serde_json::Value::as_array).cloned().unwrap_or_default();
        list.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let object = "/properties/objects/items/properties";
    assert_eq!(words(&format!("{object}/reason/enum")), Reason::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>());
    assert_eq!(
        words(&format!("{object}/sinceFrom/enum")),
        SinceFrom::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>()
    );
    assert_eq!(words("/$defs/state/enum"), State::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>());
}

#[test]
fn the_documented_configuration_is_valid_and_complete() {
    let text = std::fs::read_to_string(root().join("docs/configuration.md")).expect("readable");
    let yaml = blocks(&text, "yaml").concat();
    dogwatch::config::parse(&yaml, "docs/configuration.md").expect("valid");
    // The fixture has every key that can be written; these are read and not yet acted upon, and `run` says so.
    let later = ["peering", "healthz", "metrics", "watch"];
    let full = std::fs::read_to_string(root().join("tests/fixtures/config/full.yaml")).expect("readable");
    let keys = |text: &str| {
        let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != ':');
        words.filter_map(|word| word.strip_suffix(':')).map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let skipped: BTreeSet<String> = full
        .lines()
        .filter(|line| later.iter().any(|key| line.trim_start().starts_with(&format!("{key}:"))))
        .flat_map(keys)
        .collect();
    let documented = keys(&yaml);
    for key in keys(&full).difference(&skipped).filter(|key| !["http", "https"].contains(&key.as_str())) {
        assert!(documented.contains(key) || key == "auto", "{key} is not documented");
    }
}

/// What each worked example makes of an object: resource, `metadata` beside the creation, `spec`, `status`, state.
const WORKED: [(&str, &str, &str, &str, &str); 13] = [
    ("pumps", "", "{}", "{}", "pending"),
    ("pumps", "", "{}", r#"{"observedGeneration":1}"#, "pending"),
    ("pumps", "", "{}", r#"{"observedGeneration":"2"}"#, "processed"),
    ("pumps", "", "{}", r#"{"observedGeneration":2,"conditions":[{"type":"Ready","status":"False"}]}"#, "failing"),
    ("valves", "", r#"{"class":"spare"}"#, "{}", "paused"),
    ("valves", "", r#"{"manual":true}"#, "{}", "paused"),
    ("valves", "", "{}", "{}", "pending"),
    ("valves", "", "{}", r#"{"phase":"Opening","phaseSince":"2026-03-01T11:58:00+0000"}"#, "in-progress"),
    ("valves", "", "{}", r#"{"phase":"Opening","phaseSince":"2026-03-01T11:48:00+0000"}"#, "pending"),
    ("valves", "", "{}", r#"{"phase":"Open","phaseSince":"2026-03-01T11:48:00+0000"}"#, "processed"),
    ("gauges", r#""annotations":{"requestedAt":"2026-03-01T11:00:00Z"},"#, "{}", "{}", "pending"),
    ("gauges", "", "{}", "{}", "unknown"),
    ("gauges", "", "{}", r#"{"handledAt":"2026-03-01T11:00:00Z"}"#, "processed"),
];

#[test]
fn the_worked_examples_of_expressions_judge_as_they_say() {
    use dogwatch::judge::rule::{RuleFrom, auto::Evidence};
    let text = std::fs::read_to_string(root().join("docs/configuration.md")).expect("readable");
    let examples = blocks(&text, "yaml example");
    assert_eq!(examples.len(), 3);
    let yaml = format!("apiVersion: dogwatch/v1\nkind: Config\nresources:\n{}\n", examples.join("\n"));
    let config = dogwatch::config::parse(&yaml, "examples").expect("valid");
    let now = "2026-03-01T12:00:00Z".parse().expect("a time");
    for (resource, metadata, spec, status, state) in WORKED {
        let entry = config.resources.iter().find(|it| it.resource.matches(&format!("{resource}.plant.example.com")));
        let chosen = entry.expect("an example").choose(Evidence::default(), RuleFrom::Config);
        let object = format!(
            r#"{{"metadata":{{{metadata}"name":"a","generation":2,"creationTimestamp":"2026-03-01T10:00:00Z"}},"spec":{spec},"status":{status}}}"#
        );
        let judgement = chosen.reader.judge(object.as_bytes(), now, |_, judgement| judgement);
        assert_eq!(judgement.state.as_str(), state, "{resource} {spec} {status}: {}", judgement.message);
    }
}

#[test]
fn the_documented_metrics_are_those_of_the_table() {
    let rows = dogwatch::metrics::TABLE.iter().map(|metric| {
        let kind = format!("{:?}", metric.kind).to_lowercase();
        format!("| `{}` | {kind} | {} | {} |\n", metric.full_name(), metric.labels().join(", "), metric.help)
    });
    let head = "# Metrics\n\n`/metrics` of `dogwatch run`. Times are Unix seconds; a metric is absent where nothing \
                applies, never 0 in its place.\n\n| metric | kind | labels | meaning |\n|---|---|---|---|\n";
    let expected = std::iter::once(head.to_owned()).chain(rows).collect::<String>();
    let path = root().join("docs/metrics.md");
    if std::env::var_os("DOGWATCH_WRITE_DOCUMENTS").is_some() {
        std::fs::write(&path, &expected).expect("written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, expected, "write it anew with DOGWATCH_WRITE_DOCUMENTS=1 cargo test metrics_are");
}
