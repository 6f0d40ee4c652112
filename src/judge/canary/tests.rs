use super::*;

const INTERVAL: Duration = Duration::from_mins(1);

fn at(second: i64) -> Tick {
    Tick::from_millis(second * 1000)
}

fn reading(value: &str, state: State, token: u64) -> Reading<'_> {
    Reading { uid: Uid::of("u"), value: Some(value), state, token }
}

fn a_canary() -> Canary {
    let mut canary = Canary::new(INTERVAL, at(0));
    canary.begin("c1");
    canary
}

/// Changes the canary and has it acknowledged two seconds later.
fn acknowledge(canary: &mut Canary, second: i64, token: u64) {
    assert_eq!(canary.due(at(second), false, false), Due::Change);
    assert!(canary.is_ready(&reading("old", State::Processed, token), at(second)));
    canary.changed("new", &reading("new", State::Pending, token), at(second));
    let looked = canary.looked(&reading("new", State::Processed, token + 1), at(second + 2));
    assert_eq!(looked, Looked::Acknowledged(Some(Duration::from_secs(2))));
}

fn a_proven_canary() -> Canary {
    let mut canary = a_canary();
    for round in 0..3 {
        acknowledge(&mut canary, round * 60, 1);
    }
    canary
}

#[test]
fn a_change_is_evidence_only_after_three_acknowledgements() {
    let mut canary = a_canary();
    for round in 0..3 {
        assert!(!canary.is_proven());
        acknowledge(&mut canary, round * 60, 1);
        canary.changed("x", &reading("x", State::Pending, 1), at(round * 60 + 10));
        assert_eq!(canary.missed().is_some(), round == 2, "{round}");
        canary.looked(&reading("x", State::Processed, 2), at(round * 60 + 10));
        canary.acks = u32::try_from(round).expect("small") + 1;
        canary.next = at((round + 1) * 60);
    }
}

#[test]
fn there_is_never_a_second_change_before_the_first_is_acknowledged() {
    let mut canary = a_proven_canary();
    canary.changed("x", &reading("x", State::Pending, 1), at(200));
    for second in 200..2000 {
        assert_ne!(canary.due(at(second), false, true), Due::Change);
    }
    assert_eq!(canary.looked(&reading("x", State::Pending, 1), at(2000)), Looked::Outstanding);
    assert_eq!((canary.missed(), canary.outstanding()), (Some(at(200)), Some(at(200))));
}

#[test]
fn nothing_is_changed_while_a_hold_is_on() {
    let canary = a_canary();
    assert_eq!(canary.due(at(500), true, false), Due::Nothing);
    assert_eq!(canary.due(at(500), false, false), Due::Change);
}

#[test]
fn a_token_that_moves_is_an_acknowledgement_also_of_an_object_that_fails() {
    let mut canary = a_canary();
    assert!(canary.is_ready(&reading("old", State::Failing, 7), at(0)));
    canary.changed("new", &reading("new", State::Pending, 7), at(0));
    let looked = canary.looked(&reading("new", State::Failing, 8), at(4));
    assert_eq!((looked, canary.acks()), (Looked::Acknowledged(Some(Duration::from_secs(4))), 1));
}

#[test]
fn a_new_container_has_proven_nothing_and_an_older_change_is_no_evidence() {
    let mut canary = a_proven_canary();
    canary.changed("x", &reading("x", State::Pending, 1), at(200));
    canary.begin("c1");
    assert!(canary.missed().is_some(), "the same container");
    canary.begin("c2");
    assert_eq!((canary.missed(), canary.acks(), canary.outstanding()), (None, 0, Some(at(200))));
    let looked = canary.looked(&reading("x", State::Processed, 2), at(900));
    assert_eq!((looked, canary.acks()), (Looked::Acknowledged(None), 0), "its first list, not the change");
}

#[test]
fn a_change_that_is_taken_back_proves_nothing_and_is_not_made_again_for_a_while() {
    let mut canary = a_proven_canary();
    canary.changed("x", &reading("x", State::Pending, 1), at(200));
    // The operator has even acknowledged it: nobody knows which of both.
    assert_eq!(canary.looked(&reading("old", State::Processed, 2), at(205)), Looked::Lost);
    assert_eq!((canary.problem(), canary.missed(), canary.acks()), (Some(Problem::Reverted), None, 0));
    assert_eq!(canary.due(at(804), false, false), Due::Nothing);
    assert_eq!(canary.due(at(805), false, false), Due::Change);
}

#[test]
fn what_the_api_server_does_not_keep_is_no_change() {
    let mut canary = a_proven_canary();
    canary.changed("x", &Reading { value: None, ..reading("", State::Processed, 1) }, at(200));
    assert_eq!((canary.problem(), canary.outstanding()), (Some(Problem::NotKept), None));
}

#[test]
fn what_could_not_be_asked_is_no_evidence_and_takes_none_away() {
    let mut canary = a_proven_canary();
    canary.failed(Problem::Unreachable, at(200));
    assert_eq!((canary.missed(), canary.acks()), (None, 3), "a change that could not be made");
    assert_eq!((canary.due(at(259), false, false), canary.due(at(260), false, false)), (Due::Nothing, Due::Change));
    canary.changed("x", &reading("x", State::Pending, 1), at(260));
    assert_eq!(canary.problem(), None);
    canary.failed(Problem::Unreachable, at(270));
    assert_eq!(canary.missed(), Some(at(260)), "a reading that failed says nothing of the change");
}

#[test]
fn an_object_that_is_not_processed_before_is_not_changed() {
    for (state, problem) in [
        (State::Pending, Problem::NotProcessed),
        (State::InProgress, Problem::NotProcessed),
        (State::Paused, Problem::LeftOut),
        (State::Unknown, Problem::Unreadable),
    ] {
        let mut canary = a_canary();
        assert!(!canary.is_ready(&reading("old", state, 1), at(0)));
        assert_eq!((canary.problem(), canary.due(at(59), false, false)), (Some(problem), Due::Nothing));
    }
}

#[test]
fn another_object_under_the_same_name_begins_anew() {
    let mut canary = a_proven_canary();
    canary.changed("x", &reading("x", State::Pending, 1), at(200));
    let other = Reading { uid: Uid::of("other"), ..reading("x", State::Processed, 9) };
    assert_eq!(canary.looked(&other, at(210)), Looked::Lost);
    assert_eq!((canary.acks(), canary.outstanding()), (0, None));
    let mut canary = a_proven_canary();
    canary.gone(at(200));
    assert_eq!((canary.acks(), canary.uid(), canary.problem()), (0, None, Some(Problem::NotFound)));
}

#[test]
fn a_change_is_looked_for_soon_where_the_own_watch_shows_no_pending_object_any_more() {
    let mut canary = a_canary();
    canary.changed("x", &reading("x", State::Pending, 1), at(0));
    assert_eq!((canary.due(at(1), false, false), canary.due(at(1), false, true)), (Due::Look, Due::Nothing));
    assert_eq!(canary.due(at(5), true, true), Due::Look, "a hold stops changes and not readings");
    canary.looked(&reading("x", State::Pending, 1), at(70));
    assert_eq!((canary.due(at(89), false, false), canary.due(at(90), false, true)), (Due::Nothing, Due::Look));
}
