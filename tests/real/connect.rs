use std::path::PathBuf;

use dogwatch::cluster::connect::{self, Options, connect};
use dogwatch::cluster::discover::discover;
use dogwatch::cluster::request::Error;

use super::api_server::{ApiServer, User};

/// What a user is told.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn a_kubeconfig_leads_to_the_cluster_of_its_context() {
    let server = ApiServer::shared().await;
    let cluster = server.cluster(User::Limited).await;
    assert_eq!((cluster.context(), cluster.namespace()), (Some("limited"), "default"));
    let client = cluster.client().await.expect("a client");
    discover(&client).await.expect("every user may look at discovery");
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn an_unknown_context_is_answered_with_those_that_exist() {
    let server = ApiServer::shared().await;
    let options = Options {
        kubeconfig: Some(server.kubeconfig(User::Admin)),
        context: Some("prod".to_owned()),
        ..Options::default()
    };
    let error = connect(&options).await.expect_err("there is no such context");
    assert!(matches!(&error, connect::Error::Context { contexts, .. } if contexts == &["admin"]), "{error}");
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn impersonation_loses_the_rights_of_the_user() {
    let server = ApiServer::shared().await;
    let options = Options {
        kubeconfig: Some(server.kubeconfig(User::Admin)),
        impersonate: Some("nobody".to_owned()),
        impersonate_groups: vec!["system:authenticated".to_owned()],
        ..Options::default()
    };
    let client = connect(&options).await.expect("a cluster").client().await.expect("a client");
    let secrets = http::Request::get("/api/v1/secrets").body(Vec::new()).expect("a request");
    let error = client.send(secrets, client.deadline()).await.expect_err("nobody may read secrets");
    assert!(matches!(&error, Error::Forbidden { message } if message.contains("nobody")), "{error}");
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn a_wrong_token_is_unauthorized_and_never_shown() {
    let server = ApiServer::shared().await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path: PathBuf = folder.path().join("kubeconfig");
    let text = std::fs::read_to_string(server.kubeconfig(User::Admin)).expect("a kubeconfig");
    let mut kubeconfig: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    kubeconfig["users"][0]["user"]["token"] = "hunter2".into();
    std::fs::write(&path, kubeconfig.to_string()).expect("the folder can be written to");
    let options = Options { kubeconfig: Some(path), ..Options::default() };
    let client = connect(&options).await.expect("a cluster").client().await.expect("a client");
    let error = discover(&client).await.expect_err("nobody has this token");
    assert!(chain(&error).contains("does not accept these credentials"), "{error:?}");
    assert!(!format!("{error:?}{client:?}").contains("hunter2"));
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn a_certificate_of_another_authority_is_not_trusted() {
    let (server, other) = (ApiServer::shared().await, ApiServer::start().await);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("kubeconfig");
    let text = std::fs::read_to_string(other.kubeconfig(User::Admin)).expect("a kubeconfig");
    std::fs::write(&path, text.replace(other.address(), server.address())).expect("the folder can be written to");
    let options = Options { kubeconfig: Some(path), ..Options::default() };
    let client = connect(&options).await.expect("a cluster").client().await.expect("a client");
    let error = discover(&client).await.expect_err("the certificate is from another authority");
    let told = chain(&error);
    assert!(told.contains("cannot reach the API server (https://127.0.0.1:"), "{told}");
    assert!(told.contains("invalid peer certificate"), "{told}");
}
