//! The scenarios, and how many restarts each may cost.

use std::pin::Pin;
use std::time::Duration;

use super::operator::{Habits, Kopf};
use super::play::{Play, Setting};
use super::sidecar::{Thresholds, Wiring};
use super::{deaf, healthy};

/// What happens on the stage. A panic says what went wrong.
pub(crate) type Plot = for<'p> fn(&'p mut Play) -> Pin<Box<dyn Future<Output = ()> + Send + 'p>>;

/// One scenario.
pub(crate) struct Scenario {
    /// In kebab-case; also the namespace.
    pub(crate) name: &'static str,
    /// Containers that the probe ends because dogwatch says so: no more and no fewer.
    pub(crate) restarts: usize,
    /// Whether it belongs to the fast ones.
    pub(crate) fast: bool,
    pub(crate) setting: Setting,
    pub(crate) plot: Plot,
}

fn scenario(name: &'static str, restarts: usize, plot: Plot) -> Scenario {
    Scenario { name, restarts, fast: false, setting: Setting::default(), plot }
}

impl Scenario {
    fn fast(mut self) -> Self {
        self.fast = true;
        self
    }

    fn with(mut self, change: impl FnOnce(&mut Setting)) -> Self {
        change(&mut self.setting);
        self
    }

    fn habits(self, habits: Habits) -> Self {
        self.with(|setting| setting.habits = habits)
    }
}

/// Every scenario.
pub(crate) fn all() -> Vec<Scenario> {
    let timer = Habits { timer: Some(Duration::from_secs(2)), ..Habits::default() };
    let filters = Habits { labels: Some("team=x"), ..Habits::default() };
    let slow = Habits { duration: Duration::from_secs(10), ..Habits::default() };
    let crashing = Habits { crash_after: Some(Duration::from_secs(15)), ..Habits::default() };
    vec![
        scenario("deaf-created", 1, |play| Box::pin(deaf::created(play))).fast(),
        scenario("deaf-changed", 1, |play| Box::pin(deaf::changed(play))),
        scenario("deaf-deleted", 1, |play| Box::pin(deaf::deleted(play))),
        scenario("deaf-http-wiring", 1, |play| Box::pin(deaf::created(play)))
            .with(|setting| setting.wiring = Wiring::Http),
        scenario("deaf-timer-writes", 1, |play| Box::pin(deaf::created(play))).habits(timer),
        scenario("deaf-one-of-two", 1, |play| Box::pin(deaf::one_of_two(play)))
            .with(|setting| setting.kinds = &["Widget", "Gadget"]),
        scenario("deaf-changed-all-the-time", 1, |play| Box::pin(deaf::changed_all_the_time(play))),
        scenario("deaf-heals-itself", 0, |play| Box::pin(deaf::heals_itself(play))).with(|setting| {
            setting.kopf = Kopf::Newest;
            setting.thresholds.asleep_after = Duration::from_secs(100);
        }),
        scenario("deaf-silent-connection", 1, |play| Box::pin(deaf::silent_connection(play))).with(|setting| {
            // Events of other scenarios' CRDs would reach the operator.
            setting.own_server = true;
            let (overdue_after, asleep_after) = (Duration::from_secs(20), Duration::from_mins(5));
            setting.thresholds = Thresholds { overdue_after, asleep_after, ..Thresholds::default() };
        }),
        scenario("deaf-for-good", 3, |play| Box::pin(deaf::budget_spent(play))),
        scenario("poison-object", 1, |play| Box::pin(deaf::poison(play))),
        scenario("idle", 0, |play| Box::pin(healthy::idle(play))),
        scenario("load", 0, |play| Box::pin(healthy::load(play))).fast(),
        scenario("changed-all-the-time", 0, |play| Box::pin(healthy::changed_all_the_time(play))),
        scenario("filtered-object", 0, |play| Box::pin(healthy::filtered(play))).habits(filters).fast(),
        scenario("slow-handler", 0, |play| Box::pin(healthy::slow(play))).habits(slow).fast().with(|setting| {
            let (asleep_after, max_attempt) = (Duration::from_secs(16), Duration::from_secs(14));
            setting.thresholds = Thresholds { asleep_after, max_attempt, ..Thresholds::default() };
        }),
        scenario("api-server-killed", 0, |play| Box::pin(healthy::api_server_killed(play))).with(|setting| {
            setting.own_server = true;
            setting.thresholds.asleep_after = Duration::from_secs(20);
        }),
        scenario("dogwatch-killed", 0, |play| Box::pin(healthy::dogwatch_killed(play))).fast(),
        scenario("operator-crashes", 0, |play| Box::pin(healthy::operator_crashes(play))).habits(crashing),
    ]
}
