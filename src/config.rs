//! The configuration file, valid as a whole or refused with every problem at once.
//!
//! text -> `raw` (the file as written, each value with its place) -> `convert` (defaults, bounds, what excludes what)
//! -> [`Config`]. What comes out needs no further checks; flags and the environment overwrite its fields.

pub mod duration;
pub mod operator;
pub mod pattern;
pub mod problem;
pub mod resource;
pub mod size;

mod convert;
mod cursor;
mod expression;
mod raw;
mod rule;

use std::fmt::{self, Write as _};
use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::judge::rule::Choice;
use cursor::Cursor;
use operator::{Observed, Operator};
use problem::{Position, Problem, Problems};
use resource::Resource;

/// The value of `apiVersion`.
pub const API_VERSION: &str = "dogwatch/v1";
/// The value of `kind`.
pub const KIND: &str = "Config";

/// Everything that can be configured. `Config::default()` is what an empty file would mean.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Beside one operator, or observing several. Default: beside one.
    pub role: Role,
    /// What is watched; of operators that are observed, what stands under none of them. Default: nothing.
    pub resources: Vec<Resource>,
    /// How lists are made.
    pub list: List,
    /// How the own watch is held.
    pub watch: Watch,
    /// An object that is changed to see whether the operator notices. Default: none.
    pub canary: Option<Canary>,
    /// When and how often the operator is restarted.
    pub restart: Restart,
    /// Whether overdue objects are touched once.
    pub nudge: Nudge,
    /// Where restarts are remembered across dogwatch's own. Default: nowhere.
    pub state_file: Option<PathBuf>,
    /// What dogwatch serves.
    pub server: Server,
}

/// Where dogwatch stands.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one configuration")]
pub enum Role {
    /// In the Pod of one operator (`operator`).
    Sidecar(Operator),
    /// Apart from the operators (`operators`), which are observed and never restarted.
    Observer(Vec<Observed>),
}

impl Default for Role {
    fn default() -> Self {
        Self::Sidecar(Operator::default())
    }
}

/// How lists are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct List {
    /// From one list to the next. Default (`None`, written `auto`): 30 s, longer where a list costs more.
    pub interval: Option<Duration>,
    /// Objects a page; at least 1. Default: 500.
    pub page_size: u32,
    /// Bytes of the largest object that is read; larger ones are `unknown`. Default: 4 MiB.
    pub max_object_bytes: usize,
}

impl Default for List {
    fn default() -> Self {
        Self { interval: None, page_size: 500, max_object_bytes: 4 << 20 }
    }
}

/// How the own watch is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watch {
    /// A watch without any event or bookmark for longer is replaced; at least [`Watch::LEAST_IDLE_AFTER`].
    /// Default: 5m.
    pub idle_after: Duration,
}

impl Watch {
    /// The API server sends bookmarks about every 60 s; what is shorter than this would end healthy watches.
    pub const LEAST_IDLE_AFTER: Duration = Duration::from_secs(90);
}

impl Default for Watch {
    fn default() -> Self {
        Self { idle_after: Duration::from_mins(5) }
    }
}

/// An object that is changed to see whether the operator notices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canary {
    /// The resource as kubectl names it.
    pub resource: String,
    /// Absent for an object of the whole cluster.
    pub namespace: Option<String>,
    /// The object's name.
    pub name: String,
    /// From one change to the next. Default: 1m.
    pub interval: Duration,
    /// Where the change is written, keys from the top of the object. Default: the annotation [`Canary::ANNOTATION`],
    /// which only kopf takes for a change of the desired state.
    pub path: Option<Vec<String>>,
    /// With what the object is created where it does not exist, beside its name. Default: it is not created.
    pub create: Option<serde_json::Map<String, serde_json::Value>>,
}

impl Canary {
    /// The annotation that is changed where no path is configured.
    pub const ANNOTATION: &str = "dogwatch/canary";
    const DEFAULT_INTERVAL: Duration = Duration::from_mins(1);
}

/// When and how often the operator is restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restart {
    /// Default: enforce; observe where `operators` are observed.
    pub mode: Mode,
    /// How long a stream must stay asleep before the restart. Default: 30s.
    pub confirm: Duration,
    /// Time that the operator's container has after its start. Default: 3m.
    pub grace: Duration,
    /// How many restarts are allowed.
    pub budget: Budget,
    /// The most that is added at random to `confirm`; may be zero. Default: 30s.
    pub jitter: Duration,
    /// Whether one processed object must have been seen under the current rule. Default: true.
    pub require_proof: bool,
}

impl Default for Restart {
    fn default() -> Self {
        Self {
            mode: Mode::Enforce,
            confirm: Duration::from_secs(30),
            grace: Duration::from_mins(3),
            budget: Budget::default(),
            jitter: Duration::from_secs(30),
            require_proof: true,
        }
    }
}

/// Whether dogwatch acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A deaf operator is restarted.
    Enforce,
    /// Everything but the restart.
    Observe,
}

impl Mode {
    /// Every value with its spelling in the configuration, in flags and in the Pod's annotation.
    pub const WORDS: [(&str, Self); 2] = [("enforce", Self::Enforce), ("observe", Self::Observe)];
}

/// How many restarts are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Restarts in one window; at least 1. Default: 3.
    pub max: u32,
    /// Default: 24h.
    pub window: Duration,
    /// From one restart to the next. Default: 15m.
    pub min_gap: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self { max: 3, window: Duration::from_hours(24), min_gap: Duration::from_mins(15) }
    }
}

/// Whether overdue objects are touched once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Nudge {
    /// Default: false.
    pub enabled: bool,
}

/// What dogwatch serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Server {
    /// Address and port. Default: `[::]:11850`; the server takes `0.0.0.0` where IPv6 is off.
    pub listen: SocketAddr,
}

impl Default for Server {
    fn default() -> Self {
        Self { listen: SocketAddr::from((Ipv6Addr::UNSPECIFIED, 11850)) }
    }
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the configuration {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The text is not a valid configuration.
    #[error("{}", Lines { source_name, problems })]
    Invalid {
        /// The file or the flag.
        source_name: String,
        /// What is wrong, in the order of the text; at least one.
        problems: Vec<Problem>,
    },
}

/// One line a problem.
struct Lines<'p> {
    source_name: &'p str,
    problems: &'p [Problem],
}

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_char('\n')?;
            }
            write!(f, "{}:{problem}", self.source_name)?;
        }
        Ok(())
    }
}

/// Reads the configuration file at `path`.
pub fn read(path: &Path) -> Result<Config, Error> {
    let bytes = std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    parse_bytes(&bytes, &path.display().to_string())
}

/// Reads a configuration; `source_name` stands before every problem.
pub fn parse(text: &str, source_name: &str) -> Result<Config, Error> {
    converted(text, source_name, |root| Some(convert::config(root)))
}

/// What to say of a name that is no rule's: it names the nearest.
pub fn unknown_rule(name: &str) -> String {
    rule::unknown(name)
}

/// Reads what the flag `--rule` takes, which is what the key `rule` takes: a name, or `{kopf: {mode: event-only}}`.
pub fn rule_from_flag(text: &str) -> Result<Choice, Error> {
    converted(text, "--rule", rule::choice)
}

fn parse_bytes(bytes: &[u8], source_name: &str) -> Result<Config, Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text, source_name),
        Err(error) => {
            let good = bytes.get(..error.valid_up_to()).map(String::from_utf8_lossy).unwrap_or_default();
            let last = good.rsplit('\n').next().unwrap_or_default();
            let at = Position { line: count(good.matches('\n').count()), column: count(last.chars().count()) };
            let message = "is not UTF-8; save the file in that encoding".to_owned();
            Err(Error::Invalid {
                source_name: source_name.to_owned(),
                problems: vec![Problem { at, path: String::new(), message }],
            })
        }
    }
}

/// The place that stands after so many others.
fn count(before: usize) -> u64 {
    u64::try_from(before).unwrap_or(u64::MAX).saturating_add(1)
}

fn converted<T>(text: &str, source_name: &str, convert: impl FnOnce(&Cursor<'_>) -> Option<T>) -> Result<T, Error> {
    let invalid = |problems| Error::Invalid { source_name: source_name.to_owned(), problems };
    let root = raw::read(text).map_err(|problem| invalid(vec![problem]))?;
    let problems = Problems::default();
    let value = convert(&Cursor::root(&root, &problems));
    let problems = problems.into_sorted();
    match value {
        Some(value) if problems.is_empty() => Ok(value),
        _ => Err(invalid(problems)),
    }
}

#[cfg(test)]
mod tests;
