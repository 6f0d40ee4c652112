//! What an object says, asked predicate by predicate.

use jiff::Timestamp;

use super::compare;
use super::condition::{Condition, USUAL};
use super::value::{Value, number};
use super::when::{Claim, When};
use crate::judge::object::tree::Tree;
use crate::judge::object::{Object, time};

/// One object, with what most predicates ask for.
pub(in crate::judge::rule::table) struct Facts<'o, 'a> {
    pub(in crate::judge::rule::table) object: &'o Object<'a>,
    /// `None` also where the resource has no status subresource: status writes raise it then.
    pub(in crate::judge::rule::table) generation: Option<i64>,
    status: Option<&'o Tree<'a>>,
    /// The conditions where they usually stand, which most predicates ask for.
    usual: &'o [Tree<'a>],
    /// When the spec was last written, and by whoever does not write the status as well.
    pub(in crate::judge::rule::table) written: Written,
}

/// The times of `metadata.managedFields`, read in one pass.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::judge::rule::table) struct Written {
    /// The newest write of the spec.
    pub(in crate::judge::rule::table) spec: Option<Timestamp>,
    /// The newest write of the spec by somebody who does not write the status as well: an operator may raise the
    /// generation by filling in defaults.
    pub(in crate::judge::rule::table) spec_by_others: Option<Timestamp>,
    /// The newest write of the status and not of the spec.
    pub(in crate::judge::rule::table) status_alone: Option<Timestamp>,
    /// The newest write of the status.
    pub(in crate::judge::rule::table) status: Option<Timestamp>,
}

impl Written {
    fn read(object: &Object<'_>) -> Self {
        let mut written = Self::default();
        let is_operator = |manager: &str| object.managed_fields().any(|it| it.owns_status && it.manager == manager);
        for entry in object.managed_fields().filter(|entry| entry.owns_spec || entry.owns_status) {
            let at = entry.at();
            if entry.owns_spec {
                written.spec = written.spec.max(at);
                if !is_operator(entry.manager) {
                    written.spec_by_others = written.spec_by_others.max(at);
                }
            } else {
                written.status_alone = written.status_alone.max(at);
            }
            if entry.owns_status {
                written.status = written.status.max(at);
            }
        }
        written
    }

    /// When the desired state was last written, as far as that can be told.
    pub(in crate::judge::rule::table) fn desired(&self) -> Option<Timestamp> {
        self.spec_by_others.or(self.spec)
    }
}

impl<'o, 'a> Facts<'o, 'a> {
    pub(in crate::judge::rule::table) fn new(object: &'o Object<'a>, counts_generation: bool) -> Self {
        let generation = object.generation().filter(|_| counts_generation);
        let status = object.tree().get("status");
        Self { object, generation, status, usual: object.conditions(), written: Written::read(object) }
    }

    /// Whether a predicate holds.
    pub(in crate::judge::rule::table) fn hold(&self, when: &When) -> bool {
        match when {
            When::All(all) => all.iter().all(|when| self.hold(when)),
            When::Any(any) => any.iter().any(|when| self.hold(when)),
            When::Not(when) => !self.hold(when),
            When::NoStatus => self.has_no_status(),
            When::FirstGeneration => self.generation == Some(1),
            When::StatusAfterSpec => {
                matches!((self.written.spec, self.written.status_alone), (Some(spec), Some(status)) if status >= spec)
            }
            When::Current(path) => self.observed(path).is_some_and(|observed| Some(observed) == self.generation),
            When::Below(path) => self.is_below(self.observed(path)),
            When::Zero(path) => self.observed(path) == Some(0),
            When::PrefixCurrent(path) => self.prefix(path).is_some_and(|seen| Some(seen) == self.generation),
            When::PrefixBelow(path) => self.is_below(self.prefix(path)),
            When::Condition(condition) => self.condition(condition).is_some(),
            When::Behind(condition) => self.all_behind(condition),
            When::Field(path, value) => self.field(path, *value),
            When::Annotation(name, value) => value.holds(self.object.annotation(name)),
            When::Unanswered { annotation, answer } => {
                let asked = self.object.annotation(annotation).and_then(Tree::as_str);
                asked.is_some_and(|asked| self.at(answer).and_then(Tree::as_str) != Some(asked))
            }
            When::Differ(one, other) => compare::differ(self.at(one), self.at(other)),
            When::Claims(claim) => self.claims(*claim),
        }
    }

    /// The part of a predicate that holds by which it does: the first of [`When::Any`].
    pub(in crate::judge::rule::table) fn held(&self, when: &'static When) -> Option<&'static When> {
        match when {
            When::Any(any) => any.iter().find_map(|when| self.held(when)),
            when => self.hold(when).then_some(when),
        }
    }

    /// The first condition that fits. It lives as long as the object, also where it stands in a nested list.
    pub(in crate::judge::rule::table) fn condition(&self, wanted: &Condition) -> Option<&'o Tree<'a>> {
        self.lists(wanted.path, &mut |list| list.iter().find(|condition| wanted.fits(condition, self.generation)))
    }

    /// The value at a path that goes through no list.
    pub(in crate::judge::rule::table) fn at(&self, path: &str) -> Option<&'o Tree<'a>> {
        let (start, path) = self.start(path);
        path.split('.').try_fold(start?, |tree, key| tree.get(key))
    }

    /// The number at a path, which operators write under their generation.
    pub(in crate::judge::rule::table) fn observed(&self, path: &str) -> Option<i64> {
        number(self.at(path))
    }

    fn prefix(&self, path: &str) -> Option<i64> {
        let (number, _) = self.at(path).and_then(Tree::as_str)?.split_once('-')?;
        number.parse().ok()
    }

    /// The newest time of a condition's transition at this path.
    pub(in crate::judge::rule::table) fn newest_transition(&self, path: &str) -> Option<Timestamp> {
        let mut newest = None;
        self.lists(path, &mut |list| {
            let times = list.iter().filter_map(|item| item.get("lastTransitionTime").and_then(time));
            newest = newest.max(times.max());
            None::<()>
        });
        newest
    }

    /// The newest generation that a condition at this path carries.
    pub(in crate::judge::rule::table) fn newest_own_generation(&self, path: &str) -> Option<i64> {
        let mut newest = None;
        self.lists(path, &mut |list| {
            newest = newest.max(list.iter().filter_map(|item| number(item.get("observedGeneration"))).max());
            None::<()>
        });
        newest
    }

    /// Where a path begins: nearly all of them below the status.
    fn start<'p>(&self, path: &'p str) -> (Option<&'o Tree<'a>>, &'p str) {
        path.strip_prefix("status.").map_or((Some(self.object.tree()), path), |rest| (self.status, rest))
    }

    /// Hands each list of conditions at a path to `test` until that finds something.
    fn lists<T>(&self, path: &str, test: &mut impl FnMut(&'o [Tree<'a>]) -> Option<T>) -> Option<T> {
        if path == USUAL {
            return test(self.usual);
        }
        find(self.object.tree(), path, &mut |list| test(list.items()))
    }

    fn has_no_status(&self) -> bool {
        match self.status {
            None => true,
            // One postgres operator wrote the whole status as one text.
            Some(Tree::Map(entries)) => entries.iter().all(|(_, value)| value.is_null()),
            Some(_) => false,
        }
    }

    fn field(&self, path: &str, value: Value) -> bool {
        let is_absence = value == Value::Missing;
        let (start, path) = self.start(path);
        let found = start.and_then(|start| {
            find(start, path, &mut |found| (is_absence || value.holds(Some(found))).then_some(found))
        });
        if is_absence { value.holds(found) } else { found.is_some() }
    }

    fn is_below(&self, observed: Option<i64>) -> bool {
        matches!((observed, self.generation), (Some(observed), Some(generation)) if observed < generation)
    }

    fn all_behind(&self, wanted: &Condition) -> bool {
        let mut has_number = false;
        let newer = self.lists(wanted.path, &mut |list| {
            let fitting = list.iter().filter(|condition| wanted.fits(condition, self.generation));
            let mut numbers = fitting.filter_map(|condition| number(condition.get("observedGeneration")));
            numbers.find(|own| {
                has_number = true;
                !self.is_below(Some(*own))
            })
        });
        has_number && newer.is_none()
    }

    fn claims(&self, claim: Claim) -> bool {
        let wanted = self.at("spec.parentRefs").map_or(&[][..], Tree::items);
        let answers = self.at("status.parents").map_or(&[][..], Tree::items);
        let mut is_answered_at_all = false;
        let mut all_current = true;
        let mut some_behind = false;
        for wanted in wanted {
            let name = wanted.get("name").and_then(Tree::as_str);
            let own = answers
                .iter()
                .filter(|answer| name.is_some() && answer.at(&["parentRef", "name"]).and_then(Tree::as_str) == name);
            let numbers = own
                .flat_map(|answer| answer.get("conditions").map_or(&[][..], Tree::items))
                .filter_map(|condition| number(condition.get("observedGeneration")));
            let newest = numbers.max();
            is_answered_at_all |= newest.is_some();
            all_current &= newest.is_some() && newest == self.generation;
            some_behind |= self.is_below(newest);
        }
        match claim {
            Claim::AllCurrent => all_current && is_answered_at_all,
            Claim::SomeBehind => some_behind,
            Claim::None => !wanted.is_empty() && !is_answered_at_all && answers.is_empty(),
        }
    }
}

/// Goes down a path, through each item of the lists on its way, and hands what stands at its end to `test` until that
/// finds something.
fn find<'t, 'a, T>(tree: &'t Tree<'a>, path: &str, test: &mut impl FnMut(&'t Tree<'a>) -> Option<T>) -> Option<T> {
    if let Tree::List(items) = tree {
        return items.iter().find_map(|item| find(item, path, test));
    }
    match path.split_once('.') {
        Some((key, rest)) => find(tree.get(key)?, rest, test),
        None => test(tree.get(path)?),
    }
}
