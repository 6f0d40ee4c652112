//! The scenarios, and how many restarts each may cost.

use std::pin::Pin;
use std::time::Duration;

use super::make::{self, Make};
use super::operator::Habits;
use super::play::{Play, Setting};
use super::sidecar::{Thresholds, Wiring};
use super::{broken, deaf, healthy, stale};

/// What happens on the stage. A panic says what went wrong.
pub(crate) type Plot = for<'p> fn(&'p mut Play) -> Pin<Box<dyn Future<Output = ()> + Send + 'p>>;

/// One scenario with one operator.
pub(crate) struct Scenario {
    /// In kebab-case.
    pub(crate) name: &'static str,
    /// The fault that it plays, by its name in the list of faults.
    pub(crate) fault: &'static str,
    /// Containers that the probe ends because dogwatch says so: no more and no fewer.
    pub(crate) restarts: usize,
    /// The worst that dogwatch may say of a stream, and must where something is wrong.
    pub(crate) worst: &'static [&'static str],
    /// Whether it belongs to the fast ones.
    pub(crate) fast: bool,
    pub(crate) setting: Setting,
    pub(crate) plot: Plot,
}

/// A restart is right.
const ASLEEP: &[&str] = &["asleep"];
/// An alert is right.
const PARTIAL: &[&str] = &["partial"];
/// Nothing is wrong. On a busy machine an object may be late for a moment.
const WELL: &[&str] = &["healthy", "partial"];
/// dogwatch is kept from seeing for a while.
const UNSEEN: &[&str] = &["unknown", "partial"];

fn scenario(name: &'static str, restarts: usize, worst: &'static [&'static str], plot: Plot) -> Scenario {
    Scenario { name, fault: name, restarts, worst, fast: false, setting: Setting::default(), plot }
}

impl Scenario {
    /// Its name and its operator's: also the namespace.
    pub(crate) fn full_name(&self) -> String {
        format!("{}-{}", self.name, self.setting.make.name.replace('.', "-"))
    }

    /// Whether a word asks for it: its name, its operator's, or both.
    pub(crate) fn answers_to(&self, word: &str) -> bool {
        let operator = self.setting.make.name;
        word == self.name || word == operator || word.split_once('/') == Some((self.name, operator))
    }

    fn fast(mut self) -> Self {
        self.fast = true;
        self
    }

    fn plays(mut self, fault: &'static str) -> Self {
        self.fault = fault;
        self
    }

    fn with(mut self, change: impl FnOnce(&mut Setting)) -> Self {
        change(&mut self.setting);
        self
    }

    fn habits(self, habits: Habits) -> Self {
        self.with(|setting| setting.habits = habits)
    }

    fn two_kinds(self) -> Self {
        self.with(|setting| setting.kinds = &["Widget", "Gadget"])
    }
}

/// Every scenario.
pub(crate) fn all() -> Vec<Scenario> {
    make::ALL.iter().flat_map(|make| of_every_operator(make)).chain(of_one_operator()).collect()
}

/// What every operator must go through.
fn of_every_operator(make: &'static Make) -> Vec<Scenario> {
    let mut scenarios = vec![
        scenario("deaf-created", 1, ASLEEP, |play| Box::pin(deaf::created(play))).plays("mute-open"),
        scenario("deaf-one-of-two", 1, ASLEEP, |play| Box::pin(deaf::one_of_two(play))).plays("mute-open").two_kinds(),
        scenario("watch-task-dead", 1, ASLEEP, |play| Box::pin(broken::watch_dead(play))),
        scenario("all-workers-blocked", 1, ASLEEP, |play| Box::pin(broken::workers_blocked(play))),
        scenario("one-kind-dead", 1, ASLEEP, |play| Box::pin(broken::one_kind_dead(play))).two_kinds(),
        scenario("one-key-blocked", 0, PARTIAL, |play| Box::pin(broken::key_blocked(play))),
        scenario("idle", 0, WELL, |play| Box::pin(healthy::idle(play))),
        scenario("load", 0, WELL, |play| Box::pin(healthy::load(play))),
    ];
    for scenario in &mut scenarios {
        scenario.setting.make = make;
        // The newest kopf notices at the next change of any CRD: other scenarios would cure it.
        scenario.setting.own_server = *make == make::KOPF_NEWEST && scenario.name == "watch-task-dead";
        let is_typical = [&make::KOPF_1_43_0, &make::CONTROLLER_RUNTIME, &make::KUBE_RS].contains(&make);
        scenario.fast = is_typical && ["deaf-created", "load"].contains(&scenario.name);
    }
    scenarios
}

/// What one kopf is enough for.
fn of_one_operator() -> Vec<Scenario> {
    let timer = Habits { timer: Some(Duration::from_secs(2)), ..Habits::default() };
    let filters = Habits { labels: Some("team=x"), ..Habits::default() };
    let slow = Habits { duration: Duration::from_secs(10), ..Habits::default() };
    let crashing = Habits { crash_after: Some(Duration::from_secs(25)), ..Habits::default() };
    vec![
        scenario("deaf-changed", 1, ASLEEP, |play| Box::pin(deaf::changed(play))).plays("mute-open"),
        scenario("deaf-deleted", 1, ASLEEP, |play| Box::pin(deaf::deleted(play))).plays("mute-open"),
        scenario("deaf-http-wiring", 1, ASLEEP, |play| Box::pin(deaf::created(play)))
            .plays("mute-open")
            .with(|setting| setting.wiring = Wiring::Http),
        scenario("deaf-timer-writes", 1, ASLEEP, |play| Box::pin(deaf::created(play))).plays("mute-open").habits(timer),
        scenario("deaf-changed-all-the-time", 1, ASLEEP, |play| Box::pin(deaf::changed_all_the_time(play)))
            .plays("mute-open"),
        scenario("deaf-heals-itself", 0, PARTIAL, |play| Box::pin(deaf::heals_itself(play)))
            .plays("self-heal-race")
            .with(|setting| {
                setting.make = &make::KOPF_NEWEST;
                setting.thresholds.asleep_after = Duration::from_secs(100);
            }),
        scenario("deaf-silent-connection", 1, ASLEEP, |play| Box::pin(deaf::silent_connection(play)))
            .plays("mute-open")
            .with(|setting| {
                // Events of other scenarios' CRDs would reach the operator.
                setting.own_server = true;
                let (overdue_after, asleep_after) = (Duration::from_secs(20), Duration::from_mins(5));
                setting.thresholds = Thresholds { overdue_after, asleep_after, ..Thresholds::default() };
            }),
        scenario("deaf-for-good", 3, ASLEEP, |play| Box::pin(deaf::budget_spent(play))).plays("mute-open"),
        // Here it is asleep before a test of the cache can have told: the restart must wait for that.
        scenario("server-stale", 0, ASLEEP, |play| Box::pin(stale::server_stale(play))).plays("frozen-cache"),
        scenario("poison-object", 1, ASLEEP, |play| Box::pin(deaf::poison(play))),
        scenario("changed-all-the-time", 0, WELL, |play| Box::pin(healthy::changed_all_the_time(play))),
        scenario("filtered-object", 0, PARTIAL, |play| Box::pin(healthy::filtered(play)))
            .plays("paused")
            .habits(filters)
            .fast(),
        scenario("slow-handler", 0, PARTIAL, |play| Box::pin(healthy::slow(play))).habits(slow).fast().with(
            |setting| {
                let (asleep_after, max_attempt) = (Duration::from_secs(16), Duration::from_secs(14));
                setting.thresholds = Thresholds { asleep_after, max_attempt, ..Thresholds::default() };
            },
        ),
        scenario("api-server-killed", 0, UNSEEN, |play| Box::pin(healthy::api_server_killed(play)))
            .plays("api-down")
            .with(|setting| {
                setting.own_server = true;
                setting.thresholds.asleep_after = Duration::from_secs(20);
            }),
        scenario("dogwatch-killed", 0, UNSEEN, |play| Box::pin(healthy::dogwatch_killed(play)))
            .plays("dogwatch-crashes")
            .fast(),
        // Nobody is served while it waits to be started again, which holds every judgement.
        scenario("operator-crashes", 0, WELL, |play| Box::pin(healthy::operator_crashes(play))).habits(crashing),
    ]
}
