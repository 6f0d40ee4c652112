//! How to read from one object whether its operator has processed the latest desired state.
//!
//! A rule is a mask (the paths that it reads) and a function over what the mask lets through. What is the same for
//! every rule stands in [`Reader`], once: decoding, the deletion step, the deadline of `in-progress` and `failing`, and
//! the annotation by which a person excuses an object.

pub mod auto;
pub mod cel;
pub mod generation;
pub mod kopf;
mod reader;
pub mod table;

use std::time::Duration;

use jiff::Timestamp;

use super::object::mask::Mask;
use super::object::{self, Object};
use super::state::{Judgement, Signal, words};
use cel::Cel;
use generation::Generation;
use kopf::Kopf;
pub use reader::Reader;
use table::Table;

/// A rule with its options.
#[derive(Debug, Clone)]
pub enum Rule {
    /// kopf's marks.
    Kopf(Kopf),
    /// `status.observedGeneration` and the conditions' own.
    Generation(Generation),
    /// What the operators of one ecosystem write.
    Table(Table),
    /// Expressions of the configuration.
    Cel(Box<Cel>),
}

/// Which rule the configuration or a flag asks for.
#[derive(Debug, Clone)]
pub enum Choice {
    /// The one that fits what the resource and its objects show.
    Auto {
        /// In place of the chosen rule's own.
        max_attempt: Option<Duration>,
    },
    /// This one.
    Named(Rule),
}

words! {
    /// Why a resource is read by its rule.
    RuleFrom {
        /// Its API group is known.
        Group = "group",
        /// Its definition leaves no other.
        Schema = "schema",
        /// Its objects show the rule's marks, or no rule's.
        Objects = "objects",
        /// The configuration says so.
        Config = "config",
        /// `--rule` says so.
        Flag = "flag",
    }
}

/// A rule's own durations, in force where the configuration says `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Durations {
    /// How long an object may stay pending before it is overdue.
    pub overdue_after: Duration,
    /// How long a stream with candidates may stay silent before it is asleep.
    pub asleep_after: Duration,
    /// The longest that one attempt of the operator takes.
    pub max_attempt: Duration,
}

const MINUTE: Duration = Duration::from_mins(1);

/// What every rule does that does not say otherwise.
pub const COMMON_DURATIONS: Durations = Durations {
    overdue_after: MINUTE.saturating_mul(5),
    asleep_after: MINUTE.saturating_mul(15),
    max_attempt: MINUTE.saturating_mul(15),
};

/// What is known of a rule's finalizers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// One of them stands on the object: the operator has still to do its part.
    Operator,
    /// The rule knows its finalizers and none of them stands on the object.
    Others,
    /// The rule does not know which finalizers its operator uses.
    Unknown,
}

impl Rule {
    /// The name under which flags, configuration and reports know the rule.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Kopf(_) => "kopf",
            Self::Generation(_) => "generation",
            Self::Table(table) => table.ecosystem().name,
            Self::Cel(_) => "cel",
        }
    }

    /// The project whose resources the rule reads: what they are grouped under in reports.
    pub const fn project(&self) -> Option<&'static str> {
        match self {
            Self::Kopf(_) | Self::Generation(_) | Self::Cel(_) => None,
            Self::Table(table) => table.ecosystem().project,
        }
    }

    /// The rule for a resource of this group and kind, where that makes a difference.
    #[must_use]
    pub fn for_resource(self, group: &str, kind: &str) -> Self {
        match self {
            Self::Table(table) => Self::Table(table.for_resource(group, kind)),
            other => other,
        }
    }

    /// Whether the resource is of a kind on which no operator acknowledges anything.
    pub const fn is_static(&self) -> bool {
        matches!(self, Self::Table(table) if table.entry().is_static())
    }

    /// The rule's own durations; `maxAttempt` as configured.
    pub fn durations(&self) -> Durations {
        match self {
            Self::Kopf(kopf) => kopf.durations(),
            Self::Generation(generation) => generation.durations(),
            Self::Table(table) => table.durations(),
            Self::Cel(cel) => cel.durations(),
        }
    }

    /// The `maxAttempt` below which the rule's is for no resource.
    pub fn least_max_attempt(&self) -> Duration {
        match self {
            Self::Table(table) => table.least_max_attempt(),
            other => other.durations().max_attempt,
        }
    }

    /// Within which time the rule's framework heals a silent stream by itself: kopf since 1.44 gives up on one after
    /// 70 s; client-go, kube-rs and fabric8 end a watch after 5 to 10 minutes.
    pub const fn own_cure(&self) -> Duration {
        match self {
            Self::Kopf(_) => Duration::from_secs(70),
            Self::Generation(_) | Self::Table(_) | Self::Cel(_) => Duration::from_mins(10),
        }
    }

    /// Whether the objects of a resource, taken together, show that its operator writes this rule's signal.
    ///
    /// Where it does not, a missing signal means nothing, and objects without it are `unknown`.
    pub fn signal_exists(&self, signal: &Signal) -> bool {
        match self {
            Self::Kopf(kopf) => kopf.signal_exists(signal),
            Self::Generation(_) | Self::Table(_) => signal.signalled > 0,
            // Whoever writes the expressions says that they are answered.
            Self::Cel(_) => true,
        }
    }

    fn mask(&self) -> Mask {
        match self {
            Self::Kopf(kopf) => kopf.mask(object::common_mask()),
            Self::Generation(_) => generation::mask(object::common_mask()),
            Self::Table(table) => table.mask(object::common_mask()),
            Self::Cel(cel) => cel.mask(object::common_mask()),
        }
    }

    fn holder(&self, object: &Object<'_>) -> Holder {
        match self {
            Self::Kopf(kopf) if kopf.is_held(object) => Holder::Operator,
            Self::Kopf(_) => Holder::Others,
            Self::Table(table) => table.holder(object),
            Self::Generation(_) | Self::Cel(_) => Holder::Unknown,
        }
    }

    /// The answer for an object that is being deleted and shows live progress of its deletion.
    fn deletion_progress(&self, object: &Object<'_>, now: Timestamp) -> Option<Judgement> {
        match self {
            Self::Kopf(kopf) => kopf.deletion_progress(object, now),
            Self::Table(table) => table.deletion_progress(object),
            Self::Generation(_) | Self::Cel(_) => None,
        }
    }

    /// Adds the fingerprints to an answer about a deletion: without them a request for deletion would look like an
    /// acknowledgement of what was desired before.
    fn complete_deletion(&self, object: &Object<'_>, judgement: Judgement) -> Judgement {
        match self {
            Self::Kopf(kopf) => kopf.complete_deletion(object, judgement),
            Self::Table(table) => table.complete_deletion(object, judgement),
            Self::Generation(_) | Self::Cel(_) => generation::complete(object, judgement),
        }
    }

    /// The answer for an object that is not being deleted.
    fn judge(&self, object: &Object<'_>, now: Timestamp) -> Judgement {
        match self {
            Self::Kopf(kopf) => kopf.judge(object, now),
            Self::Generation(generation) => generation.judge(object),
            Self::Table(table) => table.judge(object, now),
            Self::Cel(cel) => cel.judge(object),
        }
    }
}

#[cfg(test)]
mod tests;
