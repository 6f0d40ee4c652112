//! One entry of `resources`: what is watched and by which rule and thresholds it is judged.

use std::time::Duration;

use super::cursor::{Cursor, Section};
use super::expression;
use super::pattern::{Namespaces, Pattern};
use super::rule;
use crate::judge::object::Identity;
use crate::judge::rule::auto::{self, Evidence};
use crate::judge::rule::cel::expression::Expression;
use crate::judge::rule::{Choice, Durations, Reader, Rule, RuleFrom};

/// A resource, or every resource that fits a pattern.
#[derive(Debug, Clone)]
pub struct Resource {
    /// The resource as kubectl names it, or a pattern over `plural.group`.
    pub resource: Pattern,
    /// Default: all.
    pub namespaces: Namespaces,
    /// A label selector in kubectl's form. Default: none, every object.
    pub selector: Option<String>,
    /// Only objects for which it is true are judged, under whichever rule. Default: every object.
    pub r#where: Option<Expression>,
    /// What can go deaf alone. Default: the resource.
    pub streams: Streams,
    /// How to read whether an object was processed. Default: `auto`.
    pub rule: Choice,
    /// Pending for longer is overdue. Default (`None`, written `auto`): the rule's own.
    pub overdue_after: Option<Duration>,
    /// Silent for longer is asleep. Default (`None`, written `auto`): the rule's own.
    pub asleep_after: Option<Duration>,
    /// How many candidates a stream must have to be asleep; at least 1. Default: 1.
    pub min_overdue: u32,
    /// The operator's finalizers that the rule does not know. Default: none.
    pub finalizers: Vec<String>,
    /// Whether this stream alone may have the operator restarted. Default: true.
    pub restart: bool,
}

/// What can go deaf alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// The resource in all its namespaces.
    Resource,
    /// The resource in each namespace.
    Namespace,
}

const STREAMS: [(&str, Streams); 2] = [("resource", Streams::Resource), ("namespace", Streams::Namespace)];

impl Default for Resource {
    /// What holds for a resource that no configuration lists.
    fn default() -> Self {
        Self::new(Pattern::any())
    }
}

impl Resource {
    /// The resource with the default settings.
    pub fn new(resource: Pattern) -> Self {
        Self {
            resource,
            namespaces: Namespaces::default(),
            selector: None,
            r#where: None,
            streams: Streams::Resource,
            rule: Choice::Auto { max_attempt: None },
            overdue_after: None,
            asleep_after: None,
            min_overdue: 1,
            finalizers: Vec::new(),
            restart: true,
        }
    }

    /// The durations in force under the rule that was chosen. `asleep_after` is never below `max_attempt`: an operator
    /// may be silent while it works.
    pub fn durations(&self, rule: &Rule) -> Durations {
        let own = rule.durations();
        Durations {
            overdue_after: self.overdue_after.unwrap_or(own.overdue_after),
            asleep_after: self.asleep_after.unwrap_or(own.asleep_after).max(own.max_attempt),
            max_attempt: own.max_attempt,
        }
    }
}

/// A rule that was chosen, with everything that is needed to judge.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// Judges.
    pub reader: Reader,
    /// Why this rule.
    pub rule_from: RuleFrom,
    /// The deadlines in force.
    pub durations: Durations,
}

impl Chosen {
    /// The rule.
    pub const fn rule(&self) -> &Rule {
        self.reader.rule()
    }
}

impl Resource {
    /// Settles the rule and its deadlines. `named_from`: who named the rule, where one is named; for `auto` the choice
    /// itself says why.
    pub fn choose(&self, evidence: Evidence<'_>, named_from: RuleFrom) -> Chosen {
        let (rule, rule_from) = match &self.rule {
            Choice::Named(rule) => (rule.clone().for_resource(evidence.group, evidence.kind), named_from),
            Choice::Auto { max_attempt } => auto::choose(evidence, *max_attempt),
        };
        let durations = self.durations(&rule);
        let reader = Reader::new(rule, self.finalizers.clone()).selecting(self.r#where.clone());
        Chosen { reader, rule_from, durations }
    }

    /// Whether objects can still change which rule is chosen.
    pub const fn is_open(&self) -> bool {
        matches!(self.rule, Choice::Auto { .. })
    }

    /// Whether an object is in a namespace that is meant. Namespaces that are given as patterns can only be told from
    /// the objects.
    pub fn means(&self, identity: Identity<'_>) -> bool {
        identity.namespace.is_none_or(|namespace| self.namespaces.contains(namespace))
    }
}

/// Reads a list of resources.
pub(super) fn resources(cursor: &Cursor<'_>) -> Option<Vec<Resource>> {
    let mut resources: Vec<Resource> = Vec::new();
    let items = cursor.items()?;
    if items.is_empty() {
        cursor.refuse("is empty; list at least one resource, or leave the key out");
    }
    for item in &items {
        let Some(resource) = resource(item) else { continue };
        if resources.iter().any(|earlier| earlier.resource == resource.resource) {
            item.refuse(format!("`{}` is listed before; keep one entry of it", resource.resource.as_str()));
        }
        resources.push(resource);
    }
    Some(resources)
}

fn resource(cursor: &Cursor<'_>) -> Option<Resource> {
    cursor.short_or_long(|cursor| cursor.parsed(Pattern::parse).map(Resource::new), long_form)
}

fn long_form(section: &mut Section<'_>) -> Option<Resource> {
    let hint = "write it as plural.group, as in widgets.example.com";
    let pattern = section.required("resource", hint, |cursor| cursor.parsed(Pattern::parse));
    let namespaces = section.read("namespaces", namespaces);
    let selector = section.read("selector", Cursor::text);
    let r#where = section.read("where", expression::condition);
    let streams = section.read("streams", |cursor| cursor.word(&STREAMS));
    let rule = section.read("rule", rule::choice);
    let overdue_after = section.read("overdueAfter", Cursor::duration_or_auto);
    let asleep_after = section.read("asleepAfter", |cursor| asleep_after(cursor, rule.as_ref()));
    let min_overdue = section.read("minOverdue", Cursor::count);
    let finalizers = section.read("finalizers", Cursor::texts);
    let restart = section.read("restart", Cursor::boolean);
    let default = Resource::new(pattern?);
    Some(Resource {
        namespaces: namespaces.unwrap_or_default(),
        selector,
        r#where,
        streams: streams.unwrap_or(default.streams),
        rule: rule.unwrap_or(default.rule),
        overdue_after,
        asleep_after,
        min_overdue: min_overdue.unwrap_or(default.min_overdue),
        finalizers: finalizers.unwrap_or_default(),
        restart: restart.unwrap_or(default.restart),
        resource: default.resource,
    })
}

fn namespaces(cursor: &Cursor<'_>) -> Option<Namespaces> {
    let items = cursor.items()?;
    if items.is_empty() {
        cursor.refuse("is empty; leave the key out to mean all namespaces");
    }
    let mut namespaces = Namespaces::default();
    for item in &items {
        item.parsed(|text| namespaces.add(text));
    }
    Some(namespaces)
}

/// Reads `asleepAfter`; below a `maxAttempt` that is known it would never be in force.
fn asleep_after(cursor: &Cursor<'_>, rule: Option<&Choice>) -> Option<Duration> {
    let asleep_after = cursor.duration_or_auto()?;
    let max_attempt = match rule? {
        Choice::Auto { max_attempt } => *max_attempt,
        Choice::Named(rule) => Some(rule.least_max_attempt()),
    };
    if let Some(longest) = max_attempt.filter(|longest| asleep_after < *longest) {
        cursor.refuse(format!(
            "is below the rule's maxAttempt of {}; an operator may be silent while it works, so raise this or lower \
             that",
            super::duration::show(longest)
        ));
    }
    Some(asleep_after)
}
