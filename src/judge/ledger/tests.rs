use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::judge::state::{Signal, Since, SinceFrom};
use crate::judge::tests::quick;

pub(super) const OVERDUE_AFTER: Duration = Duration::from_mins(5);

/// A wall clock that reads 1 000 000 s when the machine booted.
pub(super) fn at(second: u64) -> Moment {
    Moment { wall: wall(second), elapsed: Duration::from_secs(second) }
}

fn wall(second: u64) -> Timestamp {
    Timestamp::from_second(1_000_000 + second.cast_signed()).unwrap()
}

pub(super) fn tick(second: u64) -> Tick {
    at(second).tick()
}

/// Pending since `second` by its own time, wanted since then.
pub(super) fn pending(second: u64) -> Judgement {
    Judgement {
        since: Some(Since::new(wall(second), SinceFrom::Creation)),
        desired_at: Some(wall(second)),
        desired: 1,
        token: 1,
        ..Judgement::new(State::Pending, Reason::ChangeNotProcessed, "")
    }
}

pub(super) fn processed(desired_at: u64, token: u64) -> Judgement {
    Judgement {
        desired_at: Some(wall(desired_at)),
        desired: 1,
        token,
        signalled: true,
        ..Judgement::new(State::Processed, None, "")
    }
}

pub(super) fn see(
    ledger: &mut Ledger,
    source: Source,
    uid: &str,
    version: u64,
    judgement: &Judgement,
    second: u64,
) -> Noted {
    let version = version.to_string();
    let identity = Identity { uid: Some(uid), resource_version: Some(&version), ..Identity::default() };
    ledger.apply(source, identity, judgement, at(second))
}

/// One complete list within one second.
pub(super) fn list(
    ledger: &mut Ledger,
    second: u64,
    version: u64,
    objects: &[(&str, u64, Judgement)],
) -> (Listed, bool) {
    ledger.begin_list(OVERDUE_AFTER, at(second));
    let acks = objects
        .iter()
        .filter(|(uid, version, judgement)| see(ledger, Source::List, uid, *version, judgement, second).ack)
        .count();
    let end = ListEnd::Complete { version: Some(&version.to_string()) };
    (ledger.end_list(end, at(second), |signal| signal.signalled > 0), acks > 0)
}

fn clock(ledger: &Ledger, uid: &str, second: u64) -> Option<Clock> {
    ledger.entries.get(&Uid::of(uid)).and_then(|entry| entry.pending_clock(tick(second)))
}

#[test]
fn only_what_is_not_processed_is_remembered() {
    let mut ledger = Ledger::new();
    let unknown = Judgement::unknown(Reason::NoSignal, "");
    let paused = Judgement::new(State::Paused, Reason::Suspended, "");
    list(&mut ledger, 10, 5, &[("a", 1, processed(1, 1)), ("b", 2, pending(2)), ("c", 3, unknown), ("d", 4, paused)]);
    assert_eq!(ledger.len(), 1);
    let states = ledger.states();
    assert_eq!(State::ALL.iter().map(|state| states.of(*state)).collect::<Vec<_>>(), [1, 1, 0, 0, 1, 1]);
    assert!(ledger.is_proven() && ledger.is_ready());
}

#[test]
fn the_earlier_of_own_time_and_first_seen_is_for_reports_and_first_seen_for_decisions() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 5, &[("a", 1, pending(20)), ("b", 2, pending(150))]);
    let old = clock(&ledger, "a", 100).unwrap();
    assert_eq!((old.first_seen, old.since()), (tick(100), tick(20)));
    let ahead = clock(&ledger, "b", 100).unwrap();
    assert_eq!((ahead.first_seen, ahead.since()), (tick(100), tick(100)), "written by a clock that is ahead");
}

#[test]
fn further_changes_reset_no_clock() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 5, &[("a", 1, pending(90))]);
    for second in 101..200 {
        let changed = Judgement { desired: second, ..pending(second) };
        assert!(!see(&mut ledger, Source::Single, "a", second, &changed, second).ack);
    }
    let clock = clock(&ledger, "a", 200).unwrap();
    assert_eq!((clock.first_seen, clock.since()), (tick(100), tick(90)));
    assert_eq!(clock.wanted_seen(), tick(199), "a newer desired state lifts excuses");
}

#[test]
fn a_moving_token_is_an_ack_and_starts_the_clock_anew() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 5, &[("a", 1, pending(90))]);
    let moved = Judgement { token: 2, ..pending(90) };
    let noted = see(&mut ledger, Source::Single, "a", 6, &moved, 160);
    assert_eq!((noted.ack, noted.pending_for), (true, Some(Duration::from_mins(1))));
    see(&mut ledger, Source::Single, "a", 7, &moved, 170);
    let clock = clock(&ledger, "a", 170).unwrap();
    assert_eq!((clock.first_seen, clock.since()), (tick(160), tick(160)), "since is the time of the ack");
    assert_eq!(ledger.last_ack(), Some(tick(160)));
}

#[test]
fn a_token_that_shows_nothing_is_no_ack_and_is_not_forgotten() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 5, &[("a", 1, pending(90))]);
    let deletion =
        Judgement { desired: 0, token: 0, ..Judgement::new(State::Pending, Reason::DeletionNotProcessed, "") };
    assert!(!see(&mut ledger, Source::Single, "a", 6, &deletion, 110).ack);
    assert!(!see(&mut ledger, Source::Single, "a", 7, &Judgement::unknown(Reason::Undecodable, ""), 120).ack);
    assert!(!see(&mut ledger, Source::Single, "a", 8, &pending(90), 130).ack);
    assert_eq!(clock(&ledger, "a", 130).unwrap().first_seen, tick(100), "what could not be read was no ack either");
}

#[test]
fn becoming_processed_is_an_ack_and_vanishing_is_none() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 5, &[("a", 1, pending(90)), ("b", 2, pending(90)), ("c", 3, pending(90))]);
    assert!(see(&mut ledger, Source::Single, "a", 6, &processed(90, 2), 110).ack);
    ledger.gone("b");
    let (listed, is_acked) = list(&mut ledger, 130, 8, &[("a", 6, processed(90, 2))]);
    assert_eq!((listed.vanished, is_acked, ledger.len()), (1, false, 0));
    assert_eq!(ledger.last_ack(), Some(tick(110)));
}

#[test]
fn a_change_that_its_author_takes_back_is_no_ack() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 5, &[("a", 1, pending(90))]);
    let noted = see(&mut ledger, Source::Single, "a", 6, &processed(120, 1), 120);
    assert_eq!(noted, Noted::default());
    assert_eq!((ledger.len(), ledger.last_ack(), ledger.served_through()), (0, None, None));
}

#[test]
fn a_finalizer_that_the_operator_removes_is_an_ack() {
    let mut ledger = Ledger::new();
    let deletion = Judgement { held: true, ..Judgement::new(State::Pending, Reason::DeletionNotProcessed, "") };
    list(&mut ledger, 100, 5, &[("a", 1, deletion)]);
    let let_go = Judgement::new(State::Processed, Reason::HeldByOthers, "");
    assert!(see(&mut ledger, Source::Single, "a", 6, &let_go, 110).ack);
    assert!(!ledger.is_proven(), "somebody else's finalizer proves nothing of the rule");
}

#[test]
fn served_through_needs_a_newer_write_by_time_and_by_version() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 50, &[("a", 1, processed(10, 1))]);
    let served = |ledger: &mut Ledger, version, desired_at| {
        see(ledger, Source::Single, "b", version, &processed(desired_at, 1), 120).ack
    };
    assert!(!served(&mut ledger, 51, 99), "wanted before the list: a status written again");
    assert!(!served(&mut ledger, 51, 100), "in the second of the list: perhaps before");
    assert!(!served(&mut ledger, 50, 110), "not written since the list: another server's clock");
    assert_eq!(ledger.served_through(), None);
    assert!(served(&mut ledger, 51, 110));
    assert_eq!(ledger.served_through(), Some(tick(100)), "the start of that list on the boot clock");
    assert!(!served(&mut ledger, 52, 111), "it moves once per list");
    list(&mut ledger, 130, 60, &[]);
    assert!(served(&mut ledger, 61, 131));
    assert_eq!(ledger.served_through(), Some(tick(130)));
}

#[test]
fn absence_is_concluded_from_complete_lists_only() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 5, &[("a", 1, pending(90)), ("b", 2, pending(90))]);
    for end in [ListEnd::Partial, ListEnd::Refused] {
        ledger.begin_list(OVERDUE_AFTER, at(130));
        see(&mut ledger, Source::List, "c", 6, &pending(120), 130);
        let listed = ledger.end_list(end, at(130), |_| true);
        assert_eq!((listed.vanished, ledger.len()), (0, 3), "what was seen counts");
    }
    assert_eq!(ledger.listed(), Some((tick(100), tick(100))));
    ledger.begin_list(OVERDUE_AFTER, at(160));
    see(&mut ledger, Source::Single, "d", 9, &pending(161), 161);
    let listed = ledger.end_list(ListEnd::Complete { version: Some("8") }, at(170), |_| true);
    assert_eq!((listed.vanished, ledger.len()), (3, 1), "the watch saw one that is younger than the list");
}

#[test]
fn a_stream_that_cannot_be_read_does_not_keep_the_others_waiting() {
    let fail = |ledger: &mut Ledger, end| {
        ledger.begin_list(OVERDUE_AFTER, at(100));
        ledger.end_list(end, at(100), |_| true);
        ledger.is_ready()
    };
    let mut refused = Ledger::new();
    assert!(!refused.is_ready() && fail(&mut refused, ListEnd::Refused));
    let mut failing = Ledger::reloaded();
    assert_eq!([0; 3].map(|_| fail(&mut failing, ListEnd::Partial)), [false, false, true]);
    assert_eq!(failing.listed(), None);
}

#[test]
fn an_object_that_could_not_be_read_for_a_while_is_believed_when_it_is_processed() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 5, &[("a", 1, Judgement { token: 0, ..pending(90) })]);
    see(&mut ledger, Source::Single, "a", 6, &Judgement::unknown(Reason::Undecodable, ""), 110);
    assert!(see(&mut ledger, Source::Single, "a", 7, &processed(90, 0), 120).ack);
}

#[test]
fn an_older_observation_says_only_that_the_object_is_there() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 5, &[("a", 4, pending(90))]);
    see(&mut ledger, Source::Single, "a", 9, &Judgement { token: 2, ..pending(90) }, 110);
    let (_, is_acked) = list(&mut ledger, 130, 8, &[("a", 4, pending(90))]);
    assert!(!is_acked && ledger.len() == 1);
    assert!(!see(&mut ledger, Source::Single, "a", 9, &Judgement { token: 2, ..pending(90) }, 140).ack);
}

#[test]
fn a_new_object_under_an_old_name_is_another_one() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 5, &[("first", 1, pending(90))]);
    let (listed, is_acked) = list(&mut ledger, 130, 7, &[("second", 6, pending(120))]);
    assert_eq!((listed.vanished, is_acked), (1, false));
    assert_eq!(clock(&ledger, "second", 130).unwrap().first_seen, tick(130));
}

#[test]
fn a_store_that_went_back_is_named_and_its_old_content_proves_nothing() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 500, &[("a", 400, pending(90)), ("b", 410, pending(90))]);
    let restored = [("a", 300, processed(50, 7)), ("b", 310, Judgement { token: 9, ..pending(90) })];
    let (listed, is_acked) = list(&mut ledger, 130, 320, &restored);
    assert_eq!((listed.regression, is_acked), (Some(Regression { from: 500, to: 320 }), false));
    let (listed, is_acked) = list(&mut ledger, 160, 321, &restored);
    assert_eq!((listed.regression, is_acked, ledger.len()), (None, false, 1));
    let (_, is_acked) = list(&mut ledger, 190, 330, &[("b", 325, processed(90, 10))]);
    assert!(is_acked, "from then on the operator is believed again");
}

fn flipping(count: usize, judgement: &Judgement) -> (Ledger, Listed) {
    let names: Vec<String> = (0..count).map(|n| format!("o{n}")).collect();
    let others: Vec<String> = (0..12).map(|n| format!("p{n}")).collect();
    let of = |names: &[String], judgement: &Judgement| -> Vec<(String, u64, Judgement)> {
        names.iter().map(|name| (name.clone(), 10, judgement.clone())).collect()
    };
    let mut ledger = Ledger::new();
    let mut before = of(&names, &processed(5, 1));
    before.extend(of(&others, &processed(5, 1)));
    let mut after = of(&names, judgement);
    after.extend(of(&others, &processed(5, 1)));
    let borrow = |objects: &[(String, u64, Judgement)], ledger: &mut Ledger, second| {
        let objects: Vec<_> = objects.iter().map(|(uid, version, it)| (uid.as_str(), *version, it.clone())).collect();
        list(ledger, second, 20, &objects).0
    };
    borrow(&before, &mut ledger, 100);
    let listed = borrow(&after, &mut ledger, 130);
    (ledger, listed)
}

#[test]
fn a_mass_that_flips_unwritten_is_distrusted_until_written() {
    let (mut ledger, listed) = flipping(12, &pending(5));
    assert_eq!((listed.mistrusted, ledger.states().of(State::Unknown)), (12, 12));
    assert!(clock(&ledger, "o1", 130).is_none());
    see(&mut ledger, Source::Single, "o1", 10, &pending(5), 140);
    assert!(clock(&ledger, "o1", 140).is_none(), "not written");
    see(&mut ledger, Source::Single, "o1", 21, &pending(150), 150);
    assert_eq!(clock(&ledger, "o1", 150).unwrap().first_seen, tick(150));
    assert!(see(&mut ledger, Source::Single, "o2", 22, &processed(150, 2), 150).ack);
}

#[test]
fn less_than_ten_or_half_is_no_mass_and_neither_are_deletions_and_stopped_progress() {
    assert_eq!(flipping(11, &pending(5)).1.mistrusted, 0, "11 of 23");
    assert_eq!(flipping(12, &pending(5)).1.mistrusted, 12, "12 of 24");
    let mut ledger = Ledger::new();
    let nine: Vec<_> = ["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(|uid| (uid, 1, processed(1, 1))).to_vec();
    list(&mut ledger, 100, 20, &nine);
    let flipped: Vec<_> = nine.iter().map(|(uid, version, _)| (*uid, *version, pending(1))).collect();
    assert_eq!(list(&mut ledger, 130, 20, &flipped).0.mistrusted, 0, "nine of nine");
    for reason in [Reason::ProgressStopped, Reason::DeletionNotProcessed] {
        let judgement = Judgement { reason: Some(reason), ..pending(5) };
        assert_eq!(flipping(12, &judgement).1.mistrusted, 0, "{reason}");
    }
}

#[test]
fn objects_that_are_written_flip_by_themselves() {
    let mut ledger = Ledger::new();
    let names: Vec<String> = (0..20).map(|n| format!("o{n}")).collect();
    let objects = |version, judgement: &Judgement| -> Vec<(&str, u64, Judgement)> {
        names.iter().map(|name| (name.as_str(), version, judgement.clone())).collect()
    };
    list(&mut ledger, 100, 20, &objects(10, &processed(5, 1)));
    assert_eq!(list(&mut ledger, 130, 50, &objects(40, &pending(120))).0.mistrusted, 0);
    assert_eq!(ledger.states().of(State::Pending), 20);
}

#[test]
fn conditional_objects_are_pending_once_the_signal_was_ever_seen() {
    let mut ledger = Ledger::new();
    let conditional = Judgement { conditional: true, token: 0, ..pending(90) };
    list(&mut ledger, 100, 5, &[("a", 1, conditional.clone())]);
    assert!(!ledger.signal_exists());
    assert_eq!((ledger.states().of(State::Unknown), ledger.states().of(State::Pending)), (1, 0));
    list(&mut ledger, 130, 7, &[("a", 1, conditional.clone()), ("b", 6, processed(110, 1))]);
    assert!(ledger.signal_exists());
    assert_eq!(clock(&ledger, "a", 130).unwrap().first_seen, tick(100), "first seen when it was first seen");
    list(&mut ledger, 160, 8, &[("a", 1, conditional)]);
    assert!(ledger.signal_exists(), "for ever");
    assert_eq!(ledger.states().of(State::Pending), 1);
}

#[test]
fn the_signal_is_judged_over_complete_lists() {
    let mut ledger = Ledger::new();
    ledger.begin_list(OVERDUE_AFTER, at(1000));
    let old = Judgement { created_at: Some(wall(10)), ..processed(10, 1) };
    see(&mut ledger, Source::List, "a", 1, &old, 1000);
    let mut shown = None;
    ledger.end_list(ListEnd::Complete { version: Some("5") }, at(1000), |signal| {
        shown = Some(*signal);
        false
    });
    assert_eq!(shown, Some(Signal { objects: 1, signalled: 1, held: 0, young: 0 }));
}

#[test]
fn progress_that_stops_is_pending_since_its_deadline() {
    let mut ledger = Ledger::new();
    let working = Judgement {
        until: Some(wall(500)),
        moved_at: Some(wall(100)),
        ..Judgement { state: State::InProgress, reason: Some(Reason::Working), ..pending(50) }
    };
    list(&mut ledger, 100, 5, &[("a", 1, working)]);
    assert_eq!(clock(&ledger, "a", 500), None);
    let by_time = clock(&ledger, "a", 501).unwrap();
    assert_eq!(by_time.first_seen, tick(500));
    let stopped = Judgement {
        since: Some(Since::new(wall(500), SinceFrom::Deadline)),
        reason: Some(Reason::ProgressStopped),
        ..pending(50)
    };
    let (_, is_acked) = list(&mut ledger, 520, 6, &[("a", 1, stopped)]);
    let by_sight = clock(&ledger, "a", 520).unwrap();
    assert_eq!((is_acked, by_sight.first_seen, by_sight.since()), (false, tick(500), tick(500)));
}

#[test]
fn while_paused_the_clock_stands_still() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 5, &[("a", 1, pending(90))]);
    let paused = Judgement { token: 1, ..Judgement::new(State::Paused, Reason::Suspended, "") };
    see(&mut ledger, Source::Single, "a", 6, &paused, 160);
    see(&mut ledger, Source::Single, "a", 7, &paused, 1000);
    assert_eq!(clock(&ledger, "a", 1000), None);
    assert!(!see(&mut ledger, Source::Single, "a", 8, &pending(90), 5000).ack);
    assert_eq!(clock(&ledger, "a", 5000).unwrap().first_seen, tick(5000 - 60));
    // A pause that ends on a processed object tells nothing either.
    see(&mut ledger, Source::Single, "a", 9, &paused, 5010);
    assert!(!see(&mut ledger, Source::Single, "a", 10, &processed(90, 1), 5020).ack);
}

#[test]
fn an_object_without_uid_is_counted_and_not_remembered() {
    let mut ledger = Ledger::new();
    ledger.begin_list(OVERDUE_AFTER, at(100));
    let noted = ledger.apply(Source::List, Identity::default(), &pending(90), at(100));
    ledger.end_list(ListEnd::Complete { version: None }, at(100), |_| true);
    assert_eq!((noted, ledger.len(), ledger.states().of(State::Pending)), (Noted::default(), 0, 1));
}

#[test]
fn the_oldest_are_kept_in_whatever_order_they_come() {
    let count = (REMEMBERED + SLACK) as u64 + 700;
    let objects: Vec<(String, Judgement)> = (0..count).map(|n| (format!("o{n}"), pending(n))).collect();
    let fill = |order: &mut dyn Iterator<Item = &(String, Judgement)>| {
        let mut ledger = Ledger::new();
        ledger.begin_list(OVERDUE_AFTER, at(90_000));
        for (uid, judgement) in order {
            see(&mut ledger, Source::List, uid, 1, judgement, 90_000);
        }
        ledger.end_list(ListEnd::Complete { version: Some("5") }, at(90_000), |_| true);
        ledger
    };
    let mut forward = fill(&mut objects.iter());
    assert_eq!((forward.len(), forward.left_out()), (REMEMBERED, count - REMEMBERED as u64));
    assert!(clock(&forward, "o0", 90_000).is_some() && clock(&forward, "o9999", 90_000).is_some());
    assert_eq!(forward.snapshot(), fill(&mut objects.iter().rev()).snapshot());

    // What was left out is new in the next list and has not flipped.
    let again: Vec<_> = objects.iter().map(|(uid, judgement)| (uid.as_str(), 1, judgement.clone())).collect();
    let (listed, _) = list(&mut forward, 90_030, 6, &again);
    assert_eq!((listed, forward.len()), (Listed::default(), REMEMBERED));
    assert_eq!(clock(&forward, "o0", 90_030).unwrap().first_seen, tick(90_000));
}

#[test]
fn a_restored_memory_goes_on_but_must_list_again() {
    let mut ledger = Ledger::new();
    list(&mut ledger, 100, 50, &[("a", 1, pending(90)), ("b", 2, processed(10, 1))]);
    let rebase = snapshot::Rebase::new(true, wall(100), tick(100), at(400));
    let mut restored = Ledger::restored(ledger.snapshot(), &rebase);
    assert!(!restored.is_ready() && restored.is_proven() && restored.signal_exists());
    assert_eq!(clock(&restored, "a", 400).unwrap().first_seen, tick(100));
    assert!(see(&mut restored, Source::Single, "c", 51, &processed(200, 1), 410).ack, "newer than the saved list");
    assert_eq!(restored.served_through(), Some(tick(100)));
}

/// An object as some list shows it.
fn sight() -> impl Strategy<Value = (u8, u64, Judgement)> {
    let state = prop::sample::select(State::ALL);
    let reason = prop::sample::select(vec![Reason::ChangeNotProcessed, Reason::DeletionNotProcessed]);
    (0_u8..30, 1_u64..6, state, reason, 0_u64..3, 0_u64..3, 0_u64..900, any::<bool>()).prop_map(
        |(uid, version, state, reason, token, desired, second, conditional)| {
            let judgement = Judgement {
                token,
                desired,
                conditional: conditional && state == State::Pending,
                until: matches!(state, State::InProgress | State::Failing).then(|| wall(second + 300)),
                signalled: token > 0,
                since: (state == State::Pending).then(|| Since::new(wall(second), SinceFrom::Creation)),
                desired_at: Some(wall(second)),
                ..Judgement::new(state, (state == State::Pending).then_some(reason), "")
            };
            (uid, version, judgement)
        },
    )
}

fn lists() -> impl Strategy<Value = Vec<Vec<(u8, u64, Judgement)>>> {
    let one = prop::collection::vec(sight(), 0..30).prop_map(|mut sights| {
        sights.sort_by_key(|(uid, ..)| *uid);
        sights.dedup_by_key(|(uid, ..)| *uid);
        sights
    });
    prop::collection::vec(one, 1..6)
}

proptest! {
    #![proptest_config(quick(200))]

    #[test]
    fn the_order_of_objects_within_a_list_does_not_matter(lists in lists(), turn in any::<prop::sample::Index>()) {
        let read = |shuffles: bool| {
            let mut ledger = Ledger::new();
            let mut all = Vec::new();
            for (number, sights) in (0_u64..).zip(&lists) {
                let mut objects: Vec<(String, u64, Judgement)> = sights
                    .iter()
                    .map(|(uid, version, judgement)| (format!("o{uid}"), number * 5 + version, judgement.clone()))
                    .collect();
                if shuffles && !objects.is_empty() {
                    let middle = turn.index(objects.len());
                    objects.rotate_left(middle);
                    objects[middle..].reverse();
                }
                let objects: Vec<_> =
                    objects.iter().map(|(uid, version, it)| (uid.as_str(), *version, it.clone())).collect();
                all.push(list(&mut ledger, 1000 + number * 30, number * 5 + 5, &objects));
            }
            (ledger.snapshot(), ledger.states(), all)
        };
        prop_assert_eq!(read(false), read(true));
    }

    #[test]
    fn a_snapshot_survives_the_file(lists in lists()) {
        let mut ledger = Ledger::new();
        for (number, sights) in (0_u64..).zip(&lists) {
            let objects: Vec<(String, u64, Judgement)> =
                sights.iter().map(|(uid, version, it)| (format!("o{uid}"), number * 5 + version, it.clone())).collect();
            let objects: Vec<_> = objects.iter().map(|(uid, version, it)| (uid.as_str(), *version, it.clone())).collect();
            list(&mut ledger, 1000 + number * 30, number * 5 + 5, &objects);
        }
        let saved = ledger.snapshot();
        let read: snapshot::LedgerSnapshot = serde_json::from_slice(&serde_json::to_vec(&saved).unwrap()).unwrap();
        let rebase = snapshot::Rebase::new(true, wall(2000), tick(2000), at(2000));
        prop_assert_eq!(Ledger::restored(read, &rebase).snapshot(), saved);
    }
}

#[test]
fn an_object_is_nudged_once_for_what_is_wanted_and_the_state_file_remembers_it() {
    let mut ledger = Ledger::new();
    let (a, due) = (Uid::of("a"), 100 + OVERDUE_AFTER.as_secs() + 1);
    let deletion = Judgement { reason: Some(Reason::DeletionNotProcessed), held: true, ..pending(90) };
    let wanted = |desired| Judgement { desired, ..pending(90) };
    list(&mut ledger, 100, 5, &[("a", 1, wanted(7)), ("d", 2, deletion)]);
    assert!(!ledger.may_nudge(a, OVERDUE_AFTER, tick(due - 1)), "not overdue on first seen");
    assert!(ledger.may_nudge(a, OVERDUE_AFTER, tick(due)));
    assert!(!ledger.may_nudge(Uid::of("d"), OVERDUE_AFTER, tick(due)), "a deletion");
    assert!(!ledger.may_nudge(Uid::of("x"), OVERDUE_AFTER, tick(due)), "not known");
    ledger.nudged(a);
    let kept = serde_json::to_string(&ledger.snapshot()).expect("JSON");
    let now = at(due);
    let mut again = Ledger::restored(
        serde_json::from_str(&kept).expect("readable"),
        &snapshot::Rebase::new(true, now.wall, now.tick(), now),
    );
    assert!(!again.may_nudge(a, OVERDUE_AFTER, tick(due)), "nothing was listed yet");
    for ledger in [&mut ledger, &mut again] {
        list(ledger, due, 9, &[("a", 6, wanted(7))]);
        assert!(!ledger.may_nudge(a, OVERDUE_AFTER, tick(due)), "a nudge is nothing new that is wanted");
        list(ledger, due + 1, 9, &[("a", 8, wanted(8))]);
        assert!(ledger.may_nudge(a, OVERDUE_AFTER, tick(due + 1)), "a change is");
    }
}
