use std::time::Duration;

use jiff::Timestamp;

use super::{Clock, FIELDS, Purpose, Record, conclude};
use crate::judge::object::mask::Mask;
use crate::judge::object::tree::Tree;
use crate::judge::state::{Judgement, Reason};

/// A time of the day on which every test plays.
fn at(clock: &str) -> Timestamp {
    format!("2026-03-01T{clock}Z").parse().expect("a time")
}

fn record(handler: &'static str, json: &str) -> Record<'static> {
    let mask = Mask::new().fields(&[], &FIELDS);
    let tree = Tree::read(json.as_bytes(), &mask).expect("JSON");
    Record::read(handler, Some("p"), 1, &tree).expect("a record")
}

fn unfinished(handler: &'static str, delayed: &str) -> Record<'static> {
    let json = format!(r#"{{"started":"2026-03-01T10:00:00","delayed":"2026-03-01T{delayed}","retries":1}}"#);
    record(handler, &json)
}

fn step() -> Record<'static> {
    record("step", r#"{"started":"2026-03-01T10:00:00","retries":0}"#)
}

fn done() -> Record<'static> {
    record("done", r#"{"started":"2026-03-01T10:00:00","stopped":"2026-03-01T11:52:00","retries":1,"success":true}"#)
}

/// At noon, with kopf's newest write.
fn clock(written_at: Option<&str>) -> Clock {
    let written_at = written_at.map(at);
    Clock { now: at("12:00:00"), written_at, desired_at: Some(at("09:00:00")), max_attempt: Duration::from_mins(20) }
}

fn concluded(records: &[Record<'_>], clock: Clock) -> Judgement {
    conclude(records, &[Purpose::Unsaid], clock).expect("live records")
}

fn until(records: &[Record<'_>], written_at: Option<&str>) -> Option<Timestamp> {
    concluded(records, clock(written_at)).until
}

#[test]
fn all_waiting_is_believed_until_a_minute_after_the_earliest_wakes() {
    let records = [unfinished("b", "12:30:00"), unfinished("a", "12:05:00"), done()];
    let judgement = concluded(&records, clock(None));
    assert_eq!(judgement.until, Some(at("12:06:00")));
    assert_eq!(judgement.reason, Some(Reason::Retrying));
    assert_eq!(judgement.message, "kopf waits before it tries handler a and 1 more again");
    assert_eq!(judgement.moved_at, Some(at("11:52:00")), "the newest time in the records");
}

#[test]
fn a_long_wait_is_believed_while_the_heartbeat_lasts() {
    let records = [unfinished("a", "18:00:00")];
    assert_eq!(until(&records, None), Some(at("18:01:00")), "kopf's newest write is not known");
    assert_eq!(until(&records, Some("11:55:00")), Some(at("12:06:00")));
    assert_eq!(until(&records, Some("11:40:00")), Some(at("11:51:00")), "heartbeat missing");
}

#[test]
fn one_that_is_due_and_was_not_woken_has_a_minute() {
    assert_eq!(until(&[unfinished("a", "11:59:30")], None), Some(at("12:00:30")));
    assert_eq!(until(&[unfinished("a", "11:50:00")], Some("11:45:00")), Some(at("11:51:00")));
    let records = [unfinished("a", "11:50:00"), unfinished("b", "12:30:00")];
    let judgement = concluded(&records, clock(None));
    assert_eq!((judgement.until, judgement.reason), (Some(at("11:51:00")), Some(Reason::Working)));
}

#[test]
fn one_that_is_due_and_was_woken_has_an_attempt() {
    let records = [unfinished("a", "11:50:00.5")];
    assert_eq!(until(&records, Some("11:50:00.6")), Some(at("12:10:00.6")));
    assert_eq!(until(&records, Some("11:50:00")), Some(at("12:10:00")), "managedFields cut the fraction");
    assert_eq!(until(&records, Some("11:49:59")), Some(at("11:51:00.5")));
    // The second one must wait for the first one's attempt, which may be running.
    let records = [unfinished("a", "11:50:00"), unfinished("b", "11:55:00")];
    assert_eq!(until(&records, Some("11:50:01")), Some(at("12:10:01")));
}

#[test]
fn one_that_stalled_between_steps_has_an_attempt_since_kopfs_newest_write() {
    assert_eq!(until(&[step(), done()], Some("11:55:00")), Some(at("12:15:00")));
    assert_eq!(until(&[step(), done()], None), Some(at("12:12:00")), "since its sibling stopped");
    let judgement = concluded(&[step(), done()], clock(None));
    assert_eq!(judgement.message, "kopf is at work on handler step");
}

#[test]
fn finished_records_and_those_of_other_causes_are_not_live() {
    let failed = record("failed", r#"{"started":"2026-03-01T10:00:00","failure":true}"#);
    assert!(conclude(&[done(), failed.clone()], &[Purpose::Unsaid], clock(None)).is_none());
    assert!(conclude(&[], &[Purpose::Unsaid], clock(None)).is_none());
    let update = record("u", r#"{"started":"2026-03-01T10:00:00","purpose":"update"}"#);
    assert!(conclude(std::slice::from_ref(&update), &[Purpose::Create], clock(None)).is_none());
    assert!(conclude(&[update], &[Purpose::Update], clock(None)).is_some());
    // One that failed for good while another one goes on does not matter.
    assert_eq!(until(&[failed, unfinished("a", "12:05:00")], None), Some(at("12:06:00")));
}

#[test]
fn records_older_than_the_desired_state_are_leftovers_once_their_time_is_over() {
    let newer = Clock { desired_at: Some(at("11:55:00")), ..clock(None) };
    assert!(conclude(&[unfinished("a", "11:50:00")], &[Purpose::Unsaid], newer).is_none());
    assert!(conclude(&[unfinished("a", "12:01:00")], &[Purpose::Unsaid], newer).is_some());
    let older = Clock { desired_at: Some(at("11:50:30")), ..clock(None) };
    assert!(conclude(&[unfinished("a", "11:50:00")], &[Purpose::Unsaid], older).is_some());
}

#[test]
fn times_that_are_none_or_beyond_all_bounds_still_lead_to_a_deadline() {
    for delayed in ["\"soon\"", "7", "[]", "\"99999999999999999999\""] {
        let json = format!(r#"{{"started":"2026-03-01T11:50:00","delayed":{delayed},"retries":1}}"#);
        assert_eq!(until(&[record("a", &json)], None), Some(at("12:10:00")), "{delayed}");
    }
    let nothing = record("a", r#"{"started":"never","retries":1}"#);
    assert_eq!(until(&[nothing], None), Some(at("09:20:00")), "since the desired state");
    let far = record("a", r#"{"started":"2026-03-01T11:50:00","delayed":"9999-12-30T22:00:00Z"}"#);
    assert_eq!(until(&[far], None), Some(Timestamp::MAX));
    let future = record("a", r#"{"started":"2999-01-01T00:00:00","retries":0}"#);
    assert_eq!(until(&[future], None), Some(at("12:20:00")), "no attempt began after now");
}
