//! What goes wrong with operators, each with its diagnosis, its decisions and its number of restarts, zero included.
//!
//! The rows stand in `tests/scenarios/rows.txt`, with what is right; a row's test has the row's name, and more words
//! where there are several. Each test leaves a line for the table that `tests/scenarios/table` prints. Beside dogwatch a
//! naive watchdog sees the same; where it is wrong, the tests say so, and would notice if it were not.
//!
//! One more row is one more test here, or one more scenario of the proof (`tests/real/proof/scenario.rs`), and one line
//! of that file.

mod access;
mod by_design;
mod dogwatch;
mod failing;
mod leader;
mod process;
mod server;
mod silent;
mod timelines;

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use serde_json::json;

use super::world::{MINUTE, World};
use crate::judge::decision::Outcome;
use crate::sim::Resource;
use crate::sim::operator::Options;
use crate::view::Decision::{self, Recovering, Restarting, Suspect, Watching};
use crate::view::Diagnosis;

const HOUR: Duration = Duration::from_hours(1);
/// A story that is told wrong, to see that this is noticed.
const CONTROL: &str = "negative control";
/// The decisions passed when one restart cures.
const CURE: &[Decision] = &[Watching, Suspect, Restarting, Recovering, Watching];

/// A scenario while it is played.
struct Play {
    world: World,
    /// The row.
    name: &'static str,
    /// Which of the row's stories, where it has several.
    variant: &'static str,
    began: u64,
}

/// How a scenario must end.
#[derive(Debug, Clone, Copy)]
struct End<'a> {
    /// The worst diagnosis of all streams.
    worst: Diagnosis,
    /// The decisions passed; absent where their order depends on chance and is no matter.
    decisions: Option<&'a [Decision]>,
    restarts: usize,
    cured: u64,
    fruitless: u64,
}

impl Deref for Play {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl DerefMut for Play {
    fn deref_mut(&mut self) -> &mut World {
        &mut self.world
    }
}

impl Play {
    /// Two served widgets, an operator that serves, a dogwatch that watches.
    async fn begin(name: &'static str, variant: &'static str) -> Self {
        Self::with(name, variant, |_| {}).await
    }

    /// The same with an operator of another kind.
    async fn with(name: &'static str, variant: &'static str, change: impl FnOnce(&mut Options)) -> Self {
        let mut play = Self::set(name, variant, change).await;
        play.start().await;
        play
    }

    /// The same with a dogwatch that is yet to be configured and started.
    async fn set(name: &'static str, variant: &'static str, change: impl FnOnce(&mut Options)) -> Self {
        let mut world = World::with(change).await;
        world.create("served");
        world.run(MINUTE).await;
        Self { world, name, variant, began: 0 }
    }

    /// Widgets and gadgets, both watched, both served.
    async fn two_kinds(name: &'static str, variant: &'static str, change: impl FnOnce(&mut Options)) -> Self {
        let mut play = Self::set(name, variant, |options| {
            options.resources.push(Resource::custom("example.com", "v1", "Gadget"));
            change(options);
        })
        .await;
        play.configure("resources: [widgets.example.com, gadgets.example.com]");
        play.create_gadget("first");
        play.start().await;
        play
    }

    fn create_gadget(&self, name: &str) {
        self.put("Gadget", json!({"name": name, "namespace": "prod"}), json!({"size": 1}));
    }

    /// Starts dogwatch, and the story once it has looked around.
    async fn start(&mut self) {
        self.world.start();
        self.world.run(5 * MINUTE).await;
        self.story();
    }

    /// Here begins what the table tells.
    fn story(&mut self) {
        self.began = self.second;
        self.world.record.begin();
        self.world.decisions = vec![self.world.decision()];
    }

    /// Creates an object every so often, for as long.
    async fn load(&mut self, every: Duration, during: Duration) {
        for number in 0..during.as_secs() / every.as_secs() {
            self.create(&format!("load-{}-{number}", self.second));
            self.run(every).await;
        }
    }

    fn outcomes(&self) -> (u64, u64) {
        let outcomes = self.operator().restarts.outcomes;
        (outcomes.of(Outcome::Cured), outcomes.of(Outcome::Fruitless))
    }

    /// One restart, which cures.
    fn is_cured(&self) {
        self.ends(End { worst: Diagnosis::Asleep, decisions: Some(CURE), restarts: 1, cured: 1, fruitless: 0 });
        assert_eq!(self.operator().streams[0].explanation.pending, 0, "the backlog is served");
    }

    /// No restart, and none asked for.
    fn is_left_alone(&self, worst: Diagnosis) {
        self.ends(End { worst, decisions: Some(&[Watching]), restarts: 0, cured: 0, fruitless: 0 });
        assert_eq!(self.operator().restarts.requested, 0);
        assert!(self.failed.is_empty(), "/healthz failed: {:?}", self.failed);
    }

    /// So many restarts, none of which helps.
    fn is_tried(&self, restarts: usize) {
        let fruitless = restarts as u64;
        self.ends(End { worst: Diagnosis::Asleep, decisions: None, restarts, cured: 0, fruitless });
    }

    fn ends(&self, end: End<'_>) {
        self.tell();
        let said = format!("{}: {:?}, {:?}", self.name, self.decisions, self.record);
        assert_eq!(self.restarts.len(), end.restarts, "restarts; {said}");
        assert_eq!(self.record.worst(), end.worst, "the worst diagnosis; {said}");
        if let Some(decisions) = end.decisions {
            assert_eq!(self.decisions, decisions, "the decisions; {said}");
        }
        assert_eq!(self.outcomes(), (end.cured, end.fruitless), "cured and fruitless; {said}");
        let without_reason = self.failed.iter().find(|line| !line.starts_with("asleep "));
        assert_eq!(without_reason, None, "a restart says why");
    }

    /// The naive watchdog would have restarted where it must not, or oftener than dogwatch, or not where it must.
    fn fools_the_naive(&self) {
        let (naive, restarts) = (self.record.naive.restarts, self.restarts.len());
        assert!(naive > restarts || (naive == 0 && restarts > 0), "the naive rule: {naive}, dogwatch: {restarts}");
    }

    /// Leaves the line for the table, if somebody collects them.
    fn tell(&self) {
        if self.variant == CONTROL {
            return;
        }
        #[expect(clippy::disallowed_methods, reason = "a test has no command line")]
        let Some(folder) = std::env::var_os("DOGWATCH_SCENARIOS") else { return };
        let (seen, evidence) = self.record.worst_moment();
        let decisions: Vec<_> = self.decisions.iter().map(|decision| decision.as_str()).collect();
        let (cured, fruitless) = self.outcomes();
        let until = self.record.failed_at.unwrap_or(self.second);
        let line = json!({
            "scenario": self.name, "variant": self.variant, "where": "simulated", "seen": seen,
            "diagnosis": self.record.worst().as_str(), "evidence": evidence, "decisions": decisions,
            "restarts": self.restarts.len(), "cured": cured, "fruitless": fruitless,
            "seconds": until - self.began, "naive": self.record.naive.restarts,
        });
        let file = format!("simulated-{}-{}.json", self.name, self.variant.replace([' ', '/'], "-"));
        std::fs::write(std::path::Path::new(&folder).join(file), line.to_string()).expect("written");
    }
}
