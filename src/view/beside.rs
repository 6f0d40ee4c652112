//! What is read of the operator beside its objects: its peering, and its own metrics.

use std::time::Duration;

use super::Tick;
pub use crate::judge::decision::Peering;
pub use crate::judge::operator_metrics::Evidence as MetricsEvidence;

/// A worker that has been at one object for less is not worth a word to people.
const LONG: Duration = Duration::from_mins(1);

/// The peering object as it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenPeering {
    /// `NAMESPACE/NAME` or `NAME`.
    pub object: String,
    /// What it says of the operator.
    pub state: Peering,
    /// Why it could not be read.
    pub problem: Option<String>,
    /// The operator's own record, where one bears its name.
    pub own: Option<Rank>,
    /// The peer that it waits for.
    pub pausing: Option<Rank>,
    /// Records that are not expired.
    pub live: usize,
}

/// A peer with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rank {
    /// What it calls itself.
    pub identity: String,
    /// Higher ones go first.
    pub priority: i64,
}

/// The operator's own metrics as they were last read.
#[derive(Debug, Clone, PartialEq)]
pub enum SeenMetrics {
    /// Nothing can be said, and why.
    Unavailable(String),
    /// What the newest reading says.
    Read(MetricsEvidence),
}

impl SeenPeering {
    /// An object of which nothing is known yet.
    pub const fn unread(object: String) -> Self {
        Self { object, state: Peering::Unreadable, problem: None, own: None, pausing: None, live: 0 }
    }

    /// One line for a person.
    pub fn words(&self) -> String {
        let rank = |rank: &Rank| format!("{} with priority {}", rank.identity, rank.priority);
        let own = self
            .own
            .as_ref()
            .map_or_else(|| "no record is known as ours".to_owned(), |own| format!("ours is {}", rank(own)));
        let known = format!("{} live, {own}", self.live);
        match (self.state, &self.pausing) {
            (Peering::Paused, Some(peer)) => format!("paused by {}; {known}", rank(peer)),
            (Peering::Paused, None) => format!("paused; {known}"),
            (Peering::Free, _) => format!("not paused; {known}"),
            (Peering::Unreadable, _) => format!("unreadable: {}", self.problem.as_deref().unwrap_or("not read yet")),
            (Peering::NotNeeded, _) => "not needed".to_owned(),
        }
    }
}

impl SeenMetrics {
    /// What speaks for a fault, a sentence each, and what is not known. `since` writes the time of a point; without it no
    /// sentence holds a time, so that the same is said in the same words.
    pub fn words(&self, since: Option<&dyn Fn(Tick) -> String>) -> Vec<String> {
        let evidence = match self {
            Self::Unavailable(why) => return vec![format!("unavailable: {why}")],
            Self::Read(evidence) => evidence,
        };
        let still = evidence.still.iter().map(|(controller, at)| {
            let since = since.map_or_else(String::new, |since| format!(" since {}", since(*at)));
            format!("reconciles of {controller} stand still{since} while its work queue is not empty")
        });
        let longest = evidence.longest.iter().filter(|(_, duration)| *duration >= LONG);
        let longest = longest.map(|(controller, duration)| {
            format!("a worker of {controller} has been at one object for {} min", duration.as_secs() / 60)
        });
        let missing =
            (!evidence.missing.is_empty()).then(|| format!("unavailable: no {}", evidence.missing.join(", no ")));
        still.chain(longest).chain(missing).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peering_is_one_line() {
        let rank = |identity: &str, priority| Some(Rank { identity: identity.to_owned(), priority });
        let seen = SeenPeering {
            object: "default".to_owned(),
            state: Peering::Paused,
            problem: None,
            own: rank("op-1", 0),
            pausing: rank("dev@laptop/1/x", 666),
            live: 2,
        };
        assert_eq!(seen.words(), "paused by dev@laptop/1/x with priority 666; 2 live, ours is op-1 with priority 0");
        let free = SeenPeering { state: Peering::Free, own: None, pausing: None, live: 0, ..seen.clone() };
        assert_eq!(free.words(), "not paused; 0 live, no record is known as ours");
        let problem = Some("forbidden".to_owned());
        assert_eq!(SeenPeering { state: Peering::Unreadable, problem, ..seen }.words(), "unreadable: forbidden");
    }

    #[test]
    fn metrics_say_what_speaks_for_a_fault_and_what_is_not_known() {
        let evidence = MetricsEvidence {
            still: vec![("widget".to_owned(), Tick::from_millis(0))],
            longest: Some(("widget".to_owned(), Duration::from_mins(14))),
            unfinished: None,
            missing: vec!["workqueue_depth"],
        };
        let seen = SeenMetrics::Read(evidence);
        assert_eq!(
            seen.words(Some(&|_| "07:06Z".to_owned())),
            [
                "reconciles of widget stand still since 07:06Z while its work queue is not empty",
                "a worker of widget has been at one object for 14 min",
                "unavailable: no workqueue_depth",
            ]
        );
        assert!(!seen.words(None)[0].contains("since"));
        let short =
            MetricsEvidence { longest: Some(("a".to_owned(), Duration::from_secs(59))), ..MetricsEvidence::default() };
        assert!(SeenMetrics::Read(short).words(None).is_empty());
        assert_eq!(SeenMetrics::Unavailable("gone".to_owned()).words(None), ["unavailable: gone"]);
    }
}
