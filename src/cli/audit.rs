//! The command `audit`: list once, judge, report.

pub mod args;
pub mod dump;
pub mod judge_dump;
pub mod settings;
pub mod survey;
pub mod word;

use jiff::Timestamp;

use super::exit::Exit;
use super::output;
use super::report::{NowFrom, Report};
use crate::clock;
use crate::judge::state::State;
use crate::judge::tally::Keep;
use args::Args;
use dump::Dump;
use survey::Survey;
use word::Word;

/// Why an audit could not give its answer, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The flags contradict one another.
    #[error("{0}")]
    Usage(String),
    /// A dump could not be read.
    #[error(transparent)]
    Dump(#[from] dump::Error),
    /// Nothing in the dump is a Kubernetes object.
    #[error("no Kubernetes object in {names}: nothing there has apiVersion, kind or metadata")]
    NoObject {
        /// The files.
        names: String,
    },
    /// A RESOURCE that does not occur.
    #[error("{word} matches nothing in the dump{hint}")]
    NoSuchResource {
        /// As given.
        word: String,
        /// What it may have meant.
        hint: String,
    },
    /// The report could not be written.
    #[error(transparent)]
    Output(#[from] output::Error),
}

impl Error {
    /// How the command ends.
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) | Self::NoObject { .. } | Self::NoSuchResource { .. } => Exit::Usage,
            Self::Dump(dump::Error::Keep(_)) | Self::Output(_) => Exit::Failure,
            Self::Dump(_) => Exit::Usage,
        }
    }
}

/// Runs the audit. `program` is how this program was called. Returns how the command ends.
///
/// # Errors
/// When there is no answer, or not all of it. What could be said was written before.
pub fn run(args: &Args, program: &str) -> Result<Exit, Error> {
    audit_dump(args, program)
}

fn audit_dump(args: &Args, program: &str) -> Result<Exit, Error> {
    let dump = Dump::open(&args.filename)?;
    let limit = args.max_object_bytes();
    let mut survey = Survey::new(dump.files(), limit);
    let (now, now_from) = args.now.map_or_else(|| dump_now(&dump, &survey), |now| (now, NowFrom::Flag));
    let words = Word::parse_all(&args.resources);
    let request = judge_dump::Request {
        plan: &args.plan(),
        words: &words,
        namespaces: &args.namespace,
        now,
        keep: args.keep(),
        max_object_bytes: limit,
    };
    let resources = judge_dump::judge(dump.files(), &survey, &request);
    let report = Report {
        generated_at: clock::wall(),
        now,
        now_from,
        is_live: false,
        context: None,
        resources,
        warnings: Vec::new(),
    };
    output::write(&report, &args.targets(), &args.output_options(program))?;
    if let Some(fault) = survey.faults.pop() {
        return Err(fault.into());
    }
    if !survey.has_object {
        let names: Vec<&str> = dump.files().iter().map(dump::DumpFile::name).collect();
        return Err(Error::NoObject { names: names.join(", ") });
    }
    Ok(report.exit(&args.fail_on, args.allow_partial))
}

/// The moment at which a dump was taken, as well as that can be told.
fn dump_now(dump: &Dump, survey: &Survey) -> (Timestamp, NowFrom) {
    let modified: Option<Vec<Timestamp>> = dump.files().iter().map(dump::DumpFile::modified_at).collect();
    match modified.and_then(|times| times.into_iter().max()) {
        Some(modified) => (survey.newest.map_or(modified, |newest| modified.max(newest)), NowFrom::Mtime),
        None => (clock::wall(), NowFrom::Clock),
    }
}

impl Args {
    fn keep(&self) -> Keep {
        let listed = [State::Pending, State::Failing, State::InProgress, State::Paused];
        let states = match (self.all, &self.state[..]) {
            (true, _) => State::ALL.to_vec(),
            (false, []) => listed.to_vec(),
            (false, states) => states.to_vec(),
        };
        Keep { states, limit: self.limit() }
    }
}
