//! Plays scenarios side by side and prints what became of them.

use std::any::Any;
use std::fmt::Write;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};
use serde_json::json;
use tokio::time::Instant;

use super::play::Play;
use super::scenario::{self, Scenario};

/// Scenarios wait most of the time; more of them at once would make two cores late.
const AT_ONCE: usize = 5;
const STEPS: [&str; 8] = ["overdue", "asleep", "suspect", "500", "restart", "served", "cured", "200"];

/// What became of a scenario.
struct Row {
    name: &'static str,
    /// Seconds from the mute to each of [`STEPS`].
    steps: [Option<f64>; STEPS.len()],
    /// Restarts by the probe because dogwatch said so, those expected, and ends of its own.
    restarts: (usize, usize),
    crashes: u32,
    took: Duration,
    /// What went wrong.
    problem: Option<String>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn the_cure_and_four_controls() {
    play(scenario::all().into_iter().filter(|scenario| scenario.fast).collect()).await;
}

/// The full table, which `tests/cluster/proof` prints; names of scenarios in `DOGWATCH_PROOF` leave out the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: run by tests/cluster/proof"]
async fn every_scenario() {
    let wanted = std::env::var("DOGWATCH_PROOF").unwrap_or_default();
    let wanted: Vec<&str> = wanted.split_whitespace().collect();
    let all = scenario::all();
    for name in &wanted {
        assert!(all.iter().any(|scenario| scenario.name == *name), "there is no scenario {name}");
    }
    let is_wanted = |scenario: &Scenario| wanted.is_empty() || wanted.contains(&scenario.name);
    play(all.into_iter().filter(is_wanted).collect()).await;
}

async fn play(scenarios: Vec<Scenario>) {
    let _server = crate::api_server::ApiServer::shared().await;
    let mut rows: Vec<(usize, Row)> = stream::iter(scenarios.into_iter().enumerate())
        .map(|(index, scenario)| async move { (index, tokio::spawn(one(scenario)).await.expect("panics are caught")) })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    rows.sort_by_key(|(index, _)| *index);
    let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    println!("\n{}", shown(&rows));
    let failed: Vec<&str> = rows.iter().filter(|row| row.problem.is_some()).map(|row| row.name).collect();
    assert!(failed.is_empty(), "not as expected: {}", failed.join(", "));
}

async fn one(scenario: Scenario) -> Row {
    let begun = Instant::now();
    let Scenario { name, restarts: expected, setting, plot, .. } = scenario;
    let mut row = Row {
        name,
        steps: [None; STEPS.len()],
        restarts: (0, expected),
        crashes: 0,
        took: Duration::ZERO,
        problem: None,
    };
    match AssertUnwindSafe(Play::begin(name, setting)).catch_unwind().await {
        Err(panic) => row.problem = Some(words(&*panic)),
        Ok(mut play) => {
            let played = AssertUnwindSafe(async {
                play.settle().await;
                plot(&mut play).await;
            });
            let played = played.catch_unwind().await;
            let seen = play.kubelet.seen();
            row.steps = steps(&play);
            row.restarts.0 = seen.killed.len();
            row.crashes = seen.crashes;
            row.problem = played.err().map(|panic| words(&*panic)).or_else(|| judged(&play, expected));
            leave(&play, &row);
            if let Some(problem) = &row.problem {
                println!("=== {name}: {problem}\n{}\n", play.told());
            }
        }
    }
    row.took = begun.elapsed();
    row
}

/// Leaves the line of the table that `tests/scenarios/table` prints, if somebody collects them.
fn leave(play: &Play, row: &Row) {
    let Some(folder) = std::env::var_os("DOGWATCH_SCENARIOS") else { return };
    let log = play.recorder.log();
    let passed = |prefix: &str| log.passed(play.origin, prefix);
    let diagnoses = passed("diagnosis ");
    let worst = ["asleep", "server-stale", "partial", "unknown", "healthy"];
    let worst = worst.into_iter().find(|word| diagnoses.iter().any(|said| said.ends_with(word)));
    let failed = row.steps[3].unwrap_or_else(|| play.origin.elapsed().as_secs_f64());
    let outcomes = |word: &str| passed("outcome ").iter().filter(|said| *said == word).count();
    let line = json!({
        "scenario": row.name, "variant": format!("real {}", row.name), "where": "real",
        "seen": passed("overdue ").first().map_or("nothing overdue", |_| "overdue objects"),
        "diagnosis": worst, "evidence": passed("withheld ").join(", "), "decisions": passed("decision "),
        "restarts": row.restarts.0, "cured": outcomes("cured"), "fruitless": outcomes("fruitless"),
        "seconds": failed, "naive": null,
    });
    std::fs::write(PathBuf::from(folder).join(format!("real-{}.json", row.name)), line.to_string())
        .expect("the folder can be written to");
}

/// What every scenario must fulfil beside its own plot.
fn judged(play: &Play, expected: usize) -> Option<String> {
    let (seen, log) = (play.kubelet.seen(), play.recorder.log());
    if seen.killed.len() != expected {
        return Some(format!("{} restarts, expected {expected}", seen.killed.len()));
    }
    if let Some((_, words)) = seen.killed.iter().find(|(_, words)| !words.contains("asleep")) {
        return Some(format!("restarted for another reason: {words}"));
    }
    let has_failed = log.has("healthz 500");
    if has_failed != (expected > 0) {
        return Some(format!("/healthz {} 500", if has_failed { "said" } else { "never said" }));
    }
    play.sidecar.has_ended().then(|| "dogwatch has ended".to_owned())
}

fn steps(play: &Play) -> [Option<f64>; STEPS.len()] {
    let (log, seen, origin) = (play.recorder.log(), play.kubelet.seen(), play.origin);
    let first = |facts: &[&str]| {
        let plurals = &play.stage.operator.plurals;
        let mut names = facts.iter().flat_map(|fact| plurals.iter().map(move |plural| fact.replace('*', plural)));
        names.by_ref().filter_map(|fact| log.first(origin, &fact)).min()
    };
    let failed = first(&["healthz 500"]);
    let restarted = seen.killed.first().and_then(|(at, _)| seen.started.iter().find(|started| *started > at)).copied();
    let steps = [
        first(&["overdue *"]),
        first(&["diagnosis * asleep"]),
        first(&["decision suspect"]),
        failed,
        restarted,
        play.served,
        first(&["outcome cured"]),
        failed.and_then(|failed| log.first(failed, "healthz 200")),
    ];
    steps.map(|at| at.map(|at| at.saturating_duration_since(origin).as_secs_f64()))
}

fn shown(rows: &[Row]) -> String {
    let head = STEPS.map(|step| format!("{step:>8}")).concat();
    let mut text =
        format!("{:26}{head}{:>10}{:>10}{:>9}{:>8}\n", "scenario", "restarts", "expected", "crashes", "took");
    for row in rows {
        let steps =
            row.steps.map(|step| step.map_or_else(|| format!("{:>8}", "-"), |seconds| format!("{seconds:>8.1}")));
        let (name, (restarts, expected), crashes) = (row.name, row.restarts, row.crashes);
        let took = row.took.as_secs();
        let problem = row.problem.as_ref().map_or_else(String::new, |problem| format!("  FAILED: {problem}"));
        let steps = steps.concat();
        let _ = writeln!(text, "{name:26}{steps}{restarts:>10}{expected:>10}{crashes:>9}{took:>7}s{problem}");
    }
    text
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic").to_owned()
}
