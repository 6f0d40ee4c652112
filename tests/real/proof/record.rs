//! What dogwatch says over time: everything that its probe, its metrics and its Events tell, with the moment at which
//! it became so.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::Method;
use serde_json::Value;
use tokio::time::{Instant, interval};

use super::verdict::Verdict;
use super::web;
use crate::admin::Admin;
use crate::task::Task;

const PERIOD: Duration = Duration::from_millis(200);
const TIMEOUT: Duration = Duration::from_secs(2);
/// Not a kubelet's: those are counted by dogwatch.
const AGENT: &str = "dogwatch-proof";

/// Facts with the moments at which each became true, in order. A fact that ceases and returns is there twice.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Vec<(Instant, String)>);

/// Asks again and again, until it is dropped.
pub(crate) struct Recorder {
    state: Arc<Mutex<State>>,
    _task: Task,
}

#[derive(Default)]
struct State {
    log: Log,
    now: BTreeSet<String>,
    status: Value,
    probe: String,
    worst: Verdict,
}

impl Recorder {
    /// Listens to the dogwatch on `port`, whose Pod is in `namespace`.
    pub(crate) fn start(port: u16, admin: Admin, namespace: &str) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let task = Task::spawn(record(Arc::clone(&state), port, admin, namespace.to_owned()));
        Self { state, _task: task }
    }

    /// Everything so far.
    pub(crate) fn log(&self) -> Log {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).log.clone()
    }

    /// Whether a fact is true at this moment.
    pub(crate) fn is(&self, fact: &str) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).now.contains(fact)
    }

    /// The worst that it has said of any stream, and what that stood on.
    pub(crate) fn worst(&self) -> Verdict {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).worst.clone()
    }

    /// Forgets the worst so far.
    pub(crate) fn forget_worst(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).worst = Verdict::default();
    }

    /// The newest `/healthz?verbose` and `/status`.
    pub(crate) fn newest(&self) -> (String, Value) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.probe.clone(), state.status.clone())
    }
}

impl Log {
    /// When a fact first became true after `since`.
    pub(crate) fn first(&self, since: Instant, fact: &str) -> Option<Instant> {
        self.0.iter().find(|(at, found)| *at >= since && found == fact).map(|(at, _)| *at)
    }

    /// What a kind of fact, its first word, said at `since` and from then on, in order.
    pub(crate) fn passed(&self, since: Instant, kind: &str) -> Vec<&str> {
        let facts = self.0.iter().filter_map(|(at, fact)| Some((*at, fact.strip_prefix(kind)?.strip_prefix(' ')?)));
        let (before, mut passed): (Vec<_>, Vec<_>) = facts.partition(|(at, _)| *at < since);
        passed.splice(0..0, before.last().copied());
        let mut passed: Vec<&str> = passed.into_iter().map(|(_, fact)| fact).collect();
        // A dogwatch that could not be asked in between has not decided anew.
        passed.dedup();
        passed
    }

    /// Whether a fact was ever true.
    pub(crate) fn has(&self, fact: &str) -> bool {
        self.0.iter().any(|(_, found)| found == fact)
    }

    /// One line a fact, with seconds since `origin`.
    pub(crate) fn told(&self, origin: Instant) -> String {
        let line = |(at, fact): &(Instant, String)| {
            let seconds = if *at >= origin { (*at - origin).as_secs_f64() } else { -(origin - *at).as_secs_f64() };
            format!("{seconds:8.1} s  {fact}\n")
        };
        self.0.iter().map(line).collect()
    }
}

async fn record(state: Arc<Mutex<State>>, port: u16, admin: Admin, namespace: String) {
    let mut ticks = interval(PERIOD);
    loop {
        ticks.tick().await;
        let (probe, metrics, status, events) = tokio::join!(
            web::get(port, "/healthz?verbose", AGENT, TIMEOUT),
            web::get(port, "/metrics", AGENT, TIMEOUT),
            web::get(port, "/status", AGENT, TIMEOUT),
            events(&admin, &namespace),
        );
        let mut facts = BTreeSet::new();
        facts.insert(match &probe {
            Some((status, _)) => format!("healthz {}", status.as_u16()),
            None => "healthz none".to_owned(),
        });
        if let Some((_, text)) = &metrics {
            facts.extend(text.lines().filter_map(of_metric));
        }
        facts.extend(events.into_iter().flatten().map(|reason| format!("event {reason}")));
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        // What happened once stays so, also where the API server cannot be asked or dogwatch counts anew.
        let lasting = state.now.iter().filter(|fact| fact.starts_with("event ") || fact.starts_with("outcome "));
        facts.extend(lasting.cloned().collect::<Vec<_>>());
        let now = Instant::now();
        for fact in facts.difference(&state.now).cloned().collect::<Vec<_>>() {
            state.log.0.push((now, fact));
        }
        state.now = facts;
        if let Some((_, text)) = probe {
            state.probe = text;
        }
        if let Some((_, text)) = status {
            state.status = serde_json::from_str(&text).unwrap_or_default();
            let worst = std::mem::take(&mut state.worst);
            state.worst = Verdict::worst(&state.status, worst);
        }
    }
}

async fn events(admin: &Admin, namespace: &str) -> Option<Vec<String>> {
    let path = format!("/api/v1/namespaces/{namespace}/events");
    let (_, list) = admin.try_ask(Method::GET, &path, &Value::Null).await?;
    let reason = |event: &Value| event["reason"].as_str().map(str::to_owned);
    Some(list["items"].as_array()?.iter().filter_map(reason).collect())
}

/// What a sample says, where it says something: `dogwatch_decision{...,decision="watching"} 1`.
fn of_metric(line: &str) -> Option<String> {
    let (series, value) = line.strip_prefix("dogwatch_")?.rsplit_once(' ')?;
    if value.parse::<f64>().ok()? <= 0.0 {
        return None;
    }
    let (name, labels) = series.split_once('{')?;
    let label = |wanted: &str| {
        let mut pairs = labels.trim_end_matches('}').split(',').filter_map(|pair| pair.split_once("=\""));
        pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value.trim_end_matches('"').to_owned())
    };
    let plural = || label("resource").map(|resource| resource.split('.').next().unwrap_or_default().to_owned());
    Some(match name {
        "decision" => format!("decision {}", label("decision")?),
        "diagnosis" => format!("diagnosis {} {}", plural()?, label("diagnosis")?),
        "overdue_objects" => format!("overdue {}", plural()?),
        "restarts_total" => format!("outcome {}", label("outcome")?),
        "restarts_requested_total" => format!("outcome requested {value}"),
        "restarts_withheld_total" => format!("withheld {}", label("reason")?),
        "operator_check_failures_total" => "own check failed".to_owned(),
        _ => return None,
    })
}
