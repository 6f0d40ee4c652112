//! How an operator serves objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::client::{self, Client};
use super::flaw::Flaw;
use super::{Name, Options, Report, mark};
use crate::clock;
use crate::sim::resource::Resource;

/// How often a frozen cache is worked on anew.
const REQUEUE: Duration = Duration::from_secs(20);

/// The workers of one resource.
pub(super) struct Worker<'a> {
    client: &'a Client,
    resource: &'a Resource,
    options: &'a Options,
    /// What was read last of each object.
    cache: Mutex<BTreeMap<Name, Value>>,
    /// Until when what failed is left alone, on the boot clock: the event of the failure's own write is no reason.
    delayed: Mutex<BTreeMap<Name, Duration>>,
}

/// A step that an object still needs.
enum Task {
    /// Write this finalizer list: ours is added or taken away.
    Finalizers(Vec<Value>),
    /// Say that it was served.
    Mark,
}

/// When an object is looked at again without an event.
type Again = Option<Duration>;

impl<'a> Worker<'a> {
    pub(super) fn new(client: &'a Client, resource: &'a Resource, options: &'a Options) -> Self {
        Self { client, resource, options, cache: Mutex::default(), delayed: Mutex::default() }
    }

    /// Serves what comes out of the queue, each object by one worker at a time.
    pub(super) async fn run(&self, mut waiting: UnboundedReceiver<Name>, queue: &UnboundedSender<Name>) {
        let (mut working, mut sleeping) = (FuturesUnordered::new(), FuturesUnordered::new());
        let (mut busy, mut again) = (BTreeSet::new(), BTreeSet::new());
        // The queue is open as long as its other end is in this function's hands.
        let enqueue = |name: Name| drop(queue.send(name));
        let beat = self.options.timer.unwrap_or(REQUEUE);
        let mut next_beat = self.options.clock.boot() + beat;
        loop {
            tokio::select! {
                Some(name) = waiting.recv(), if working.len() < self.options.workers => {
                    if busy.insert(name.clone()) {
                        working.push(self.attend(name));
                    } else {
                        again.insert(name);
                    }
                }
                Some((name, wait)) = working.next(), if !working.is_empty() => {
                    busy.remove(&name);
                    if again.remove(&name) {
                        enqueue(name.clone());
                    }
                    if let Some(wait) = wait {
                        sleeping.push(async move { clock::sleep(wait).await; name });
                    }
                }
                Some(name) = sleeping.next(), if !sleeping.is_empty() => enqueue(name),
                () = clock::sleep(next_beat.saturating_sub(self.options.clock.boot())) => {
                    next_beat += beat;
                    self.beat().await;
                }
            }
        }
    }

    async fn attend(&self, name: Name) -> (Name, Again) {
        let again = self.serve(&name).await.unwrap_or(Some(self.options.back_off));
        (name, again)
    }

    /// Does what the object still needs, one step after the other.
    async fn serve(&self, name: &Name) -> Result<Again, client::Error> {
        loop {
            let flaws = self.options.flaws.of(&self.resource.plural, &name.1);
            if flaws.contains(&Flaw::Hangs) {
                std::future::pending::<()>().await;
            }
            if flaws.contains(&Flaw::Skips) || flaws.contains(&Flaw::StaleCache) {
                return Ok(None);
            }
            let Some(object) = self.client.read(&self.path(name)).await? else {
                self.cache().remove(name);
                return Ok(None);
            };
            let retry =
                flaws.iter().find_map(|flaw| if let Flaw::Fails { retry } = flaw { Some(*retry) } else { None });
            if retry.is_some() && self.delays().get(name).is_some_and(|until| self.options.clock.boot() < *until) {
                return Ok(None);
            }
            // Who fails has not done it, whatever was written about it.
            let task = self.task(name, &object).or(retry.map(|_| Task::Mark));
            self.cache().insert(name.clone(), object.clone());
            let Some(task) = task else { return Ok(None) };
            self.attempt(name, &object).await?;
            if let Some(retry) = retry.map(Duration::from_secs) {
                self.delays().insert(name.clone(), self.options.clock.boot() + retry);
                let failure = mark::failure(self.options, &object, retry);
                self.write(name, failure).await?;
                return Ok(Some(retry));
            }
            if self.perform(name, &object, task).await? {
                return Ok(None);
            }
        }
    }

    fn task(&self, name: &Name, object: &Value) -> Option<Task> {
        let metadata = &object["metadata"];
        let finalizers = metadata["finalizers"].as_array().cloned().unwrap_or_default();
        let is_deleted = metadata.get("deletionTimestamp").is_some();
        if let Some(finalizer) = &self.options.finalizer {
            let others: Vec<Value> = finalizers.iter().filter(|own| **own != finalizer.as_str()).cloned().collect();
            let is_ours = others.len() < finalizers.len();
            match (is_deleted, is_ours) {
                (true, true) => return Some(Task::Finalizers(others)),
                (false, false) => {
                    return Some(Task::Finalizers([others, vec![finalizer.as_str().into()]].concat()));
                }
                _ => {}
            }
        }
        let is_marked = match self.options.report {
            // Nothing on the object tells; the process remembers what it has seen.
            Report::Phase | Report::Nothing => {
                self.cache().get(name).is_some_and(|seen| seen["metadata"]["generation"] == metadata["generation"])
            }
            _ => mark::is_current(self.options, object),
        };
        (!is_deleted && !is_marked).then_some(Task::Mark)
    }

    /// Works on an object, and says so meanwhile.
    async fn attempt(&self, name: &Name, object: &Value) -> Result<(), client::Error> {
        let Options { service_time, progress, .. } = self.options;
        let Some(period) = progress else {
            clock::sleep(*service_time).await;
            return Ok(());
        };
        let steps = u32::try_from(service_time.as_secs() / period.as_secs().max(1)).unwrap_or(u32::MAX);
        for step in 1..=steps {
            self.write(name, mark::progress(self.options, object, step)).await?;
            clock::sleep(*period).await;
        }
        Ok(())
    }

    /// True if what comes next waits for the event of this write.
    async fn perform(&self, name: &Name, object: &Value, task: Task) -> Result<bool, client::Error> {
        match task {
            Task::Finalizers(finalizers) => {
                let version = &object["metadata"]["resourceVersion"];
                let change = json!({"metadata": {"resourceVersion": version, "finalizers": finalizers}});
                self.client.patch(&self.path(name), &change).await?;
                Ok(false)
            }
            Task::Mark => {
                let mark = mark::success(self.options, object);
                let waits = self.options.report == Report::Nothing || mark.waits_for_event;
                self.write(name, mark.change).await?;
                Ok(waits)
            }
        }
    }

    /// Writes into the status of every known object: the timer's count, or what a frozen cache makes one believe.
    async fn beat(&self) {
        let has = |name: &Name, flaw| self.options.flaws.of(&self.resource.plural, &name.1).contains(&flaw);
        let has_timer = |name: &Name| self.options.timer.is_some() && !has(name, Flaw::ForgetsTimers);
        let known: Vec<(Name, Value, bool)> = {
            let cache = self.cache();
            let known = cache.iter().map(|(name, object)| {
                (name.clone(), object["metadata"]["generation"].clone(), has(name, Flaw::StaleCache))
            });
            known.filter(|(name, _, is_stale)| *is_stale || has_timer(name)).collect()
        };
        for (name, generation, is_stale) in known {
            let mut change = mark::beat(self.options.clock);
            if is_stale {
                change["status"]["observedGeneration"] = generation;
            }
            // The next beat tries again.
            drop(self.write(&name, change).await);
        }
    }

    async fn write(&self, name: &Name, change: Value) -> Result<(), client::Error> {
        let path = self.path(name);
        for (field, path) in [("metadata", path.clone()), ("status", self.status_path(&path))] {
            let Some(part) = change.get(field) else { continue };
            let manager = if matches!(self.options.report, Report::Kopf { .. }) { "?fieldManager=kopf" } else { "" };
            self.client.patch(&format!("{path}{manager}"), &json!({field: part})).await?;
        }
        Ok(())
    }

    fn status_path(&self, path: &str) -> String {
        if self.resource.status { format!("{path}/status") } else { path.to_owned() }
    }

    fn path(&self, (namespace, name): &Name) -> String {
        let Resource { group, plural, .. } = self.resource;
        let version = self.resource.stored_version();
        if namespace.is_empty() {
            format!("/apis/{group}/{version}/{plural}/{name}")
        } else {
            format!("/apis/{group}/{version}/namespaces/{namespace}/{plural}/{name}")
        }
    }

    fn delays(&self) -> MutexGuard<'_, BTreeMap<Name, Duration>> {
        self.delayed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cache(&self) -> MutexGuard<'_, BTreeMap<Name, Value>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
