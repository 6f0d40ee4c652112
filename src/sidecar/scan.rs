//! Lists one resource again and again, each time with a client of its own.

use std::sync::Arc;
use std::time::Duration;

use super::operator::InForce;
use super::shared::Shared;
use crate::clock;
use crate::cluster::connect::Cluster;
use crate::cluster::list::{Listing, Query};
use crate::cluster::look::{self, Eye, Judged};
use crate::cluster::request::{self, Client, Reach, Reason};
use crate::cluster::{chain, discover};
use crate::config;
use crate::config::resource::Resource;
use crate::judge::ledger::{ListEnd, Listed, Source};
use crate::judge::rule::RuleFrom;
use crate::judge::rule::auto::Mark;
use crate::judge::state::Moment;
use crate::view::ListResult;

/// From one list to the next of a small resource.
const SHORTEST: Duration = Duration::from_secs(30);
/// The cap, however much a list costs.
const LONGEST: Duration = Duration::from_mins(10);
/// So many times as long as a list takes: listing takes about 1 % of the time.
const COST: u32 = 100;

/// One resource of one operator.
#[derive(Debug)]
pub(super) struct Scanner {
    pub(super) shared: Arc<Shared>,
    pub(super) cluster: Arc<Cluster>,
    pub(super) operator: String,
    pub(super) resource: String,
    pub(super) list: config::List,
}

/// What is listed, and how it is judged.
struct Job {
    found: discover::Resource,
    entry: Resource,
    rule: InForce,
    /// The strongest mark that objects have shown so far.
    mark: Option<Mark>,
}

/// How a list went.
#[derive(Debug, Default)]
struct Tally {
    bytes: u64,
    version: Option<String>,
    failure: Option<Failure>,
}

/// Why a list failed.
#[derive(Debug)]
struct Failure {
    text: String,
    reason: Reason,
    reach: Reach,
    is_unauthorized: bool,
    wait: Option<Duration>,
}

/// What to do next.
enum Next {
    /// List at once: the rule changed.
    Again,
    After(Duration),
}

impl Scanner {
    /// Lists for ever.
    pub(super) async fn run(self) {
        let wake = self.shared.with(|known| {
            known.operator(&self.operator)?.watched(&self.resource).map(|watched| Arc::clone(&watched.wake))
        });
        let Some(wake) = wake else { return };
        loop {
            match self.once().await {
                Next::Again => {}
                Next::After(wait) => {
                    tokio::select! {
                        () = clock::sleep(wait) => {}
                        () = wake.notified() => {}
                    }
                }
            }
        }
    }

    async fn once(&self) -> Next {
        let Some(job) = self.job() else { return Next::After(SHORTEST) };
        let began = self.shared.now();
        self.begin(began);
        let mut tally = Tally::default();
        match self.cluster.client().await {
            Err(error) => tally.failure = Some(Failure::of_request(&error)),
            Ok(client) => {
                if let Some(mark) = self.walk(&client, &job, began, &mut tally).await {
                    self.mark_shown(mark);
                    return Next::Again;
                }
            }
        }
        Next::After(self.end(began, &tally))
    }

    /// Chooses the rule by what is known by now and puts it in force.
    fn job(&self) -> Option<Job> {
        self.shared.with(|known| {
            let operator = known.operator(&self.operator)?;
            let watched = operator.watched(&self.resource)?;
            let (entry, found) = (watched.entry.clone(), watched.found.clone()?);
            let mark = watched.mark;
            let chosen = entry.choose(found.evidence(mark), RuleFrom::Config);
            let rule = InForce::new(chosen, &entry, &operator.plan, watched.list.interval);
            operator.put_in_force(&self.resource, rule.clone());
            Some(Job { found, entry, rule, mark })
        })
    }

    fn begin(&self, now: Moment) {
        self.shared.with(|known| {
            if let Some(operator) = known.operator(&self.operator) {
                operator.begin_list(&self.resource, now);
            }
        });
    }

    /// Lists every namespace that is meant, or all at once. Returns the mark of another rule that the objects show.
    async fn walk(&self, client: &Client, job: &Job, began: Moment, tally: &mut Tally) -> Option<Mark> {
        let named = job.entry.namespaces.names().filter(|_| job.found.namespaced);
        let namespaces = named.map_or_else(|| vec![None], |names| names.into_iter().map(Some).collect());
        for namespace in namespaces {
            let query = Query {
                namespace,
                labels: job.entry.selector.as_deref(),
                page_size: self.list.page_size,
                max_object_bytes: self.list.max_object_bytes,
                ..Query::new(&job.found)
            };
            let open = job.entry.is_open().then(|| job.found.evidence(job.mark));
            let eye = Eye { reader: &job.rule.reader, open };
            let now = || self.shared.now().wall;
            let mut each = |judged: Judged<'_>| self.take(&judged, job, began);
            match look::look(client, &query, eye, &now, &mut each).await {
                look::End::ShowsMark(mark) => return Some(mark),
                look::End::Read(listing) => tally.add(listing),
            }
            if tally.failure.is_some() {
                break;
            }
        }
        None
    }

    fn take(&self, judged: &Judged<'_>, job: &Job, began: Moment) {
        match judged {
            Judged::Object(identity, judgement) if job.entry.means(*identity) => {
                let now = self.shared.now();
                self.shared.with(|known| {
                    if let Some(operator) = known.operator(&self.operator) {
                        operator.apply(&self.resource, Source::List, *identity, judgement, (began, now));
                    }
                });
            }
            Judged::Restarted => self.begin(self.shared.now()),
            Judged::Object(..) | Judged::Page => {}
        }
    }

    fn mark_shown(&self, mark: Mark) {
        let now = self.shared.now();
        self.shared.with(|known| {
            if let Some(operator) = known.operator(&self.operator) {
                operator.end_list(&self.resource, ListEnd::Partial, now);
                if let Some(watched) = operator.watched_mut(&self.resource) {
                    watched.mark = Some(mark);
                }
            }
        });
    }

    /// Ends the list, and says when the next one is due.
    fn end(&self, began: Moment, tally: &Tally) -> Duration {
        let now = self.shared.now();
        let took = now.elapsed.saturating_sub(began.elapsed);
        let end = match &tally.failure {
            None => ListEnd::Complete { version: tally.version.as_deref() },
            Some(failure) if failure.is_refusal() => ListEnd::Refused,
            Some(_) => ListEnd::Partial,
        };
        self.shared.heard(tally.failure.as_ref().map_or(Ok(None), |failure| Err(failure.reach)));
        let (listed, wait) = self.shared.with(|known| {
            let fraction = known.random.f64();
            let Some(operator) = known.operator(&self.operator) else { return (Vec::new(), SHORTEST) };
            let listed = operator.end_list(&self.resource, end, now);
            let wait = self.note(operator, tally, took, now).mul_f64(0.9 + 0.2 * fraction);
            (listed, wait)
        });
        if tally.failure.as_ref().is_some_and(|failure| failure.reason == Reason::NotFound) {
            self.shared.unserved.notify_one();
        }
        self.tell(&listed);
        self.shared.changed.notify_one();
        tally.failure.as_ref().and_then(|failure| failure.wait).map_or(wait, |asked| wait.max(asked))
    }

    /// Notes how the list went; returns the time to the next one.
    fn note(&self, operator: &mut super::operator::Operator, tally: &Tally, took: Duration, now: Moment) -> Duration {
        let fixed = self.list.interval;
        let Some(watched) = operator.watched_mut(&self.resource) else { return SHORTEST };
        let list = &mut watched.list;
        list.bytes = list.bytes.saturating_add(tally.bytes);
        let problem = tally.failure.as_ref().map(|failure| failure.text.clone());
        self.tell_problem(list.problem.as_deref(), problem.as_deref());
        list.problem = problem;
        let Some(failure) = &tally.failure else {
            list.results.add(ListResult::Complete);
            list.last_success = Some(now.tick());
            list.duration = Some(took);
            list.interval = fixed.unwrap_or_else(|| took.saturating_mul(COST).clamp(SHORTEST, LONGEST));
            let interval = list.interval;
            operator.set_interval(&self.resource, interval);
            return interval;
        };
        list.results.add(result(failure.reason));
        list.interval.min(fixed.unwrap_or(SHORTEST))
    }

    /// One line when a list fails for another reason than the one before, or is complete again.
    fn tell_problem(&self, before: Option<&str>, now: Option<&str>) {
        match now {
            Some(_) if before == now => {}
            Some(problem) => {
                tracing::warn!(operator = %self.operator, resource = %self.resource, problem, "list failed");
            }
            None if before.is_some() => {
                tracing::info!(operator = %self.operator, resource = %self.resource, "list complete again");
            }
            None => {}
        }
    }

    fn tell(&self, listed: &[(String, Listed)]) {
        for (stream, listed) in listed {
            if let Some(regression) = listed.regression {
                tracing::warn!(
                    operator = %self.operator, resource = %stream, from = regression.from, to = regression.to,
                    "resourceVersion went back: the API server's store was restored to an older state"
                );
            }
            if listed.mistrusted > 0 {
                tracing::warn!(
                    operator = %self.operator, resource = %stream, objects = listed.mistrusted,
                    "many objects turned pending at once without having been written: the rule or a default changed; \
                     they are unknown until they are written"
                );
            }
        }
    }
}

impl Tally {
    fn add(&mut self, listing: Listing) {
        self.bytes = self.bytes.saturating_add(listing.bytes);
        // The first of several is the oldest, and promises least.
        self.version = self.version.take().or(listing.resource_version);
        self.failure = self.failure.take().or(listing.error.map(|error| {
            let cause = match &error {
                crate::cluster::list::Error::Request { source, .. } => Some(source),
                _ => None,
            };
            Failure {
                text: chain(&error),
                reason: error.reason(),
                reach: error.reach(),
                is_unauthorized: matches!(cause, Some(request::Error::Unauthorized { .. })),
                wait: cause.and_then(asked_to_wait),
            }
        }));
    }
}

fn asked_to_wait(error: &request::Error) -> Option<Duration> {
    match error {
        request::Error::Throttled { retry_after, .. } => *retry_after,
        _ => None,
    }
}

impl Failure {
    fn of_request(error: &request::Error) -> Self {
        Self {
            text: chain(error),
            reason: error.reason(),
            reach: error.reach(),
            is_unauthorized: matches!(error, request::Error::Unauthorized { .. }),
            wait: asked_to_wait(error),
        }
    }

    /// 401, 403 and 404 are answers: there is nothing to read here.
    const fn is_refusal(&self) -> bool {
        self.is_unauthorized || matches!(self.reason, Reason::Forbidden | Reason::NotFound)
    }
}

const fn result(reason: Reason) -> ListResult {
    match reason {
        Reason::Forbidden => ListResult::Forbidden,
        Reason::NotFound => ListResult::NotFound,
        Reason::Timeout => ListResult::Timeout,
        Reason::Expired => ListResult::Expired,
        Reason::Decode => ListResult::Decode,
        Reason::Other => ListResult::Other,
    }
}
