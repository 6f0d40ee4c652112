//! The operator's own metrics, read as evidence: work that waits while nothing is worked on, and work that never ends.
//!
//! Evidence only: it never restarts and never excuses. The families are those of controller-runtime and of the Java
//! Operator SDK's Micrometer metrics; kopf and kube-rs have none. What is renamed or missing is said, and is never "fine".

mod line;

use std::collections::BTreeMap;
use std::time::Duration;

use super::tick::Tick;
use line::Sample;

/// More controllers than any operator has; what comes beyond is not kept.
const MOST_CONTROLLERS: usize = 256;

/// What a family tells of a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    /// Counts reconciles, one series per outcome.
    Reconciles,
    /// How many objects wait.
    Depth,
    /// For how many seconds the oldest worker has been at its object.
    Longest,
    /// Seconds that all workers have been at their objects.
    Unfinished,
}

/// Family, what it tells, and the label that names the controller.
const FAMILIES: [(&str, Measure, &str); 8] = [
    ("controller_runtime_reconcile_total", Measure::Reconciles, "controller"),
    ("workqueue_depth", Measure::Depth, "name"),
    ("workqueue_longest_running_processor_seconds", Measure::Longest, "name"),
    ("workqueue_unfinished_work_seconds", Measure::Unfinished, "name"),
    ("reconciliations_started_total", Measure::Reconciles, "controller_name"),
    ("reconciliations_success_total", Measure::Reconciles, "controller_name"),
    ("reconciliations_failure_total", Measure::Reconciles, "controller_name"),
    ("reconciliations_queue", Measure::Depth, "controller_name"),
];

/// One number of a controller, where it is known.
type Part = fn(&Controller) -> Option<f64>;

/// One reading of the metrics, filled line by line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scrape {
    controllers: BTreeMap<String, Controller>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Controller {
    reconciles: Option<f64>,
    depth: Option<f64>,
    longest: Option<f64>,
    unfinished: Option<f64>,
}

impl Scrape {
    /// Takes in one line of the text format. Comments, other families and what cannot be read are passed over.
    pub fn line(&mut self, line: &[u8]) {
        let Some((family, measure, label)) = FAMILIES.iter().find(|(family, ..)| line.starts_with(family.as_bytes()))
        else {
            return;
        };
        let Some(sample) = Sample::read(line, family) else { return };
        let Some(name) = sample.label(label) else { return };
        if !self.controllers.contains_key(name) && self.controllers.len() >= MOST_CONTROLLERS {
            return;
        }
        let controller = self.controllers.entry(name.to_owned()).or_default();
        let value = sample.value;
        match measure {
            Measure::Reconciles => *controller.reconciles.get_or_insert(0.0) += value,
            // One series per priority.
            Measure::Depth => *controller.depth.get_or_insert(0.0) += value,
            Measure::Longest => controller.longest = Some(controller.longest.unwrap_or(0.0).max(value)),
            Measure::Unfinished => controller.unfinished = Some(controller.unfinished.unwrap_or(0.0).max(value)),
        }
    }

    fn has(&self, measure: Part) -> bool {
        self.controllers.values().any(|controller| measure(controller).is_some())
    }
}

/// What the readings of one life of the container say together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OperatorMetrics {
    life: Option<String>,
    before: Option<(Scrape, Tick)>,
    /// Since when a controller stands still.
    still: BTreeMap<String, Tick>,
}

/// What the newest reading says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// Controllers whose counters stand still while their queue is not empty, and since when.
    pub still: Vec<(String, Tick)>,
    /// The worker that has been at one object for longest, by its controller.
    pub longest: Option<(String, Duration)>,
    /// The controller with the most seconds of work that has not ended.
    pub unfinished: Option<(String, Duration)>,
    /// Families that were not there: what they would tell is not known.
    pub missing: Vec<&'static str>,
}

impl OperatorMetrics {
    /// Compares a reading with the one before it. `life` is the container's id, where it can be seen: counters of
    /// another life are not compared.
    ///
    /// # Errors
    /// When none of the families is there, with their names.
    pub fn note(&mut self, scrape: Scrape, life: Option<&str>, now: Tick) -> Result<Evidence, Vec<&'static str>> {
        if self.life.as_deref() != life {
            *self = Self { life: life.map(str::to_owned), ..Self::default() };
        }
        let missing = missing(&scrape);
        let before = self.before.take();
        let waits = |depth: Option<f64>| depth.is_some_and(|depth| depth > 0.0);
        let still_since = |name: &str, is: &Controller| {
            let (before, at) = before.as_ref()?;
            let was = before.controllers.get(name)?;
            let stood = is.reconciles?.total_cmp(&was.reconciles?).is_eq();
            (stood && waits(is.depth) && waits(was.depth)).then(|| self.still.get(name).copied().unwrap_or(*at))
        };
        let still = scrape.controllers.iter().filter_map(|(name, is)| Some((name.clone(), still_since(name, is)?)));
        self.still = still.collect();
        let still = self.still.iter().map(|(name, since)| (name.clone(), *since)).collect();
        let evidence = evidence(&scrape, still, missing);
        self.before = Some((scrape, now));
        evidence
    }

    /// Nothing could be read: what was known says nothing any more.
    pub fn lost(&mut self) {
        self.before = None;
        self.still.clear();
    }
}

fn evidence(
    scrape: &Scrape,
    still: Vec<(String, Tick)>,
    missing: Vec<&'static str>,
) -> Result<Evidence, Vec<&'static str>> {
    if scrape.controllers.is_empty() {
        return Err(missing);
    }
    let most = |measure: Part| {
        let found = scrape.controllers.iter().filter_map(|(name, it)| Some((name, measure(it)?)));
        let (name, seconds) = found.max_by(|one, other| one.1.total_cmp(&other.1))?;
        (seconds > 0.0).then(|| (name.clone(), Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)))
    };
    Ok(Evidence { still, longest: most(|it| it.longest), unfinished: most(|it| it.unfinished), missing })
}

/// The families that a reader would look for: those of the Java Operator SDK where they are, else controller-runtime's.
fn missing(scrape: &Scrape) -> Vec<&'static str> {
    let wanted: [(Part, &'static str); 3] =
        [(|it| it.reconciles, FAMILIES[0].0), (|it| it.depth, FAMILIES[1].0), (|it| it.longest, FAMILIES[2].0)];
    wanted.into_iter().filter(|(measure, _)| !scrape.has(*measure)).map(|(_, family)| family).collect()
}

#[cfg(test)]
mod tests;
