//! What every scenario stands on: an API server, a proxy before it, an operator's resources and its namespace.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dogwatch::cluster::discover::Resource;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::make::Make;
use super::operator::{Habits, Operator};
use super::proxy::Proxy;
use crate::admin::Admin;
use crate::api_server::{ApiServer, User};
use crate::crd::Crd;

/// How long a healthy operator may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// One operator's part of a cluster.
pub(crate) struct Stage {
    pub(crate) proxy: Proxy,
    pub(crate) admin: Admin,
    pub(crate) operator: Operator,
    /// Namespace and first part of the API group.
    pub(crate) name: String,
    crds: Vec<Crd>,
    folder: TempDir,
    /// The last to go.
    pub(crate) server: Arc<ApiServer>,
}

impl Stage {
    /// Sets one up. `name` is taken by no other on this API server; `kinds` become resources of the group
    /// `<name>.proof.example.com`.
    pub(crate) async fn new(
        server: Arc<ApiServer>,
        name: &str,
        kinds: &[&str],
        make: &'static Make,
        habits: Habits,
    ) -> Self {
        let folder = TempDir::with_prefix("dogwatch-proof-").expect("a temporary folder");
        let admin = server.admin().await;
        let group = format!("{name}.proof.example.com");
        let crds: Vec<Crd> = kinds.iter().map(|kind| Crd::new(kind, &group)).collect();
        for crd in &crds {
            admin.create_crd(crd).await;
        }
        admin.create_namespace(name).await;
        let proxy = Proxy::start(server.folder(), server.address()).await;
        let kubeconfig = through(&server, User::Admin, &proxy, folder.path());
        let operator = Operator {
            make,
            group,
            kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            plurals: crds.iter().map(|crd| crd.resource().plural).collect(),
            namespace: name.to_owned(),
            kubeconfig,
            port: free_port(),
            control: free_port(),
            habits,
        };
        Self { proxy, admin, operator, name: name.to_owned(), crds, folder, server }
    }

    /// For logs and files.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The `index`-th resource.
    pub(crate) fn resource(&self, index: usize) -> Resource {
        self.crds[index].resource()
    }

    /// A kubeconfig of a user that leads through the proxy.
    pub(crate) fn kubeconfig(&self, user: User) -> PathBuf {
        through(&self.server, user, &self.proxy, self.folder())
    }

    /// Creates an object of the `index`-th resource.
    pub(crate) async fn create(&self, index: usize, name: &str, spec: Value) {
        self.create_labelled(index, name, spec, json!({})).await;
    }

    /// The same with labels.
    pub(crate) async fn create_labelled(&self, index: usize, name: &str, spec: Value, labels: Value) {
        let mut object = self.crds[index].object(name);
        object["spec"] = spec;
        object["metadata"]["labels"] = labels;
        self.admin.create(&self.resource(index), Some(&self.name), &object).await;
    }

    /// Changes an object's spec.
    pub(crate) async fn change(&self, index: usize, name: &str, spec: Value) {
        self.admin.patch(&self.resource(index), Some(&self.name), name, &json!({"spec": spec})).await;
    }

    /// Asks for an object's deletion.
    pub(crate) async fn delete(&self, index: usize, name: &str) {
        self.admin.delete(&self.resource(index), Some(&self.name), name).await;
    }

    /// Whether the operator has handled the newest desired state of an object. One that is gone, it has.
    pub(crate) async fn is_served(&self, index: usize, name: &str) -> bool {
        let path = format!("{}/{name}", self.resource(index).path(Some(&self.name)));
        match self.admin.try_ask(Method::GET, &path, &Value::Null).await {
            Some((StatusCode::NOT_FOUND, _)) => true,
            Some((StatusCode::OK, object)) if object["metadata"]["deletionTimestamp"].is_null() => {
                (self.operator.make.has_served)(&object)
            }
            _ => false,
        }
    }

    /// Waits until objects of the `index`-th resource are served; whether they were in time.
    pub(crate) async fn are_served(&self, index: usize, names: &[&str], patience: Duration) -> bool {
        let until = Instant::now() + patience;
        for name in names {
            while !self.is_served(index, name).await {
                if Instant::now() > until {
                    return false;
                }
                sleep(Duration::from_millis(100)).await;
            }
        }
        true
    }
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("a bound socket").port()
}

fn through(server: &ApiServer, user: User, proxy: &Proxy, folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(server.kubeconfig(user)).expect("a kubeconfig");
    let path = folder.join(format!("{}.kubeconfig", user.name()));
    std::fs::write(&path, text.replace(server.address(), &proxy.address())).expect("the folder can be written to");
    path
}
