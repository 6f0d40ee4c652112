//! Tells a deaf operator from an API server whose cache stands still.
//!
//! Operators live on watches and on lists with `resourceVersion=0`, which the API server answers from its cache; a GET
//! goes to storage. Where the cache lacks what a GET shows, no watch could have told the operator, and a restart would
//! read the same cache. So before anything is restarted the newest change among the oldest candidates of the stream is
//! looked for in the cache: by a new watch on a new connection from just before it, which the API server answers at once
//! or never, and where no watch can be opened, or it stays mute, by a list of that one object.
//!
//! A new watch that delivers means that the cache is well, however silent an older watch may be. One that is too old to
//! be served means the same: what the cache has forgotten it has passed.

mod test;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::operator::{Facts, Name, Operator};
use super::shared::{Known, Shared};
use crate::clock;
use crate::cluster::connect::Cluster;
use crate::judge::decision::{Decision, Gate, Step};
use crate::judge::diagnosis::Explanation;
use crate::judge::tick::Tick;
use crate::view::Stale;
use test::{Subject, Test};

/// How soon a candidate, or a suspicion, is noticed.
const LOOK: Duration = Duration::from_secs(1);
/// From one test of a stream to the next while it is suspected, stale, or could not be tested.
const IN_DOUBT: Duration = Duration::from_secs(10);
/// The same while it is only overdue and the cache was well.
const AT_REST: Duration = Duration::from_mins(1);
/// For so long a cache that was well speaks for a restart.
const GOOD_FOR: Duration = Duration::from_mins(1);
/// So many of the oldest candidates are read to find the newest change.
const CANDIDATES: usize = 5;
/// So many streams are tested at the same time: a cache that stands still makes each test last.
const AT_ONCE: usize = 8;

/// Whether the API server's cache shows what storage holds, for one stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Freshness {
    newest: Option<(Verdict, Tick)>,
    /// What the cache lacks, as long as it does.
    lacking: Option<Lacking>,
}

/// What a test came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The cache shows it.
    Fresh,
    /// It does not.
    Stale,
    /// Nobody could tell.
    Unknown,
}

#[derive(Debug, Clone)]
struct Lacking {
    name: Name,
    shown: Stale,
}

/// What one test found.
#[derive(Debug)]
enum Finding {
    Fresh,
    Stale(Name, Stale),
    /// Nobody could tell; `is_gone`: what the cache lacked is no more.
    Unknown {
        is_gone: bool,
    },
}

impl Freshness {
    /// What the cache lacks.
    pub(super) fn stale(&self) -> Option<&Stale> {
        self.lacking.as_ref().map(|lacking| &lacking.shown)
    }

    /// Whether the cache was seen to be well a moment ago. Without that nothing may be restarted: a restart reads the
    /// cache.
    pub(super) fn is_good(&self, now: Tick) -> bool {
        self.newest.is_some_and(|(verdict, at)| verdict == Verdict::Fresh && now <= at.after(GOOD_FOR))
    }

    fn is_due(&self, is_suspect: bool, now: Tick) -> bool {
        let Some((verdict, at)) = self.newest else { return true };
        let pause = if is_suspect || verdict != Verdict::Fresh { IN_DOUBT } else { AT_REST };
        now >= at.after(pause)
    }

    fn note(&mut self, finding: Finding, now: Tick) {
        let verdict = match finding {
            Finding::Fresh => {
                self.lacking = None;
                Verdict::Fresh
            }
            Finding::Stale(name, mut shown) => {
                shown.since = self.lacking.as_ref().map_or(shown.since, |before| before.shown.since);
                self.lacking = Some(Lacking { name, shown });
                Verdict::Stale
            }
            Finding::Unknown { is_gone } => {
                self.lacking.take_if(|_| is_gone);
                Verdict::Unknown
            }
        };
        self.newest = Some((verdict, now));
    }
}

/// Tests for ever. Returns how a test ended that must not end so.
pub(super) async fn keep(shared: Arc<Shared>, cluster: Arc<Cluster>, limit: usize) -> String {
    let mut tests = JoinSet::new();
    let mut running: HashSet<(String, String)> = HashSet::new();
    loop {
        let room = AT_ONCE.saturating_sub(running.len());
        let now = shared.now().tick();
        for test in shared.with(|known| due(known, &running, now, limit)).into_iter().take(room) {
            running.insert(test.key());
            let (shared, cluster) = (Arc::clone(&shared), Arc::clone(&cluster));
            tests.spawn(async move { (test.key(), test.run(&shared, &cluster).await) });
        }
        tokio::select! {
            () = clock::sleep(LOOK) => {}
            Some(ended) = tests.join_next() => {
                let Ok((key, finding)) = ended else { return "a test of the API server's cache panicked".to_owned() };
                note(&shared, &key, finding);
                running.remove(&key);
            }
        }
    }
}

fn note(shared: &Shared, (operator, stream): &(String, String), finding: Finding) {
    let now = shared.now().tick();
    shared.with(|known| {
        let Some(operator) = known.operator(operator) else { return };
        let Some(index) = operator.stream(stream) else { return };
        if let (Some(stream), Some(facts)) = (operator.streams.get_mut(index), operator.facts.get_mut(index)) {
            facts.freshness.note(finding, now);
            stream.evidence.server_stale = facts.freshness.lacking.is_some();
        }
    });
    shared.changed.notify_one();
}

/// The streams that are to be tested now, suspected ones first.
fn due(known: &Known, running: &HashSet<(String, String)>, now: Tick, limit: usize) -> Vec<Test> {
    if known.gate.state() == Gate::Closed {
        return Vec::new();
    }
    let mut all: Vec<(bool, Test)> = known
        .operators
        .iter()
        .filter_map(|operator| Some((operator, operator.step.as_ref()?)))
        .flat_map(|(operator, step)| {
            // A step lists the streams in their order; one that appeared since has no candidates yet.
            let streams = operator.streams.iter().zip(&operator.facts).zip(&step.streams);
            let streams = streams.filter(|((stream, _), explanation)| stream.name() == explanation.stream);
            streams.filter_map(move |((_, facts), explanation)| test(operator, step, explanation, facts, now, limit))
        })
        .filter(|(_, test)| !running.contains(&test.key()))
        .collect();
    all.sort_by_key(|(is_suspect, _)| !is_suspect);
    all.into_iter().map(|(_, test)| test).collect()
}

/// The test of a stream, if it is due, and whether a restart depends on it.
fn test(
    operator: &Operator,
    step: &Step,
    explanation: &Explanation,
    facts: &Facts,
    now: Tick,
    limit: usize,
) -> Option<(bool, Test)> {
    let is_suspect = matches!(step.decision, Decision::Suspect | Decision::Restarting)
        && step.subject.as_deref() == Some(explanation.stream.as_str());
    if !facts.freshness.is_due(is_suspect, now) {
        return None;
    }
    let names: Vec<Name> = match &facts.freshness.lacking {
        Some(lacking) => vec![lacking.name.clone()],
        None => explanation.oldest.iter().filter_map(|uid| facts.names.of(*uid).cloned()).take(CANDIDATES).collect(),
    };
    let watched = operator.watched(&facts.resource).filter(|_| !names.is_empty())?;
    let subject = Subject {
        operator: operator.name.clone(),
        stream: explanation.stream.clone(),
        resource: watched.name.clone(),
        found: watched.found.clone()?,
        reader: Arc::clone(&watched.rule.as_ref()?.reader),
        limit,
    };
    Some((is_suspect, Test { subject, names }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Tick {
        Tick::from_millis(second * 1000)
    }

    fn a_finding(since: i64) -> Finding {
        let name = Name { namespace: Some("prod".into()), called: "a".into(), uid: "u".into() };
        let shown =
            Stale { object: name.shown(), version: "7".to_owned(), since: at(since), by_watch: true, by_list: true };
        Finding::Stale(name, shown)
    }

    #[test]
    fn only_a_cache_that_was_well_a_moment_ago_speaks_for_a_restart() {
        let mut freshness = Freshness::default();
        assert!(!freshness.is_good(at(0)), "never tested");
        freshness.note(Finding::Unknown { is_gone: false }, at(0));
        assert!(!freshness.is_good(at(0)), "could not be tested");
        freshness.note(Finding::Fresh, at(10));
        assert!(freshness.is_good(at(70)) && !freshness.is_good(at(71)));
        freshness.note(a_finding(20), at(50));
        assert!(!freshness.is_good(at(50)));
    }

    #[test]
    fn what_is_lacking_is_looked_for_until_it_shows_or_is_gone() {
        let mut freshness = Freshness::default();
        freshness.note(a_finding(20), at(50));
        freshness.note(a_finding(60), at(90));
        freshness.note(Finding::Unknown { is_gone: false }, at(100));
        assert_eq!(freshness.stale().map(|stale| stale.since), Some(at(20)), "since it was first lacking");
        freshness.note(Finding::Unknown { is_gone: true }, at(110));
        assert_eq!(freshness.stale(), None);
        freshness.note(a_finding(120), at(150));
        freshness.note(Finding::Fresh, at(160));
        assert_eq!(freshness.stale(), None);
    }

    #[test]
    fn a_test_is_due_soon_in_doubt_and_seldom_at_rest() {
        let mut freshness = Freshness::default();
        assert!(freshness.is_due(false, at(0)));
        freshness.note(Finding::Fresh, at(0));
        assert!(!freshness.is_due(false, at(59)) && freshness.is_due(false, at(60)) && freshness.is_due(true, at(10)));
        freshness.note(Finding::Unknown { is_gone: false }, at(60));
        assert!(!freshness.is_due(true, at(69)) && freshness.is_due(false, at(70)));
    }
}
