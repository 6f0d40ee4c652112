//! A simulated Kubernetes API server and operator, with faults that can be switched on and off.
//!
//! ```text
//!   memory: tower service ─┐                        ┌─ fault ── refuses, delays, silences
//!   TCP: HTTP/1.1 ─────────┴─ router ── call ── access ── list, watch, write, discovery ── store
//! ```
//!
//! It serves what dogwatch and an operator need: discovery, custom resources and their CRDs, namespaces, pods,
//! events, leases, reviews of rights. It validates no schema, defaults nothing, runs no controller, and knows neither
//! server-side apply nor strategic merge patches; `events` and `events.k8s.io` are stored apart. Deleting a namespace
//! or a CRD takes what stands in it along at once.
//!
//! In a test with paused time it is reached in memory and takes [`Clock::of_tokio`], so that two hours of a watch pass
//! in milliseconds. Over TCP it is good enough for a real kopf operator.

mod access;
mod call;
mod discovery;
mod failure;
mod fault;
mod list;
mod managed;
pub mod operator;
mod resource;
mod router;
mod selector;
mod serve;
mod server;
mod store;
#[cfg(test)]
mod tests;
mod watch;
mod write;

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch::{Receiver, Sender};

pub use access::{Rule, User};
pub use call::Verb;
pub use failure::Failure;
pub use fault::{ContinueTrouble, Fault, InForce, Scope};
pub use resource::Resource;

use crate::clock::Clock;
use call::Call;
use server::{Server, Target};
use write::{Deleted, PatchForm, Writer};

/// A handle on a simulated cluster. Clones are handles on the same one.
#[derive(Debug, Clone)]
pub struct Simulation {
    shared: Arc<Shared>,
}

/// A request that the server was sent, faults or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// What it did; absent for an unknown method.
    pub verb: Option<Verb>,
    /// `plural.group`; absent for discovery and the like.
    pub resource: Option<String>,
    /// The client.
    pub user_agent: String,
}

/// What all requests share.
#[derive(Debug)]
struct Shared {
    server: Mutex<Server>,
    /// Moves with every change of objects or faults, so that open watches look again.
    turn: Sender<u64>,
    seen: Mutex<VecDeque<Seen>>,
}

/// How many requests are remembered.
const SEEN: usize = 10_000;

impl Simulation {
    /// A cluster with the namespaces of a fresh one and nothing else.
    pub fn new(clock: Clock) -> Self {
        let shared =
            Shared { server: Mutex::new(Server::new(clock)), turn: Sender::new(0), seen: Mutex::new(VecDeque::new()) };
        let simulation = Self { shared: Arc::new(shared) };
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            simulation.ensure_namespace(name);
        }
        simulation
    }

    /// The door in memory: a tower service, for `kube::Client::new(router, "default")`.
    pub fn router(&self) -> Router {
        router::router(Arc::clone(&self.shared))
    }

    /// The door for other processes. It returns when the listener fails; dropping the future closes every connection.
    pub async fn serve(&self, listener: TcpListener) -> io::Error {
        serve::serve(listener, self.router()).await
    }

    /// Defines a custom resource, by creating its CRD.
    ///
    /// # Errors
    /// When it is defined already.
    pub fn define(&self, resource: &Resource) -> Result<(), Failure> {
        self.create(resource.to_crd(), "kubectl").map(drop)
    }

    /// Creates an object, with its status, in the namespace it names (which is made if need be) or in `default`.
    ///
    /// `manager` is the name under which `managedFields` records the writer.
    ///
    /// # Errors
    /// As the server would refuse it.
    pub fn create(&self, object: Value, manager: &str) -> Result<Arc<Value>, Failure> {
        let status = object.get("status").cloned();
        let target = self.shared.lock().target_of(&object)?;
        if let Some(namespace) = &target.namespace {
            self.ensure_namespace(namespace);
        }
        let created = self.change(|server| server.create(&target, object, &writer(manager)))?;
        let name = created["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        match status {
            Some(status) if target.resource.status => {
                let target = Target { name: Some(name), subresource: Some("status".to_owned()), ..target };
                let patch = json!({"status": status});
                self.change(|server| server.patch(&target, PatchForm::Merge, patch, &writer(manager)))
            }
            _ => Ok(created),
        }
    }

    /// Reads an object of a resource named `plural.group`.
    pub fn read(&self, resource: &str, namespace: Option<&str>, name: &str) -> Option<Arc<Value>> {
        let server = self.shared.lock();
        let target = server.target_named(resource, namespace, name).ok()?;
        server.read(&target).ok()
    }

    /// All objects of a resource named `plural.group`, in the order of lists.
    pub fn objects(&self, resource: &str) -> Vec<Arc<Value>> {
        let server = self.shared.lock();
        let Ok(target) = server.target_named(resource, None, "") else { return Vec::new() };
        let all = store::within(server.store.objects(), &target.resource.group, &target.resource.plural, None);
        all.map(|(_, object)| Arc::clone(object)).collect()
    }

    /// Shows every object of a resource with what a merge patch adds, and at no newer revision: what a default does
    /// that is added to a CRD.
    pub fn add_default(&self, resource: &str, patch: &Value) {
        self.change(|server| {
            if let Ok(target) = server.target_named(resource, None, "") {
                server.store.rewrite(&target.resource.group, &target.resource.plural, patch);
            }
        });
    }

    /// Changes an object by a merge patch. A patch of `status` alone goes to the status, where that has its own
    /// endpoint.
    ///
    /// # Errors
    /// When there is no such object, or as the server would refuse the patch.
    pub fn patch(
        &self,
        resource: &str,
        namespace: Option<&str>,
        name: &str,
        patch: Value,
        manager: &str,
    ) -> Result<Arc<Value>, Failure> {
        self.change(|server| {
            let mut target = server.target_named(resource, namespace, name)?;
            let is_status = patch.as_object().is_some_and(|patch| patch.len() == 1 && patch.contains_key("status"));
            target.subresource = (is_status && target.resource.status).then(|| "status".to_owned());
            server.patch(&target, PatchForm::Merge, patch, &writer(manager))
        })
    }

    /// Deletes an object. It returns whether it is gone; if not, finalizers hold it.
    ///
    /// # Errors
    /// When there is no such object.
    pub fn delete(&self, resource: &str, namespace: Option<&str>, name: &str) -> Result<bool, Failure> {
        self.change(|server| {
            let target = server.target_named(resource, namespace, name)?;
            server.delete(&target, &Value::Null).map(|outcome| matches!(outcome, Deleted::Gone(_)))
        })
    }

    /// The revision of the newest change.
    pub fn revision(&self) -> u64 {
        self.shared.lock().store.revision()
    }

    /// Forgets all changes, as etcd's compaction does: older watches and continue tokens answer 410.
    pub fn compact(&self) {
        self.change(|server| server.store.compact());
    }

    /// Limits how many changes are kept.
    pub fn keep_history(&self, changes: usize) {
        self.change(|server| server.store.set_capacity(changes));
    }

    /// Gives a bearer token to a user. From the first one on, requests without a known token answer 401.
    pub fn set_token(&self, token: &str, user: User) {
        self.change(|server| server.access.set(token, user));
    }

    /// Makes a bearer token unknown.
    pub fn revoke_token(&self, token: &str) {
        self.change(|server| server.access.revoke(token));
    }

    /// Lets a fault begin, and returns the number by which it is ended.
    pub fn begin(&self, fault: Fault, scope: Scope) -> u64 {
        self.shared.begin_fault(fault, scope)
    }

    /// Ends a fault, and says whether it was in force.
    pub fn end(&self, id: u64) -> bool {
        self.shared.end_fault(id)
    }

    /// Ends all faults.
    pub fn end_all(&self) {
        self.shared.end_faults();
    }

    /// The faults in force, oldest first.
    pub fn faults(&self) -> Vec<InForce> {
        self.shared.lock().faults.in_force().to_vec()
    }

    /// The latest requests, oldest first, at most 10 000.
    pub fn requests(&self) -> Vec<Seen> {
        self.shared.seen().iter().cloned().collect()
    }

    /// Forgets the requests so far.
    pub fn forget_requests(&self) {
        self.shared.seen().clear();
    }

    fn ensure_namespace(&self, name: &str) {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        self.change(|server| {
            let exists = server.target_named("namespaces", None, name).is_ok_and(|target| server.read(&target).is_ok());
            if !exists && let Ok(target) = server.target_of(&namespace) {
                // It can only be refused where it exists.
                drop(server.create(&target, namespace, &writer("kube-apiserver")));
            }
        });
    }

    fn change<T>(&self, change: impl FnOnce(&mut Server) -> T) -> T {
        let outcome = change(&mut self.shared.lock());
        self.shared.turn();
        outcome
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Server> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> MutexGuard<'_, VecDeque<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) {
        self.turn.send_modify(|turn| *turn = turn.wrapping_add(1));
    }

    fn turns(&self) -> Receiver<u64> {
        self.turn.subscribe()
    }

    fn note(&self, call: &Call) {
        let resource = call.place().map(call::Place::resource);
        let verb = call.verb.filter(|_| resource.is_some());
        let mut seen = self.seen();
        if seen.len() == SEEN {
            seen.pop_front();
        }
        seen.push_back(Seen { verb, resource, user_agent: call.sender.user_agent.clone() });
    }

    fn begin_fault(&self, fault: Fault, scope: Scope) -> u64 {
        let id = {
            let mut server = self.lock();
            let server = &mut *server;
            let sequence = server.draw_sequence();
            server.faults.begin(fault, scope, sequence, &mut server.store);
            // Rolling the store back can bring a CRD back or take it away.
            server.find_resources();
            sequence
        };
        self.turn();
        id
    }

    fn end_fault(&self, id: u64) -> bool {
        let ended = self.lock().faults.end(id);
        self.turn();
        ended
    }

    fn end_faults(&self) {
        self.lock().faults.end_all();
        self.turn();
    }
}

fn writer(manager: &str) -> Writer {
    Writer { manager: manager.to_owned(), dry_run: false }
}
