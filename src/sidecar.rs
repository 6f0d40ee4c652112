//! `run`: the only place where its parts are wired together.
//!
//! ```text
//! roster --resources--> scan, follow ----+
//! gate, pod, lease, confirm, freshness --+--> what is known (one lock) --> decide --> view --> listener
//! peering, own check, metrics, canary, nudge
//!                                                                             +--> state file, Events, log
//! ```
//!
//! The listener has a thread of its own and is open before anything else happens; everything else shares one thread.
//! Every task is watched: one that ends makes the decision `blind`, and `/livez` fail. The configuration is read again
//! when its file changes; the tasks then begin anew with what is known.

mod canary;
mod confirm;
mod decide;
mod follow;
mod gate;
mod leader;
mod nudge;
mod operator;
mod own_check;
mod own_pod;
mod peers;
mod plan;
mod post;
mod publish;
mod reading;
mod roster;
mod scan;
mod scrape;
mod shared;
mod sockets;
mod stale;
mod start;
mod state_file;
mod tell;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::clock::{self, Clock};
use crate::cluster::connect::{self, Cluster};
use crate::config;
use crate::http::{self, Listener};
use crate::judge::state::Moment;
use crate::shutdown::Signals;
use crate::view::board::Board;
use crate::view::{Task, View};
use plan::Plan;
use shared::Shared;

/// What the command line and the environment say.
#[derive(Debug, Clone)]
pub struct Options {
    /// The configuration file.
    pub config: PathBuf,
    /// Whether it was named, and is not only the default one: then it must exist.
    pub is_config_named: bool,
    /// RESOURCE.
    pub resources: Vec<String>,
    /// In place of `server.listen`.
    pub listen: Option<SocketAddr>,
    /// In place of `restart.mode`.
    pub mode: Option<config::Mode>,
    /// In place of `stateFile`.
    pub state_file: Option<PathBuf>,
    /// How the cluster is reached.
    pub connection: connect::Options,
    /// The own Pod's name, by the downward API.
    pub pod_name: Option<String>,
    /// The own Pod's namespace, by the downward API.
    pub pod_namespace: Option<String>,
    /// This machine's name, by which the operator may hold its lease.
    pub hostname: Option<String>,
    /// Where the probe's program is to be copied before anything else, and how; see `--install-probe`.
    pub install_probe: Option<(PathBuf, InstallProbe)>,
    /// What random numbers are drawn from; absent: from the system.
    pub seed: Option<u64>,
}

/// Copies the probe's program into a folder; an error in one line.
pub type InstallProbe = fn(&Path) -> Result<PathBuf, String>;

/// Why `run` ended. Nothing else ends it but a signal.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The port cannot be opened.
    #[error(transparent)]
    Listen(#[from] http::Error),
    /// No runtime.
    #[error("cannot start the runtime")]
    Runtime(#[source] io::Error),
    /// No signals.
    #[error("cannot listen for SIGTERM and SIGINT")]
    Signals(#[source] io::Error),
    /// The listener is gone: nobody can ask any more.
    #[error("the listener has ended; see the log for why")]
    ListenerEnded,
}

/// How often the file is looked at. The kubelet swaps the link of a `ConfigMap` within a minute of the change.
const RELOAD_EVERY: Duration = Duration::from_secs(5);

/// Runs until a signal comes.
///
/// # Errors
/// When the port cannot be opened, or the listener ends.
pub fn run(options: Options) -> Result<(), Error> {
    let clock = Clock::of_machine();
    let board = Board::new(View::starting(Moment { wall: clock.wall(), elapsed: clock.boot() }, decide::PERIOD));
    let listener = Listener::bind(plan::listen(&options))?;
    tracing::info!(address = %listener.address(), version = env!("CARGO_PKG_VERSION"), "listening");
    let (stop, stopped) = oneshot::channel::<()>();
    let server = listener.serve(Arc::clone(&board), async move { drop(stopped.await) })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
    runtime.block_on(async {
        let mut signals = Signals::listen().map_err(Error::Signals)?;
        let shared = Arc::new(Shared::new(options, clock, board));
        let ended = server.ended();
        tokio::pin!(ended);
        tokio::select! {
            () = work(shared, None, async { signals.received().await }) => {}
            () = &mut ended => return Err(Error::ListenerEnded),
        }
        drop(stop);
        ended.await;
        Ok(())
    })
}

/// Everything but the listener. `given`: a cluster in this process, in place of the one that the options name.
async fn work(shared: Arc<Shared>, given: Option<Arc<Cluster>>, shutdown: impl Future<Output = &'static str>) {
    tokio::pin!(shutdown);
    shared.with(|known| known.tasks_begin(&["decide"]));
    // A set, because it ends its tasks where this future is dropped.
    let mut decide = JoinSet::new();
    decide.spawn(decide::keep(Arc::clone(&shared)));
    tokio::select! {
        _ = &mut shutdown => return,
        () = start::install_probe(&shared) => {}
    }
    let mut stamp = plan::stamp(&shared.options.config);
    let mut plan = note(&shared, plan::load(&shared.options));
    loop {
        let live = live(&shared, given.clone(), plan.take());
        tokio::select! {
            signal = &mut shutdown => {
                tracing::info!(signal, "stopping");
                break;
            }
            _ = decide.join_next() => {
                decide_ended(&shared);
                shutdown.await;
                break;
            }
            new = reload(&shared, &mut stamp) => plan = Some(new),
            () = live => {}
        }
    }
    decide.abort_all();
    save(&shared);
}

/// Waits for a configuration that can be used.
async fn reload(shared: &Shared, stamp: &mut Option<u64>) -> Plan {
    loop {
        clock::sleep(RELOAD_EVERY).await;
        let now = plan::stamp(&shared.options.config);
        if now != *stamp {
            *stamp = now;
            if let Some(plan) = note(shared, plan::load(&shared.options)) {
                return plan;
            }
        }
    }
}

/// Notes whether a configuration can be used, and gives it back if it can.
fn note(shared: &Shared, mut loaded: Result<Plan, plan::Error>) -> Option<Plan> {
    let now = shared.now().wall;
    if let Ok(plan) = &mut loaded
        && plan.listen != shared.listen
    {
        let moved = format!("`server.listen` is {} now: restart dogwatch to listen there", plan.listen);
        plan.warnings.push(moved);
    }
    let plan = shared.with(|known| match loaded {
        Ok(plan) => {
            known.config = crate::view::Config { loaded: Some(now), problem: None, warnings: plan.warnings.clone() };
            let path = &shared.options.config;
            tracing::info!(file = path.exists().then(|| path.display().to_string()), "configuration in force");
            for warning in &plan.warnings {
                tracing::warn!("{warning}");
            }
            Some(plan)
        }
        Err(error) => {
            let problem = crate::cluster::chain(&error);
            let stands =
                if known.config.loaded.is_some() { "the one before stays in force" } else { "nothing is watched" };
            tracing::error!(problem, "configuration not usable: {stands}");
            known.config.problem = Some(problem);
            None
        }
    });
    shared.changed.notify_one();
    plan
}

/// Does what a plan says, and never ends. Without one it waits.
async fn live(shared: &Arc<Shared>, given: Option<Arc<Cluster>>, plan: Option<Plan>) {
    let Some(plan) = plan else { return std::future::pending().await };
    let cluster = match given {
        Some(cluster) => cluster,
        None => start::connect(shared).await,
    };
    let mut tasks = start::start(shared, &cluster, plan).await;
    loop {
        let (name, how) = tasks.ended().await;
        tracing::error!(task = name, how, "a part of dogwatch has ended");
        shared.with(|known| known.task_ended(name, &how));
        shared.changed.notify_one();
    }
}

/// The loop itself has ended: nobody else makes views, so the last one must say so.
fn decide_ended(shared: &Shared) {
    tracing::error!(task = "decide", "a part of dogwatch has ended");
    let mut view = View::clone(&shared.board.view());
    view.tasks.retain(|task| task.name != "decide");
    view.tasks.push(Task { name: "decide".to_owned(), ended: Some("panicked".to_owned()) });
    for operator in &mut view.operators {
        operator.verdict.is_failing = false;
        if let Some(check) = &mut operator.own_check {
            check.failed = None;
        }
    }
    shared.board.publish(view);
}

/// Writes the state file at the end.
fn save(shared: &Shared) {
    let now = shared.now();
    shared.with(|known| {
        let keeper = decide::Keeper { file: known.state_file.as_ref(), boot: &known.boot };
        for operator in &mut known.operators {
            keeper.save_if_begun(operator, now);
        }
    });
}
