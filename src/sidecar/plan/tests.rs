//! Flags over the file.

use std::path::Path;

use super::*;
use crate::cluster::connect;

fn options(folder: &Path, text: Option<&str>, resources: &[&str]) -> Options {
    let config = folder.join("config.yaml");
    if let Some(text) = text {
        std::fs::write(&config, format!("apiVersion: dogwatch/v1\nkind: Config\n{text}\n")).expect("written");
    }
    Options {
        config,
        is_config_named: false,
        resources: resources.iter().map(|&word| word.to_owned()).collect(),
        listen: None,
        mode: None,
        state_file: None,
        connection: connect::Options::default(),
        pod_name: None,
        pod_namespace: None,
        hostname: None,
        install_probe: None,
        seed: None,
    }
}

fn loaded(text: Option<&str>, resources: &[&str]) -> Result<Plan, String> {
    let folder = tempfile::tempdir().expect("a folder");
    load(&options(folder.path(), text, resources)).map_err(|error| error.to_string())
}

#[test]
fn resource_excludes_the_resources_of_the_file() {
    let problem = loaded(Some("resources: [a.example.com]"), &["b.example.com"]).expect_err("both");
    assert!(problem.contains("exclude each other"), "{problem}");
    let plan = loaded(Some("stateFile: /run/x"), &["b.example.com,c.example.com"]).expect("one of them");
    let names: Vec<_> = plan.operators[0].resources.iter().map(|it| it.resource.as_str().to_owned()).collect();
    assert_eq!(names, ["b.example.com", "c.example.com"]);
    assert_eq!(plan.state_file, Some("/run/x".into()));
}

#[test]
fn nothing_to_watch_is_a_problem_that_says_what_to_write() {
    assert!(loaded(None, &[]).expect_err("no file").contains("nothing to watch"));
    assert!(loaded(Some("server: {}"), &[]).expect_err("no resources").contains("`resources` is missing"));
    assert!(loaded(None, &["widgets.example.com/a"]).expect_err("an object").contains("whole resources"));
}

#[test]
fn flags_come_before_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = "resources: [a.example.com]\nrestart: {mode: observe}\nserver: {listen: \"127.0.0.1:1\"}";
    let mut options = options(folder.path(), Some(file), &[]);
    assert_eq!(load(&options).expect("valid").operators[0].mode(), Mode::Observe);
    assert_eq!(listen(&options).port(), 1);
    options.mode = Some(config::Mode::Enforce);
    options.listen = Some(([127, 0, 0, 1], 2).into());
    assert_eq!(load(&options).expect("valid").operators[0].mode(), Mode::Enforce);
    assert_eq!(listen(&options).port(), 2);
}

#[test]
fn observed_operators_are_never_enforced_upon() {
    let file = "operators: [{name: one, resources: [a.example.com]}]";
    assert_eq!(loaded(Some(file), &[]).expect("valid").operators[0].mode(), Mode::Observe);
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options { mode: Some(config::Mode::Enforce), ..options(folder.path(), Some(file), &[]) };
    assert!(matches!(load(&options), Err(Error::EnforceElsewhere)));
    assert!(loaded(Some(&format!("{file}\nresources: [b.example.com]")), &[]).is_err());
}
