//! The options of the rule `kopf`.

use std::time::Duration;

use crate::judge::rule::COMMON_DURATIONS;

/// The rule's options, as the configuration names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The prefix of kopf's annotations; found out per object where absent.
    pub prefix: Option<String>,
    /// The name part of the annotation that holds the stored essence.
    pub key: Option<String>,
    /// Where the stored essence and the progress are.
    pub storage: Storage,
    /// The field below `status` in which a status storage keeps them.
    pub status_field: Option<String>,
    /// The operator's finalizer.
    pub finalizer: Option<String>,
    /// Fields that the operator leaves out of the essence, as dotted paths.
    pub ignored_fields: Vec<String>,
    /// Which kinds of handlers the operator has for the resource.
    pub mode: Mode,
    /// The longest that one attempt of a handler takes.
    pub max_attempt: Duration,
}

/// Where kopf keeps its marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// Found out per object.
    Auto,
    /// In annotations.
    Annotations,
    /// Below `status`.
    Status,
}

/// Which kinds of handlers a kopf operator has for a resource; it decides which marks it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `change`, unless the objects show daemons only.
    Auto,
    /// Creation, update, resume, field or deletion handlers: marks are written.
    Change,
    /// Event handlers, indexes or webhooks only: no marks at all.
    EventOnly,
    /// Daemons and timers only: the finalizer and nothing else.
    DaemonOnly,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            prefix: None,
            key: None,
            storage: Storage::Auto,
            status_field: None,
            finalizer: None,
            ignored_fields: Vec::new(),
            mode: Mode::Auto,
            max_attempt: COMMON_DURATIONS.max_attempt,
        }
    }
}
