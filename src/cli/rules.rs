//! The command `rules`: the built-in rules and what each of them reads.

mod describe;
mod json;
mod text;

use std::io::{self, BufWriter, IsTerminal, Write};

use clap::ValueEnum;

use super::exit::Exit;
use crate::config;
use describe::Described;

/// Shows the built-in rules: all of them in a table, or everything about one.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The rule to show; all of them where it is left out.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// In which form.
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub output: Format,
}

/// The forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a person.
    Table,
    /// For programs.
    Json,
    /// Names for other commands.
    Name,
}

/// Why the rules could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no rule of that name.
    #[error("{0}")]
    Unknown(String),
    /// The answer could not be written.
    #[error("cannot write the rules to standard output")]
    Output(#[source] io::Error),
}

impl Error {
    /// How the command ends.
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Unknown(_) => Exit::Usage,
            Self::Output(_) => Exit::Failure,
        }
    }
}

/// Writes the rules to standard output. `program` is how this program was called.
///
/// # Errors
/// See [`Error`].
pub fn run(args: &Args, program: &str) -> Result<Exit, Error> {
    let rules = match &args.name {
        None => describe::all(),
        Some(name) => vec![describe::named(name).ok_or_else(|| Error::Unknown(config::unknown_rule(name)))?],
    };
    let stdout = io::stdout();
    let width = stdout.is_terminal().then(terminal_size::terminal_size).flatten();
    let width = width.map(|(width, _)| usize::from(width.0));
    let mut out = BufWriter::new(stdout.lock());
    match write(&rules, args, width, program, &mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Output(error)),
        _ => Ok(Exit::Clean),
    }
}

fn write(rules: &[Described], args: &Args, width: Option<usize>, program: &str, out: &mut dyn Write) -> io::Result<()> {
    match (args.output, &args.name) {
        (Format::Json, _) => json::write(rules, out),
        (Format::Name, _) => rules.iter().try_for_each(|rule| writeln!(out, "{}", rule.name)),
        (Format::Table, None) => text::table(rules, width, program, out),
        (Format::Table, Some(_)) => rules.iter().try_for_each(|rule| text::whole(rule, width, out)),
    }
}

#[cfg(test)]
mod tests;
