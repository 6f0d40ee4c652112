//! The audit of a cluster: one list a resource, every object judged as its bytes arrive.

use jiff::Timestamp;
use tokio::sync::Notify;

use super::peering::Waiting;
use super::progress::Progress;
use super::settings;
use super::target::Target;
use crate::cli::report::{Resource, ResourceError};
use crate::cluster::list::{Listing, Query};
use crate::cluster::look::{self, Eye, Judged, both};
use crate::cluster::request::{Client, Reason as ListReason};
use crate::config::resource::Chosen;
use crate::judge::rule::auto::{Evidence, Mark};
use crate::judge::tally::{Keep, Tally};

/// What is the same for every resource of one audit.
#[derive(Debug)]
pub struct Request<'r> {
    /// The moment to judge at.
    pub now: Timestamp,
    /// Which objects to keep by name.
    pub keep: Keep,
    /// The namespaces asked for; empty: all.
    pub namespaces: &'r [String],
    /// `-l`.
    pub labels: Option<&'r str>,
    /// `--field-selector`.
    pub fields: Option<&'r str>,
    /// Objects a page.
    pub page_size: u32,
    /// Larger objects are not read.
    pub max_object_bytes: usize,
    /// Where a person sees how far it is.
    pub progress: &'r Progress,
    /// Which kopf operators wait for a peer.
    pub waiting: &'r Waiting,
}

/// Lists and judges one resource.
pub async fn judge(client: &Client, target: &Target, request: &Request<'_>) -> Resource {
    let mut evidence = target.resource.evidence(None);
    let mut look = Look::new(target, request, evidence);
    // Each mark is stronger than the one before it, so this ends.
    while let End::ShowsMark(mark) = look.run(client).await {
        evidence.mark = Some(mark);
        look = Look::new(target, request, evidence);
    }
    request.progress.resource_done();
    look.report()
}

/// How a look ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Everything that could be read was.
    Read,
    /// The objects show the mark of another rule than the one in use: what was counted is of no use.
    ShowsMark(Mark),
}

/// One look at the objects of one resource.
struct Look<'r> {
    target: &'r Target,
    request: &'r Request<'r>,
    chosen: Chosen,
    tally: Tally,
    /// What the rule was chosen by, where marks would change it.
    open: Option<Evidence<'r>>,
    error: Option<ResourceError>,
}

impl<'r> Look<'r> {
    fn new(target: &'r Target, request: &'r Request<'r>, evidence: Evidence<'r>) -> Self {
        let chosen = target.settings.choose(evidence);
        let tally = settings::tally(&chosen, request.now, request.keep.clone());
        let open = target.settings.resource.is_open().then_some(evidence);
        Self { target, request, chosen, tally, open, error: None }
    }

    /// Makes the list, or one for each namespace and name that was asked for.
    async fn run(&mut self, client: &Client) -> End {
        for namespace in self.namespaces() {
            for fields in self.field_selectors() {
                if let End::ShowsMark(mark) = self.list(client, namespace, fields.as_deref()).await {
                    return End::ShowsMark(mark);
                }
            }
        }
        if self.tally.awaits_signal(self.chosen.rule()) { self.learn(client).await } else { End::Read }
    }

    /// Where the answer for an object without any sign depends on the others, and only some were asked for: looks at the
    /// others until one shows the sign. What cannot be read teaches nothing.
    async fn learn(&mut self, client: &Client) -> End {
        let query = Query {
            page_size: self.request.page_size,
            max_object_bytes: self.request.max_object_bytes,
            ..Query::new(&self.target.resource)
        };
        let eye = Eye { reader: &self.chosen.reader, open: self.open };
        let moment = self.request.now;
        let now = || moment;
        let signal = Notify::new();
        let mut is_signalled = false;
        let end = {
            let mut each = |judged: Judged<'_>| {
                if let Judged::Object(_, judgement) = judged
                    && judgement.signalled
                {
                    is_signalled = true;
                    signal.notify_one();
                }
            };
            tokio::select! {
                biased;
                () = signal.notified() => End::Read,
                end = look::look(client, &query, eye, &now, &mut each) => match end {
                    look::End::Read(_) => End::Read,
                    look::End::ShowsMark(mark) => End::ShowsMark(mark),
                },
            }
        };
        if is_signalled {
            self.tally.learn_signal();
        }
        end
    }

    async fn list(&mut self, client: &Client, namespace: Option<&str>, fields: Option<&str>) -> End {
        let labels = both(self.request.labels, self.target.settings.resource.selector.as_deref());
        let query = Query {
            namespace,
            labels: labels.as_deref(),
            fields,
            page_size: self.request.page_size,
            max_object_bytes: self.request.max_object_bytes,
            ..Query::new(&self.target.resource)
        };
        let before = self.tally.objects();
        let eye = Eye { reader: &self.chosen.reader, open: self.open };
        let mut is_reset = false;
        let rule = self.chosen.rule();
        let Self { tally, target, request, .. } = self;
        let mut each = |judged: Judged<'_>| match judged {
            Judged::Object(identity, judgement) => {
                if target.settings.resource.means(identity) {
                    let judgement = request.waiting.apply(rule, identity.namespace, judgement);
                    tally.add(identity, &judgement);
                }
            }
            Judged::Restarted => {
                tally.reset();
                is_reset = true;
            }
            Judged::Page => request.progress.objects(&target.resource.name(), tally.objects()),
        };
        match look::look(client, &query, eye, &|| request.now, &mut each).await {
            look::End::Read(listing) => {
                self.ended(listing, before, fields.is_some());
                if is_reset && before > 0 {
                    // Several lists share the tally, and those before this one were forgotten with it.
                    let message = "a list began anew, which forgot the namespaces before it; audit them one at a time";
                    self.error
                        .get_or_insert(ResourceError { reason: ListReason::Expired, message: message.to_owned() });
                }
                End::Read
            }
            look::End::ShowsMark(mark) => End::ShowsMark(mark),
        }
    }

    /// The first failure is the one to report.
    fn ended(&mut self, listing: Listing, before: u64, is_by_name: bool) {
        let error =
            listing.error.map(|error| ResourceError { reason: error.reason(), message: crate::cli::chain(&error) });
        let error = error.or_else(|| {
            let is_missing = is_by_name && self.target.names.is_some() && self.tally.objects() == before;
            is_missing.then(|| ResourceError {
                reason: ListReason::NotFound,
                message: "there is no object of that name".to_owned(),
            })
        });
        self.error = self.error.take().or(error);
    }

    fn namespaces(&self) -> Vec<Option<&'r str>> {
        let resource = &self.target.resource;
        let configured = self.target.settings.resource.namespaces.names();
        match (self.request.namespaces, configured) {
            _ if !resource.namespaced => vec![None],
            ([], None) => vec![None],
            ([], Some(each)) => each.into_iter().map(Some).collect(),
            (asked, _) => asked.iter().map(|namespace| Some(namespace.as_str())).collect(),
        }
    }

    fn field_selectors(&self) -> Vec<Option<String>> {
        let asked = self.request.fields;
        match &self.target.names {
            None => vec![asked.map(str::to_owned)],
            Some(names) => names.iter().map(|name| both(asked, Some(&format!("metadata.name={name}")))).collect(),
        }
    }

    fn report(self) -> Resource {
        let Self { target, chosen, tally, error, .. } = self;
        let resource = &target.resource;
        Resource {
            operator: settings::counted_under(target.settings.operator.as_deref(), chosen.rule(), &resource.group),
            resource: resource.name(),
            version: resource.version.clone(),
            kind: resource.kind.clone(),
            rule: chosen.rule().name(),
            rule_from: chosen.rule_from,
            overdue_after: chosen.durations.overdue_after,
            summary: tally.finish(chosen.rule(), error.is_none()),
            error,
            is_named: target.is_named,
            is_static: chosen.rule().is_static(),
        }
    }
}
