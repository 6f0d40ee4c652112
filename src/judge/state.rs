//! What can be said of one object, and the words it is said in.

use std::borrow::Cow;
use std::time::Duration;

use jiff::Timestamp;

/// One instant, read on two clocks.
///
/// Kubernetes objects carry wall times, so reports are computed from `wall`. Wall clocks jump, so whatever decides
/// about a restart is computed from `elapsed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The API server's wall clock.
    pub wall: Timestamp,
    /// Time since the machine booted; never goes back and counts suspended time.
    pub elapsed: Duration,
}

/// Declares an enum whose values have one fixed spelling in flags, metrics, JSON and messages.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// Every value, in the order in which reports list them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The value's one spelling.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = ();

            fn from_str(word: &str) -> Result<Self, ()> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word).ok_or(())
            }
        }
    };
}

pub(crate) use words;

words! {
    /// What an operator has made of the latest desired state of one object.
    State {
        /// The latest desired state was acknowledged.
        Processed = "processed",
        /// A desired state (create, update, delete) was not acknowledged.
        Pending = "pending",
        /// Acknowledged, and the operator says that it is still at work.
        InProgress = "in-progress",
        /// Acknowledged, and the operator says that it did not succeed.
        Failing = "failing",
        /// Nobody expects the operator to act on it.
        Paused = "paused",
        /// Could not be seen. Never "fine", and never a reason to restart.
        Unknown = "unknown",
    }
}

words! {
    /// Why an object is in its state.
    Reason {
        /// The operator has left no sign that it ever saw the object.
        NeverProcessed = "never-processed",
        /// The desired state has changed since the operator's last acknowledgement.
        ChangeNotProcessed = "change-not-processed",
        /// A deletion was requested and the operator has not done its part.
        DeletionNotProcessed = "deletion-not-processed",
        /// A request made through an annotation was not answered.
        RequestNotProcessed = "request-not-processed",
        /// The operator had begun and stopped moving for longer than it ever needs.
        ProgressStopped = "progress-stopped",
        /// The object carries nothing that the rule can read.
        NoSignal = "no-signal",
        /// The rule could not be evaluated on the object.
        RuleError = "rule-error",
        /// The object could not be decoded.
        Undecodable = "undecodable",
        /// Suspended or paused by a marker of the operator's own.
        Suspended = "suspended",
        /// Annotated with `dogwatch/ignore`.
        Ignored = "ignored",
        /// Outside what the operator is configured to serve.
        NotSelected = "not-selected",
        /// The operator reports that it failed.
        ReportsFailure = "reports-failure",
        /// The operator waits before it tries again.
        Retrying = "retrying",
        /// The operator is at work.
        Working = "working",
        /// The operator has let go of a deleted object; somebody else's finalizer holds it.
        HeldByOthers = "held-by-others",
    }
}

words! {
    /// Where the time since when an object is pending was read.
    SinceFrom {
        /// `metadata.creationTimestamp`.
        Creation = "creation",
        /// `metadata.deletionTimestamp`.
        Deletion = "deletion",
        /// The time of the last write of desired state in `metadata.managedFields`.
        ManagedFields = "managed-fields",
        /// The value of an annotation.
        Annotation = "annotation",
        /// The moment at which dogwatch first saw it; the truth may be earlier.
        FirstSeen = "first-seen",
        /// The operator's last acknowledgement.
        Ack = "ack",
        /// The deadline that the operator's own promise set.
        Deadline = "deadline",
        /// An expression of the rule.
        Rule = "rule",
    }
}

/// Since when an object is in its state, by the object's own times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    /// The moment, on the API server's clock.
    pub at: Timestamp,
    /// Where it was read.
    pub from: SinceFrom,
}

impl Since {
    /// Pairs a moment with its source.
    pub const fn new(at: Timestamp, from: SinceFrom) -> Self {
        Self { at, from }
    }
}

words! {
    /// Why an overdue object may not speak for a restart. The object alone tells the first two, the configuration the
    /// last, history the others.
    Excuse {
        /// Annotated with `dogwatch/ignore`.
        Ignored = "ignored",
        /// A deletion of which nobody knows whether the operator holds it.
        HolderUnknown = "holder-unknown",
        /// Pending since before the operator's container started: its first list was its chance, and a restart has
        /// already been tried.
        BeforeStart = "before-start",
        /// Others that were desired later were served.
        PassedOver = "passed-over",
        /// The canary, whose change counts by itself once the operator is known to serve it.
        Canary = "canary",
    }
}

/// What the operator has written into the status of an object without acknowledging its desired state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusWrite {
    /// The newest such write, on the API server's clock, as `managedFields` tell it.
    pub at: Timestamp,
    /// Whether it reports that the operator failed.
    pub reports_failure: bool,
    /// `maxAttempt` of the rule: the longest that one attempt of the operator takes.
    pub attempt: Duration,
}

impl StatusWrite {
    /// Whether it is later than a change. Times have whole seconds: within one second nobody can tell.
    pub fn follows(&self, changed: Timestamp) -> bool {
        self.at > changed
    }
}

/// What a rule says of one object at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not a state")]
pub struct Judgement {
    /// The state.
    pub state: State,
    /// Why; absent when the object is simply processed.
    pub reason: Option<Reason>,
    /// Since when the object is pending, failing, in progress or paused; absent when the object does not tell.
    pub since: Option<Since>,
    /// For `in-progress` and `failing`: the moment at which it turns `pending` (`progress-stopped`) by itself.
    pub until: Option<Timestamp>,
    /// For `in-progress`: when its marker last moved.
    pub moved_at: Option<Timestamp>,
    /// The newest acknowledgement that the object shows.
    pub acked_at: Option<Timestamp>,
    /// The newest write of desired state that the object shows: creation, deletion or `managedFields`.
    pub desired_at: Option<Timestamp>,
    /// Changes its value when, and only when, the operator acknowledges something; 0 when there is nothing to read.
    pub token: u64,
    /// Changes its value when the desired state changes.
    pub desired: u64,
    /// For `pending`, where the rule's signal lags behind: the newest write of the status, before or after the change.
    /// Some operators acknowledge at the end of their work or on success only; which ones is learnt from this.
    pub status_write: Option<StatusWrite>,
    /// Whether the object shows the acknowledgement of a desired state later than its first.
    pub shows_change: bool,
    /// Why the object may not speak for a restart.
    pub excuse: Option<Excuse>,
    /// True when the answer `pending` holds only if other objects of the same resource show that the operator writes
    /// the rule's signal at all. See [`Signal`].
    pub conditional: bool,
    /// Whether this object shows the rule's signal.
    pub signalled: bool,
    /// Whether a finalizer of the rule or of the configuration stands on the object.
    pub held: bool,
    /// `metadata.creationTimestamp`.
    pub created_at: Option<Timestamp>,
    /// One line for a person, with paths and names, never with values of the object.
    pub message: Cow<'static, str>,
}

impl Judgement {
    /// A judgement with nothing but its state and its message.
    pub fn new(state: State, reason: impl Into<Option<Reason>>, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            state,
            reason: reason.into(),
            since: None,
            until: None,
            moved_at: None,
            acked_at: None,
            desired_at: None,
            token: 0,
            desired: 0,
            status_write: None,
            shows_change: false,
            excuse: None,
            conditional: false,
            signalled: false,
            held: false,
            created_at: None,
            message: message.into(),
        }
    }

    /// An `unknown` with its reason.
    pub fn unknown(reason: Reason, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(State::Unknown, reason, message)
    }

    /// What a conditional `pending` comes to where the resource never shows the rule's signal.
    pub fn without_signal() -> Self {
        Self::unknown(Reason::NoSignal, "no object of this resource shows the rule's signal")
    }

    /// The answer once it is known whether the resource shows the rule's signal at all.
    ///
    /// A conditional `pending` of a resource that never shows the signal is [`Judgement::without_signal`].
    #[must_use]
    pub fn resolved(self, signal_exists: bool) -> Self {
        if self.conditional && !signal_exists {
            let Self { desired_at, desired, signalled, held, created_at, .. } = self;
            return Self { desired_at, desired, signalled, held, created_at, ..Self::without_signal() };
        }
        Self { conditional: false, ..self }
    }
}

/// What the objects of one resource have shown together: whether its operator writes the rule's signal at all.
///
/// Collected over a whole list, since one object cannot tell a deaf operator from one that never writes the signal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signal {
    /// Objects seen.
    pub objects: u64,
    /// Objects that show the signal.
    pub signalled: u64,
    /// Objects that carry a finalizer of the rule.
    pub held: u64,
    /// Objects that are not older than `overdueAfter`, or of unknown age.
    pub young: u64,
}

impl Signal {
    /// Counts one object in.
    pub fn add(&mut self, judgement: &Judgement, now: Timestamp, overdue_after: Duration) {
        let is_old = judgement
            .created_at
            .is_some_and(|created| now.duration_since(created).unsigned_abs() > overdue_after && now > created);
        self.objects += 1;
        self.signalled += u64::from(judgement.signalled);
        self.held += u64::from(judgement.held);
        self.young += u64::from(!is_old);
    }
}
