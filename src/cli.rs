//! The command line: one file per command, the writers of reports, and exit codes.

pub mod age;
pub mod audit;
pub mod columns;
pub mod connection;
pub mod exit;
pub mod output;
pub mod report;

use clap::{Parser, Subcommand};

use exit::Exit;

/// Keeps watch over a Kubernetes operator: finds the objects that it left unprocessed
#[derive(Debug, Parser)]
#[command(name = "dogwatch", version, propagate_version = true, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List once, judge, report
    Audit(audit::args::Args),
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `audit`.
    #[error(transparent)]
    Audit(#[from] audit::Error),
}

impl Error {
    /// How the command ends.
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Audit(error) => error.exit(),
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
    }
}

/// An error and its causes in one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
