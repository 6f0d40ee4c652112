//! What the flags and the configuration ask of each resource.

use std::time::Duration;

use jiff::Timestamp;

use crate::config::operator::Observed;
use crate::config::resource::{Chosen, Resource};
use crate::config::{Config, List, Role};
use crate::judge::rule::auto::Evidence;
use crate::judge::rule::{Choice, Rule, RuleFrom};
use crate::judge::tally::{Keep, Tally};

/// How every resource is to be judged: the flags, over the configuration, over the defaults.
#[derive(Debug)]
pub struct Plan {
    /// `--rule`.
    pub rule: Option<Choice>,
    /// `--overdue-after`.
    pub overdue_after: Option<Duration>,
    /// `--config`.
    pub config: Option<Config>,
}

/// How one resource is to be judged.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What the configuration says, or its defaults; flags applied.
    pub resource: Resource,
    /// Who asked for the rule; for `auto` the choice itself says why.
    pub choice_from: RuleFrom,
    /// The operator that the resource is counted under, where the configuration names one.
    pub operator: Option<String>,
}

impl Plan {
    /// How lists are made.
    pub fn list(&self) -> List {
        self.config.as_ref().map_or_else(List::default, |config| config.list)
    }

    /// The resources that the configuration lists, each with the name of its operator.
    pub fn listed(&self) -> Vec<(&Resource, Option<&str>)> {
        let Some(config) = &self.config else { return Vec::new() };
        match &config.role {
            Role::Sidecar(operator) => {
                config.resources.iter().map(|resource| (resource, operator.name.as_deref())).collect()
            }
            Role::Observer(operators) => {
                let others = config.resources.iter().map(|resource| (resource, None));
                operators.iter().flat_map(observed).chain(others).collect()
            }
        }
    }

    /// The settings of a resource, named `plural.group`; `None` where the configuration lists others and not this one.
    /// An entry that names it comes before a pattern that fits it.
    pub fn settings(&self, name: &str) -> Option<Settings> {
        let listed = self.listed();
        if listed.is_empty() {
            return Some(self.apply(&Resource::default(), None));
        }
        let fits = |(resource, _): &&(&Resource, Option<&str>)| resource.resource.matches(name);
        let named = listed.iter().filter(|(resource, _)| !resource.resource.is_glob()).find(fits);
        let (resource, operator) = named.or_else(|| listed.iter().find(fits))?;
        Some(self.apply(resource, *operator))
    }

    /// A listed resource with the flags applied.
    pub fn apply(&self, resource: &Resource, operator: Option<&str>) -> Settings {
        let mut resource = resource.clone();
        let choice_from = if self.rule.is_some() { RuleFrom::Flag } else { RuleFrom::Config };
        if let Some(rule) = &self.rule {
            resource.rule = rule.clone();
        }
        resource.overdue_after = self.overdue_after.or(resource.overdue_after);
        Settings { resource, choice_from, operator: operator.map(str::to_owned) }
    }
}

fn observed(operator: &Observed) -> impl Iterator<Item = (&Resource, Option<&str>)> {
    operator.resources.iter().map(|resource| (resource, Some(operator.name.as_str())))
}

impl Settings {
    /// Settles the rule and its deadlines.
    pub fn choose(&self, evidence: Evidence<'_>) -> Chosen {
        self.resource.choose(evidence, self.choice_from)
    }
}

/// What a resource is counted under: the operator that the configuration names, else the rule's project, else the API
/// group.
pub fn counted_under(operator: Option<&str>, rule: &Rule, group: &str) -> String {
    let group = if group.is_empty() { "core" } else { group };
    operator.or_else(|| rule.project()).unwrap_or(group).to_owned()
}

/// An empty tally under the rule that was chosen.
pub fn tally(chosen: &Chosen, now: Timestamp, keep: Keep) -> Tally {
    Tally::new(now, chosen.durations.overdue_after, chosen.durations.asleep_after, keep)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Plan;
    use crate::config;
    use crate::judge::rule::RuleFrom;
    use crate::judge::rule::auto::Evidence;

    const CONFIG: &str = "
apiVersion: dogwatch/v1
kind: Config
operators:
- name: fleet
  resources:
  - '*.example.com'
  - {resource: widgets.example.com, rule: kopf, overdueAfter: 7m, finalizers: [example.com/own]}
";

    fn plan(overdue_after: Option<Duration>) -> Plan {
        let config = config::parse(CONFIG, "config.yaml").expect("valid");
        Plan { rule: None, overdue_after, config: Some(config) }
    }

    #[test]
    fn an_entry_that_names_a_resource_comes_before_a_pattern() {
        let widgets = plan(None).settings("widgets.example.com").expect("listed");
        let chosen = widgets.choose(Evidence::default());
        assert_eq!((chosen.rule().name(), chosen.rule_from), ("kopf", RuleFrom::Config));
        assert_eq!(chosen.durations.overdue_after, Duration::from_mins(7));
        assert_eq!(widgets.operator.as_deref(), Some("fleet"));
        let others = plan(None).settings("gadgets.example.com").expect("fits the pattern");
        assert_eq!(others.choose(Evidence::default()).rule().name(), "generation");
        assert!(plan(None).settings("gadgets.example.org").is_none(), "others are not meant");
    }

    #[test]
    fn flags_come_before_the_configuration() {
        let settings = plan(Some(Duration::from_secs(5))).settings("widgets.example.com").expect("listed");
        assert_eq!(settings.choose(Evidence::default()).durations.overdue_after, Duration::from_secs(5));
        let plan = Plan { rule: config::rule_from_flag("generation").ok(), ..plan(None) };
        let chosen = plan.settings("widgets.example.com").expect("listed").choose(Evidence::default());
        assert_eq!((chosen.rule().name(), chosen.rule_from), ("generation", RuleFrom::Flag));
    }

    #[test]
    fn without_a_list_everything_is_meant() {
        let plan = Plan { rule: None, overdue_after: None, config: None };
        assert!(plan.settings("pods").is_some());
        assert!(plan.settings("unknown").is_some());
    }
}
