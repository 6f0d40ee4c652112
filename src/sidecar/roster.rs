//! Which resources there are to list: asks what the API server serves and keeps one scanner and one follower for each.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{AbortHandle, JoinSet};

use super::follow::Follower;
use super::operator::{Operator, Watched};
use super::scan::Scanner;
use super::shared::Shared;
use crate::clock;
use crate::cluster::chain;
use crate::cluster::connect::Cluster;
use crate::cluster::discover::{self, Discovery};
use crate::cluster::request::Reach;
use crate::config;
use crate::config::resource::Resource;
use crate::judge::state::Moment;

/// After a failure, and while a resource is missing.
const SOON: Duration = Duration::from_secs(30);
/// While nothing is known at all.
const AT_ONCE: Duration = Duration::from_secs(10);
/// Patterns follow discovery, and versions may change.
const AT_REST: Duration = Duration::from_mins(5);

/// What lists and watches that run, by operator and resource, each with what it reads.
type Running = HashMap<(String, String), (discover::Resource, [AbortHandle; 2])>;

/// Follows discovery for ever. Returns how a list or a watch ended that must not end.
pub(super) async fn keep(
    shared: Arc<Shared>,
    cluster: Arc<Cluster>,
    list: config::List,
    watch: config::Watch,
) -> String {
    let mut scans = JoinSet::new();
    let mut running = Running::new();
    loop {
        let wait = match ask(&cluster).await {
            Ok(discovery) => {
                shared.heard(Ok(discovery.server));
                let is_whole = assign(&shared, &discovery);
                drop(discovery);
                reconcile(&shared, &cluster, (list, watch), &mut scans, &mut running);
                if is_whole { AT_REST } else { SOON }
            }
            Err((problem, reach)) => {
                shared.heard(Err(reach));
                if note_problem(&shared, &problem) { AT_ONCE } else { SOON }
            }
        };
        shared.changed.notify_one();
        let again = clock::sleep(wait);
        tokio::pin!(again);
        loop {
            tokio::select! {
                () = &mut again => break,
                () = shared.unserved.notified(), if wait > SOON => {
                    clock::sleep(SOON).await;
                    break;
                }
                Some(ended) = scans.join_next() => match ended {
                    Err(error) if error.is_cancelled() => {}
                    Err(_) => return "a list or a watch panicked".to_owned(),
                    Ok(()) => {}
                },
            }
        }
    }
}

async fn ask(cluster: &Cluster) -> Result<Discovery, (String, Reach)> {
    let client = cluster.client().await.map_err(|error| (chain(&error), error.reach()))?;
    discover::discover(&client).await.map_err(|error| (chain(&error), error.reach()))
}

/// Notes why nothing is known of resources that were never found. True if there are any.
fn note_problem(shared: &Shared, problem: &str) -> bool {
    shared.with(|known| {
        let all = known.operators.iter_mut().flat_map(|operator| &mut operator.resources);
        let mut lost = all.filter(|watched| watched.found.is_none()).peekable();
        let is_any = lost.peek().is_some();
        for watched in lost {
            if watched.list.problem.as_deref() != Some(problem) {
                tracing::warn!(resource = %watched.name, problem, "cannot find the resource");
            }
            watched.list.problem = Some(problem.to_owned());
        }
        is_any
    })
}

/// Tells every operator which of its resources are served. True if all are.
fn assign(shared: &Shared, discovery: &Discovery) -> bool {
    let now = shared.now();
    shared.with(|known| {
        let mut is_whole = true;
        for operator in &mut known.operators {
            is_whole &= assign_to(operator, discovery, now);
        }
        is_whole
    })
}

fn assign_to(operator: &mut Operator, discovery: &Discovery, now: Moment) -> bool {
    let entries = operator.plan.resources.clone();
    let mut before = std::mem::take(&mut operator.resources);
    let mut problems = Vec::new();
    // An entry that names a resource comes before a pattern that fits it.
    let (globs, named): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.resource.is_glob());
    for entry in named {
        match discovery.resolve(&[entry.resource.as_str()]) {
            Ok(selections) => {
                for selection in selections {
                    let taken = take(&mut before, &selection.resource.name(), &entry, Some(selection.resource));
                    push(&mut operator.resources, taken);
                }
            }
            Err(error) => problems.push((entry, chain(&error))),
        }
    }
    for entry in globs {
        let mut is_any = false;
        for found in discovery.preferred().filter(|it| it.is_listable() && entry.resource.matches(&it.name())) {
            is_any = true;
            let taken = take(&mut before, &found.name(), &entry, Some(found.clone()));
            push(&mut operator.resources, taken);
        }
        if !is_any {
            let problem = format!("the API server serves no resource that fits {:?}", entry.resource.as_str());
            problems.push((entry, problem));
        }
    }
    let is_whole = problems.is_empty();
    for (entry, problem) in problems {
        // What was served before keeps its name and its memory.
        let earlier = before.iter().find(|watched| watched.entry.resource == entry.resource);
        let name = earlier.map_or_else(|| entry.resource.as_str().to_owned(), |watched| watched.name.clone());
        let taken = take(&mut before, &name, &entry, None);
        let is_news = taken.list.problem.as_deref() != Some(&problem);
        push(&mut operator.resources, taken);
        operator.settle_streams();
        operator.refuse(&name, &problem, now);
        if is_news {
            tracing::warn!(operator = %operator.name, resource = %name, problem, "cannot find the resource");
        }
    }
    operator.settle_streams();
    is_whole
}

fn take(before: &mut Vec<Watched>, name: &str, entry: &Resource, found: Option<discover::Resource>) -> Watched {
    let known = before.iter().position(|watched| watched.name == name).map(|index| before.remove(index));
    let mut watched = known.unwrap_or_else(|| Watched::new(name.to_owned(), entry.clone()));
    watched.entry = entry.clone();
    if watched.found.is_none() && found.is_some() {
        watched.list.problem = None;
    }
    watched.found = found;
    watched
}

fn push(resources: &mut Vec<Watched>, watched: Watched) {
    if !resources.iter().any(|known| known.name == watched.name) {
        resources.push(watched);
    }
}

/// Starts a scanner and a follower for each resource that is served, and stops those that read something else.
fn reconcile(
    shared: &Arc<Shared>,
    cluster: &Arc<Cluster>,
    (list, watch): (config::List, config::Watch),
    scans: &mut JoinSet<()>,
    running: &mut Running,
) {
    let served: HashMap<(String, String), discover::Resource> = shared.with(|known| {
        let all = known.operators.iter().flat_map(|operator| {
            let own =
                operator.resources.iter().filter_map(|watched| Some((watched.name.clone(), watched.found.clone()?)));
            own.map(|(name, found)| ((operator.name.clone(), name), found))
        });
        all.collect()
    });
    running.retain(|key, (listed, handles)| {
        let stays = served.get(key).is_some_and(|found| is_same(found, listed));
        if !stays {
            handles.iter().for_each(AbortHandle::abort);
        }
        stays
    });
    for (key, found) in served {
        if running.contains_key(&key) {
            continue;
        }
        let (operator, resource) = key.clone();
        let follower = Follower {
            shared: Arc::clone(shared),
            cluster: Arc::clone(cluster),
            operator: operator.clone(),
            resource: resource.clone(),
            max_object_bytes: list.max_object_bytes,
            idle_after: watch.idle_after,
        };
        let scanner = Scanner { shared: Arc::clone(shared), cluster: Arc::clone(cluster), operator, resource, list };
        let handles = [scans.spawn(scanner.run()), scans.spawn(follower.run())];
        running.insert(key, (found, handles));
    }
}

/// Whether lists of both are the same requests, judged in the same way.
fn is_same(one: &discover::Resource, other: &discover::Resource) -> bool {
    (&one.version, &one.kind, one.namespaced, one.has_status)
        == (&other.version, &other.kind, other.namespaced, other.has_status)
}
