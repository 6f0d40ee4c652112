//! What is known of one stream.

use std::time::Duration;

use jiff::Timestamp;

use super::{Counts, Diagnosis, Evidence, Explanation, Histogram, Regression, RuleFrom, SeenCanary, Tick, View};
use crate::judge::state::words;

/// What is known of one stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// `plural.group`, as written in the configuration where the API server does not know it.
    pub resource: String,
    /// The namespace, where streams are per namespace.
    pub namespace: Option<String>,
    /// The name of the rule that it is read by; absent until one could be chosen.
    pub rule: Option<&'static str>,
    /// Why it is that rule.
    pub rule_from: Option<RuleFrom>,
    /// The diagnosis with everything that it stands on; [`Explanation::stream`] is the name of the stream.
    pub explanation: Explanation,
    /// Since when the diagnosis is what it is.
    pub diagnosis_since: Tick,
    /// Pending for longer is overdue.
    pub overdue_after: Duration,
    /// What others than the objects say.
    pub evidence: Evidence,
    /// The newest acknowledgement that processed objects show by themselves; for people only.
    pub shown_ack: Option<Timestamp>,
    /// The oldest overdue objects, oldest first, at most [`crate::judge::diagnosis::OFFENDERS`]:
    /// [`Explanation::offenders`] as far as their names are known. Names exist here only.
    pub offenders: Vec<Offender>,
    /// Its lists.
    pub list: List,
    /// dogwatch's own watch; absent where there is none.
    pub watch: Option<Watch>,
    /// What the API server's cache lacks; absent unless the stream is [`Diagnosis::ServerStale`].
    pub stale: Option<Stale>,
    /// The last time that the store went back in this process's life.
    pub regression: Option<(Regression, Tick)>,
    /// Times from first seen pending to acknowledgement.
    pub time_to_ack: Histogram,
    /// The canary; absent unless it belongs to this stream.
    pub canary: Option<SeenCanary>,
}

/// An overdue object by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offender {
    /// Its namespace; absent for objects of the whole cluster.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Since when it is pending, for reports.
    pub since: Tick,
}

/// The lists of a stream. Where several streams share one list of their resource, each has the same facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct List {
    /// Whether there is a complete list, or a documented reason why there is none: `Ledger::is_ready`.
    pub is_ready: bool,
    /// When the newest complete list ended.
    pub last_success: Option<Tick>,
    /// How long the newest complete list took.
    pub duration: Option<Duration>,
    /// Bytes of bodies read, of all lists.
    pub bytes: u64,
    /// Lists by how they ended.
    pub results: Counts<ListResult>,
    /// Why the newest list failed, or why none can be made; absent after a complete one.
    pub problem: Option<String>,
    /// The interval in force.
    pub interval: Duration,
}

/// dogwatch's own watch of a stream. Where several streams share one watch of their resource, each has the same facts;
/// where a resource is watched in several namespaces, they are added up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watch {
    /// Events received, by type.
    pub events: Counts<WatchType>,
    /// When the newest one was received, bookmarks included.
    pub last_event: Option<Tick>,
    /// How many watches are open: accepted by the API server and not ended.
    pub open: u32,
    /// Why there is none, or why the newest one ended; absent while all is well.
    pub problem: Option<String>,
}

/// What a GET, which goes to storage, shows and the API server's cache does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stale {
    /// `namespace/name`, or the name.
    pub object: String,
    /// `metadata.resourceVersion` as the GET showed it.
    pub version: String,
    /// When the test began that found it first.
    pub since: Tick,
    /// Whether a new watch was accepted and did not deliver it; if not, no new watch could be opened.
    pub by_watch: bool,
    /// Whether a list with `resourceVersion=0` does not show it.
    pub by_list: bool,
}

words! {
    /// How a list ended. What failed part-way has the reason of its failure.
    ListResult {
        /// Everything was read.
        Complete = "complete",
        /// The credentials do not allow it.
        Forbidden = "forbidden",
        /// There is no such resource.
        NotFound = "not-found",
        /// No whole answer in time.
        Timeout = "timeout",
        /// The list took longer than the API server keeps its history.
        Expired = "expired",
        /// The answer could not be read.
        Decode = "decode",
        /// Anything else.
        Other = "other",
    }
}

words! {
    /// The type of a watch event.
    WatchType {
        /// An object appeared.
        Added = "added",
        /// An object changed.
        Modified = "modified",
        /// An object vanished.
        Deleted = "deleted",
        /// Nothing changed up to here.
        Bookmark = "bookmark",
        /// The API server ended the watch with a reason.
        Error = "error",
        /// An event with more bytes than `list.maxObjectBytes` allows; it was skipped.
        TooLarge = "too-large",
    }
}

impl Stream {
    /// Its name within its operator.
    pub fn name(&self) -> &str {
        &self.explanation.stream
    }

    /// The diagnosis in force and since when; [`Diagnosis::Unknown`] once the view is too old to say anything.
    pub fn diagnosis(&self, view: &View, is_stale: bool) -> (Diagnosis, Timestamp) {
        if is_stale {
            (Diagnosis::Unknown, view.wall_at(view.stale_at()))
        } else {
            (self.explanation.diagnosis, view.wall_at(self.diagnosis_since))
        }
    }

    /// The newest acknowledgement for reports: seen by dogwatch, or shown by a processed object.
    pub fn last_ack(&self, view: &View) -> Option<Timestamp> {
        self.explanation.last_ack.map(|at| view.wall_at(at)).max(self.shown_ack)
    }
}
