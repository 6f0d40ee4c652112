use std::path::PathBuf;

use tempfile::TempDir;

use super::super::request;
use super::{Cluster, Error, Options, connect};

/// A kubeconfig with the contexts `one` (current) and `two`, whose user is `user` in JSON.
fn kubeconfig(user: &str) -> (TempDir, PathBuf) {
    let text = format!(
        r#"{{"apiVersion": "v1", "kind": "Config", "current-context": "one",
            "contexts": [{{"name": "one", "context": {{"cluster": "c", "user": "u"}}}},
                         {{"name": "two", "context": {{"cluster": "c", "user": "u", "namespace": "team"}}}}],
            "clusters": [{{"name": "c", "cluster": {{"server": "https://127.0.0.1:1"}}}}],
            "users": [{{"name": "u", "user": {user}}}]}}"#
    );
    file(&text)
}

fn file(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("kubeconfig");
    std::fs::write(&path, text).expect("the folder can be written to");
    (folder, path)
}

async fn connected(path: PathBuf, adjust: impl FnOnce(&mut Options)) -> Result<Cluster, Error> {
    let mut options = Options { kubeconfig: Some(path), ..Options::default() };
    adjust(&mut options);
    connect(&options).await
}

#[tokio::test]
async fn the_current_context_is_taken_unless_another_is_named() {
    let (_folder, path) = kubeconfig("{}");
    let cluster = connected(path.clone(), |_| {}).await.expect("a cluster");
    assert_eq!((cluster.context(), cluster.namespace()), (Some("one"), "default"));
    let cluster = connected(path, |options| options.context = Some("two".into())).await.expect("a cluster");
    assert_eq!((cluster.context(), cluster.namespace()), (Some("two"), "team"));
}

#[tokio::test]
async fn an_unknown_context_is_answered_with_the_known_ones() {
    let (_folder, path) = kubeconfig("{}");
    let error = connected(path, |options| options.context = Some("prod".into())).await.expect_err("no such context");
    assert!(error.to_string().ends_with(r#"no context "prod"; it has one, two: choose with --context"#), "{error}");
    let (_folder, path) = file("apiVersion: v1\nkind: Config\n");
    let error = connected(path, |_| {}).await.expect_err("no context at all");
    assert!(error.to_string().ends_with("no current context; it has none"), "{error}");
}

#[tokio::test]
async fn a_named_kubeconfig_must_exist_and_be_one() {
    let (folder, path) = file("users: [{name: u, user: {token: [hunter2]}}]\n");
    let error = connected(path, |_| {}).await.expect_err("a token is no list");
    assert!(error.to_string().contains("not a kubeconfig: see line 1"), "{error}");
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    let error = connected(folder.path().join("nothing"), |_| {}).await.expect_err("there is no such file");
    assert!(matches!(error, Error::Kubeconfig { .. }), "{error}");
}

#[tokio::test]
async fn files_of_the_environments_list_are_merged_and_missing_ones_passed_over() {
    let (folder, path) = kubeconfig("{}");
    let (_other, second) = file(r#"{"current-context": "two", "apiVersion": "v1", "kind": "Config"}"#);
    let list = std::env::join_paths([folder.path().join("nothing"), second, path]).expect("a list");
    let options = Options { kubeconfig_list: Some(list), ..Options::default() };
    let cluster = connect(&options).await.expect("a cluster");
    assert_eq!(cluster.context(), Some("two"));

    let options = Options { kubeconfig_list: Some(folder.path().join("nothing").into()), ..Options::default() };
    // What follows is the Pod's service account, which a machine that runs tests does not have.
    let error = connect(&options).await.expect_err("there is nothing to connect to");
    assert!(matches!(error, Error::Nowhere { .. } | Error::ServiceAccount { .. }), "{error}");
}

#[tokio::test]
async fn a_group_alone_cannot_be_impersonated() {
    let (_folder, path) = kubeconfig("{}");
    let error = connected(path, |options| options.impersonate_groups = vec!["dev".into()]).await;
    assert!(matches!(error, Err(Error::GroupWithoutUser)));
}

#[tokio::test]
async fn an_api_server_that_is_not_there_is_unreachable_by_name() {
    let (_folder, path) = kubeconfig("{}");
    let client = connected(path, |_| {}).await.expect("a cluster").client().await.expect("a client");
    let request = http::Request::get("/version").body(Vec::new()).expect("a request");
    let error = client.send(request, client.deadline()).await.expect_err("nobody listens on port 1");
    assert_eq!(error.to_string(), "cannot reach the API server (https://127.0.0.1:1)");
    let mut cause = std::error::Error::source(&error);
    let mut texts = Vec::new();
    while let Some(error) = cause {
        texts.push(error.to_string());
        cause = error.source();
    }
    assert!(texts.iter().any(|text| text.contains("refused")), "{texts:?}");
}

#[cfg(unix)]
mod command {
    use super::{connected, kubeconfig, request};

    fn command(script: &str) -> String {
        serde_json::json!({"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
            "command": "sh", "args": ["-c", script],
        }})
        .to_string()
    }

    #[tokio::test]
    async fn a_credential_command_that_fails_is_named_without_what_it_printed() {
        let (_folder, path) = kubeconfig(&command("echo hunter2; exit 3"));
        let error = connected(path, |_| {}).await.expect("a cluster").client().await.expect_err("it fails");
        assert!(matches!(error, request::Error::Credentials { .. }));
        assert!(error.to_string().contains("ended with exit status: 3"), "{error}");
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }

    #[tokio::test]
    async fn a_credential_command_is_not_run_for_each_client() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let runs = folder.path().join("runs");
        let token =
            r#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}"#;
        let (_folder, path) = kubeconfig(&command(&format!("echo run >> {}; echo '{token}'", runs.display())));
        let cluster = connected(path, |_| {}).await.expect("a cluster");
        cluster.client().await.expect("a client");
        // kube runs it more than once for one client.
        let once = std::fs::read_to_string(&runs).expect("it ran");
        for _ in 0..3 {
            cluster.client().await.expect("a client");
        }
        assert_eq!(std::fs::read_to_string(runs).expect("it ran"), once);
    }

    #[tokio::test]
    async fn a_credential_command_that_hangs_ends_at_the_deadline() {
        let (_folder, path) = kubeconfig(&command("exec sleep 2"));
        let cluster = connected(path, |options| options.request_timeout = std::time::Duration::from_millis(100)).await;
        let error = cluster.expect("a cluster").client().await.expect_err("it hangs");
        assert!(error.to_string().contains("timed out"), "{error}");
    }
}
