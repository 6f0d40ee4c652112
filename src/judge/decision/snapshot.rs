//! What the state file keeps, so that neither budget nor first-seen begins anew when dogwatch does.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Decider, LeaseWatch, Moment, Policy, Restart, Spent, State, Stream, Tick};
use crate::judge::ledger::Ledger;
use crate::judge::ledger::snapshot::{LedgerSnapshot, Rebase};

/// The present form of the file.
const VERSION: u32 = 1;
/// What the file says it is.
const KIND: &str = "dogwatch-state";

/// Why a state file cannot be used. Nothing of it is taken then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not JSON, or not of the form that its version says.
    #[error("the state file cannot be read; remove it to start with an empty memory and a full budget")]
    Malformed(#[source] serde_json::Error),
    /// Some other file.
    #[error("the file is no state file of dogwatch; choose another path for stateFile")]
    Foreign,
    /// Written by another version of dogwatch.
    #[error(
        "the state file has version {found}, this dogwatch reads version {VERSION}; remove it or use that dogwatch"
    )]
    Version {
        /// The version that it says.
        found: u32,
    },
    /// Written for another operator.
    #[error("the state file is of operator {found}, not of {wanted}; give each operator a stateFile of its own")]
    Operator {
        /// The operator that it says.
        found: String,
        /// The operator that is watched.
        wanted: String,
    },
    /// A time lies outside the calendar.
    #[error("the state file says that it was written at no possible time; remove it")]
    Time(#[source] jiff::Error),
}

/// The content of a state file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Snapshot {
    kind: String,
    version: u32,
    operator: String,
    /// Which boot the points below belong to.
    boot: String,
    /// When it was written: milliseconds since 1970, and on the boot clock.
    wall: i64,
    now: Tick,
    born: Tick,
    requested: Vec<Tick>,
    handed_over: Option<Tick>,
    restart: Option<SavedRestart>,
    streams: BTreeMap<String, SavedStream>,
    lease_fruitless: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SavedRestart {
    stream: String,
    requested: Tick,
    container: Option<String>,
    asleep_after_millis: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SavedStream {
    /// The rule that the ledger was kept under.
    rule: String,
    fruitless: u32,
    ledger: LedgerSnapshot,
}

/// Who reads or writes a state file, on which boot.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    /// `operator.name`.
    pub operator: &'a str,
    /// What tells one boot of the machine from another, as `/proc/sys/kernel/random/boot_id` does.
    pub boot: &'a str,
}

#[derive(Deserialize)]
struct Header {
    kind: String,
    version: u32,
}

/// What a state file keeps of streams that nobody has claimed yet.
#[derive(Debug, Clone)]
pub(super) struct Unclaimed {
    since: Tick,
    streams: BTreeMap<String, Kept>,
}

/// One such stream.
#[derive(Debug, Clone)]
struct Kept {
    rule: String,
    fruitless: u32,
    ledger: Ledger,
}

impl Snapshot {
    /// Reads a file. The header is looked at first, so that a file of another version says so.
    pub fn parse(json: &[u8]) -> Result<Self, Error> {
        let value: serde_json::Value = serde_json::from_slice(json).map_err(Error::Malformed)?;
        match Header::deserialize(&value) {
            Ok(header) if header.kind != KIND => Err(Error::Foreign),
            Ok(header) if header.version != VERSION => Err(Error::Version { found: header.version }),
            Ok(_) => serde_json::from_slice(json).map_err(Error::Malformed),
            Err(_) => Err(Error::Foreign),
        }
    }
}

impl Decider {
    /// What must outlive this process. `rule_of` gives a fingerprint of the rule that a stream is read by, its options
    /// included: a ledger is taken up again only under the same one. A stream whose rule is not known yet, which has an
    /// empty one, is left out.
    pub fn snapshot(
        &self,
        now: Moment,
        owner: Owner<'_>,
        streams: &[Stream],
        rule_of: impl Fn(&Stream) -> String,
    ) -> Snapshot {
        let restart = match &self.state {
            State::Restarting(restart) | State::Recovering(restart) | State::Starting { resumed: Some(restart) } => {
                Some(restart)
            }
            _ => None,
        };
        Snapshot {
            kind: KIND.to_owned(),
            version: VERSION,
            operator: owner.operator.to_owned(),
            boot: owner.boot.to_owned(),
            wall: now.wall.as_millisecond(),
            now: now.tick(),
            born: self.born,
            requested: self.spent.requested().to_vec(),
            handed_over: self.handed_over,
            restart: restart.map(|restart| SavedRestart {
                stream: restart.stream.clone(),
                requested: restart.requested,
                container: restart.container.clone(),
                asleep_after_millis: u64::try_from(restart.asleep_after.as_millis()).unwrap_or(u64::MAX),
            }),
            streams: self
                .still_unclaimed(now.tick())
                .chain(streams.iter().filter_map(|stream| {
                    let rule = rule_of(stream);
                    (!rule.is_empty()).then(|| (stream.name().to_owned(), save(stream, rule)))
                }))
                .collect(),
            lease_fruitless: self.lease.fruitless,
        }
    }

    /// Goes on where a snapshot ends: budget and first-seen as they were, silence from zero. A restart that was under way
    /// still gets its outcome, and no further 500.
    ///
    /// `streams` are those that are known now; those that the file does not know stay as they are. What the file knows
    /// beside them waits for [`Decider::claim`].
    ///
    /// # Errors
    /// When the snapshot is another operator's, or its time impossible. The streams are untouched then.
    pub fn restore(
        policy: Policy,
        snapshot: Snapshot,
        now: Moment,
        owner: Owner<'_>,
        streams: &mut [Stream],
        rule_of: impl Fn(&Stream) -> String,
    ) -> Result<Self, Error> {
        if snapshot.operator != owner.operator {
            return Err(Error::Operator { found: snapshot.operator, wanted: owner.operator.to_owned() });
        }
        let saved_wall = Timestamp::from_millisecond(snapshot.wall).map_err(Error::Time)?;
        let rebase = Rebase::new(snapshot.boot == owner.boot, saved_wall, snapshot.now, now);
        let kept = |saved: SavedStream| Kept {
            rule: saved.rule,
            fruitless: saved.fruitless,
            ledger: Ledger::restored(saved.ledger, &rebase),
        };
        let saved = snapshot.streams.into_iter().map(|(name, saved)| (name, kept(saved))).collect();
        let resumed = snapshot.restart.map(|restart| Restart {
            stream: restart.stream,
            requested: rebase.past(restart.requested),
            container: restart.container,
            asleep_after: Duration::from_millis(restart.asleep_after_millis),
            // Counted by each process for itself, from nothing.
            released: 0,
        });
        let mut decider = Self {
            state: State::Starting { resumed },
            born: rebase.past(snapshot.born),
            spent: Spent::new(snapshot.requested.into_iter().map(|tick| rebase.past(tick)).collect()),
            handed_over: snapshot.handed_over.map(|tick| rebase.past(tick)),
            lease: LeaseWatch::new(snapshot.lease_fruitless),
            unclaimed: Some(Unclaimed { since: now.tick(), streams: saved }),
            ..Self::new(policy, now)
        };
        for stream in streams {
            let rule = rule_of(stream);
            decider.claim(stream, &rule);
        }
        Ok(decider)
    }

    /// Gives a stream that was found only now what the state file kept of it: how many restarts had no effect, and, if it
    /// was kept under the same rule, its ledger. True if the ledger was filled. What was kept under another rule waits on,
    /// since the rule may still turn out to be that one.
    pub fn claim(&mut self, stream: &mut Stream, rule: &str) -> bool {
        let Some(Unclaimed { streams, .. }) = &mut self.unclaimed else { return false };
        let Some(kept) = streams.get(stream.name()) else { return false };
        stream.set_fruitless(kept.fruitless);
        if kept.rule != rule {
            return false;
        }
        if let Some(kept) = streams.remove(stream.name()) {
            stream.ledger = kept.ledger;
        }
        true
    }

    /// A stream that nobody claims may be missing for a while only; after the window of the budget it is forgotten.
    fn still_unclaimed(&self, now: Tick) -> impl Iterator<Item = (String, SavedStream)> {
        let counts = |unclaimed: &&Unclaimed| now < unclaimed.since.after(self.policy.budget.window);
        self.unclaimed.as_ref().filter(counts).into_iter().flat_map(|unclaimed| &unclaimed.streams).map(
            |(name, kept)| {
                let ledger = kept.ledger.snapshot();
                (name.clone(), SavedStream { rule: kept.rule.clone(), fruitless: kept.fruitless, ledger })
            },
        )
    }

    /// When the newest restart was requested, earlier lives of the state file included.
    pub fn last_requested(&self) -> Option<Tick> {
        self.spent.requested().last().copied()
    }
}

fn save(stream: &Stream, rule: String) -> SavedStream {
    SavedStream { rule, fruitless: stream.fruitless(), ledger: stream.ledger.snapshot() }
}
