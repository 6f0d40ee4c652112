use std::fmt::Write as _;

use super::*;

const NOW: &str = "2026-03-01T12:00:00Z";

fn now() -> Timestamp {
    NOW.parse().expect("a time")
}

/// A peering object: identity, priority, and how many seconds ago it was written.
fn peers(records: &[(&str, i64, i64)]) -> Peers {
    let mut status = String::new();
    for (identity, priority, ago) in records {
        let seen = now() - jiff::SignedDuration::from_secs(*ago);
        let comma = if status.is_empty() { "" } else { "," };
        let _ = write!(status, r#"{comma}"{identity}":{{"priority":{priority},"lifetime":60,"lastseen":"{seen}"}}"#);
    }
    Peers::read(format!(r#"{{"kind":"KopfPeering","status":{{{status}}}}}"#).as_bytes()).expect("a peering object")
}

fn pausing<'p>(peers: &'p Peers, name: Option<&str>) -> Option<&'p str> {
    peers.pausing(name, now()).map(|peer| peer.identity.as_str())
}

#[test]
fn a_live_peer_of_higher_or_the_same_priority_pauses() {
    for (priority, waits) in [(1, true), (0, true), (-1, false)] {
        let peers = peers(&[("op-1", 0, 10), ("other", priority, 59)]);
        assert_eq!(pausing(&peers, Some("op-1")), waits.then_some("other"), "{priority}");
    }
}

#[test]
fn an_expired_peer_pauses_nobody() {
    let peers = peers(&[("op-1", 0, 10), ("other", 666, 60)]);
    assert_eq!((pausing(&peers, Some("op-1")), peers.live(now())), (None, 1));
    assert_eq!(pausing(&peers, None), None);
}

#[test]
fn an_own_record_that_expired_still_says_our_priority() {
    let low = peers(&[("op-1", 0, 300), ("other", 1, 10)]);
    assert_eq!(pausing(&low, Some("op-1")), Some("other"));
    let high = peers(&[("op-1", 5, 300), ("other", 1, 10)]);
    assert_eq!(pausing(&high, Some("op-1")), None, "its loop may hang: the strongest sign that it does not work");
}

#[test]
fn the_operator_is_known_by_its_name_or_by_its_host() {
    for identity in ["op-1", "root@op-1/20260301115000/k3f", "root@op-1.ops.svc/20260301115000/k3f", "root@op-1"] {
        let peers = peers(&[(identity, 0, 1), ("x", 1, 1)]);
        assert_eq!(peers.own("op-1").map(|own| own.identity.as_str()), Some(identity));
    }
    for identity in ["op-10", "root@op-10/20260301115000/k3f", "op-1@elsewhere/1/x", "x@/op-1/x"] {
        assert_eq!(peers(&[(identity, 0, 1)]).own("op-1"), None, "{identity}");
    }
    assert_eq!(peers(&[("", 0, 1), ("a@", 0, 1)]).own(""), None, "an unknown name is nobody's");
}

#[test]
fn the_ghost_of_a_killed_process_pauses_its_successor_until_it_expires() {
    let records = |ago| peers(&[("root@op-1/20260301110000/old", 0, ago), ("root@op-1/20260301115950/new", 0, 5)]);
    assert_eq!(pausing(&records(30), Some("op-1")), Some("root@op-1/20260301110000/old"));
    assert_eq!(pausing(&records(60), Some("op-1")), None);
}

#[test]
fn without_a_known_record_any_live_peer_that_waits_counts() {
    let outranked = peers(&[("a", 0, 21), ("dev@laptop/20260301112950/k3f", 666, 12)]);
    assert_eq!(pausing(&outranked, None), Some("dev@laptop/20260301112950/k3f"));
    assert_eq!(pausing(&outranked, Some("unknown")), Some("dev@laptop/20260301112950/k3f"));
    let alone = peers(&[("a", 0, 21), ("b", 666, 61)]);
    assert_eq!((pausing(&alone, None), pausing(&alone, Some("unknown"))), (None, None));
}

#[test]
fn records_of_every_version_are_read_and_what_is_none_is_left_out() {
    let read = |status: &str| Peers::read(format!(r#"{{"status":{status}}}"#).as_bytes()).expect("an object");
    let old = read(r#"{"a":{"namespace":"x","priority":0,"lifetime":60.0,"lastseen":"2026-03-01T11:59:30.123456"}}"#);
    assert_eq!((old.live(now()), old.live("2026-03-01T12:00:31Z".parse().expect("a time"))), (1, 0));
    let bare = read(r#"{"a":{},"b":{"priority":1}}"#);
    assert_eq!(pausing(&bare, Some("a")), Some("b"), "kopf takes what does not say its time as just written");
    let odd = read(
        r#"{"a":null,"b":[],"c":{"priority":"x"},"d":{"lifetime":-1,"lastseen":"2026-03-01T12:00:00Z"},"e":{"lifetime":1e300}}"#,
    );
    assert_eq!(odd.live(now()), 1);
    for nothing in ["null", "{}", "[]", "3"] {
        assert_eq!(read(nothing), Peers::default());
    }
    assert_eq!(Peers::read(b"{}").expect("an object"), Peers::default());
    assert!(Peers::read(b"[").is_err() && Peers::read(b"[1]").is_err() && Peers::read(b"3").is_err());
}

#[test]
fn what_waits_is_suspended_and_what_is_unknown_stays_so() {
    let pending =
        Judgement { conditional: true, signalled: true, ..Judgement::new(State::Pending, Reason::NeverProcessed, "") };
    let judged = paused(pending, "waits");
    assert_eq!((judged.state, judged.reason, judged.conditional), (State::Paused, Some(Reason::Suspended), false));
    assert!(judged.signalled && judged.message == "waits");
    assert_eq!(paused(Judgement::new(State::Processed, None, ""), "waits").state, State::Paused);
    let unknown = Judgement::unknown(Reason::Undecodable, "broken");
    assert_eq!(paused(unknown.clone(), "waits"), unknown);
    let ignored = Judgement::new(State::Paused, Reason::Ignored, "");
    assert_eq!(paused(ignored.clone(), "waits"), ignored);
}
