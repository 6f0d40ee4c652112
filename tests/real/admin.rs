//! What tests do to the cluster, as its administrator. Every failure is a panic with the API server's words.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dogwatch::cluster::discover::Resource;
use http::{Method, Request, StatusCode};
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::api_server::User;
use super::connection;
use super::crd::Crd;

/// Connections that create objects at the same time. More do not help: two cores are busy then.
const CONNECTIONS: usize = 16;
const PATIENCE: Duration = Duration::from_secs(30);

/// The administrator.
#[derive(Clone)]
pub(crate) struct Admin {
    client: kube::Client,
}

impl Admin {
    /// With the credentials of a kubeconfig.
    pub(crate) async fn new(kubeconfig: &Path) -> Self {
        let kubeconfig = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        Self { client: connection::open(&config.expect("a kubeconfig that fits together")) }
    }

    /// Whether the API server says that it is ready.
    pub(crate) async fn is_ready(&self) -> bool {
        let request = Request::get("/readyz").body(kube::client::Body::empty()).expect("a request");
        self.client.send(request).await.is_ok_and(|response| response.status().is_success())
    }

    /// Sends one request with a JSON body; an answer that is no JSON is null.
    pub(crate) async fn ask(&self, method: Method, path: &str, body: &Value) -> (StatusCode, Value) {
        self.send(method, path, body).await.expect("the API server answers")
    }

    /// The same where the API server may be away: `None` without a whole answer within five seconds.
    pub(crate) async fn try_ask(&self, method: Method, path: &str, body: &Value) -> Option<(StatusCode, Value)> {
        tokio::time::timeout(Duration::from_secs(5), self.send(method, path, body)).await.ok()?.ok()
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> Result<(StatusCode, Value), kube::Error> {
        // A patch is a JSON merge patch: what it does not name stays.
        let form = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request::builder().method(method).uri(path).header("content-type", form);
        let request = request.body(kube::client::Body::from(body)).expect("a request");
        let response = self.client.send(request).await?;
        let status = response.status();
        let bytes = response.into_body().collect_bytes().await?;
        Ok((status, serde_json::from_slice(&bytes).unwrap_or_default()))
    }

    async fn expect(&self, method: Method, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(method.clone(), path, body).await;
        assert!(status.is_success(), "{method} {path}: {status} {}", answer["message"]);
        answer
    }

    /// Creates a definition and waits until its resource is served and found by discovery.
    pub(crate) async fn create_crd(&self, crd: &Crd) {
        self.expect(Method::POST, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &crd.manifest()).await;
        let resource = crd.resource();
        let (list, version) = (resource.path(None), format!("/apis/{}", resource.api_version()));
        let until = Instant::now() + PATIENCE;
        loop {
            let (served, _) = self.ask(Method::GET, &list, &Value::Null).await;
            let (found, document) = self.ask(Method::GET, &version, &Value::Null).await;
            let names = document["resources"].as_array();
            let is_found = names.is_some_and(|names| names.iter().any(|entry| entry["name"] == resource.plural));
            if served.is_success() && found.is_success() && is_found {
                return;
            }
            assert!(Instant::now() < until, "{} is not served", resource.name());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Creates a namespace. There is no controller that would ever remove it.
    pub(crate) async fn create_namespace(&self, name: &str) {
        self.expect(Method::POST, "/api/v1/namespaces", &json!({"metadata": {"name": name}})).await;
    }

    /// Creates one object; `namespace` is `None` for a resource without namespaces.
    pub(crate) async fn create(&self, resource: &Resource, namespace: Option<&str>, object: &Value) -> Value {
        self.expect(Method::POST, &resource.path(namespace), object).await
    }

    /// Creates many objects over a handful of connections: about 500 a second. `Storage::put_many` is faster.
    pub(crate) async fn create_many(&self, resource: &Resource, namespace: Option<&str>, objects: Vec<Value>) {
        let path: Arc<str> = resource.path(namespace).into();
        let rest = Arc::new(std::sync::Mutex::new(objects));
        let mut tasks = JoinSet::new();
        for _ in 0..CONNECTIONS {
            let (admin, path, rest) = (self.clone(), Arc::clone(&path), Arc::clone(&rest));
            tasks.spawn(async move {
                let next = || rest.lock().expect("no other task has panicked").pop();
                while let Some(object) = next() {
                    admin.expect(Method::POST, &path, &object).await;
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.expect("every object was created");
        }
    }

    /// Reads one object.
    pub(crate) async fn get(&self, resource: &Resource, namespace: Option<&str>, name: &str) -> Value {
        self.expect(Method::GET, &object_path(resource, namespace, name), &Value::Null).await
    }

    /// Merges `patch` into an object.
    pub(crate) async fn patch(&self, resource: &Resource, namespace: Option<&str>, name: &str, patch: &Value) -> Value {
        self.expect(Method::PATCH, &object_path(resource, namespace, name), patch).await
    }

    /// Merges `status` into an object's status, as an operator does.
    pub(crate) async fn set_status(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        status: &Value,
    ) -> Value {
        let path = object_path(resource, namespace, name);
        let path = if resource.has_status { format!("{path}/status") } else { path };
        self.expect(Method::PATCH, &path, &json!({"status": status})).await
    }

    /// Asks for an object's deletion, which finalizers may hold up.
    pub(crate) async fn delete(&self, resource: &Resource, namespace: Option<&str>, name: &str) {
        self.expect(Method::DELETE, &object_path(resource, namespace, name), &Value::Null).await;
    }

    /// Lets the limited user do `verbs` to a resource in all namespaces. `name` names the grant.
    pub(crate) async fn grant(&self, name: &str, resource: &Resource, verbs: &[&str]) {
        let rules = json!([{"apiGroups": [resource.group], "resources": [resource.plural], "verbs": verbs}]);
        self.grant_rules(name, rules).await;
    }

    /// The same with the rules of a role as they are written.
    pub(crate) async fn grant_rules(&self, name: &str, rules: Value) {
        let root = "/apis/rbac.authorization.k8s.io/v1";
        let role = json!({"metadata": {"name": name}, "rules": rules});
        self.expect(Method::POST, &format!("{root}/clusterroles"), &role).await;
        let binding = json!({
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": User::Limited.name()}],
        });
        self.expect(Method::POST, &format!("{root}/clusterrolebindings"), &binding).await;
    }
}

fn object_path(resource: &Resource, namespace: Option<&str>, name: &str) -> String {
    format!("{}/{name}", resource.path(namespace))
}
