//! What can be made to go wrong, and for whom.

mod control;
mod scope;

pub(super) use control::routes;
pub use scope::Scope;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::call::{Call, Verb};
use super::store::{Objects, Store};

/// A fault by name, with what can be said about it. Durations are seconds.
///
/// In JSON the name stands beside the options: `{"name": "idle-halfopen", "after": 240}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Fault {
    /// Watches stay open and deliver no objects. What happens meanwhile is lost to them. The end that the client asked
    /// for with `timeoutSeconds` still comes.
    MuteOpen {
        /// Whether bookmarks still flow.
        #[serde(default = "yes")]
        bookmarks: bool,
        /// Whether watches opened later are mute as well; if not, opening a new one cures.
        #[serde(default = "yes")]
        new_streams: bool,
    },
    /// A watch is accepted and its answer never begins, also after the fault has ended.
    HeadersNever,
    /// Nothing comes through any more, to open watches neither: requests are not answered, also after the fault has
    /// ended.
    Blackhole,
    /// One of two servers behind one address stands still: half of the requests are not answered, also after the fault
    /// has ended.
    ServerStopped,
    /// The bookmark by which `sendInitialEvents` ends does not come.
    NoInitialEventsEnd,
    /// A watch through which nothing went for a while is dead: no events, no bookmarks, no end, for ever.
    IdleHalfopen {
        /// How long nothing may have gone through.
        #[serde(default)]
        after: u64,
        /// Whether watches opened later can die as well.
        #[serde(default = "yes")]
        new_streams: bool,
    },
    /// 503 to everything; open watches break off.
    ApiDown,
    /// 429 with `Retry-After`.
    Throttle {
        /// What `Retry-After` says.
        #[serde(default = "one")]
        retry_after: u64,
    },
    /// 200 with a page of HTML, as a login page of a proxy answers.
    Html,
    /// Lists with `resourceVersion=0` and watches show what was there when the fault began; reading one object and
    /// writing go on. When it ends, watches deliver what they missed.
    FrozenCache {
        /// Whether lists without `resourceVersion` are frozen too, as where they are served from the watch cache.
        #[serde(default)]
        all_lists: bool,
    },
    /// Watches, and lists with `resourceVersion=0`, show changes late.
    LateCache {
        /// How late.
        seconds: u64,
    },
    /// Watches always answer 410, and lists always the same old `resourceVersion`.
    #[serde(rename = "410-loop")]
    GoneLoop {
        /// Whether lists show the old objects as well.
        #[serde(default)]
        old_objects: bool,
    },
    /// 403, and the end of open watches.
    Forbidden,
    /// 401, and the end of open watches.
    TokenExpired,
    /// Answers begin late.
    Slow {
        /// How late.
        seconds: u64,
    },
    /// Lists break off in the middle of the body.
    TruncatedPage {
        /// Whether the connection breaks off; if not, the body ends as if it were complete.
        #[serde(default)]
        reset: bool,
    },
    /// Lists cannot be read to their end.
    ContinueTrouble {
        /// What goes wrong with the second page.
        #[serde(default)]
        trouble: ContinueTrouble,
    },
    /// 500 to every write.
    ApiReadonly,
    /// 403 to every write, in the name of an admission webhook.
    WebhookDenies {
        /// The webhook's name.
        webhook: String,
    },
    /// 409 to every update and patch.
    ConflictForever,
    /// 504 to every list and watch that names a `resourceVersion`, as a server answers that is behind.
    RvFuture {
        /// Whether revisions are refused as well that were reached later; if not, a new list cures.
        #[serde(default = "yes")]
        new_revisions: bool,
    },
    /// The store is taken back by so many revisions, once, when the fault begins. Ending it changes nothing.
    RvRegression {
        /// How many; at most what the history holds.
        revisions: u64,
    },
    /// Watches end after so many seconds.
    WatchChurn {
        /// How long a watch lives.
        seconds: u64,
    },
    /// Each watch loses every n-th event.
    LostEvent {
        /// The n.
        every: u64,
    },
}

/// What goes wrong with the second page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContinueTrouble {
    /// It and each later one carry the same token and the same objects, for ever.
    #[default]
    SameToken,
    /// It answers 410 with a fresh token, and so does the fresh token.
    Expired,
    /// The first page says that it is the last.
    Empty,
}

/// A fault in force.
#[derive(Debug, Clone, Serialize)]
pub struct InForce {
    /// By which it is ended.
    pub id: u64,
    /// What goes wrong.
    #[serde(flatten)]
    pub fault: Fault,
    /// For whom.
    pub scope: Scope,
    /// Streams with a smaller number were open before it began.
    #[serde(skip)]
    pub(super) sequence: u64,
    #[serde(skip)]
    pub(super) frozen: Frozen,
}

/// What there was when a fault began.
#[derive(Debug, Clone)]
pub(super) struct Frozen {
    pub(super) revision: u64,
    /// Kept only for a fault that shows it.
    pub(super) objects: Arc<Objects>,
}

/// All faults in force.
#[derive(Debug, Default)]
pub(super) struct Faults {
    in_force: Vec<InForce>,
}

impl Fault {
    /// Whether it can go wrong with such a request at all.
    fn concerns(&self, call: &Call) -> bool {
        let verb = call.verb.filter(|_| call.place().is_some());
        match self {
            Self::MuteOpen { .. }
            | Self::HeadersNever
            | Self::NoInitialEventsEnd
            | Self::IdleHalfopen { .. }
            | Self::WatchChurn { .. }
            | Self::LostEvent { .. } => verb == Some(Verb::Watch),
            Self::FrozenCache { .. } | Self::LateCache { .. } | Self::GoneLoop { .. } | Self::RvFuture { .. } => {
                matches!(verb, Some(Verb::List | Verb::Watch))
            }
            Self::TruncatedPage { .. } | Self::ContinueTrouble { .. } => verb == Some(Verb::List),
            Self::ApiReadonly | Self::WebhookDenies { .. } => verb.is_some_and(Verb::is_write),
            Self::ConflictForever => matches!(verb, Some(Verb::Update | Verb::Patch)),
            Self::Forbidden => verb.is_some(),
            Self::ApiDown
            | Self::Blackhole
            | Self::ServerStopped
            | Self::Throttle { .. }
            | Self::Html
            | Self::TokenExpired
            | Self::Slow { .. } => true,
            Self::RvRegression { .. } => false,
        }
    }
}

impl Faults {
    /// Lets a fault begin. `sequence` is its place among the openings of streams.
    pub(super) fn begin(&mut self, fault: Fault, scope: Scope, sequence: u64, store: &mut Store) {
        if let Fault::RvRegression { revisions } = fault {
            store.roll_back(store.revision().saturating_sub(revisions));
        }
        let shows_objects = matches!(fault, Fault::FrozenCache { .. } | Fault::GoneLoop { old_objects: true });
        let objects = if shows_objects { store.objects().clone() } else { Objects::new() };
        let frozen = Frozen { revision: store.revision(), objects: Arc::new(objects) };
        self.in_force.push(InForce { id: sequence, fault, scope, sequence, frozen });
    }

    /// Ends a fault, and says whether there was one.
    pub(super) fn end(&mut self, id: u64) -> bool {
        let before = self.in_force.len();
        self.in_force.retain(|fault| fault.id != id);
        self.in_force.len() < before
    }

    pub(super) fn end_all(&mut self) {
        self.in_force.clear();
    }

    pub(super) fn in_force(&self) -> &[InForce] {
        &self.in_force
    }

    /// The faults that concern a request, oldest first.
    pub(super) fn concerning(&self, call: &Call) -> impl Iterator<Item = &InForce> {
        self.in_force.iter().filter(|fault| fault.fault.concerns(call) && fault.scope.fits(call))
    }

    /// How long the answer to a request is delayed.
    pub(super) fn delay(&self, call: &Call) -> Duration {
        let delay = |fault: &InForce| match fault.fault {
            Fault::Slow { seconds } => Some(Duration::from_secs(seconds)),
            _ => None,
        };
        self.concerning(call).filter_map(delay).sum()
    }
}

const fn yes() -> bool {
    true
}

const fn one() -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_written_by_its_name_and_options() {
        let fault: Fault = serde_json::from_str(r#"{"name": "mute-open", "bookmarks": false}"#).expect("readable");
        assert_eq!(fault, Fault::MuteOpen { bookmarks: false, new_streams: true });
        let fault: Fault = serde_json::from_str(r#"{"name": "410-loop"}"#).expect("readable");
        assert_eq!(fault, Fault::GoneLoop { old_objects: false });
    }

    #[test]
    fn an_option_that_a_fault_does_not_have_is_refused() {
        assert!(serde_json::from_str::<Fault>(r#"{"name": "mute-open", "bookmark": false}"#).is_err());
        assert!(serde_json::from_str::<Fault>(r#"{"name": "late-cache"}"#).is_err());
    }
}
