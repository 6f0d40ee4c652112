//! The rule that is in force for a resource, and what its streams are judged by.

use std::sync::Arc;
use std::time::Duration;

use crate::config::resource::{Chosen, Resource};
use crate::judge::diagnosis::Settings;
use crate::judge::rule::{COMMON_DURATIONS, Durations, Reader, RuleFrom};
use crate::sidecar::plan::OperatorPlan;

/// The rule in force, ready to judge.
#[derive(Debug, Clone)]
pub(in crate::sidecar) struct InForce {
    pub(in crate::sidecar) reader: Arc<Reader>,
    pub(in crate::sidecar) rule_from: RuleFrom,
    pub(in crate::sidecar) settings: Settings,
    /// Changes its value when an object could be judged differently: rule, options, selector, namespaces, finalizers.
    pub(in crate::sidecar) fingerprint: String,
}

impl InForce {
    /// The rule that was chosen for a resource.
    pub(in crate::sidecar) fn new(chosen: Chosen, entry: &Resource, plan: &OperatorPlan, interval: Duration) -> Self {
        let settings = settings(plan, entry, chosen.durations, chosen.rule().own_cure(), interval);
        let parts = format!(
            "{:?} {:?} {:?} {:?} {:?} {:?}",
            chosen.rule(),
            entry.selector,
            entry.r#where,
            entry.namespaces,
            entry.finalizers,
            entry.streams
        );
        let fingerprint = format!("{}-{:016x}", chosen.rule().name(), twox_hash::XxHash3_64::oneshot(parts.as_bytes()));
        Self { rule_from: chosen.rule_from, reader: Arc::new(chosen.reader), settings, fingerprint }
    }
}

/// What a stream is judged by before its rule is known; nothing can be judged before.
pub(super) fn unsettled(plan: &OperatorPlan, entry: &Resource) -> Settings {
    let durations = Durations {
        overdue_after: entry.overdue_after.unwrap_or(COMMON_DURATIONS.overdue_after),
        asleep_after: entry.asleep_after.unwrap_or(COMMON_DURATIONS.asleep_after),
        ..COMMON_DURATIONS
    };
    settings(plan, entry, durations, Duration::from_mins(10), Duration::from_secs(30))
}

fn settings(
    plan: &OperatorPlan,
    entry: &Resource,
    durations: Durations,
    own_cure: Duration,
    interval: Duration,
) -> Settings {
    Settings {
        overdue_after: durations.overdue_after,
        asleep_after: durations.asleep_after,
        max_attempt: durations.max_attempt,
        own_cure,
        min_overdue: u64::from(entry.min_overdue),
        interval,
        restart: entry.restart,
        require_proof: plan.restart.require_proof,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::rule::auto::Evidence;

    #[test]
    fn another_expression_is_another_rule_also_in_the_state_file() {
        let fingerprint = |selection: &str, processed: &str| {
            let text = format!(
                "apiVersion: dogwatch/v1\nkind: Config\nresources:\n\
                 - {{resource: a.b, where: \"{selection}\", rule: {{cel: {{processed: \"{processed}\"}}}}}}\n"
            );
            let entry = crate::config::parse(&text, "c").expect("valid").resources.remove(0);
            let plan = OperatorPlan {
                name: None,
                resources: Vec::new(),
                restart: crate::config::Restart::default(),
                beside: None,
            };
            let chosen = entry.choose(Evidence::default(), RuleFrom::Config);
            InForce::new(chosen, &entry, &plan, Duration::from_secs(30)).fingerprint
        };
        let first = fingerprint("true", "has(self.status)");
        assert!(first.starts_with("cel-"), "{first}");
        assert_eq!(first, fingerprint("true", "has(self.status)"));
        assert_ne!(first, fingerprint("true", "!has(self.status)"));
        assert_ne!(first, fingerprint("has(self.spec)", "has(self.status)"));
    }
}
