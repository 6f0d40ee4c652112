use std::time::Duration;

use jiff::Timestamp;

use super::{Diagnosis, Keep, Summary, Tally};
use crate::judge::object::{Identity, parse_time};
use crate::judge::rule::Rule;
use crate::judge::rule::generation::Generation;
use crate::judge::state::{Excuse, Judgement, Reason, Since, SinceFrom, State};

const MINUTE: Duration = Duration::from_mins(1);

fn now() -> Timestamp {
    parse_time("2026-03-01T12:00:00Z").expect("a time")
}

fn ago(minutes: u64) -> Timestamp {
    now() - MINUTE * u32::try_from(minutes).expect("small")
}

fn pending(minutes: u64) -> Judgement {
    Judgement {
        since: Some(Since::new(ago(minutes), SinceFrom::Creation)),
        signalled: true,
        ..Judgement::new(State::Pending, Reason::ChangeNotProcessed, "")
    }
}

fn processed(minutes: u64) -> Judgement {
    Judgement { acked_at: Some(ago(minutes)), signalled: true, ..Judgement::new(State::Processed, None, "") }
}

fn conditional() -> Judgement {
    Judgement { conditional: true, signalled: false, reason: Some(Reason::NeverProcessed), ..pending(60) }
}

fn look(judgements: impl IntoIterator<Item = Judgement>, states: &[State], limit: Option<usize>) -> Summary {
    let keep = Keep { states: states.to_vec(), limit };
    let mut tally = Tally::new(now(), 5 * MINUTE, 15 * MINUTE, keep);
    for (number, judgement) in judgements.into_iter().enumerate() {
        let name = format!("o{number}");
        tally.add(Identity { name: Some(&name), ..Identity::default() }, &judgement);
    }
    tally.finish(&Rule::Generation(Generation::default()), true)
}

fn diagnosis(judgements: impl IntoIterator<Item = Judgement>) -> Diagnosis {
    look(judgements, &[], None).diagnosis
}

fn names(summary: &Summary) -> Vec<&str> {
    summary.findings.iter().map(|finding| finding.name.as_ref()).collect()
}

#[test]
fn overdue_objects_and_no_newer_ack_make_a_stream_asleep() {
    assert_eq!(diagnosis([pending(60), processed(90)]), Diagnosis::Asleep);
    assert_eq!(diagnosis([pending(60), processed(59)]), Diagnosis::Partial, "others are served");
    assert_eq!(diagnosis([pending(14), processed(20)]), Diagnosis::Partial, "silence is still short");
    assert_eq!(diagnosis([pending(15), processed(20)]), Diagnosis::Partial, "exactly asleepAfter is not longer");
    assert_eq!(diagnosis([pending(16), processed(20)]), Diagnosis::Asleep);
    assert_eq!(diagnosis([pending(60)]), Diagnosis::Asleep, "nothing was ever acknowledged");
    assert_eq!(diagnosis([pending(5), processed(20)]), Diagnosis::Healthy, "exactly overdueAfter is not overdue");
    assert_eq!(diagnosis([]), Diagnosis::Healthy);
}

#[test]
fn excused_objects_alert_and_do_not_speak_for_asleep() {
    assert_eq!(diagnosis([Judgement { excuse: Some(Excuse::Ignored), ..pending(60) }]), Diagnosis::Partial);
}

#[test]
fn what_could_not_be_seen_is_never_healthy() {
    let unknown = || Judgement::unknown(Reason::NoSignal, "");
    assert_eq!(diagnosis([unknown()]), Diagnosis::Unknown);
    assert_eq!(diagnosis([unknown(), processed(1)]), Diagnosis::Healthy);
    let tally = Tally::new(now(), MINUTE, MINUTE, Keep { states: vec![], limit: None });
    assert_eq!(tally.finish(&Rule::Generation(Generation::default()), false).diagnosis, Diagnosis::Unknown);
}

#[test]
fn an_unknown_since_counts_from_now() {
    let summary = look([Judgement { since: None, ..pending(0) }], &[State::Pending], None);
    assert_eq!(summary.overdue, 0);
    assert_eq!(summary.findings[0].since, Some(Since::new(now(), SinceFrom::FirstSeen)));
}

#[test]
fn a_conditional_answer_waits_for_a_signal_of_any_object() {
    let with = look([conditional(), processed(90)], &[State::Pending], Some(5));
    assert_eq!((with.states.of(State::Pending), with.overdue, with.diagnosis), (1, 1, Diagnosis::Asleep));
    assert_eq!(names(&with), ["o0"]);
    let without = look([conditional(), conditional()], &[State::Unknown], Some(5));
    assert_eq!((without.states.of(State::Unknown), without.overdue), (2, 0));
    assert_eq!(without.unknown, [(Reason::NoSignal, 2)]);
    assert_eq!(without.findings[0].reason, Some(Reason::NoSignal));
    assert_eq!(look([conditional()], &[State::Pending], Some(5)).findings, []);
}

#[test]
fn a_limit_keeps_the_oldest_and_counts_the_rest() {
    let ages = [10, 50, 30, 20, 40];
    let summary = look(ages.map(pending), &[State::Pending], Some(2));
    assert_eq!(names(&summary), ["o1", "o4"]);
    assert_eq!(summary.left_out, 3);
    let all = look(ages.map(pending), &[State::Pending], None);
    assert_eq!(names(&all), ["o0", "o1", "o2", "o3", "o4"], "without a limit the order is the list's");
    let mixed = look([pending(10), conditional(), pending(20)], &[State::Pending], Some(1));
    assert_eq!((names(&mixed), mixed.left_out), (vec!["o1"], 2));
}

#[test]
fn a_list_that_starts_over_counts_nothing_twice() {
    let mut tally = Tally::new(now(), MINUTE, MINUTE, Keep { states: vec![State::Pending], limit: None });
    tally.add(Identity::default(), &pending(60));
    tally.reset();
    tally.add(Identity::default(), &pending(60));
    let summary = tally.finish(&Rule::Generation(Generation::default()), true);
    assert_eq!((summary.states.total(), summary.findings.len()), (1, 1));
}

#[test]
fn a_signal_can_be_learned_from_objects_that_are_not_counted() {
    let rule = Rule::Generation(Generation::default());
    let mut tally = Tally::new(now(), MINUTE, MINUTE, Keep { states: vec![], limit: None });
    assert!(!tally.awaits_signal(&rule));
    tally.add(Identity::default(), &conditional());
    assert!(tally.awaits_signal(&rule));
    tally.learn_signal();
    assert!(!tally.awaits_signal(&rule));
    let summary = tally.finish(&rule, true);
    assert_eq!((summary.states.total(), summary.states.of(State::Pending)), (1, 1));
}
