//! Starts the tasks of one plan, with what is known already.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{Id, JoinSet};

use super::operator::Operator;
use super::own_pod::{self, Place};
use super::plan::{OperatorPlan, Plan};
use super::shared::{Known, Shared};
use super::state_file::{self, StateFile};
use super::{canary, confirm, gate, leader, nudge, own_check, peers, post, roster, scrape, sockets, stale};
use crate::clock;
use crate::cluster::chain;
use crate::cluster::connect::{self, Cluster};
use crate::config::operator::Operator as Beside;
use crate::judge::decision::Decider;
use crate::judge::decision::snapshot::Owner;
use crate::judge::state::Moment;

/// After a kubeconfig or a service account could not be used.
const AGAIN: Duration = Duration::from_secs(5);

/// Finds the cluster, however long it takes.
pub(super) async fn connect(shared: &Shared) -> Arc<Cluster> {
    loop {
        match connect::connect(&shared.options.connection).await {
            Ok(cluster) => {
                shared.with(|known| known.config.problem = None);
                return Arc::new(cluster);
            }
            Err(error) => {
                complain(shared, format!("cannot connect to a cluster: {}", chain(&error)));
                clock::sleep(AGAIN).await;
            }
        }
    }
}

/// Copies the probe's program, however long it takes. Until then nothing else begins, and `/readyz` says so: an exec probe
/// without its program would count against the operator.
pub(super) async fn install_probe(shared: &Shared) {
    let Some((folder, install)) = &shared.options.install_probe else { return };
    loop {
        match install(folder) {
            Ok(copy) => {
                tracing::info!(copy = %copy.display(), "probe installed");
                shared.with(|known| known.config.problem = None);
                return;
            }
            Err(problem) => complain(shared, format!("cannot install the probe: {problem}")),
        }
        clock::sleep(AGAIN).await;
    }
}

/// Shows why nothing can begin; logs it once.
fn complain(shared: &Shared, problem: String) {
    let is_news = shared.with(|known| known.config.problem.as_ref() != Some(&problem));
    if is_news {
        tracing::error!("{problem}");
        shared.with(|known| known.config.problem = Some(problem));
        shared.changed.notify_one();
    }
}

/// The tasks that run, by name. Dropping it ends them.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    set: JoinSet<String>,
    names: HashMap<Id, &'static str>,
}

impl Tasks {
    /// Starts a task that must not end.
    fn spawn(&mut self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn_telling(name, async {
            task.await;
            "ended".to_owned()
        });
    }

    /// Starts a task that must not end, and says how it ended if it does.
    fn spawn_telling(&mut self, name: &'static str, task: impl Future<Output = String> + Send + 'static) {
        let handle = self.set.spawn(task);
        self.names.insert(handle.id(), name);
    }

    /// Waits for a task to end, which none must.
    pub(super) async fn ended(&mut self) -> (&'static str, String) {
        let Some(ended) = self.set.join_next_with_id().await else { return std::future::pending().await };
        let (id, how) = match ended {
            Ok((id, how)) => (id, how),
            Err(error) => (error.id(), "panicked".to_owned()),
        };
        (self.names.get(&id).copied().unwrap_or("unknown"), how)
    }
}

/// Puts a plan in force and starts its tasks.
pub(super) async fn start(shared: &Arc<Shared>, cluster: &Arc<Cluster>, plan: Plan) -> Tasks {
    let mut tasks = Tasks::default();
    let place = place(shared, cluster);
    let beside = plan.operators.iter().find_map(|operator| operator.beside.clone());
    if let (Some(place), Some(beside), true) = (&place, &beside, plan.operators.iter().any(|it| it.name.is_none())) {
        own_pod::first(shared, cluster, place, beside).await;
    }
    install(shared, &plan);
    let lease = beside.as_ref().and_then(|beside| lease(shared, cluster, beside));
    let mut names = vec!["decide", "gate", "lists", "confirm", "freshness"];
    tasks.spawn("gate", gate::keep(Arc::clone(shared), Arc::clone(cluster)));
    tasks.spawn_telling("lists", roster::keep(Arc::clone(shared), Arc::clone(cluster), plan.list, plan.watch));
    let limit = plan.list.max_object_bytes;
    tasks.spawn("confirm", confirm::keep(Arc::clone(shared), Arc::clone(cluster), limit, lease.clone()));
    tasks.spawn_telling("freshness", stale::keep(Arc::clone(shared), Arc::clone(cluster), limit));
    if plan.canary.is_some() {
        tasks.spawn("canary", canary::keep(Arc::clone(shared), Arc::clone(cluster), limit));
        names.push("canary");
    }
    if plan.nudge {
        tasks.spawn("nudge", nudge::keep(Arc::clone(shared), Arc::clone(cluster), limit));
        names.push("nudge");
    }
    if let Some(lease) = lease {
        let operator = shared.with(|known| known.operators.first().map(|it| it.name.clone())).unwrap_or_default();
        tasks.spawn("lease", leader::keep(Arc::clone(shared), Arc::clone(cluster), operator, lease));
        names.push("lease");
    }
    if let Some(beside) = &beside {
        names.extend(spawn_own(&mut tasks, shared, cluster, beside));
    }
    if beside.is_some() && !cluster.is_in_process() {
        tasks.spawn("sockets", sockets::keep(Arc::clone(shared), crate::sockets::read));
        names.push("sockets");
    }
    match (place, beside) {
        (Some(place), Some(beside)) => {
            tasks.spawn("events", post::keep(Arc::clone(shared), Arc::clone(cluster), place.clone()));
            tasks.spawn("pod", own_pod::keep(Arc::clone(shared), Arc::clone(cluster), place, beside));
            names.extend(["events", "pod"]);
        }
        (None, Some(_)) => shared.with(|known| {
            let problem = "the own Pod is not known: set POD_NAME and POD_NAMESPACE by the downward API";
            tracing::warn!(problem, "cannot read the own Pod");
            known.pod.problem = Some(problem.to_owned());
            known.letters.clear();
        }),
        (_, None) => shared.with(|known| known.letters.clear()),
    }
    shared.with(|known| {
        known.tasks.retain(|task| task.name == "decide");
        let fresh: Vec<&str> = names.into_iter().filter(|name| *name != "decide").collect();
        known.tasks_begin(&fresh);
    });
    shared.changed.notify_one();
    tasks
}

/// Starts what reads the operator itself, as far as it is configured, and names it.
fn spawn_own(tasks: &mut Tasks, shared: &Arc<Shared>, cluster: &Arc<Cluster>, beside: &Beside) -> Vec<&'static str> {
    let operator = shared.with(|known| known.operators.first().map(|it| it.name.clone())).unwrap_or_default();
    let mut names = Vec::new();
    if let Some(peering) = beside.peering.clone() {
        let own = beside.identity.clone().unwrap_or_else(|| hostname(shared));
        let place = peers::Place { namespace: peering.namespace, name: peering.name, own };
        tasks.spawn("peering", peers::keep(Arc::clone(shared), Arc::clone(cluster), operator.clone(), place));
        names.push("peering");
    }
    if let Some(healthz) = beside.healthz.clone() {
        tasks.spawn("own-check", own_check::keep(Arc::clone(shared), operator.clone(), healthz));
        names.push("own-check");
    }
    if let Some(metrics) = beside.metrics.clone() {
        tasks.spawn("operator-metrics", scrape::keep(Arc::clone(shared), operator, metrics));
        names.push("operator-metrics");
    }
    names
}

/// What the operator's process sees as its host: containers of a Pod share it.
fn hostname(shared: &Shared) -> String {
    let options = &shared.options;
    options.hostname.clone().or_else(|| options.pod_name.clone()).unwrap_or_default()
}

/// Where the own Pod is; absent outside of one.
fn place(shared: &Shared, cluster: &Cluster) -> Option<Place> {
    let name = shared.options.pod_name.clone()?;
    let namespace = shared.options.pod_namespace.clone().unwrap_or_else(|| cluster.namespace().to_owned());
    Some(Place { namespace, name })
}

fn lease(shared: &Shared, cluster: &Cluster, beside: &Beside) -> Option<leader::Place> {
    let lease = beside.lease.as_ref()?;
    let options = &shared.options;
    let own = || options.pod_namespace.clone().unwrap_or_else(|| cluster.namespace().to_owned());
    Some(leader::Place {
        namespace: lease.namespace.clone().unwrap_or_else(own),
        name: lease.name.clone(),
        identity: beside.identity.clone(),
        hostname: hostname(shared),
    })
}

/// Puts a plan in force: operators that stay keep their memory and their budget.
fn install(shared: &Shared, plan: &Plan) {
    let (now, options) = (shared.now(), &shared.options);
    shared.with(|known| {
        known.state_file = plan.state_file.clone().map(StateFile::new);
        let mut before = std::mem::take(&mut known.operators);
        for planned in &plan.operators {
            let name = planned
                .name
                .clone()
                .or_else(|| known.pod.owner().map(str::to_owned))
                .or_else(|| options.pod_name.clone())
                .unwrap_or_else(|| "operator".to_owned());
            // The operator beside us stays the same one under another name.
            let is_it = |it: &Operator| it.name == name || (it.plan.beside.is_some() && planned.beside.is_some());
            let operator = match before.iter().position(is_it).map(|index| before.remove(index)) {
                Some(mut operator) => {
                    operator.replan(name, planned.clone(), now);
                    operator
                }
                None => create(known, name, planned, now),
            };
            known.operators.push(operator);
        }
        known.configure_canary(plan.canary.clone(), now);
        known.configure_nudges(plan.nudge, now);
    });
}

/// A new operator, with what the state file kept of it.
fn create(known: &mut Known, name: String, plan: &OperatorPlan, now: Moment) -> Operator {
    let decider = known
        .state_file
        .as_ref()
        .filter(|_| plan.beside.is_some())
        .and_then(|file| match restore(file, &known.boot, &name, plan, now) {
            Ok(decider) => decider,
            Err(error) => {
                let problem = state_file::say(&error);
                tracing::warn!(problem, "the state file is left out: memory and budget begin anew");
                known.config.warnings.push(problem);
                None
            }
        })
        .unwrap_or_else(|| Decider::new(plan.policy(), now));
    let last = decider.last_requested().map(|at| now.wall_at(at));
    let mut operator = Operator::new(name, plan.clone(), decider, now);
    operator.restarts.last = last;
    operator
}

fn restore(
    file: &StateFile,
    boot: &str,
    name: &str,
    plan: &OperatorPlan,
    now: Moment,
) -> Result<Option<Decider>, state_file::Error> {
    let Some(snapshot) = file.load()? else { return Ok(None) };
    let owner = Owner { operator: name, boot };
    Decider::restore(plan.policy(), snapshot, now, owner, &mut [], |_| String::new())
        .map(Some)
        .map_err(|error| file.unusable(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_ends_is_named_with_how_it_ended() {
        let mut tasks = Tasks::default();
        tasks.spawn("gate", std::future::pending());
        tasks.spawn_telling("lists", async { "a list panicked".to_owned() });
        assert_eq!(tasks.ended().await, ("lists", "a list panicked".to_owned()));
        tasks.spawn("pod", async { panic!("as asked") });
        assert_eq!(tasks.ended().await, ("pod", "panicked".to_owned()));
        tasks.spawn("events", async {});
        assert_eq!(tasks.ended().await, ("events", "ended".to_owned()));
    }
}
