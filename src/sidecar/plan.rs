//! What `run` is to do: the flags over the configuration file, valid as a whole or refused.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;

use super::Options;
use crate::config::operator::Operator as Beside;
use crate::config::pattern::Pattern;
use crate::config::resource::Resource;
use crate::config::{self, Config, List, Restart, Role, Watch};
use crate::judge::decision::{Budget, Mode, Policy};
use crate::judge::rule::{Choice, Rule};

/// What `run` is to do.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// One in a sidecar, several where they are observed.
    pub(super) operators: Vec<OperatorPlan>,
    pub(super) list: List,
    pub(super) watch: Watch,
    /// The object that is changed to see whether the operator notices.
    pub(super) canary: Option<config::Canary>,
    /// Whether overdue objects are touched.
    pub(super) nudge: bool,
    pub(super) state_file: Option<PathBuf>,
    /// Where to listen; a port that is open stays where it is.
    pub(super) listen: SocketAddr,
    /// What is configured and not done, a line each.
    pub(super) warnings: Vec<String>,
}

/// What is to be done about one operator.
#[derive(Debug, Clone)]
pub(super) struct OperatorPlan {
    /// Absent in a sidecar until the own Pod tells.
    pub(super) name: Option<String>,
    pub(super) resources: Vec<Resource>,
    pub(super) restart: Restart,
    /// What is known of an operator in the same Pod; absent where it is observed from elsewhere.
    pub(super) beside: Option<Beside>,
}

impl OperatorPlan {
    pub(super) const fn policy(&self) -> Policy {
        let config::Budget { max, window, min_gap } = self.restart.budget;
        Policy { confirm: self.restart.confirm, grace: self.restart.grace, budget: Budget { max, window, min_gap } }
    }

    pub(super) const fn mode(&self) -> Mode {
        match (self.restart.mode, &self.beside) {
            (config::Mode::Enforce, Some(_)) => Mode::Enforce,
            (config::Mode::Observe, _) | (_, None) => Mode::Observe,
        }
    }
}

/// Why there is nothing to do yet.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error(transparent)]
    Config(#[from] config::Error),
    #[error("nothing to watch: name RESOURCE, or write {}", path.display())]
    Nothing { path: PathBuf },
    #[error("{}: `resources` is missing; list what the operator serves, as in [widgets.example.com]", path.display())]
    NoResources { path: PathBuf },
    #[error("RESOURCE and the resources of {} exclude each other; leave one of them out", path.display())]
    Both { path: PathBuf },
    #[error("{word:?} {problem}")]
    Word { word: String, problem: String },
    #[error("{}: `{key}` is not supported by this version of dogwatch; {hint}", path.display())]
    Unsupported { path: PathBuf, key: &'static str, hint: &'static str },
    #[error(
        "{}: `canary.path` is missing: under the rule {rule} of {resource} an annotation is no change of what is wanted; \
         name a text field, as in spec.canary",
        path.display()
    )]
    CanaryPath { path: PathBuf, resource: String, rule: &'static str },
    #[error("--mode enforce: `operators` are only ever observed; leave the flag out")]
    EnforceElsewhere,
}

/// What tells one content of the file from another; absent where it cannot be read.
pub(super) fn stamp(path: &Path) -> Option<u64> {
    std::fs::read(path).ok().map(|bytes| XxHash3_64::oneshot(&bytes))
}

/// The configuration file, or what an empty one would mean where the default one does not exist and RESOURCE is given.
fn file(options: &Options) -> Result<Config, Error> {
    let is_optional = !options.is_config_named && !options.resources.is_empty();
    match config::read(&options.config) {
        Err(config::Error::Read { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            if is_optional {
                Ok(Config::default())
            } else {
                Err(Error::Nothing { path: options.config.clone() })
            }
        }
        config => Ok(config?),
    }
}

/// The address to listen on, if only that can be read.
pub(super) fn listen(options: &Options) -> SocketAddr {
    options.listen.unwrap_or_else(|| file(options).unwrap_or_default().server.listen)
}

/// Reads the file and lays the flags over it.
pub(super) fn load(options: &Options) -> Result<Plan, Error> {
    let config = file(options)?;
    let path = || options.config.clone();
    refuse_unsupported(&config, options)?;
    let restart = Restart { mode: options.mode.unwrap_or(config.restart.mode), ..config.restart };
    let named = words(&options.resources)?;
    let has_resources = !config.resources.is_empty() || matches!(config.role, Role::Observer(_));
    if !named.is_empty() && has_resources {
        return Err(Error::Both { path: path() });
    }
    let mut warnings = Vec::new();
    let operators = match config.role {
        Role::Sidecar(beside) => {
            let resources = if named.is_empty() { config.resources } else { named };
            if resources.is_empty() {
                return Err(Error::NoResources { path: path() });
            }
            vec![OperatorPlan { name: beside.name.clone(), resources, restart, beside: Some(beside) }]
        }
        Role::Observer(_) if options.mode == Some(config::Mode::Enforce) => return Err(Error::EnforceElsewhere),
        Role::Observer(observed) => observed
            .into_iter()
            .map(|it| OperatorPlan { name: Some(it.name), resources: it.resources, restart, beside: None })
            .collect(),
    };
    let canary = config.canary;
    if let Some((resource, rule)) = canary.as_ref().and_then(|canary| pathless(canary, &operators)) {
        return Err(Error::CanaryPath { path: path(), resource, rule });
    }
    let is_sidecar = operators.iter().any(|operator| operator.beside.is_some());
    let state_file = options.state_file.clone().or(config.state_file);
    if state_file.is_some() && !is_sidecar {
        warnings.push("`stateFile` is not used where `operators` are observed: nothing there is restarted".to_owned());
    }
    let listen = options.listen.unwrap_or(config.server.listen);
    Ok(Plan {
        operators,
        list: config.list,
        watch: config.watch,
        canary,
        nudge: config.nudge.enabled,
        state_file: state_file.filter(|_| is_sidecar),
        listen,
        warnings,
    })
}

/// The resource and the rule of a canary that cannot work. Where the rule is `auto` that shows only later.
fn pathless(canary: &config::Canary, operators: &[OperatorPlan]) -> Option<(String, &'static str)> {
    let mut entries = operators.iter().flat_map(|operator| &operator.resources);
    let entry = entries.find(|entry| entry.resource.as_str() == canary.resource && canary.path.is_none())?;
    match &entry.rule {
        Choice::Named(Rule::Kopf(_)) | Choice::Auto { .. } => None,
        Choice::Named(rule) => Some((canary.resource.clone(), rule.name())),
    }
}

fn words(words: &[String]) -> Result<Vec<Resource>, Error> {
    let parse = |word: &str| {
        let problem = |problem: String| Error::Word { word: word.to_owned(), problem };
        if word.contains('/') {
            return Err(problem("names one object; `run` watches whole resources".to_owned()));
        }
        Pattern::parse(word).map(Resource::new).map_err(|error| problem(error.to_string()))
    };
    words.iter().flat_map(|word| word.split(',')).map(parse).collect()
}

/// Keys whose silent absence could have an operator restarted that must not be, or not restarted that must be.
fn refuse_unsupported(config: &Config, options: &Options) -> Result<(), Error> {
    let refuse = |key, hint| Err(Error::Unsupported { path: options.config.clone(), key, hint });
    match &config.role {
        Role::Observer(_) if !config.resources.is_empty() => {
            refuse("resources beside operators", "list each resource under an operator")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
