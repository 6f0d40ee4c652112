//! A ledger as the state file keeps it.
//!
//! Times are points on the boot clock of the machine that wrote them; [`Rebase`] carries them over to another boot.

mod habits;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::entry::{Clock, Entry, Marks, Renewed, Standing};
use super::habit::Behind;
use super::list::Complete;
use super::{Ledger, Longest, Moment, States, Tick, Uid};
use habits::SavedHabits;

/// Carries a point of the boot clock that wrote a snapshot over to the present one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rebase {
    /// What is added, in milliseconds.
    shift: i64,
    now: Tick,
}

impl Rebase {
    /// `saved`: when the snapshot was written, on both clocks. On the same boot its points stand as they are. On another
    /// one the time between is what the wall clocks say, never less than nothing.
    pub fn new(is_same_boot: bool, saved_wall: Timestamp, saved: Tick, now: Moment) -> Self {
        let apart = now.wall.as_millisecond().saturating_sub(saved_wall.as_millisecond()).max(0);
        let stands = is_same_boot && saved <= now.tick();
        let shift = now.tick().as_millis().saturating_sub(apart).saturating_sub(saved.as_millis());
        Self { shift: if stands { 0 } else { shift }, now: now.tick() }
    }

    /// A point in the past. One that comes out later than now is now.
    pub fn past(&self, tick: Tick) -> Tick {
        self.any(tick).min(self.now)
    }

    /// Any point.
    pub fn any(&self, tick: Tick) -> Tick {
        Tick::from_millis(tick.as_millis().saturating_add(self.shift))
    }
}

/// One stream's memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LedgerSnapshot {
    list: Option<SavedList>,
    signal_exists: bool,
    proven: bool,
    last_ack: Option<Tick>,
    served_through: Option<Tick>,
    /// When measured, and milliseconds from pending to acknowledgement.
    longest: Vec<(Tick, u64)>,
    /// Absent in files from before anything was learnt.
    #[serde(default, skip_serializing_if = "SavedHabits::is_empty")]
    habits: SavedHabits,
    /// What was nudged, and for which desired state. Absent in files from before there were nudges.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    nudged: BTreeMap<Uid, u64>,
    objects: Vec<SavedEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SavedList {
    began: Tick,
    began_wall: i64,
    ended: Tick,
    version: Option<u64>,
    left_out: u64,
}

/// How an object is behind, see [`Behind`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SavedBehind {
    since: Tick,
    changed_wall: i64,
    written: Option<Tick>,
    failed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SavedEntry {
    uid: Uid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    token: u64,
    desired: u64,
    tracked: Tick,
    seen: Tick,
    standing: SavedStanding,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clock: Option<SavedClock>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<SavedMark>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    behind: Option<SavedBehind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum SavedStanding {
    Pending,
    Moving { deadline: Option<Tick>, moved: Option<Tick> },
    Paused(Tick),
    Unreadable,
    Mistrusted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SavedMark {
    Conditional,
    HolderUnknown,
    Ignored,
    Stopped,
    Rebased,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SavedClock {
    first_seen: Tick,
    own: Option<Tick>,
    not_yet: Option<Tick>,
    renewed: Option<(Tick, Option<Tick>)>,
    acked: bool,
}

impl Ledger {
    /// The memory as the state file keeps it. Objects come in the order of their uids, so that equal memories make
    /// equal files.
    pub fn snapshot(&self) -> LedgerSnapshot {
        let mut objects: Vec<SavedEntry> = self.entries.iter().map(|(uid, entry)| save_entry(*uid, entry)).collect();
        objects.sort_unstable_by_key(|entry| entry.uid);
        LedgerSnapshot {
            list: self.complete.map(|complete| SavedList {
                began: complete.began.tick(),
                began_wall: complete.began.wall.as_millisecond(),
                ended: complete.ended,
                version: complete.version,
                left_out: complete.left_out,
            }),
            signal_exists: self.signal_exists,
            proven: self.is_proven,
            last_ack: self.last_ack,
            served_through: self.served_through,
            longest: self
                .longest
                .measured()
                .map(|(at, duration)| (at, u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
                .collect(),
            habits: SavedHabits::of(&self.habits),
            nudged: self.nudged.clone(),
            objects,
        }
    }

    /// The memory that the state file kept. It holds no fresh list: that one must be read again.
    pub fn restored(snapshot: LedgerSnapshot, rebase: &Rebase) -> Self {
        let mut longest = Longest::default();
        for (at, duration) in snapshot.longest {
            longest.add(rebase.past(at), Duration::from_millis(duration));
        }
        let habits = snapshot.habits.restored(rebase);
        Self {
            entries: snapshot.objects.iter().map(|saved| (saved.uid, restore_entry(saved, rebase))).collect(),
            complete: snapshot.list.and_then(|list| restore_list(&list, rebase)),
            signal_exists: snapshot.signal_exists,
            is_proven: snapshot.proven,
            last_ack: snapshot.last_ack.map(|tick| rebase.past(tick)),
            served_through: snapshot.served_through.map(|tick| rebase.past(tick)),
            longest,
            habits,
            nudged: snapshot.nudged,
            lessons: habits,
            ..Self::new()
        }
    }
}

/// Nothing where the wall time is out of the calendar: the first list then has none before it.
fn restore_list(list: &SavedList, rebase: &Rebase) -> Option<Complete> {
    let began =
        Moment { wall: Timestamp::from_millisecond(list.began_wall).ok()?, elapsed: rebase.past(list.began).elapsed() };
    Some(Complete {
        began,
        ended: rebase.past(list.ended),
        version: list.version,
        states: States::default(),
        conditional: 0,
        left_out: list.left_out,
    })
}

fn save_entry(uid: Uid, entry: &Entry) -> SavedEntry {
    let marks = [
        (entry.marks.conditional, SavedMark::Conditional),
        (entry.marks.holder_unknown, SavedMark::HolderUnknown),
        (entry.marks.ignored, SavedMark::Ignored),
        (entry.marks.stopped, SavedMark::Stopped),
        (entry.marks.rebased, SavedMark::Rebased),
    ];
    SavedEntry {
        uid,
        version: entry.version,
        token: entry.token,
        desired: entry.desired,
        tracked: entry.tracked,
        seen: entry.seen,
        standing: match entry.standing {
            Standing::Pending => SavedStanding::Pending,
            Standing::Moving { deadline, moved } => SavedStanding::Moving { deadline, moved },
            Standing::Paused(since) => SavedStanding::Paused(since),
            Standing::Unreadable => SavedStanding::Unreadable,
            Standing::Mistrusted => SavedStanding::Mistrusted,
        },
        clock: entry.clock.map(|clock| SavedClock {
            first_seen: clock.first_seen,
            own: clock.own,
            not_yet: clock.not_yet,
            renewed: clock.renewed.map(|renewed| (renewed.seen, renewed.own)),
            acked: clock.acked,
        }),
        marks: marks.into_iter().filter(|(is_set, _)| *is_set).map(|(_, mark)| mark).collect(),
        behind: entry.behind.map(|behind| SavedBehind {
            since: behind.since,
            changed_wall: behind.changed,
            written: behind.written,
            failed: behind.has_failed,
        }),
    }
}

fn restore_entry(saved: &SavedEntry, rebase: &Rebase) -> Entry {
    let any = |tick: Option<Tick>| tick.map(|tick| rebase.any(tick));
    let has = |mark| saved.marks.contains(&mark);
    Entry {
        version: saved.version,
        token: saved.token,
        desired: saved.desired,
        tracked: rebase.past(saved.tracked),
        seen: rebase.past(saved.seen),
        // Whether the operator's watch lived then is nothing that this process could know.
        event_seen: None,
        clock: saved.clock.map(|clock| Clock {
            first_seen: rebase.past(clock.first_seen),
            own: any(clock.own),
            not_yet: any(clock.not_yet),
            renewed: clock.renewed.map(|(seen, own)| Renewed { seen: rebase.past(seen), own: any(own) }),
            acked: clock.acked,
            // This process has not looked at connections since then.
            event: None,
        }),
        standing: match saved.standing {
            SavedStanding::Pending => Standing::Pending,
            SavedStanding::Moving { deadline, moved } => {
                Standing::Moving { deadline: any(deadline), moved: any(moved) }
            }
            SavedStanding::Paused(since) => Standing::Paused(rebase.past(since)),
            SavedStanding::Unreadable => Standing::Unreadable,
            SavedStanding::Mistrusted => Standing::Mistrusted,
        },
        marks: Marks {
            conditional: has(SavedMark::Conditional),
            holder_unknown: has(SavedMark::HolderUnknown),
            ignored: has(SavedMark::Ignored),
            stopped: has(SavedMark::Stopped),
            flipped: false,
            rebased: has(SavedMark::Rebased),
        },
        behind: saved.behind.as_ref().map(|saved| Behind {
            since: rebase.past(saved.since),
            changed: saved.changed_wall,
            written: saved.written.map(|tick| rebase.past(tick)),
            has_failed: saved.failed,
        }),
    }
}
