//! Watches one resource beside its lists, so that what is pending is known at once.
//!
//! The list stays the truth: a watch begins behind the newest complete list, everything that it shows is judged as a
//! list's objects are, and absence, served-through and states are concluded from lists alone. A watch says nothing of the
//! API server either: it may break, stay silent or be refused while every list is answered, so nothing of it feeds the
//! gate, and where it may not be opened, detection waits for the next list.

mod ear;
mod pace;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future;
use tokio::sync::watch as channel;

use super::operator::{InForce, Watched};
use super::shared::Shared;
use crate::clock;
use crate::cluster::chain;
use crate::cluster::connect::Cluster;
use crate::cluster::discover;
use crate::cluster::request;
use crate::cluster::watch::{self, End, Event, Query};
use crate::config::resource::Resource;
use crate::judge::rule::auto::{Mark, Signs};
use ear::Ear;
use pace::{Pace, lasts, later};

/// So many failures in a row are told; one of them is nothing.
const TOLD_FAILURES: u32 = 3;

/// The own watch of one resource of one operator.
#[derive(Debug)]
pub(super) struct Follower {
    pub(super) shared: Arc<Shared>,
    pub(super) cluster: Arc<Cluster>,
    pub(super) operator: String,
    pub(super) resource: String,
    pub(super) max_object_bytes: usize,
    pub(super) idle_after: Duration,
}

/// From what a watch begins: a complete list.
#[derive(Debug)]
pub(super) struct Basis {
    pub(super) found: discover::Resource,
    pub(super) entry: Resource,
    pub(super) rule: InForce,
    /// The strongest mark that the objects had shown until then.
    pub(super) mark: Option<Mark>,
    /// The list's resourceVersion: a watch from here misses nothing.
    pub(super) version: String,
    /// How many objects it showed.
    pub(super) objects: u64,
    /// How often the store had gone back in time by then: versions of another time cannot be compared.
    pub(super) regressions: u64,
}

type Newest = channel::Receiver<Option<Arc<Basis>>>;

impl Basis {
    /// What a pattern found is only watched once it holds objects.
    fn deserves_a_watch(&self) -> bool {
        self.objects > 0 || !self.entry.resource.is_glob()
    }

    /// Whether what was judged and compared on that basis holds on this one.
    fn agrees_with(&self, other: &Self) -> bool {
        (&self.rule.fingerprint, self.mark, self.regressions)
            == (&other.rule.fingerprint, other.mark, other.regressions)
    }
}

/// The next basis for which `is_wanted` holds. Never, once the resource is gone.
async fn basis(newest: &mut Newest, is_wanted: impl Fn(&Basis) -> bool) -> Arc<Basis> {
    let found = match newest.wait_for(|it| it.as_ref().is_some_and(|it| is_wanted(it))).await {
        Ok(it) => it.clone(),
        Err(_) => None,
    };
    match found {
        Some(found) => found,
        None => future::pending().await,
    }
}

/// How one watch ended, for the next one.
enum Turn {
    /// Go on behind this version, if it showed one.
    On(Option<String>, Duration),
    /// A newer list must come first, and this long must have passed.
    AfterList(Duration),
}

impl Follower {
    /// Watches for ever.
    pub(super) async fn run(self) {
        let newest = self.shared.with(|known| {
            known.operator(&self.operator)?.watched(&self.resource).map(|watched| watched.basis.subscribe())
        });
        let Some(mut newest) = newest else { return };
        loop {
            // Watches of an earlier basis, or of an earlier configuration, ended without a word.
            self.with(|_, watched| watched.watch.as_mut().map(|watch| watch.open = 0));
            let current = basis(&mut newest, Basis::deserves_a_watch).await;
            let named = current.entry.namespaces.names().filter(|_| current.found.namespaced);
            let namespaces = named.map_or_else(|| vec![None], |names| names.into_iter().map(Some).collect());
            let all = namespaces.into_iter().map(|namespace| self.follow(namespace, &current, newest.clone()));
            let mut changes = newest.clone();
            tokio::select! {
                _ = basis(&mut changes, |new| !new.agrees_with(&current)) => {}
                _ = future::join_all(all) => {}
            }
        }
    }

    /// Watches one namespace, or all at once, as long as one basis holds.
    async fn follow(&self, namespace: Option<&str>, current: &Basis, mut newest: Newest) {
        let mut pace = Pace::default();
        let mut from = current.version.clone();
        loop {
            let used = newest.borrow().clone();
            match self.turn(namespace, current, &from, &mut pace).await {
                Turn::On(version, wait) => {
                    clock::sleep(wait).await;
                    let listed = newest.borrow().as_ref().map(|basis| basis.version.clone());
                    from = later(version.unwrap_or(from), listed);
                }
                Turn::AfterList(wait) => {
                    let again = |new: &Basis| used.as_deref().is_none_or(|used| !std::ptr::eq(used, new));
                    let new = basis(&mut newest, again).await;
                    clock::sleep(wait).await;
                    from.clone_from(&new.version);
                }
            }
        }
    }

    /// One watch, from its request to its end.
    async fn turn(&self, namespace: Option<&str>, basis: &Basis, from: &str, pace: &mut Pace) -> Turn {
        let began = self.shared.now().elapsed;
        let fraction = || self.shared.with(|known| known.random.f64());
        let ear = Ear::new(self, basis, namespace, pace.is_told);
        let (end, version) = match self.cluster.client().await {
            Err(error) => (Err(error), None),
            Ok(client) => {
                let query = Query {
                    resource: &basis.found,
                    namespace,
                    name: None,
                    labels: basis.entry.selector.as_deref(),
                    from,
                    lasts: lasts(fraction()),
                    idle_after: self.idle_after,
                    max_object_bytes: self.max_object_bytes,
                };
                let is_open = basis.entry.is_open();
                let signs = is_open.then(|| Signs::new(basis.found.evidence(basis.mark)));
                let mut each = |event: Event<'_>| ear.hear(event, signs.as_ref());
                tokio::select! {
                    watched = watch::watch(&client, &query, &mut each) => (watched.end, watched.version),
                    () = ear.nudge() => (Ok(End::Closed), None),
                }
            }
        };
        pace.is_told = ear.is_told();
        if ear.is_begun() {
            self.note(|watch| watch.open = watch.open.saturating_sub(1));
        }
        self.shared.changed.notify_one();
        let lived = self.shared.now().elapsed.saturating_sub(began);
        match end {
            // Silence is no fault by itself: of a resource that nobody writes or lists there may be no bookmarks.
            Ok(End::Closed | End::Idle) => Turn::On(version, pace.after_close(lived, fraction())),
            Err(error) => self.after(&error, namespace, version, pace, (lived, fraction())),
        }
    }

    /// What follows from an error.
    fn after(
        &self,
        error: &request::Error,
        namespace: Option<&str>,
        version: Option<String>,
        pace: &mut Pace,
        (lived, fraction): (Duration, f64),
    ) -> Turn {
        use request::Error::{Expired, Forbidden, NotFound, Refused, Throttled, Unauthorized};
        let wait = pace.after_failure(lived, fraction);
        let is_refused =
            matches!(error, Forbidden { .. } | Unauthorized { .. } | NotFound { .. } | Refused { status: 405, .. });
        self.trouble(namespace, &chain(error), is_refused || pace.failures() >= TOLD_FAILURES, pace);
        match error {
            Expired { .. } => {
                // One list is asked for; where that does not help, the next ones come as they would have.
                if pace.failures() == 1 {
                    self.with(|_, watched| watched.wake.notify_one());
                }
                Turn::AfterList(wait)
            }
            // A documented reason: whether it still holds is asked after a list that was answered.
            _ if is_refused => Turn::AfterList(wait),
            Throttled { retry_after, .. } => Turn::On(version, wait.max(retry_after.unwrap_or_default())),
            _ => Turn::On(version, wait),
        }
    }

    fn with<R>(&self, change: impl FnOnce(&str, &mut Watched) -> R) -> Option<R> {
        self.shared.with(|known| {
            let operator = known.operator(&self.operator)?;
            Some(change(&self.operator, operator.watched_mut(&self.resource)?))
        })
    }

    fn note(&self, change: impl FnOnce(&mut crate::view::Watch)) {
        self.with(|_, watched| change(watched.watch.get_or_insert_default()));
    }

    /// Notes why there is no watch; tells it once, where it lasts.
    fn trouble(&self, namespace: Option<&str>, problem: &str, lasts: bool, pace: &mut Pace) {
        let problem = namespace.map_or_else(|| problem.to_owned(), |namespace| format!("{namespace}: {problem}"));
        if lasts && !std::mem::replace(&mut pace.is_told, true) {
            tracing::warn!(
                operator = %self.operator, resource = %self.resource, problem,
                "no own watch: what is pending is seen by the next list"
            );
        }
        self.note(|watch| watch.problem = Some(problem));
    }
}
