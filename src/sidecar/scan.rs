//! Lists one resource again and again, each time with a client of its own.

mod tally;

use std::sync::Arc;
use std::time::Duration;

use super::follow::Basis;
use super::operator::{InForce, Operator};
use super::shared::Shared;
use crate::clock;
use crate::cluster::connect::Cluster;
use crate::cluster::discover;
use crate::cluster::list::Query;
use crate::cluster::look::{self, Eye, Judged};
use crate::cluster::request::{Client, Reason};
use crate::config;
use crate::config::resource::Resource;
use crate::judge::ledger::{ListEnd, Listed, Source};
use crate::judge::rule::RuleFrom;
use crate::judge::rule::auto::Mark;
use crate::judge::state::Moment;
use crate::view::ListResult;
use tally::{Failure, Tally, result};

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
        Next::After(self.end(began, &job, &tally))
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
                    watched.mark = watched.mark.max(Some(mark));
                }
            }
        });
    }

    /// Ends the list, and says when the next one is due.
    fn end(&self, began: Moment, job: &Job, tally: &Tally) -> Duration {
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
            self.give_basis(operator, job, tally, &listed);
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

    /// Tells the own watch behind what it may begin.
    fn give_basis(&self, operator: &mut Operator, job: &Job, tally: &Tally, listed: &[(String, Listed)]) {
        let Some(watched) = operator.watched_mut(&self.resource) else { return };
        watched.regressions += u64::from(listed.iter().any(|(_, listed)| listed.regression.is_some()));
        let version = tally.version.clone().filter(|version| tally.failure.is_none() && !version.is_empty());
        let Some(version) = version else { return };
        watched.basis.send_replace(Some(Arc::new(Basis {
            found: job.found.clone(),
            entry: job.entry.clone(),
            rule: job.rule.clone(),
            mark: job.mark,
            version,
            objects: tally.objects,
            regressions: watched.regressions,
        })));
    }

    /// Notes how the list went; returns the time to the next one.
    fn note(&self, operator: &mut Operator, tally: &Tally, took: Duration, now: Moment) -> Duration {
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
