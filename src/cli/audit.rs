//! The command `audit`: list once, judge, report.

pub mod args;
pub mod dump;
pub mod judge_dump;
pub mod judge_live;
pub mod peering;
pub mod progress;
pub mod settings;
pub mod survey;
pub mod target;
pub mod word;

use futures_util::StreamExt;
use futures_util::stream;
use jiff::Timestamp;

use super::exit::Exit;
use super::output;
use super::report::{NowFrom, Report, Resource};
use crate::clock;
use crate::cluster::{connect, discover, request};
use crate::config;
use crate::judge::state::State;
use crate::judge::tally::Keep;
use args::Args;
use dump::{Dump, DumpFile};
use judge_dump::Judged;
use peering::Peerings;
use progress::Progress;
use settings::Plan;
use survey::{Key, Survey};
use target::Targets;
use word::Word;

/// How many resources are listed at the same time; more would press on the API server for no gain.
const AT_A_TIME: usize = 4;

/// Why an audit could not give its answer, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration or `--rule`.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// A dump could not be read.
    #[error(transparent)]
    Dump(#[from] dump::Error),
    /// Files of the dump that are neither JSON nor YAML to their end; what could be read of them was judged.
    #[error("{}", lines(.0))]
    Faults(Vec<dump::Error>),
    /// Nothing in the dump is a Kubernetes object.
    #[error("no Kubernetes object in {names}: nothing there has apiVersion, kind or metadata")]
    NoObject {
        /// The files.
        names: String,
    },
    /// A RESOURCE that does not occur in the dump.
    #[error("nothing in the dump is {word:?}{hint}")]
    NotInDump {
        /// As given.
        word: String,
        /// What may have been meant.
        hint: String,
    },
    /// RESOURCE beside a configuration that lists resources, for a dump.
    #[error("cannot choose what to audit")]
    Target(#[from] target::Error),
    /// No cluster to ask.
    #[error("cannot connect to a cluster")]
    Connect(#[from] connect::Error),
    /// The cluster could not be asked.
    #[error("cannot connect to the cluster")]
    Client(#[from] request::Error),
    /// What the cluster serves is not known.
    #[error("cannot find out what the cluster serves")]
    Discover(#[from] discover::Error),
    /// The report could not be written.
    #[error(transparent)]
    Output(#[from] output::Error),
    /// No runtime for the requests.
    #[error("cannot start the runtime for requests")]
    Runtime(#[source] std::io::Error),
}

impl Error {
    /// How the command ends.
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Dump(dump::Error::Keep(_)) | Self::Output(_) | Self::Runtime(_) => Exit::Failure,
            Self::Config(_)
            | Self::Dump(_)
            | Self::Faults(_)
            | Self::NoObject { .. }
            | Self::NotInDump { .. }
            | Self::Connect(_) => Exit::Usage,
            Self::Target(error) => error.exit(),
            Self::Client(_) | Self::Discover(_) => Exit::Undetermined,
        }
    }
}

/// Runs the audit. `program` is how this program was called. Returns how the command ends.
///
/// # Errors
/// When there is no answer, or not all of it. What could be said was written before.
pub fn run(args: &Args, program: &str) -> Result<Exit, Error> {
    let plan = args.plan()?;
    if !args.filename.is_empty() {
        return audit_dump(args, &plan, program);
    }
    // One thread: what takes time is the API server, and a second one would cost memory.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
    let report = runtime.block_on(audit_cluster(args, &plan))?;
    finish(&report, args, program)
}

async fn audit_cluster(args: &Args, plan: &Plan) -> Result<Report, Error> {
    let cluster = connect::connect(&args.connection.options()).await?;
    let client = cluster.client().await?;
    let discovery = discover::discover(&client).await?;
    let Targets { targets, mut warnings } = target::find(&client, &discovery, &args.resources, plan).await?;
    let (now, now_from) = match (args.now, discovery.server) {
        (Some(now), _) => (now, NowFrom::Flag),
        (None, Some(server)) => (server.date, NowFrom::Server),
        (None, None) => (clock::wall(), NowFrom::Clock),
    };
    let mut peerings = Peerings::list(&client, &discovery).await;
    let waiting = peerings.waiting(plan, now);
    let progress = Progress::new(targets.len());
    let list = plan.list();
    let request = judge_live::Request {
        now,
        keep: args.keep(),
        namespaces: &args.namespace,
        labels: args.selector.as_deref(),
        fields: args.field_selector.as_deref(),
        page_size: list.page_size,
        max_object_bytes: list.max_object_bytes,
        progress: &progress,
        waiting: &waiting,
    };
    let resources: Vec<Resource> = stream::iter(&targets)
        .map(|target| judge_live::judge(&client, target, &request))
        .buffered(AT_A_TIME)
        .collect()
        .await;
    progress.finish();
    warnings.extend(peerings.warnings.into_iter().filter(|_| resources.iter().any(|it| it.rule == "kopf")));
    let context = cluster.context().map(str::to_owned);
    Ok(Report {
        generated_at: clock::wall(),
        now,
        now_from,
        is_live: true,
        context,
        is_cut_short: false,
        resources,
        warnings,
    })
}

fn audit_dump(args: &Args, plan: &Plan, program: &str) -> Result<Exit, Error> {
    if !args.resources.is_empty() && !plan.listed().is_empty() {
        return Err(target::Error::Both.into());
    }
    let dump = Dump::open(&args.filename)?;
    let max_object_bytes = plan.list().max_object_bytes;
    let mut survey = Survey::new(dump.files(), max_object_bytes);
    let (now, now_from) = args.now.map_or_else(|| dump_now(&dump, &survey), |now| (now, NowFrom::Flag));
    let mut peerings = std::mem::take(&mut survey.peerings);
    let waiting = peerings.waiting(plan, now);
    let words = Word::parse_all(&args.resources);
    let request = judge_dump::Request {
        plan,
        words: &words,
        namespaces: &args.namespace,
        now,
        keep: args.keep(),
        max_object_bytes,
        waiting: &waiting,
    };
    let Judged { resources, unused } = judge_dump::judge(dump.files(), &survey, &request);
    if let Some(word) = unused.first() {
        return Err(not_in_dump(word, &survey));
    }
    let report = Report {
        generated_at: clock::wall(),
        now,
        now_from,
        is_live: false,
        context: None,
        is_cut_short: !survey.faults.is_empty(),
        resources,
        warnings: unapplied_selectors(plan).into_iter().chain(peerings.warnings).collect(),
    };
    let exit = finish(&report, args, program)?;
    if !survey.faults.is_empty() {
        return Err(Error::Faults(survey.faults));
    }
    if !survey.has_object {
        let names: Vec<&str> = dump.files().iter().map(DumpFile::name).collect();
        return Err(Error::NoObject { names: names.join(", ") });
    }
    Ok(exit)
}

fn lines(faults: &[dump::Error]) -> String {
    faults.iter().map(|fault| super::chain(fault)).collect::<Vec<_>>().join("\n")
}

fn not_in_dump(word: &Word, survey: &Survey) -> Error {
    let given = word.text().to_lowercase();
    let similarity = |name: &str| strsim::jaro_winkler(name, &given);
    let names = survey.keys().map(Key::resource);
    let nearest = names.max_by(|one, other| similarity(one).total_cmp(&similarity(other)));
    let hint = nearest.map_or_else(String::new, |nearest| format!("; did you mean {nearest}?"));
    Error::NotInDump { word: word.text().to_owned(), hint }
}

fn finish(report: &Report, args: &Args, program: &str) -> Result<Exit, Error> {
    output::write(report, &args.targets(), &args.output_options(program))?;
    Ok(report.exit(&args.fail_on, args.allow_partial))
}

/// Only the API server evaluates label selectors, so a dump is judged with what they would leave out.
fn unapplied_selectors(plan: &Plan) -> Vec<String> {
    let listed = plan.listed();
    let selected = listed.iter().filter(|(resource, _)| resource.selector.is_some());
    selected
        .map(|(resource, _)| format!("the selector of {} is not applied to a dump", resource.resource.as_str()))
        .collect()
}

/// The moment at which a dump was taken, as well as that can be told.
fn dump_now(dump: &Dump, survey: &Survey) -> (Timestamp, NowFrom) {
    let modified: Option<Vec<Timestamp>> = dump.files().iter().map(DumpFile::modified_at).collect();
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
