//! Names of objects, which the ledger does not keep: of the oldest pending ones, and of those that speak for a restart.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::judge::diagnosis::Explanation;
use crate::judge::diagnosis::OFFENDERS;
use crate::judge::ledger::{Ledger, Uid};
use crate::judge::object::Identity;
use crate::judge::tick::Tick;

/// How one object is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::sidecar) struct Name {
    pub(in crate::sidecar) namespace: Option<Box<str>>,
    pub(in crate::sidecar) called: Box<str>,
    /// `metadata.uid` as written.
    pub(in crate::sidecar) uid: Box<str>,
}

impl Name {
    fn of(identity: Identity<'_>) -> Option<Self> {
        Some(Self {
            namespace: identity.namespace.map(Box::from),
            called: identity.name?.into(),
            uid: identity.uid?.into(),
        })
    }

    /// `namespace/name`, or the name.
    pub(in crate::sidecar) fn shown(&self) -> String {
        self.namespace
            .as_ref()
            .map_or_else(|| self.called.to_string(), |namespace| format!("{namespace}/{}", self.called))
    }
}

/// The names of one stream.
#[derive(Debug, Default)]
pub(in crate::sidecar) struct Names {
    kept: HashMap<Uid, Name>,
    /// Kept whatever their age: overdue objects, and the candidates that are read again before a restart.
    wanted: HashSet<Uid>,
    /// The oldest pending objects of the list under way.
    oldest: BTreeMap<(Tick, Uid), Name>,
}

impl Names {
    /// Of these objects people and re-reads need the names.
    pub(in crate::sidecar) fn want(&mut self, explanation: &Explanation) {
        self.wanted.clear();
        self.wanted.extend(&explanation.oldest);
        self.wanted.extend(explanation.offenders.iter().map(|(uid, _)| *uid));
    }

    /// Notes an object that the ledger remembers as pending since then.
    pub(in crate::sidecar) fn note(&mut self, uid: Uid, since: Tick, identity: Identity<'_>) {
        if self.wanted.contains(&uid)
            && !self.kept.contains_key(&uid)
            && let Some(name) = Name::of(identity)
        {
            self.kept.insert(uid, name);
        }
        let is_full = self.oldest.len() >= OFFENDERS;
        let youngest = self.oldest.last_key_value().map(|(key, _)| *key);
        if is_full && youngest.is_some_and(|youngest| youngest <= (since, uid)) {
            return;
        }
        if let Some(name) = Name::of(identity) {
            self.oldest.insert((since, uid), name);
            if self.oldest.len() > OFFENDERS {
                self.oldest.pop_last();
            }
        }
    }

    /// A list has ended: what is no longer pending, or no longer among the oldest, loses its name.
    pub(in crate::sidecar) fn settle(&mut self, ledger: &Ledger, now: Tick) {
        self.kept.extend(std::mem::take(&mut self.oldest).into_iter().map(|((_, uid), name)| (uid, name)));
        let mut ranked: Vec<(Tick, Uid)> =
            self.kept.keys().filter_map(|uid| Some((ledger.pending_since(*uid, now)?, *uid))).collect();
        ranked.sort_unstable();
        let pending: HashSet<Uid> = ranked.iter().map(|(_, uid)| *uid).collect();
        let oldest: HashSet<Uid> = ranked.into_iter().take(OFFENDERS).map(|(_, uid)| uid).collect();
        let wanted = &self.wanted;
        self.kept.retain(|uid, _| oldest.contains(uid) || (pending.contains(uid) && wanted.contains(uid)));
    }

    pub(in crate::sidecar) fn of(&self, uid: Uid) -> Option<&Name> {
        let noted = || self.oldest.iter().find(|((_, noted), _)| *noted == uid).map(|(_, name)| name);
        self.kept.get(&uid).or_else(noted)
    }
}
