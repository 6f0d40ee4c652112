use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::judge::connection::Reception;
use crate::judge::ledger::{ListEnd, Source};
use crate::judge::object::Identity;
use crate::judge::state::{Judgement, Reason, Since, SinceFrom, State};
use crate::judge::tests::quick;

const START: u64 = 10_000;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn wall(second: u64) -> Timestamp {
    Timestamp::from_second(1_000_000 + second.cast_signed()).unwrap()
}

fn at(second: u64) -> Moment {
    Moment { wall: wall(second), elapsed: seconds(second) }
}

fn tick(second: u64) -> Tick {
    at(second).tick()
}

/// A stream whose lists stay fresh for long.
fn a_stream() -> Stream {
    let settings = Settings {
        overdue_after: seconds(300),
        asleep_after: seconds(900),
        max_attempt: seconds(600),
        own_cure: seconds(70),
        min_overdue: 1,
        interval: seconds(100_000),
        restart: true,
        require_proof: true,
    };
    Stream::new("widgets.example.com", settings)
}

/// Nothing holds, and the container runs since long before [`START`].
fn around() -> Surroundings<'static> {
    Surroundings {
        holds: &[],
        held_until: None,
        started: tick(START - 5000),
        grace: seconds(180),
        reception: Reception::default(),
    }
}

fn pending(second: u64) -> Judgement {
    Judgement {
        since: Some(Since::new(wall(second), SinceFrom::Creation)),
        desired_at: Some(wall(second)),
        desired: second,
        token: 1,
        ..Judgement::new(State::Pending, Reason::ChangeNotProcessed, "")
    }
}

fn processed(desired_at: u64, token: u64) -> Judgement {
    Judgement { token, desired_at: Some(wall(desired_at)), ..Judgement::new(State::Processed, None, "") }
}

fn see(stream: &mut Stream, source: Source, uid: &str, version: u64, judgement: &Judgement, second: u64) {
    let version = version.to_string();
    let identity = Identity { uid: Some(uid), resource_version: Some(&version), ..Identity::default() };
    stream.ledger.apply(source, identity, judgement, at(second));
}

/// A complete list; the version of an object is the second of the list.
fn list(stream: &mut Stream, second: u64, objects: &[(&str, Judgement)]) {
    stream.ledger.begin_list(stream.settings.overdue_after, at(second));
    for (uid, judgement) in objects {
        see(stream, Source::List, uid, second, judgement, second);
    }
    stream.ledger.end_list(ListEnd::Complete { version: Some(&second.to_string()) }, at(second), |_| true);
}

fn diagnose(stream: &mut Stream, second: u64) -> Explanation {
    stream.diagnose(at(second), &around())
}

fn excuses(stream: &mut Stream, second: u64) -> Vec<(Excuse, u64)> {
    diagnose(stream, second).excused
}

#[test]
fn a_pending_object_becomes_overdue_and_then_the_stream_asleep_at_the_announced_moments() {
    let mut stream = a_stream();
    list(&mut stream, START, &[("a", pending(START))]);
    let first = diagnose(&mut stream, START);
    let overdue_at = Tick::from_millis((START + 300).cast_signed() * 1000 + 1);
    assert_eq!((first.diagnosis, first.pending, first.overdue, first.candidates), (Diagnosis::Healthy, 1, 0, 0));
    assert_eq!(first.changes_at, Some(overdue_at), "longer than overdueAfter");

    let exactly = diagnose(&mut stream, START + 300);
    assert_eq!((exactly.diagnosis, exactly.candidates), (Diagnosis::Healthy, 0));
    let next = stream.diagnose(Moment { elapsed: overdue_at.elapsed(), ..at(START + 300) }, &around());
    assert_eq!((next.diagnosis, next.overdue, next.candidates), (Diagnosis::Partial, 1, 1));
    assert_eq!((next.silent_since, next.changes_at), (Some(tick(START)), Some(tick(START + 900))));

    assert_eq!(diagnose(&mut stream, START + 899).diagnosis, Diagnosis::Partial);
    assert_eq!(diagnose(&mut stream, START + 900).diagnosis, Diagnosis::Asleep);
    let after = diagnose(&mut stream, START + 901);
    assert_eq!((after.diagnosis, after.oldest, after.is_proven), (Diagnosis::Asleep, vec![Uid::of("a")], false));
}

#[test]
fn own_time_makes_overdue_and_first_seen_makes_candidates() {
    let mut stream = a_stream();
    list(&mut stream, START, &[("a", pending(START - 1000))]);
    let explanation = diagnose(&mut stream, START);
    assert_eq!((explanation.diagnosis, explanation.overdue), (Diagnosis::Partial, 1));
    assert_eq!((explanation.candidates, explanation.oldest_pending), (0, Some(tick(START - 1000))));
}

#[test]
fn pending_since_before_the_container_is_excused_until_wanted_anew() {
    let mut stream = a_stream();
    list(&mut stream, START, &[("a", pending(START - 6000))]);
    assert_eq!(excuses(&mut stream, START + 400), [(Excuse::BeforeStart, 1)]);
    // A nudge is a write like any other: the desired state stays what it was.
    see(&mut stream, Source::Single, "a", START + 410, &pending(START - 6000), START + 410);
    assert_eq!(excuses(&mut stream, START + 420), [(Excuse::BeforeStart, 1)]);
    see(&mut stream, Source::Single, "a", START + 430, &pending(START + 430), START + 430);
    let lifted = diagnose(&mut stream, START + 440);
    assert_eq!((lifted.excused, lifted.candidates), (vec![], 1), "overdue on first seen already");
}

#[test]
fn a_newer_desired_state_that_the_container_listed_at_its_start_stays_excused() {
    let mut stream = a_stream();
    list(&mut stream, START, &[("a", pending(START - 6000))]);
    let started = Surroundings { started: tick(START + 1000), ..around() };
    // Written before the container's start, seen after it.
    see(&mut stream, Source::Single, "a", START + 1010, &pending(START + 995), START + 1010);
    let explanation = stream.diagnose(at(START + 2000), &started);
    assert_eq!(explanation.excused, [(Excuse::BeforeStart, 1)]);
}

#[test]
fn an_ack_lifts_the_excuse_of_the_start() {
    let mut stream = a_stream();
    list(&mut stream, START, &[("a", pending(START - 6000))]);
    let moved = Judgement { token: 2, ..pending(START - 6000) };
    see(&mut stream, Source::Single, "a", START + 10, &moved, START + 10);
    let explanation = diagnose(&mut stream, START + 400);
    assert_eq!((explanation.excused, explanation.candidates), (vec![], 1));
    assert_eq!(explanation.silent_since, Some(tick(START + 10)));
}

#[test]
fn passed_over_is_excused_until_wanted_anew() {
    let mut stream = a_stream();
    list(&mut stream, START, &[("a", pending(START))]);
    list(&mut stream, START + 300, &[("a", pending(START))]);
    see(&mut stream, Source::Single, "b", START + 310, &processed(START + 305, 1), START + 310);
    assert_eq!(excuses(&mut stream, START + 320), [], "served-through is not later than first-seen + overdueAfter");
    list(&mut stream, START + 330, &[("a", pending(START))]);
    see(&mut stream, Source::Single, "c", START + 340, &processed(START + 335, 1), START + 340);
    assert_eq!(excuses(&mut stream, START + 350), [(Excuse::PassedOver, 1)]);
    see(&mut stream, Source::Single, "a", START + 360, &pending(START + 360), START + 360);
    assert_eq!(diagnose(&mut stream, START + 370).candidates, 1);
}

#[test]
fn a_deletion_is_excused_unless_the_operator_holds_it_and_ignored_is_always() {
    let deletion = |held| Judgement { held, ..Judgement::new(State::Pending, Reason::DeletionNotProcessed, "") };
    let ignored = Judgement { excuse: Some(Excuse::Ignored), ..deletion(true) };
    let mut stream = a_stream();
    list(&mut stream, START, &[("a", deletion(false)), ("b", deletion(true)), ("c", ignored)]);
    let explanation = diagnose(&mut stream, START + 1000);
    assert_eq!((explanation.overdue, explanation.candidates), (3, 1));
    assert_eq!(explanation.excused, [(Excuse::Ignored, 1), (Excuse::HolderUnknown, 1)]);
    assert_eq!(explanation.oldest, [Uid::of("b")]);
}

#[test]
fn fruitless_restarts_and_min_overdue_ask_for_more_candidates() {
    let mut stream = a_stream();
    let objects: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(|uid| (uid, pending(START))).to_vec();
    list(&mut stream, START, &objects);
    stream.settings.min_overdue = 3;
    stream.set_fruitless(1);
    assert_eq!(diagnose(&mut stream, START + 1000).diagnosis, Diagnosis::Asleep);
    stream.set_fruitless(2);
    let explanation = diagnose(&mut stream, START + 1000);
    assert_eq!((explanation.diagnosis, explanation.enough, explanation.candidates), (Diagnosis::Partial, 12, 6));
    assert_eq!(explanation.changes_at.map(Tick::elapsed), Some(seconds(START + 300_000)), "only freshness");
    assert_eq!((enough(0, 0), enough(1, 200), enough(u64::MAX, 3)), (1, u64::MAX, u64::MAX));
}

#[test]
fn max_attempt_is_a_floor_and_the_longest_service_is_one_up_to_four_times() {
    let mut stream = a_stream();
    stream.settings.max_attempt = seconds(2000);
    assert_eq!(diagnose(&mut stream, START).asleep_after, seconds(2000));
    stream.settings.max_attempt = seconds(600);
    list(&mut stream, START, &[]);
    diagnose(&mut stream, START);
    for (served_in, floor) in [(400, 900), (700, 1400), (5000, 3600)] {
        let mut stream = stream.clone();
        see(&mut stream, Source::Single, "a", START + 1, &pending(START + 1), START + 1);
        see(&mut stream, Source::Single, "a", START + 2, &processed(START + 1, 2), START + 1 + served_in);
        let explanation = diagnose(&mut stream, START + 1 + served_in);
        assert_eq!(explanation.asleep_after, seconds(floor), "served in {served_in}");
        let a_day_later = diagnose(&mut stream, START + 1 + served_in + 24 * 3600);
        assert_eq!(a_day_later.asleep_after, seconds(900));
    }
}

#[test]
fn a_service_across_a_hold_or_a_start_is_no_measure() {
    for disturbed in [
        Surroundings { holds: &[Hold::GateClosed], held_until: Some(tick(START + 100)), ..around() },
        Surroundings { started: tick(START + 50), ..around() },
    ] {
        let mut stream = a_stream();
        list(&mut stream, START, &[]);
        diagnose(&mut stream, START);
        see(&mut stream, Source::Single, "a", START + 1, &pending(START + 1), START + 1);
        stream.diagnose(at(START + 100), &disturbed);
        if disturbed.holds.is_empty() {
            stream.diagnose(at(START + 800), &disturbed);
        }
        see(&mut stream, Source::Single, "a", START + 2, &processed(START + 1, 2), START + 900);
        assert_eq!(diagnose(&mut stream, START + 900).asleep_after, seconds(900));
    }
}

/// A stream of which the object `a` was created at [`START`] and listed ten seconds later.
fn with_a_change() -> Stream {
    let mut stream = a_stream();
    list(&mut stream, START - 20, &[]);
    list(&mut stream, START + 10, &[("a", pending(START))]);
    stream
}

fn quiet(since: u64) -> Surroundings<'static> {
    Surroundings { reception: Reception::quiet(tick(since)), ..around() }
}

#[test]
fn a_silent_connection_shortens_and_switches_floors_off() {
    let mut stream = with_a_change();
    stream.settings.max_attempt = seconds(5000);
    let silent = stream.diagnose(at(START + 400), &quiet(START - 60));
    assert!(stream.evidence.silent_connection);
    assert_eq!(silent.asleep_after, seconds(300), "overdueAfter, above 70 s + 60 s");
    stream.settings.own_cure = seconds(600);
    assert_eq!(stream.diagnose(at(START + 400), &quiet(START - 60)).asleep_after, seconds(660));
    stream.settings = Settings { asleep_after: seconds(200), max_attempt: seconds(200), ..stream.settings };
    let silent = stream.diagnose(at(START + 400), &quiet(START - 60));
    assert_eq!(silent.asleep_after, seconds(200), "evidence for a restart never makes one wait");
}

#[test]
fn asleep_comes_sooner_with_a_silent_connection_and_never_without_a_candidate() {
    let asleep_at = |around: &Surroundings<'_>| {
        let mut stream = with_a_change();
        (START + 11..START + 2000).find(|second| stream.diagnose(at(*second), around).diagnosis == Diagnosis::Asleep)
    };
    assert_eq!(asleep_at(&quiet(START - 60)), Some(START + 311), "once it is a candidate");
    assert_eq!(asleep_at(&around()), Some(START + 910));
    let mut idle = a_stream();
    list(&mut idle, START, &[]);
    for second in [START + 1, START + 900, START + 2000] {
        assert_eq!(idle.diagnose(at(second), &quiet(START - 60)).diagnosis, Diagnosis::Healthy, "quiet is not deaf");
        assert!(!idle.evidence.silent_connection);
    }
}

#[test]
fn only_silence_since_before_every_change_that_waits_is_evidence() {
    let is_evidence = |stream: &mut Stream, quiet_since: u64| {
        stream.diagnose(at(START + 500), &quiet(quiet_since));
        stream.evidence.silent_connection
    };
    let mut stream = with_a_change();
    assert!(is_evidence(&mut stream, START - 5));
    assert!(!is_evidence(&mut stream, START - 4), "too near: it may have been the event itself");
    assert!(!is_evidence(&mut stream, START + 5), "between the event and the list that showed it");
    assert!(!is_evidence(&mut stream, START + 400), "long after it");
    list(&mut stream, START + 40, &[("a", pending(START)), ("b", pending(START + 30))]);
    assert!(!is_evidence(&mut stream, START + 10), "the newer one was missed, the older one was not");
    assert!(is_evidence(&mut stream, START - 5));
}

#[test]
fn what_no_event_began_is_no_evidence() {
    let is_evidence = |judgement: Judgement| {
        let mut stream = a_stream();
        list(&mut stream, START - 20, &[]);
        list(&mut stream, START + 10, &[("a", judgement)]);
        stream.diagnose(at(START + 500), &quiet(START - 600));
        stream.evidence.silent_connection
    };
    assert!(is_evidence(pending(START)));
    let stopped = Judgement { reason: Some(Reason::ProgressStopped), ..pending(START) };
    assert!(!is_evidence(stopped), "the work that stopped was begun by an event that did arrive");
    let working = Judgement {
        until: Some(wall(START + 60)),
        moved_at: Some(wall(START)),
        ..Judgement::new(State::InProgress, Reason::Working, "")
    };
    assert!(!is_evidence(working));
    let mut acked = with_a_change();
    see(&mut acked, Source::Single, "a", START + 11, &Judgement { token: 2, ..pending(START) }, START + 50);
    acked.diagnose(at(START + 900), &quiet(START - 600));
    assert!(!acked.evidence.silent_connection, "it was heard of: the operator acknowledged something of it");
}

#[test]
fn a_change_that_lies_before_the_first_look_at_sockets_is_no_evidence() {
    let mut stream = with_a_change();
    stream.diagnose(at(START + 500), &quiet(START + 1));
    assert!(!stream.evidence.silent_connection);
}

#[test]
fn a_missed_canary_counts_as_two_candidates_once_it_is_overdue() {
    let mut stream = a_stream();
    list(&mut stream, START, &[]);
    stream.evidence.canary_missed = Some(tick(START + 10));
    stream.settings.min_overdue = 2;
    assert_eq!(diagnose(&mut stream, START + 310).candidates, 0);
    let missed = diagnose(&mut stream, START + 311);
    assert_eq!((missed.candidates, missed.silent_since), (2, Some(tick(START + 10))));
    assert_eq!(diagnose(&mut stream, START + 910).diagnosis, Diagnosis::Asleep);
}

#[test]
fn the_canary_is_no_ordinary_candidate_and_is_not_counted_twice() {
    let mut stream = a_stream();
    list(&mut stream, START, &[]);
    list(&mut stream, START + 10, &[("a", pending(START + 10)), ("b", pending(START + 10))]);
    stream.evidence.canary = Some(Uid::of("a"));
    let unproven = diagnose(&mut stream, START + 400);
    assert_eq!((unproven.candidates, unproven.excused), (1, vec![(Excuse::Canary, 1)]));
    assert_eq!((unproven.pending, unproven.overdue), (2, 2), "people see it as any other");
    stream.evidence.canary_missed = Some(tick(START + 10));
    let missed = diagnose(&mut stream, START + 400);
    assert_eq!((missed.candidates, missed.excused), (3, vec![]), "one for b, two for the canary");
    assert!(missed.oldest.contains(&Uid::of("a")), "it is read again before a restart");
}

#[test]
fn grace_holds_and_lasts_longer_while_a_receiving_operator_has_acknowledged_nothing() {
    let mut stream = a_stream();
    list(&mut stream, START, &[("a", pending(START))]);
    let young = Surroundings { started: tick(START - 10), ..around() };
    let explanation = stream.diagnose(at(START + 169), &young);
    assert_eq!((explanation.holds, explanation.changes_at), (vec![Hold::Grace], Some(tick(START + 170))));
    assert_eq!(stream.diagnose(at(START + 170), &young).holds, []);
    let receiving = Surroundings { reception: Reception::receiving(tick(START - 5)), ..young };
    let late = Surroundings { reception: Reception::receiving(tick(START + 171)), ..young };
    assert_eq!(stream.diagnose(at(START + 171), &late).holds, [], "it paused when grace ended");
    assert_eq!(stream.diagnose(at(START + 889), &receiving).holds, [Hold::Grace]);
    assert_eq!(stream.diagnose(at(START + 890), &receiving).holds, []);
    // Silence counts from the end of the hold.
    assert_eq!(stream.diagnose(at(START + 901), &young).silent_since, Some(tick(START + 890)));
    see(&mut stream, Source::Single, "a", START + 1, &Judgement { token: 2, ..pending(START) }, START + 300);
    assert_eq!(stream.diagnose(at(START + 310), &receiving).holds, [], "it has acknowledged");
}

#[test]
fn a_hold_of_the_operator_stops_silence_and_its_end_restarts_it() {
    let mut stream = a_stream();
    list(&mut stream, START, &[("a", pending(START))]);
    let held = Surroundings { holds: &[Hold::Paused], held_until: Some(tick(START + 1000)), ..around() };
    let explanation = stream.diagnose(at(START + 1000), &held);
    assert_eq!((explanation.diagnosis, explanation.silent_since), (Diagnosis::Partial, None));
    let ended = Surroundings { held_until: Some(tick(START + 1010)), ..around() };
    assert_eq!(stream.diagnose(at(START + 1909), &ended).diagnosis, Diagnosis::Partial);
    assert_eq!(stream.diagnose(at(START + 1910), &ended).diagnosis, Diagnosis::Asleep);
}

#[test]
fn what_was_not_listed_or_cannot_be_judged_is_unknown() {
    let mut stream = a_stream();
    assert_eq!(diagnose(&mut stream, START).diagnosis, Diagnosis::Unknown);
    assert_eq!(diagnose(&mut stream, START).holds, [Hold::ListNotFresh]);
    list(&mut stream, START, &[]);
    assert_eq!(diagnose(&mut stream, START).diagnosis, Diagnosis::Healthy, "no objects, no work");
    list(&mut stream, START + 1, &[("a", Judgement::unknown(Reason::NoSignal, ""))]);
    assert_eq!(diagnose(&mut stream, START + 1).diagnosis, Diagnosis::Unknown);
    list(&mut stream, START + 2, &[("a", Judgement::unknown(Reason::NoSignal, "")), ("b", processed(1, 1))]);
    assert_eq!(diagnose(&mut stream, START + 2).diagnosis, Diagnosis::Healthy);
    stream.ledger = Ledger::reloaded();
    let explanation = diagnose(&mut stream, START + 3);
    assert_eq!((explanation.diagnosis, explanation.holds), (Diagnosis::Unknown, vec![Hold::Reloaded]));
}

#[test]
fn server_stale_is_not_asleep() {
    let mut stream = a_stream();
    list(&mut stream, START, &[("a", pending(START))]);
    stream.evidence.server_stale = true;
    assert_eq!(diagnose(&mut stream, START + 1000).diagnosis, Diagnosis::ServerStale);
}

#[test]
fn work_in_flight_ends_with_its_attempt_or_its_deadline() {
    let working = |until, moved| Judgement {
        until: Some(wall(until)),
        moved_at: Some(wall(moved)),
        ..Judgement::new(State::InProgress, Reason::Working, "")
    };
    let mut stream = a_stream();
    list(&mut stream, START, &[("a", working(START + 5000, START)), ("b", working(START + 50, START - 10))]);
    assert_eq!(diagnose(&mut stream, START + 599).in_flight_until, Some(tick(START + 600)));
    assert_eq!(diagnose(&mut stream, START + 600).in_flight_until, None);
}

#[test]
fn the_oldest_twenty_candidates_come_oldest_first() {
    let mut stream = a_stream();
    let names: Vec<String> = (0..30).map(|n| format!("o{n}")).collect();
    for (age, name) in (0_u64..).zip(names.iter().rev()) {
        see(&mut stream, Source::Single, name, 1, &pending(START + age), START + age);
    }
    let oldest = diagnose(&mut stream, START + 1000).oldest;
    let wanted: Vec<Uid> = names.iter().rev().take(20).map(|name| Uid::of(name)).collect();
    assert_eq!(oldest, wanted);
    let offenders = diagnose(&mut stream, START + 1000).offenders;
    assert_eq!((offenders.len(), offenders[0]), (30, (Uid::of("o29"), tick(START))));
}

/// What can be seen to change.
fn outside(explanation: &Explanation) -> impl PartialEq + std::fmt::Debug + use<> {
    let Explanation { diagnosis, overdue, candidates, pending, excused, holds, asleep_after, .. } = explanation.clone();
    (diagnosis, overdue, candidates, pending, excused, holds, asleep_after, explanation.in_flight_until)
}

proptest! {
    #![proptest_config(quick(150))]

    #[test]
    fn nothing_changes_before_the_announced_moment(
        objects in prop::collection::vec((0_u64..2000, 0_u64..3, any::<bool>(), 0_u64..2000), 0..8),
        interval in 200_u64..2000,
        started in 0_u64..2000,
        connections in 0_u8..3,
        second in 0_u64..3000,
        part in 0.0_f64..1.0,
    ) {
        let mut stream = a_stream();
        stream.settings.interval = seconds(interval);
        let objects: Vec<(String, Judgement)> = objects
            .into_iter()
            .enumerate()
            .map(|(n, (own, kind, held, until))| {
                let judgement = match kind {
                    0 => pending(START - own),
                    1 => Judgement {
                        until: Some(wall(START + until)),
                        moved_at: Some(wall(START - own)),
                        ..Judgement::new(State::InProgress, Reason::Working, "")
                    },
                    _ => Judgement { held, ..Judgement::new(State::Pending, Reason::DeletionNotProcessed, "") },
                };
                (format!("o{n}"), judgement)
            })
            .collect();
        let objects: Vec<_> = objects.iter().map(|(uid, it)| (uid.as_str(), it.clone())).collect();
        list(&mut stream, START, &objects);
        let reception = match connections {
            0 => Reception::default(),
            1 => Reception::receiving(tick(START - started)),
            _ => Reception::quiet(tick(START - 1000)),
        };
        let around = Surroundings { started: tick(START - started), reception, ..around() };
        let now = stream.diagnose(at(START + second), &around);
        let Some(changes_at) = now.changes_at else { return Ok(()) };
        let rest = changes_at.since(tick(START + second)).as_millis();
        prop_assert!(rest > 0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let part = ((rest - 1) as f64 * part) as u64;
        let then = Moment { elapsed: seconds(START + second) + Duration::from_millis(part), ..at(START) };
        prop_assert_eq!(outside(&stream.clone().diagnose(then, &around)), outside(&now));
        let last = Moment { elapsed: changes_at.before(Duration::from_millis(1)).elapsed(), ..at(START) };
        prop_assert_eq!(outside(&stream.clone().diagnose(last, &around)), outside(&now));
    }
}
