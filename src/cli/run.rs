//! The command `run`: the sidecar, or with `operators` the stand-alone observer.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use tracing::level_filters::LevelFilter;

use super::connection::Connection;
use super::exit::Exit;
use super::{chain, probe};
use crate::config::Mode;
use crate::log::{self, Format};
use crate::sidecar::{self, Options};

/// Where the configuration is looked for.
const DEFAULT_CONFIG: &str = "/etc/dogwatch/config.yaml";

/// Keep watch beside an operator, and have it restarted when it has gone deaf
#[derive(Debug, Parser)]
pub struct Args {
    /// What the operator serves: anything kubectl resolves, comma lists. Not beside a configuration that lists resources
    #[arg(value_name = "RESOURCE")]
    pub resources: Vec<String>,

    /// The configuration file [default: /etc/dogwatch/config.yaml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Where to answer probes, scrapes and questions [default: the configuration's, else [::]:11850]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,

    /// enforce, or observe: everything but the restart [default: the configuration's, else enforce]
    #[arg(long, value_enum)]
    pub mode: Option<ModeFlag>,

    /// Where restarts are remembered across dogwatch's own [default: the configuration's]
    #[arg(long, value_name = "FILE")]
    pub state_file: Option<PathBuf>,

    /// Copy this program into a folder first, for the operator's exec livenessProbe: `DIR/dogwatch probe`
    #[arg(long, value_name = "DIR")]
    pub install_probe: Option<PathBuf>,

    /// The form of the log on standard error: text (logfmt) or json
    #[arg(long, value_name = "FORMAT", default_value_t)]
    pub log_format: Format,

    /// The least level that is logged: error, warn, info, debug, trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub log_level: LevelFilter,

    /// The own Pod's name.
    #[arg(long, env = "POD_NAME", hide = true)]
    pub pod_name: Option<String>,

    /// The own Pod's namespace.
    #[arg(long, env = "POD_NAMESPACE", hide = true)]
    pub pod_namespace: Option<String>,

    /// This machine's name, by which the operator may hold its lease.
    #[arg(long, env = "HOSTNAME", hide = true)]
    pub hostname: Option<String>,

    /// Which cluster.
    #[command(flatten)]
    pub connection: Connection,
}

/// `restart.mode`, as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeFlag {
    /// A deaf operator is restarted.
    Enforce,
    /// Everything but the restart.
    Observe,
}

/// Why `run` ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The wiring.
    #[error(transparent)]
    Sidecar(#[from] sidecar::Error),
    /// The log.
    #[error("cannot begin to log")]
    Log(#[source] tracing_subscriber::util::TryInitError),
}

impl Error {
    /// How the command ends: a command line that cannot be read is refused before; everything else is a failure.
    pub const fn exit(&self) -> Exit {
        Exit::Failure
    }
}

/// Runs until a signal comes.
///
/// # Errors
/// When the port cannot be opened, or the listener ends.
pub fn run(args: &Args) -> Result<Exit, Error> {
    log::begin(args.log_format, args.log_level).map_err(Error::Log)?;
    sidecar::run(args.options())?;
    Ok(Exit::Clean)
}

impl Args {
    fn options(&self) -> Options {
        Options {
            config: self.config.clone().unwrap_or_else(|| DEFAULT_CONFIG.into()),
            is_config_named: self.config.is_some(),
            resources: self.resources.clone(),
            listen: self.listen,
            mode: self.mode.map(|mode| match mode {
                ModeFlag::Enforce => Mode::Enforce,
                ModeFlag::Observe => Mode::Observe,
            }),
            state_file: self.state_file.clone(),
            connection: self.connection.options(),
            pod_name: self.pod_name.clone().filter(|name| !name.is_empty()),
            pod_namespace: self.pod_namespace.clone().filter(|name| !name.is_empty()),
            hostname: self.hostname.clone().filter(|name| !name.is_empty()),
            install_probe: self.install_probe.clone().map(|folder| (folder, install as sidecar::InstallProbe)),
            seed: None,
        }
    }
}

fn install(folder: &Path) -> Result<PathBuf, String> {
    probe::install(folder).map_err(|error| chain(&error))
}
