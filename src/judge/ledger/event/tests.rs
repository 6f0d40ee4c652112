//! Observations out of order.

use super::super::tests::{OVERDUE_AFTER, at, list, pending, processed, see, tick};
use super::super::*;

/// An event of the own watch.
fn hear(ledger: &mut Ledger, uid: &str, version: u64, judgement: &Judgement, second: u64) -> Noted {
    see(ledger, Source::Watch, uid, version, judgement, second)
}

fn deleted(ledger: &mut Ledger, uid: &str, version: u64) {
    let version = version.to_string();
    ledger.deleted(Identity { uid: Some(uid), resource_version: Some(&version), ..Identity::default() });
}

#[test]
fn an_event_is_first_seen_and_acknowledgement_like_any_observation() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 10, &[]);
    assert!(!hear(&mut ledger, "a", 11, &pending(105), 106).ack);
    assert_eq!((ledger.len(), ledger.event_seen(tick(110))), (1, Some(tick(106))));
    let noted = hear(&mut ledger, "a", 12, &processed(105, 2), 109);
    assert_eq!((noted.ack, noted.pending_for), (true, Some(Duration::from_secs(3))));
    assert_eq!((ledger.len(), ledger.last_ack(), ledger.event_seen(tick(110))), (0, Some(tick(109)), None));
}

#[test]
fn an_event_that_is_older_than_the_newest_list_says_nothing() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 10, &[("a", 9, processed(50, 1))]);
    hear(&mut ledger, "a", 8, &pending(40), 105);
    assert!(ledger.is_empty(), "the list has shown it served");
    let (_, acked) = list(&mut ledger, 130, 10, &[("a", 9, processed(50, 1))]);
    assert!(!acked && ledger.last_ack().is_none());
}

#[test]
fn an_event_that_is_older_than_what_is_known_of_the_object_changes_nothing() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 10, &[]);
    see(&mut ledger, Source::Single, "a", 15, &pending(105), 106);
    assert!(!hear(&mut ledger, "a", 12, &processed(101, 2), 107).ack);
    assert_eq!((ledger.len(), ledger.last_ack(), ledger.event_seen(tick(110))), (1, None, None));
    deleted(&mut ledger, "a", 11);
    assert_eq!(ledger.len(), 1, "it had left the selector before it came back");
    deleted(&mut ledger, "a", 16);
    assert!(ledger.is_empty());
}

#[test]
fn what_an_event_or_a_get_has_settled_does_not_come_back_by_an_older_observation() {
    for source in [Source::Single, Source::Watch] {
        for late in [Source::List, Source::Watch] {
            let mut ledger = Ledger::new();
            list(&mut ledger, 100, 10, &[("a", 9, pending(90))]);
            ledger.begin_list(OVERDUE_AFTER, at(130));
            assert!(see(&mut ledger, source, "a", 20, &processed(90, 2), 131).ack);
            assert!(!see(&mut ledger, late, "a", 15, &pending(90), 132).ack);
            assert!(ledger.is_empty(), "{source:?} {late:?}");
            ledger.end_list(ListEnd::Complete { version: Some("18") }, at(133), |_| true);
            let (_, acked) = list(&mut ledger, 160, 30, &[("a", 20, processed(90, 2))]);
            assert!(!acked, "one acknowledgement is not two");
            assert_eq!(ledger.last_ack(), Some(tick(131)));
        }
    }
}

#[test]
fn what_was_deleted_during_a_list_does_not_come_back_by_it() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 10, &[("a", 9, pending(90))]);
    ledger.begin_list(OVERDUE_AFTER, at(130));
    deleted(&mut ledger, "a", 20);
    see(&mut ledger, Source::List, "a", 9, &pending(90), 131);
    ledger.end_list(ListEnd::Complete { version: Some("18") }, at(132), |_| true);
    assert!(ledger.is_empty() && ledger.last_ack().is_none());
}

#[test]
fn a_list_that_is_behind_an_event_does_not_conclude_absence_twice() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 10, &[]);
    hear(&mut ledger, "a", 20, &pending(105), 106);
    assert_eq!(list(&mut ledger, 130, 15, &[]).0.vanished, 0, "the list is older than the object");
    assert_eq!(list(&mut ledger, 160, 16, &[]).0.vanished, 1, "and once more it is no object of this list");
}

#[test]
fn the_oldest_unserved_change_that_an_event_showed_counts() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 10, &[("listed", 9, pending(90))]);
    assert_eq!(ledger.event_seen(tick(101)), None, "no event showed it");
    hear(&mut ledger, "a", 11, &pending(105), 106);
    hear(&mut ledger, "a", 12, &Judgement { desired: 2, ..pending(108) }, 109);
    hear(&mut ledger, "b", 13, &pending(110), 111);
    assert_eq!(ledger.event_seen(tick(120)), Some(tick(106)));
    hear(&mut ledger, "a", 14, &Judgement { token: 2, ..pending(112) }, 113);
    assert_eq!(ledger.event_seen(tick(120)), Some(tick(111)), "acknowledged, though still pending");
    hear(&mut ledger, "b", 15, &processed(110, 2), 114);
    assert_eq!(ledger.event_seen(tick(120)), Some(tick(113)));
}

#[test]
fn what_events_push_out_is_not_known_to_be_served() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 10, &[]);
    for index in 0..=(REMEMBERED + SLACK) as u64 {
        hear(&mut ledger, &format!("o{index}"), 11 + index, &pending(101), 102);
    }
    assert!(ledger.len() <= REMEMBERED + SLACK && ledger.left_out() > 0);
}
