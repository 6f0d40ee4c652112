//! What became of a scenario: a row of the table, and of the one that scenarios on the simulated API server share.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::play::Play;
use super::scenario::Scenario;
use super::verdict::Verdict;

/// The moments that a row tells.
pub(crate) const STEPS: [&str; 8] = ["overdue", "asleep", "suspect", "500", "restart", "served", "cured", "200"];

/// One row.
pub(crate) struct Row {
    /// The scenario's name, the row of the list of faults that it plays, and its operator.
    pub(crate) name: &'static str,
    pub(crate) fault: &'static str,
    pub(crate) operator: &'static str,
    /// The worst that was said.
    pub(crate) worst: Verdict,
    /// Decisions in order, from the one that held when the fault began.
    pub(crate) decisions: Vec<String>,
    /// Seconds from the fault to each of [`STEPS`].
    pub(crate) steps: [Option<f64>; STEPS.len()],
    /// Restarts by the probe because dogwatch said so, those expected, and ends of its own.
    pub(crate) restarts: (usize, usize),
    pub(crate) crashes: u32,
    /// Restarts that helped, and that did not, as dogwatch counts them.
    outcomes: [u64; 2],
    pub(crate) took: Duration,
    /// What went wrong.
    pub(crate) problem: Option<String>,
}

impl Row {
    /// Before anything has happened.
    pub(crate) fn new(scenario: &Scenario) -> Self {
        Self {
            name: scenario.name,
            fault: scenario.fault,
            operator: scenario.setting.make.name,
            worst: Verdict::default(),
            decisions: Vec::new(),
            steps: [None; STEPS.len()],
            restarts: (0, scenario.restarts),
            crashes: 0,
            outcomes: [0; 2],
            took: Duration::ZERO,
            problem: None,
        }
    }

    /// Takes down what has happened.
    pub(crate) fn fill(&mut self, play: &Play) {
        let (seen, log) = (play.kubelet.seen(), play.recorder.log());
        self.worst = play.recorder.worst();
        self.decisions = log.passed(play.origin, "decision").into_iter().map(str::to_owned).collect();
        self.steps = steps(play);
        self.restarts.0 = seen.killed.len();
        self.crashes = seen.crashes;
        let (_, status) = play.recorder.newest();
        let outcomes = &status["operators"][0]["restarts"]["outcomes"];
        self.outcomes = ["cured", "fruitless"].map(|outcome| outcomes[outcome].as_u64().unwrap_or_default());
    }

    /// Seconds from the fault to the order to restart, or to the first alert; of a row without either, none.
    pub(crate) fn seconds(&self) -> Option<f64> {
        let [overdue, _, _, failed, ..] = self.steps;
        failed.or(overdue)
    }

    /// Leaves the row for the table of all scenarios in a folder.
    pub(crate) fn leave(&self, folder: &Path) {
        let variant = if self.name == self.fault { String::new() } else { format!(", {}", self.name) };
        let variant = format!("{}{variant}", self.operator);
        let row = json!({
            "scenario": self.fault, "variant": variant, "where": "real", "seen": self.worst.seen,
            "diagnosis": self.worst.diagnosis, "evidence": self.worst.evidence, "decisions": self.decisions,
            "restarts": self.restarts.0, "cured": self.outcomes[0], "fruitless": self.outcomes[1],
            "seconds": self.seconds().map(f64::round),
        });
        let file = format!("real-{}-{}.json", self.name, self.operator);
        std::fs::write(folder.join(file), row.to_string()).expect("the folder can be written to");
    }
}

fn steps(play: &Play) -> [Option<f64>; STEPS.len()] {
    let (log, seen, origin) = (play.recorder.log(), play.kubelet.seen(), play.origin);
    let first = |facts: &[&str]| {
        let plurals = &play.stage.operator.plurals;
        let mut names = facts.iter().flat_map(|fact| plurals.iter().map(move |plural| fact.replace('*', plural)));
        names.by_ref().filter_map(|fact| log.first(origin, &fact)).min()
    };
    let failed = first(&["healthz 500"]);
    let killed = seen.killed.iter().find(|(at, _)| *at >= origin);
    let restarted = killed.and_then(|(at, _)| seen.started.iter().find(|started| *started > at)).copied();
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
