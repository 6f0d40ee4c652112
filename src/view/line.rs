//! The first line of `/healthz`: times, not ages, and the same until the next decision.
//!
//! The kubelet shows the beginning of what a probe answers, in an Event that is cut and counted by its text. So the
//! first line is short, says the most important first, and does not change while the decision stands.

use jiff::Timestamp;

use super::{Decision, Explanation, LEASE, OwnCheck, Transition, View};
use crate::judge::decision::{Blindness, Headline};

/// The longest first line, in characters.
pub const LONGEST: usize = 160;
/// Diagnosis, resource and since stand within so many characters.
pub const HEAD: usize = 80;
/// What stands in the place of what was cut.
const CUT: &str = "...";

/// The first line of `/healthz` for a decision: with `ok` before it where the answer is 200, without where it is 500.
///
/// Call it when the [`Headline`] changes, and keep the text. `oldest` is `namespace/name` of [`Headline::oldest`], where
/// it is known.
pub fn write(headline: &Headline, oldest: Option<&str>) -> String {
    let prefix = match headline.decision {
        Decision::Restarting => String::new(),
        decision => format!("ok {decision}: "),
    };
    let line = match (&headline.about, headline.by) {
        (
            Some(about),
            None | Some(Transition::Suspect | Transition::Retry | Transition::Restart | Transition::Exhaust),
        ) => about_stream(&prefix, headline, about, oldest),
        (about, by) => {
            let since = format!("{prefix}since {}; ", minute(headline.at.wall));
            let stream = about.as_ref().map(|about| cut(&about.stream, HEAD.saturating_sub(since.len())));
            match stream {
                Some(stream) => format!("{since}{stream}: {}", because(by)),
                None => format!("{since}{}", because(by)),
            }
        }
    };
    fit(&line)
}

/// `asleep databases.db.example.com since 2026-03-04T07:06Z: 3 overdue, last ack 06:58Z, oldest prod/orders-7`.
fn about_stream(prefix: &str, headline: &Headline, about: &Explanation, oldest: Option<&str>) -> String {
    let at = headline.at;
    let since = about.silent_since.or(about.oldest_pending).map_or(at.wall, |since| at.wall_at(since));
    let before = format!("{prefix}{} ", about.diagnosis);
    let after = format!(" since {}", minute(since));
    let stream = cut(&about.stream, HEAD.saturating_sub(before.len() + after.len()));
    let last_ack = about.last_ack.map(|ack| near(at.wall_at(ack), since));
    let rest = if about.stream == LEASE {
        match last_ack {
            Some(renewed) => format!("not renewed, last seen renewed {renewed}"),
            None => "not renewed, never seen renewed".to_owned(),
        }
    } else {
        let ack = last_ack.map_or_else(|| "no ack seen".to_owned(), |ack| format!("last ack {ack}"));
        let oldest = oldest.map_or_else(String::new, |oldest| format!(", oldest {oldest}"));
        format!("{} overdue, {ack}{oldest}", about.overdue)
    };
    format!("{before}{stream}{after}: {rest}")
}

/// What led to a decision, in a few words; absent before the first.
pub fn because(by: Option<Transition>) -> &'static str {
    match by {
        None => "not everything was seen yet",
        Some(Transition::Begin) => "everything was seen once",
        Some(Transition::Resume | Transition::HandOver) => "its first ack after the restart is awaited",
        Some(Transition::Dismiss | Transition::Relax) => "no longer suspected",
        Some(Transition::Cancel) => "the restart was called back",
        Some(Transition::NotSeen) => "the restart was not seen",
        Some(Transition::Cure) => "the restart cured it",
        Some(Transition::Fail) => "the restart had no effect",
        Some(Transition::StandBy) => "another replica leads, or none",
        Some(Transition::Return) => "it can be seen again who leads and what is served",
        Some(Transition::GoBlind(Blindness::GateClosed)) => "the API server does not answer reliably",
        Some(Transition::GoBlind(Blindness::NoStream)) => "no stream can be judged",
        Some(Transition::GoBlind(Blindness::LeaseUnreadable)) => "the lease cannot be read",
        Some(Transition::GoBlind(Blindness::PeeringUnreadable)) => "the peering cannot be read",
        Some(Transition::GoBlind(Blindness::TaskEnded)) => "a task of dogwatch has ended",
        Some(Transition::Suspect | Transition::Retry | Transition::Withhold(_)) => "a stream is asleep",
        Some(Transition::Restart) => "a restart is requested",
        Some(Transition::Exhaust) => "the restart budget is spent",
    }
}

/// The first line while a view is too old to say anything.
pub fn stale(view: &View) -> String {
    let made = view.made.wall.strftime("%H:%M:%SZ");
    let at = second(view.wall_at(view.stale_at()));
    fit(&format!("ok {}: since {at}; the loop of dogwatch has said nothing since {made}", Decision::Blind))
}

/// The first line while there is no operator to judge.
pub fn without_operator(view: &View) -> String {
    let reason = match &view.config.problem {
        Some(_) => "the configuration cannot be used, see /readyz",
        None => because(None),
    };
    fit(&format!("ok {}: since {}; {reason}", Decision::Starting, minute(view.started.wall)))
}

/// The first line while the operator's own check has failed; absent while it has not.
pub fn own_check(check: &OwnCheck) -> Option<String> {
    let failed = minute(check.failed?);
    let problem = check.problem.as_deref().map_or_else(String::new, |problem| format!(": {problem}"));
    Some(fit(&format!("operator's own check failed since {failed}{problem}")))
}

/// `2026-03-04T07:06Z`.
pub fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%MZ").to_string()
}

/// `2026-03-04T07:06:30Z`.
pub fn second(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The time alone where it is on the same day as `reference`.
fn near(at: Timestamp, reference: Timestamp) -> String {
    let day = |at: Timestamp| at.strftime("%Y-%m-%d").to_string();
    if day(at) == day(reference) { at.strftime("%H:%MZ").to_string() } else { minute(at) }
}

/// One line of at most [`LONGEST`] characters.
pub fn fit(text: &str) -> String {
    let line: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    cut(&line, LONGEST)
}

/// At most `longest` characters; what is cut shows.
fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    text.chars().take(longest.saturating_sub(CUT.len())).chain(CUT.chars()).collect()
}

#[cfg(test)]
mod tests;
