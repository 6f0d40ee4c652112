//! `dogwatch audit` as a user runs it, against a real API server.

use std::process::Command;

use serde_json::{Value, json};

use super::api_server::{ApiServer, User};
use super::crd::Crd;

struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Run {
    fn report(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }
}

async fn audit(server: &ApiServer, user: User, arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dogwatch"));
    command.arg("audit").args(arguments).env("KUBECONFIG", server.kubeconfig(user));
    let output = tokio::task::spawn_blocking(move || command.output()).await.expect("joined").expect("ran");
    Run {
        code: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// The state of each object by name.
fn states(report: &Value) -> Vec<(&str, &str)> {
    let objects = report["objects"].as_array().expect("objects");
    objects.iter().map(|it| (it["name"].as_str().unwrap_or(""), it["state"].as_str().unwrap_or(""))).collect()
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn what_the_operator_left_is_found_and_what_it_served_is_not() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let crd = Crd::new("Widget", "found.example.com").short_name("fwd");
    admin.create_crd(&crd).await;
    let resource = crd.resource();
    for name in ["served", "changed", "new"] {
        admin.create(&resource, Some("default"), &crd.object(name)).await;
    }
    for name in ["served", "changed"] {
        admin.set_status(&resource, Some("default"), name, &json!({"observedGeneration": 1})).await;
    }
    admin.patch(&resource, Some("default"), "changed", &json!({"spec": {"size": 2}})).await;

    let run = audit(&server, User::Admin, &["fwd", "-o", "json", "--all", "--limit", "0"]).await;
    assert_eq!(run.code, 0, "nothing is overdue yet: {}", run.stderr);
    let report = run.report();
    assert_eq!(report["nowFrom"], "server");
    assert_eq!(states(&report), [("changed", "pending"), ("new", "pending"), ("served", "processed")]);
    assert_eq!(report["objects"][0]["sinceFrom"], "managed-fields");
    assert_eq!(report["resources"][0]["rule"], "generation");

    // Creation times and the server's `Date` have whole seconds.
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let run =
        audit(&server, User::Admin, &["widget.v1.found.example.com/new", "-o", "name", "--overdue-after", "1ns"]).await;
    assert_eq!((run.code, run.stdout.as_str()), (1, "widgets.found.example.com/new\n"));
    let run = audit(&server, User::Admin, &["fwd/none"]).await;
    assert_eq!((run.code, run.stdout.contains("there is no object of that name")), (3, true), "{}", run.stdout);
    let run = audit(&server, User::Admin, &["fwd", "-n", "elsewhere"]).await;
    assert_eq!((run.code, run.stdout.contains("No objects.")), (0, true), "{}", run.stdout);
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn kopf_is_known_by_its_marks_even_when_they_come_late() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let crd = Crd::new("Widget", "marks.example.com");
    admin.create_crd(&crd).await;
    let resource = crd.resource();
    let objects = (0..30).map(|index| crd.object(&format!("w{index:02}"))).collect();
    admin.create_many(&resource, Some("default"), objects).await;
    let mut marked = crd.object("z");
    marked["spec"] = json!({"size": 1});
    marked["metadata"]["annotations"] =
        json!({"kopf.zalando.org/last-handled-configuration": "{\"spec\":{\"size\":1}}\n"});
    admin.create(&resource, Some("default"), &marked).await;

    let run = audit(&server, User::Admin, &[&resource.name(), "-o", "json"]).await;
    let report = run.report();
    let row = &report["resources"][0];
    assert_eq!((&row["rule"], &row["ruleFrom"]), (&json!("kopf"), &json!("objects")));
    assert_eq!(
        (&row["objects"], &row["states"]["pending"], &row["states"]["processed"]),
        (&json!(31), &json!(30), &json!(1))
    );
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn what_is_forbidden_or_missing_is_named_and_never_healthy() {
    let server = ApiServer::start().await;
    let admin = server.admin().await;
    let (allowed, refused) = (Crd::new("Widget", "allowed.example.com"), Crd::new("Gadget", "refused.example.com"));
    for crd in [&allowed, &refused] {
        admin.create_crd(crd).await;
        admin.create(&crd.resource(), Some("default"), &crd.object("a")).await;
    }
    admin.grant("widgets", &allowed.resource(), &["list"]).await;

    let run = audit(&server, User::Limited, &["-o", "json"]).await;
    assert_eq!(run.code, 3, "{}", run.stderr);
    let report = run.report();
    let refused_row = report["resources"]
        .as_array()
        .and_then(|rows| rows.iter().find(|row| row["resource"] == "gadgets.refused.example.com"));
    let refused_row = refused_row.expect("named although it is forbidden");
    assert_eq!((&refused_row["error"]["reason"], &refused_row["diagnosis"]), (&json!("forbidden"), &json!("unknown")));
    assert_eq!(report["summary"]["incomplete"], true);
    assert!(report["warnings"][0].as_str().is_some_and(|text| text.contains("customresourcedefinitions")), "{report}");

    let run = audit(&server, User::Limited, &["gadgets", "--allow-partial"]).await;
    assert_eq!(run.code, 0);
    assert!(!run.stdout.contains("healthy"), "{}", run.stdout);
    let run = audit(&server, User::Limited, &["gagdets"]).await;
    assert_eq!(
        (run.code, run.stderr.contains("did you mean gadgets.refused.example.com?")),
        (2, true),
        "{}",
        run.stderr
    );
}
