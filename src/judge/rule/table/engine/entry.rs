//! What the table says of an ecosystem.

use std::fmt;
use std::time::Duration;

use super::condition::USUAL;
use super::when::When;
use crate::judge::rule::{COMMON_DURATIONS, Durations};
use crate::judge::state::State;

/// One rule of the table: the kinds of one project.
#[derive(Debug)]
pub struct Ecosystem {
    /// The name under which flags, configuration and reports know the rule.
    pub name: &'static str,
    /// What its resources are grouped under in reports; absent for a framework, whose users are many projects.
    pub project: Option<&'static str>,
    /// One line: whose objects these are.
    pub about: &'static str,
    /// By kind. The first that fits is taken; one that nothing fits gets the first of all.
    pub entries: &'static [Entry],
}

/// How some kinds of an ecosystem are read.
pub struct Entry {
    /// Which resources these are.
    pub fits: &'static [Fit],
    /// What the operator writes into them, when, and what follows from it.
    pub about: &'static str,
    /// One of these: nobody expects the operator to act.
    pub paused: &'static [When],
    /// One of these: there is nothing to act upon, so nothing can be told.
    pub inert: &'static [When],
    /// One of these: something is owed.
    pub pending: &'static [Owed],
    /// One of these: seen, and it went wrong.
    pub failing: &'static [Outcome],
    /// One of these: seen, and not yet at its end.
    pub in_progress: &'static [Outcome],
    /// One of these: seen, and done.
    pub processed: &'static [When],
    /// Where the values stand that change only when the operator acknowledges something. The conditions' own
    /// generations count as well. Never a heartbeat, and never what a timer writes.
    pub tokens: &'static [&'static str],
    /// The parts of the object that are its desired state, where its generation does not tell.
    pub desired: &'static [&'static str],
    /// Where the conditions stand.
    pub conditions: &'static str,
    /// Where times of an acknowledgement stand, beside `managedFields` and the conditions' transitions.
    pub times: &'static [&'static str],
    /// The operator's own.
    pub finalizers: Finalizers,
    /// The operator's own.
    pub durations: Durations,
    /// Objects and what is to be said of them.
    pub examples: &'static [Example],
}

impl Entry {
    /// An entry to which nothing is known.
    pub(in crate::judge::rule::table) const NEW: Self = Self {
        fits: &[],
        about: "",
        paused: &[],
        inert: &[],
        pending: &[],
        failing: &[],
        in_progress: &[],
        processed: &[],
        tokens: &[],
        desired: &[],
        conditions: USUAL,
        times: &[],
        finalizers: Finalizers::Unknown,
        durations: COMMON_DURATIONS,
        examples: &[],
    };

    /// Kinds that hold settings and that no operator acknowledges.
    pub(in crate::judge::rule::table) const STATIC: Self = Self {
        about: "Settings that others refer to: the operator acknowledges nothing on them, so nothing can be told.",
        ..Self::NEW
    };

    /// Whether the kinds have nothing to acknowledge.
    pub const fn is_static(&self) -> bool {
        self.pending.is_empty() && self.processed.is_empty() && self.failing.is_empty()
    }
}

/// What decides about answers, and nothing that only explains them: ledgers are kept by it.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("paused", &self.paused)
            .field("inert", &self.inert)
            .field("pending", &self.pending)
            .field("failing", &self.failing)
            .field("in_progress", &self.in_progress)
            .field("processed", &self.processed)
            .field("tokens", &self.tokens)
            .field("desired", &self.desired)
            .finish_non_exhaustive()
    }
}

/// Resources, by group and kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// Which API group.
    pub group: Group,
    /// Which of its kinds.
    pub kinds: Kinds,
}

/// API groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// This one.
    Is(&'static str),
    /// This one, and those that end in a dot and this.
    Below(&'static str),
}

/// Kinds of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinds {
    /// All of them.
    All,
    /// These.
    Only(&'static [&'static str]),
    /// Those that end like this.
    Ending(&'static str),
}

impl Fit {
    /// These kinds of one group.
    pub(in crate::judge::rule::table) const fn of(group: &'static str, kinds: &'static [&'static str]) -> Self {
        Self { group: Group::Is(group), kinds: Kinds::Only(kinds) }
    }

    /// All kinds of one group.
    pub(in crate::judge::rule::table) const fn all(group: &'static str) -> Self {
        Self { group: Group::Is(group), kinds: Kinds::All }
    }

    /// All kinds of a group and of those below it.
    pub(in crate::judge::rule::table) const fn below(group: &'static str) -> Self {
        Self { group: Group::Below(group), kinds: Kinds::All }
    }

    /// Whether a resource is meant.
    pub(in crate::judge::rule::table) fn fits(&self, group: &str, kind: &str) -> bool {
        let is_group = match self.group {
            Group::Is(own) => group == own,
            Group::Below(own) => {
                group.strip_suffix(own).is_some_and(|before| before.is_empty() || before.ends_with('.'))
            }
        };
        is_group
            && match self.kinds {
                Kinds::All => true,
                Kinds::Only(kinds) => kinds.contains(&kind),
                Kinds::Ending(end) => kind.ends_with(end),
            }
    }
}

/// What the operator owes an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owed {
    /// A first look. The operator always leaves a sign on such an object.
    Never(When),
    /// A first look, if it leaves a sign on other objects of the resource.
    NeverIfOthers(When),
    /// A look at a change.
    Change(When),
    /// An answer to the request that this annotation is. Its value is taken for the time of the request where it is
    /// one.
    Request(When, &'static str),
}

impl Owed {
    /// When it is owed.
    pub const fn when(&self) -> &When {
        match self {
            Self::Never(when) | Self::NeverIfOthers(when) | Self::Change(when) | Self::Request(when, _) => when,
        }
    }
}

/// What the operator has made of an object that it has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// When it is so.
    pub when: When,
    /// How long it may stay so.
    pub lasts: Lasts,
}

/// How long an outcome may stay as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasts {
    /// The operator is at work itself and writes as it goes: until its last movement + `maxAttempt`.
    Moving,
    /// It has had its say, or waits for others, and what it tries in between leaves no trace: for ever.
    Standing,
}

/// See [`Lasts::Moving`].
pub(in crate::judge::rule::table) const fn moving(when: When) -> Outcome {
    Outcome { when, lasts: Lasts::Moving }
}

/// See [`Lasts::Standing`].
pub(in crate::judge::rule::table) const fn standing(when: When) -> Outcome {
    Outcome { when, lasts: Lasts::Standing }
}

/// What is known of an operator's finalizers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finalizers {
    /// Nothing; or it has none, and who holds a deletion is somebody else's matter, but stuck it is.
    Unknown,
    /// These, and there may be others.
    Some(Names),
    /// These and no others: an object without them is no longer the operator's.
    All(Names),
}

/// Finalizers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Names {
    /// Whole names.
    pub names: &'static [&'static str],
    /// Every name whose part before the slash is one of these domains or below it.
    pub domains: &'static [&'static str],
}

impl Finalizers {
    /// Exactly these names.
    pub(in crate::judge::rule::table) const fn named(names: &'static [&'static str]) -> Self {
        Self::All(Names { names, domains: &[] })
    }

    /// Everything of these domains.
    pub(in crate::judge::rule::table) const fn of(domains: &'static [&'static str]) -> Self {
        Self::All(Names { names: &[], domains })
    }
}

impl Names {
    /// Whether a finalizer is one of them.
    pub(in crate::judge::rule::table) fn has(&self, finalizer: &str) -> bool {
        let domain = finalizer.split('/').next().unwrap_or(finalizer);
        let is_in =
            |own: &&str| domain.strip_suffix(*own).is_some_and(|before| before.is_empty() || before.ends_with('.'));
        self.names.contains(&finalizer) || self.domains.iter().any(is_in)
    }
}

/// An object, made up and as short as can be, and what is to be said of it at noon of the first of March 2026.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// The state it is in.
    pub state: State,
    /// The object.
    pub object: &'static str,
}

/// An example.
pub(in crate::judge::rule::table) const fn example(state: State, object: &'static str) -> Example {
    Example { state, object }
}

/// Durations in minutes: `overdueAfter`, `asleepAfter`, `maxAttempt`.
pub(in crate::judge::rule::table) const fn minutes(overdue: u64, asleep: u64, attempt: u64) -> Durations {
    Durations {
        overdue_after: Duration::from_mins(overdue),
        asleep_after: Duration::from_mins(asleep),
        max_attempt: Duration::from_mins(attempt),
    }
}
