//! Plays scenarios side by side and prints what became of them.

use std::any::Any;
use std::fmt::Write;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;

use futures_util::{FutureExt, StreamExt, stream};
use tokio::time::Instant;

use super::play::Play;
use super::row::{Row, STEPS};
use super::scenario::{self, Scenario};

/// Scenarios wait most of the time; more of them at once would make two cores late.
const AT_ONCE: usize = 5;
/// Decisions that lead through one restart to the cure.
const CURE: [&str; 5] = ["watching", "suspect", "restarting", "recovering", "watching"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn the_cure_and_the_controls() {
    play(scenario::all().into_iter().filter(|scenario| scenario.fast).collect()).await;
}

/// The full table, which `tests/cluster/proof` prints; names in `DOGWATCH_PROOF`, of scenarios and of operators, leave
/// out the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: run by tests/cluster/proof"]
async fn every_scenario() {
    let wanted = std::env::var("DOGWATCH_PROOF").unwrap_or_default();
    let wanted: Vec<&str> = wanted.split_whitespace().collect();
    let all = scenario::all();
    for word in &wanted {
        assert!(all.iter().any(|scenario| scenario.answers_to(word)), "there is no scenario and no operator {word}");
    }
    let is_wanted = |scenario: &Scenario| wanted.is_empty() || wanted.iter().any(|word| scenario.answers_to(word));
    play(all.into_iter().filter(is_wanted).collect()).await;
}

async fn play(scenarios: Vec<Scenario>) {
    // All of them before the first begins: it takes minutes where they are missing.
    for scenario in &scenarios {
        scenario.setting.make.install();
    }
    let _server = crate::api_server::ApiServer::shared().await;
    let mut rows: Vec<(usize, Row)> = stream::iter(scenarios.into_iter().enumerate())
        .map(|(index, scenario)| async move { (index, tokio::spawn(one(scenario)).await.expect("panics are caught")) })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    rows.sort_by_key(|(index, _)| *index);
    let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    println!("\n{}\n{}", moments(&rows), verdicts(&rows));
    if let Some(folder) = std::env::var_os("DOGWATCH_SCENARIOS").map(PathBuf::from) {
        for row in &rows {
            row.leave(&folder);
        }
    }
    let failed = rows.iter().filter(|row| row.problem.is_some());
    let failed: Vec<String> = failed.map(|row| format!("{}/{}", row.name, row.operator)).collect();
    assert!(failed.is_empty(), "not as expected: {}", failed.join(", "));
}

async fn one(scenario: Scenario) -> Row {
    let begun = Instant::now();
    let (mut row, name) = (Row::new(&scenario), scenario.full_name());
    match AssertUnwindSafe(Play::begin(&name, scenario.setting)).catch_unwind().await {
        Err(panic) => row.problem = Some(words(&*panic)),
        Ok(mut play) => {
            let played = AssertUnwindSafe(async {
                play.settle().await;
                (scenario.plot)(&mut play).await;
            });
            let played = played.catch_unwind().await;
            row.fill(&play);
            row.problem = played.err().map(|panic| words(&*panic)).or_else(|| judged(&play, &scenario, &row));
            if let Some(problem) = &row.problem {
                println!("=== {name}: {problem}\n{}\n", play.told());
            }
        }
    }
    row.took = begun.elapsed();
    row
}

/// What every scenario must fulfil beside its own plot.
fn judged(play: &Play, scenario: &Scenario, row: &Row) -> Option<String> {
    let (seen, log, expected) = (play.kubelet.seen(), play.recorder.log(), scenario.restarts);
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
    if !scenario.worst.contains(&row.worst.diagnosis.as_str()) {
        return Some(format!("the worst diagnosis is {}, expected {:?}", row.worst.diagnosis, scenario.worst));
    }
    let mut decisions = row.decisions.iter();
    let has_cured = CURE.iter().all(|wanted| decisions.any(|passed| passed == wanted));
    let has_restarted = row.decisions.iter().any(|decision| decision == "restarting");
    if has_restarted != (expected > 0) || (expected == 1 && !has_cured) {
        return Some(format!("decided {:?}", row.decisions));
    }
    play.sidecar.has_ended().then(|| "dogwatch has ended".to_owned())
}

/// When what happened.
fn moments(rows: &[Row]) -> String {
    let head = STEPS.map(|step| format!("{step:>8}")).concat();
    let mut text = format!("{:26}{:20}{head}{:>9}{:>8}\n", "scenario", "operator", "crashes", "took");
    for row in rows {
        let steps = row.steps.map(seconds).concat();
        let (name, operator, crashes, took) = (row.name, row.operator, row.crashes, row.took.as_secs());
        let _ = writeln!(text, "{name:26}{operator:20}{steps}{crashes:>9}{took:>7}s");
    }
    text
}

/// What was said and done. Every row is of real components.
fn verdicts(rows: &[Row]) -> String {
    let mut table = vec![
        ["fault", "scenario", "operator", "seen", "diagnosis", "evidence", "decisions", "restarts", "seconds", "where"]
            .map(str::to_owned),
    ];
    table.extend(rows.iter().map(|row| {
        let (restarts, expected) = row.restarts;
        let worst = row.worst.clone();
        [
            row.fault.to_owned(),
            row.name.to_owned(),
            row.operator.to_owned(),
            worst.seen,
            worst.diagnosis,
            worst.evidence,
            shown(&row.decisions),
            format!("{restarts} of {expected}"),
            seconds(row.seconds()).trim().to_owned(),
            "real".to_owned(),
        ]
    }));
    let mut widths = [0; 10];
    for cells in &table {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for (index, cells) in table.iter().enumerate() {
        let line: Vec<String> = widths.iter().zip(cells).map(|(width, cell)| format!("{cell:width$}")).collect();
        let problem = index.checked_sub(1).and_then(|index| rows[index].problem.as_ref());
        let problem = problem.map_or_else(String::new, |problem| format!("FAILED: {problem}"));
        let _ = writeln!(text, "{}", format!("{}  {problem}", line.join("  ")).trim_end());
    }
    text
}

/// The first of them; a dogwatch that is killed again and again decides very often.
fn shown(decisions: &[String]) -> String {
    let (first, others) = decisions.split_at(decisions.len().min(6));
    let others = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    format!("{}{others}", first.join(" "))
}

fn seconds(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| format!("{:>8}", "-"), |seconds| format!("{seconds:>8.1}"))
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic").to_owned()
}
