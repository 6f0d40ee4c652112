//! What a kubelet does with one container: probes it, restarts it, and tells its Pod.
//!
//! As in the kubelet, nothing is probed from the failure threshold on until there is a new container; the first restart
//! comes at once, each further one after a back-off that doubles, counted from the end of the container.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{Instant, sleep, timeout};

use super::pod::{Pod, State};
use super::web;
use crate::process::Process;
use crate::task::Task;

/// How often a running container is looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// The numbers of a liveness probe and of restarts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) initial_delay: Duration,
    pub(crate) period: Duration,
    pub(crate) timeout: Duration,
    pub(crate) failure_threshold: u32,
    /// From SIGTERM to SIGKILL.
    pub(crate) termination_grace: Duration,
    /// The first and the longest back-off. A kubelet's are 10 s and 5 min.
    pub(crate) back_off: (Duration, Duration),
}

/// How the container is probed.
#[derive(Debug, Clone)]
pub(crate) enum Probe {
    /// A path of a port on loopback.
    Http { port: u16, path: String },
    /// A command.
    Exec { program: PathBuf, arguments: Vec<String> },
}

/// What has happened so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// When a container was ended because the probe had failed, and what the probe said last.
    pub(crate) killed: Vec<(Instant, String)>,
    /// Containers that ended by themselves.
    pub(crate) crashes: u32,
    /// When each container started.
    pub(crate) started: Vec<Instant>,
    /// Probes that succeeded and failed.
    pub(crate) probes: (u32, u32),
}

/// A kubelet with one container. Both are gone when it is dropped.
pub(crate) struct Kubelet {
    seen: Arc<Mutex<Seen>>,
    _task: Task,
}

/// Starts a container.
pub(crate) type Start = Box<dyn Fn() -> Process + Send + Sync>;

struct Work {
    numbers: Numbers,
    probe: Option<Probe>,
    start: Start,
    pod: Pod,
    seen: Arc<Mutex<Seen>>,
}

enum End {
    Failed(String),
    Ended(ExitStatus),
}

impl Kubelet {
    /// Starts the container and everything around it.
    pub(crate) fn start(numbers: Numbers, probe: Option<Probe>, start: Start, pod: Pod) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let work = Work { numbers, probe, start, pod, seen: Arc::clone(&seen) };
        Self { seen, _task: Task::spawn(work.run()) }
    }

    /// What has happened so far.
    pub(crate) fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Work {
    fn note(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }

    async fn run(self) {
        let (first, longest) = self.numbers.back_off;
        let mut back_off = None;
        for container in 0_u32.. {
            let mut process = (self.start)();
            let started = Instant::now();
            self.note(|seen| seen.started.push(started));
            self.pod.report(container, &State::Running);
            let status = match self.watch(&mut process, started).await {
                End::Failed(words) => {
                    self.note(|seen| seen.killed.push((Instant::now(), words)));
                    self.end(&mut process).await
                }
                End::Ended(status) => {
                    self.note(|seen| seen.crashes += 1);
                    Some(status)
                }
            };
            drop(process);
            // Long health makes a kubelet forget.
            back_off = back_off.filter(|_| started.elapsed() < longest * 2);
            self.pod.report(container, &State::Ended(status.map_or(KILLED, exit_code)));
            if let Some(wait) = back_off {
                self.pod.report(container, &State::BackOff);
                sleep(wait).await;
            }
            back_off = Some(back_off.map_or(first, |last: Duration| (last * 2).min(longest)));
        }
    }

    /// Probes until the threshold, or until the container has ended by itself.
    async fn watch(&self, process: &mut Process, started: Instant) -> End {
        let mut next = started + self.numbers.initial_delay;
        let mut failures = 0;
        loop {
            if let Some(status) = process.ended() {
                return End::Ended(status);
            }
            let now = Instant::now();
            let Some(probe) = self.probe.as_ref().filter(|_| next <= now) else {
                sleep(GLANCE).await;
                continue;
            };
            next = (next + self.numbers.period).max(now);
            match probe.ask(self.numbers.timeout).await {
                Ok(()) => {
                    failures = 0;
                    self.note(|seen| seen.probes.0 += 1);
                }
                Err(words) => {
                    failures += 1;
                    self.note(|seen| seen.probes.1 += 1);
                    if failures >= self.numbers.failure_threshold && process.ended().is_none() {
                        return End::Failed(words);
                    }
                }
            }
        }
    }

    /// SIGTERM, and the end of patience: dropping the process is SIGKILL.
    async fn end(&self, process: &mut Process) -> Option<ExitStatus> {
        process.terminate();
        let ended = async {
            loop {
                if let Some(status) = process.ended() {
                    return status;
                }
                sleep(GLANCE).await;
            }
        };
        timeout(self.numbers.termination_grace, ended).await.ok()
    }
}

/// The exit code of a container that SIGKILL ended.
const KILLED: i32 = 137;

fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

impl Probe {
    async fn ask(&self, patience: Duration) -> Result<(), String> {
        match self {
            Self::Http { port, path } => match web::get(*port, path, "kube-probe/1.36", patience).await {
                Some((status, _)) if status.is_success() || status.is_redirection() => Ok(()),
                Some((status, body)) => Err(format!("{} {body}", status.as_u16())),
                None => Err("no answer".to_owned()),
            },
            Self::Exec { program, arguments } => {
                let mut command = Command::new(program);
                command.args(arguments).env_clear().kill_on_drop(true);
                match timeout(patience, command.output()).await {
                    Ok(Ok(output)) if output.status.success() => Ok(()),
                    Ok(Ok(output)) => Err(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
                    Ok(Err(error)) => Err(format!("{} does not start: {error}", program.display())),
                    Err(_) => Err("no end in time".to_owned()),
                }
            }
        }
    }
}
