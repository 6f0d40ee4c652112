//! Feeds what lists, GETs and the own watch show into the ledgers.

use super::{InForce, Operator, stream_name};
use crate::config::resource::Streams;
use crate::judge::ledger::{Ledger, ListEnd, Listed, Noted, Source};
use crate::judge::object::Identity;
use crate::judge::state::{Judgement, Moment};

impl Operator {
    /// Puts a rule in force for a resource, before a list. A ledger that was kept under another one is forgotten; one
    /// that the state file kept under this one is taken up.
    pub(in crate::sidecar) fn put_in_force(&mut self, resource: &str, rule: InForce) {
        let Self { streams, facts, decider, .. } = self;
        for (stream, facts) in streams.iter_mut().zip(facts).filter(|(_, facts)| facts.resource == resource) {
            stream.settings = rule.settings.clone();
            if facts.fingerprint == rule.fingerprint {
                continue;
            }
            stream.ledger = if facts.fingerprint.is_empty() { Ledger::new() } else { Ledger::reloaded() };
            facts.fingerprint.clone_from(&rule.fingerprint);
            decider.claim(stream, &facts.fingerprint);
        }
        if let Some(watched) = self.watched_mut(resource) {
            watched.rule = Some(rule);
        }
    }

    /// Begins a list of a resource: of all its streams.
    pub(in crate::sidecar) fn begin_list(&mut self, resource: &str, now: Moment) {
        for (stream, _) in self.streams.iter_mut().zip(&self.facts).filter(|(_, facts)| facts.resource == resource) {
            stream.ledger.begin_list(stream.settings.overdue_after, now);
        }
    }

    /// Takes in one object. `began`: when the list under way began, for a stream that appears with this object.
    pub(in crate::sidecar) fn apply(
        &mut self,
        resource: &str,
        source: Source,
        identity: Identity<'_>,
        judgement: &Judgement,
        (began, now): (Moment, Moment),
    ) -> Noted {
        let Some(index) = self.stream_of(resource, identity.namespace, began) else { return Noted::default() };
        let (Some(stream), Some(facts)) = (self.streams.get_mut(index), self.facts.get_mut(index)) else {
            return Noted::default();
        };
        let noted = stream.ledger.apply(source, identity, judgement, now);
        if let Some(duration) = noted.pending_for {
            facts.time_to_ack.observe(duration);
        }
        if let Some(uid) = noted.tracked
            && let Some(since) = stream.ledger.pending_since(uid, now.tick())
        {
            facts.names.note(uid, since, identity);
        }
        noted
    }

    /// Takes in one event of the own watch, judged under the rule of that fingerprint; no judgement: the object is no
    /// more. Without a memory to add to, a list must come first: the rule has changed meanwhile, or nothing of the
    /// object's namespace was listed yet.
    pub(in crate::sidecar) fn hear(
        &mut self,
        resource: &str,
        fingerprint: &str,
        identity: Identity<'_>,
        judgement: Option<&Judgement>,
        now: Moment,
    ) -> Option<Noted> {
        let watched = self.watched(resource)?;
        let namespace = identity.namespace.filter(|_| watched.entry.streams == Streams::Namespace);
        let is_it = |facts: &super::Facts| facts.resource == resource && facts.namespace.as_deref() == namespace;
        let index = self.facts.iter().position(|facts| is_it(facts) && facts.fingerprint == fingerprint)?;
        if let Some(judgement) = judgement {
            return Some(self.apply(resource, Source::Watch, identity, judgement, (now, now)));
        }
        self.streams.get_mut(index)?.ledger.deleted(identity);
        Some(Noted::default())
    }

    /// The stream of an object. One per namespace appears with the first object there; the stream of the resource as a
    /// whole, which stood for it until then, goes.
    fn stream_of(&mut self, resource: &str, namespace: Option<&str>, began: Moment) -> Option<usize> {
        let at = self.resources.iter().position(|watched| watched.name == resource)?;
        let namespace = namespace.filter(|_| self.resources[at].entry.streams == Streams::Namespace);
        let is_it = |facts: &super::Facts| facts.resource == resource && facts.namespace.as_deref() == namespace;
        if self.facts.get(self.hot).is_some_and(is_it) {
            return Some(self.hot);
        }
        if let Some(index) = self.facts.iter().position(is_it) {
            self.hot = index;
            return Some(index);
        }
        self.add_stream(at, namespace);
        let stream = self.streams.last_mut()?;
        stream.ledger.begin_list(stream.settings.overdue_after, began);
        let placeholder = stream_name(resource, None);
        if namespace.is_some()
            && let Some(index) = self.stream(&placeholder)
        {
            self.streams.remove(index);
            self.facts.remove(index);
        }
        self.streams.len().checked_sub(1)
    }

    /// Ends a list of a resource, for all its streams. What they brought to light comes back by the stream's name.
    pub(in crate::sidecar) fn end_list(
        &mut self,
        resource: &str,
        end: ListEnd<'_>,
        now: Moment,
    ) -> Vec<(String, Listed)> {
        let rule = self.watched(resource).and_then(|watched| watched.rule.clone());
        let Self { streams, facts, .. } = self;
        let own = streams.iter_mut().zip(facts).filter(|(_, facts)| facts.resource == resource);
        own.map(|(stream, facts)| {
            let signal_exists = |signal: &_| rule.as_ref().is_some_and(|rule| rule.reader.rule().signal_exists(signal));
            let listed = stream.ledger.end_list(end, now, signal_exists);
            facts.names.settle(&stream.ledger, now.tick());
            facts.regression = listed.regression.map(|regression| (regression, now.tick())).or(facts.regression);
            (stream.name().to_owned(), listed)
        })
        .collect()
    }

    /// An object of a stream is no more.
    pub(in crate::sidecar) fn gone(&mut self, stream: &str, uid: &str) {
        if let Some(stream) = self.stream(stream).and_then(|index| self.streams.get_mut(index)) {
            stream.ledger.gone(uid);
        }
    }

    /// There is nothing to list, for a reason that is known: not served, not allowed.
    pub(in crate::sidecar) fn refuse(&mut self, resource: &str, problem: &str, now: Moment) {
        self.begin_list(resource, now);
        self.end_list(resource, ListEnd::Refused, now);
        if let Some(watched) = self.watched_mut(resource) {
            watched.list.problem = Some(problem.to_owned());
        }
    }
}
