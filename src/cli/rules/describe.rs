//! What there is to say of a rule, for every form of the answer.
//!
//! For the rules of the table all of it comes from the data by which they judge. The two rules that are code are
//! described by hand.

use crate::judge::rule::auto::FRAMEWORKS;
use crate::judge::rule::generation::Generation;
use crate::judge::rule::kopf::{Kopf, Options};
use crate::judge::rule::table::{self, Ecosystem, Entry, Example, Lasts, Outcome, Owed, When};
use crate::judge::rule::{Durations, Rule};
use crate::judge::state::State;

/// One rule.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) name: &'static str,
    pub(super) project: Option<&'static str>,
    /// Whose objects these are.
    pub(super) about: &'static str,
    /// How `auto` comes to choose it.
    pub(super) chosen: &'static str,
    /// By kind.
    pub(super) kinds: Vec<Kinds>,
}

/// How some kinds are read.
#[derive(Debug)]
pub(super) struct Kinds {
    /// Which resources; empty where the group does not tell.
    pub(super) resources: Vec<String>,
    pub(super) about: &'static str,
    pub(super) is_static: bool,
    /// What leads to each state, in the order in which they are asked.
    pub(super) states: Vec<(State, Vec<String>)>,
    pub(super) finalizers: String,
    pub(super) durations: Durations,
    pub(super) examples: &'static [Example],
}

const BY_GROUP: &str = "by the API group and the kind";
const BY_MARKS: &str = "by what objects show of the framework, or by groups that are known";
const BY_NAME: &str = "only where it is named";

/// All of them, those that are no project's first.
pub(super) fn all() -> Vec<Described> {
    [kopf(), generation()].into_iter().chain(table::ALL.iter().map(|ecosystem| of_table(ecosystem))).collect()
}

/// The one of this name.
pub(super) fn named(name: &str) -> Option<Described> {
    all().into_iter().find(|rule| rule.name == name)
}

fn of_table(ecosystem: &'static Ecosystem) -> Described {
    let has_groups = ecosystem.entries.iter().any(|entry| !entry.fits.is_empty());
    Described {
        name: ecosystem.name,
        project: ecosystem.project,
        about: ecosystem.about,
        chosen: match (FRAMEWORKS.iter().any(|(_, name)| *name == ecosystem.name), has_groups) {
            (true, _) => BY_MARKS,
            (false, true) => BY_GROUP,
            (false, false) => BY_NAME,
        },
        kinds: ecosystem.entries.iter().map(of_entry).collect(),
    }
}

fn of_entry(entry: &'static Entry) -> Kinds {
    let said = |all: &[When]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
    let pending = entry.pending.iter().map(owed).collect();
    let outcomes = |all: &[Outcome]| all.iter().map(outcome).collect();
    let mut unknown = said(entry.inert);
    unknown.push(if entry.is_static() { "always" } else { "none of these" }.to_owned());
    let states = [
        (State::Paused, said(entry.paused)),
        (State::Pending, pending),
        (State::Failing, outcomes(entry.failing)),
        (State::InProgress, outcomes(entry.in_progress)),
        (State::Processed, said(entry.processed)),
        (State::Unknown, unknown),
    ];
    Kinds {
        resources: entry.fits.iter().map(ToString::to_string).collect(),
        about: entry.about,
        is_static: entry.is_static(),
        states: states.into_iter().filter(|(_, said)| !said.is_empty()).collect(),
        finalizers: entry.finalizers.to_string(),
        durations: entry.durations,
        examples: entry.examples,
    }
}

fn owed(owed: &Owed) -> String {
    let when = owed.when();
    match owed {
        Owed::Never(_) => format!("never-processed: {when}"),
        Owed::NeverIfOthers(_) => format!("never-processed: {when}, while other objects of the resource were seen"),
        Owed::Change(_) => format!("change-not-processed: {when}"),
        Owed::Request(..) => format!("request-not-processed: {when}"),
    }
}

fn outcome(outcome: &Outcome) -> String {
    match outcome.lasts {
        Lasts::Moving => format!("{}, until maxAttempt after the last movement", outcome.when),
        Lasts::Standing => outcome.when.to_string(),
    }
}

fn by_hand(states: &[(State, &[&str])]) -> Vec<(State, Vec<String>)> {
    states.iter().map(|(state, said)| (*state, said.iter().map(|said| (*said).to_owned()).collect())).collect()
}

fn kopf() -> Described {
    Described {
        name: "kopf",
        project: None,
        about: "operators built with kopf (kopf.readthedocs.io)",
        chosen: "by annotations, labels and finalizers that kopf leaves on objects, whatever their group is",
        kinds: vec![Kinds {
            resources: Vec::new(),
            about: "When a handling cycle ends, kopf stores what it has handled; while one takes several steps, it keeps \
                    a record per handler.",
            is_static: false,
            states: by_hand(&[
                (
                    State::Pending,
                    &[
                        "never-processed: no stored state and no live record",
                        "change-not-processed: the object differs from the stored state, and no live record",
                        "progress-stopped: the records have not moved for longer than they may",
                    ],
                ),
                (State::Failing, &["a record says that its handler is to be tried again"]),
                (
                    State::InProgress,
                    &["a record of a handler that is not done, until the moment it names or maxAttempt"],
                ),
                (State::Processed, &["the object is as it was stored"]),
                (
                    State::Unknown,
                    &[
                        "the stored state cannot be read, or there are several that disagree",
                        "no object shows a stored state and at least three old ones carry the finalizer: timers and \
                         daemons only",
                    ],
                ),
            ]),
            finalizers:
                "kopf.zalando.org/KopfFinalizerMarker, those with the prefix of the operator's annotations, or \
                         the one of the option `finalizer`"
                    .to_owned(),
            durations: Rule::Kopf(Kopf::new(Options::default())).durations(),
            examples: KOPF,
        }],
    }
}

const KOPF: &[Example] = &[
    Example {
        state: State::Processed,
        object: r#"{"metadata":{"annotations":{"kopf.zalando.org/last-handled-configuration":"{\"spec\":{\"size\":1}}"}},"spec":{"size":1}}"#,
    },
    Example {
        state: State::Pending,
        object: r#"{"metadata":{"annotations":{"kopf.zalando.org/last-handled-configuration":"{\"spec\":{\"size\":1}}"}},"spec":{"size":2}}"#,
    },
];

fn generation() -> Described {
    Described {
        name: "generation",
        project: None,
        about: "operators that follow the conventions of the Kubernetes API",
        chosen: "for what no other rule is known; without the status subresource nothing can be told",
        kinds: vec![Kinds {
            resources: Vec::new(),
            about: "The generation that an operator has seen stands in status.observedGeneration, or on its conditions, \
                    of which the newest counts. Where nothing carries one, managedFields must show a status that is as \
                    new as the spec.",
            is_static: false,
            states: by_hand(&[
                (
                    State::Paused,
                    &[
                        "spec.suspend, spec.suspended, spec.paused or spec.pause is true",
                        "annotation cluster.x-k8s.io/paused is there",
                    ],
                ),
                (
                    State::Pending,
                    &[
                        "never-processed: no status, while other objects of the resource were seen",
                        "change-not-processed: the newest generation in the status is below the object's",
                    ],
                ),
                (
                    State::Failing,
                    &[
                        "condition Stalled, Failed, ReconcileError or Degraded is True",
                        "condition Ready, Synced, Reconciled or Available is False with a reason that names a failure",
                    ],
                ),
                (
                    State::InProgress,
                    &[
                        "condition Reconciling is True, or Ready is False or Unknown",
                        "a condition has seen the generation and status.observedGeneration has not",
                    ],
                ),
                (State::Processed, &["the newest generation in the status is the object's"]),
                (State::Unknown, &["none of these"]),
            ]),
            finalizers: "those of `finalizers` in the configuration".to_owned(),
            durations: Rule::Generation(Generation::default()).durations(),
            examples: GENERATION,
        }],
    }
}

const GENERATION: &[Example] = &[
    Example { state: State::Processed, object: r#"{"metadata":{"generation":2},"status":{"observedGeneration":2}}"# },
    Example { state: State::Pending, object: r#"{"metadata":{"generation":2},"status":{"observedGeneration":1}}"# },
    Example {
        state: State::InProgress,
        object: r#"{"metadata":{"generation":2},"status":{"observedGeneration":1,"conditions":[{"type":"Ready","status":"True","observedGeneration":2}]}}"#,
    },
    Example { state: State::Unknown, object: r#"{"metadata":{"generation":2},"status":{"observedGeneration":3}}"# },
];
