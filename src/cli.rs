//! The command line: one file per command, the writers of reports, and exit codes.

pub mod age;
pub mod audit;
pub mod columns;
pub mod connection;
#[cfg(feature = "demo")]
pub mod demo;
pub mod exit;
pub mod output;
pub mod probe;
pub mod report;
pub mod rules;
pub mod run;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub use crate::cluster::chain;
use exit::Exit;

/// Keeps watch over a Kubernetes operator: finds what it left unprocessed, and has it restarted when it has gone deaf
#[derive(Debug, Parser)]
#[command(name = "dogwatch", version, disable_help_subcommand = true)]
#[command(after_help = "Every flag of a command can also be set in the environment: --fail-on as DOGWATCH_FAIL_ON.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List once, judge, report
    Audit(Box<audit::args::Args>),
    /// Ask the dogwatch beside us, for an exec livenessProbe
    Probe(probe::Args),
    /// See an operator go deaf, and dogwatch have it restarted
    #[cfg(feature = "demo")]
    Demo(demo::Args),
    /// The simulated operator of the demo
    #[cfg(feature = "demo")]
    #[command(hide = true)]
    DemoOperator(demo::OperatorArgs),
    /// Keep watch beside an operator, and have it restarted when it has gone deaf
    Run(Box<run::Args>),
    /// Show the built-in rules and what each reads
    Rules(rules::Args),
}

/// Under this prefix every flag can be set in the environment: `--fail-on` is `DOGWATCH_FAIL_ON`.
const ENVIRONMENT: &str = "DOGWATCH_";

impl Cli {
    /// Reads the command line over the environment.
    ///
    /// # Errors
    /// What clap has to say: a usage error, or the text of `--help` and `--version`.
    pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let command = Self::command().mut_subcommands(|command| command.mut_args(with_environment));
        Self::from_arg_matches(&command.try_get_matches_from(arguments)?)
    }
}

/// Whether `arguments`, the program's name first, ask for `probe`, however wrong its flags are.
pub fn is_probe(arguments: impl IntoIterator<Item = OsString>) -> bool {
    let is_flag = |argument: &OsString| argument.as_encoded_bytes().starts_with(b"-");
    arguments.into_iter().skip(1).find(|argument| !is_flag(argument)).is_some_and(|command| command == "probe")
}

fn with_environment(argument: clap::Arg) -> clap::Arg {
    match argument.get_long() {
        Some(long) if argument.get_env().is_none() => {
            let variable = format!("{ENVIRONMENT}{}", long.replace('-', "_").to_uppercase());
            argument.env(variable).hide_env(true)
        }
        _ => argument,
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `demo`.
    #[cfg(feature = "demo")]
    #[error(transparent)]
    Demo(#[from] demo::Error),
    /// `audit`.
    #[error(transparent)]
    Audit(#[from] audit::Error),
    /// `run`.
    #[error(transparent)]
    Run(#[from] run::Error),
    /// `rules`.
    #[error(transparent)]
    Rules(#[from] rules::Error),
}

impl Error {
    /// How the command ends.
    pub const fn exit(&self) -> Exit {
        match self {
            #[cfg(feature = "demo")]
            Self::Demo(error) => error.exit(),
            Self::Audit(error) => error.exit(),
            Self::Run(error) => error.exit(),
            Self::Rules(error) => error.exit(),
        }
    }
}

/// Runs one command. `program` is how this program was called, for the commands that it proposes.
///
/// # Errors
/// When the command has no answer, or not all of it.
pub fn run(cli: &Cli, program: &str) -> Result<Exit, Error> {
    match &cli.command {
        Command::Audit(args) => Ok(audit::run(args, program)?),
        Command::Probe(args) => Ok(probe::run(args)),
        #[cfg(feature = "demo")]
        Command::Demo(args) => Ok(demo::run(args, program)?),
        #[cfg(feature = "demo")]
        Command::DemoOperator(args) => Ok(demo::run_operator(args)?),
        Command::Run(args) => Ok(run::run(args)?),
        Command::Rules(args) => Ok(rules::run(args, program)?),
    }
}
