use jiff::Timestamp;

use super::*;
use crate::judge::state::StatusWrite;

const ATTEMPT: Duration = Duration::from_mins(15);

fn at(minute: u64) -> Moment {
    let wall = Timestamp::from_second(1_000_000 + minute.cast_signed() * 60).unwrap();
    Moment { wall, elapsed: Duration::from_mins(minute) }
}

/// Behind since `since`, with a status written a minute later.
fn behind(since: u64, has_failed: bool) -> Behind {
    let changed = at(since).wall.as_millisecond();
    Behind { since: at(since).tick(), changed, written: Some(at(since + 1).tick()), has_failed }
}

/// Changes seen and acknowledged at these minutes.
fn after(episodes: &[(u64, u64)], has_failed: bool, is_undisturbed: bool) -> Habits {
    let mut habits = Habits::default();
    for (since, until) in episodes {
        habits.acknowledged(behind(*since, has_failed), is_undisturbed, at(*until).tick());
    }
    habits
}

fn words(habits: &Habits) -> Vec<(Habit, u32)> {
    habits.learnt().map(|learnt| (learnt.habit, learnt.proofs)).collect()
}

const APART: [(u64, u64); 3] = [(0, 10), (20, 45), (50, 60)];

/// Behind, with a status written at `written`.
fn pending(written: u64, reports_failure: bool) -> Judgement {
    Judgement {
        desired_at: Some(at(100).wall),
        status_write: Some(StatusWrite { at: at(written).wall, reports_failure, attempt: ATTEMPT }),
        ..Judgement::new(State::Pending, Reason::ChangeNotProcessed, "behind")
    }
}

fn read(habits: &Habits, behind: Behind, now: u64) -> (State, Option<Reason>) {
    let judgement = pending(101, false);
    let read = habits.read(&judgement, Some(behind), at(now));
    (read.state, read.reason)
}

#[test]
fn three_acknowledgements_one_after_the_other_teach() {
    assert_eq!(words(&after(&APART, false, true)), [(Habit::AtEnd, 3)]);
    assert_eq!(words(&after(&APART, true, true)), [(Habit::OnSuccess, 3)]);
    assert_eq!(words(&after(&APART[..2], false, true)), []);
}

#[test]
fn what_a_restart_or_a_hold_lies_in_teaches_nothing() {
    assert_eq!(words(&after(&APART, false, false)), []);
}

#[test]
fn acknowledgements_of_changes_that_waited_together_are_one_proof() {
    assert_eq!(words(&after(&[(0, 30), (1, 30), (2, 31), (29, 40)], false, true)), []);
}

#[test]
fn an_acknowledgement_without_a_status_before_it_is_no_lag() {
    let mut habits = Habits::default();
    for (since, until) in APART {
        habits.acknowledged(Behind { written: None, ..behind(since, false) }, true, at(until).tick());
    }
    assert_eq!(words(&habits), []);
}

#[test]
fn what_was_learnt_holds_until_twice_the_longest_and_at_least_one_attempt() {
    // The longest took 25 minutes.
    let habits = after(&APART, false, true);
    assert_eq!(habits.learnt().next().unwrap().allowance, Some(Duration::from_mins(50)));
    assert_eq!(read(&habits, behind(100, false), 150), (State::InProgress, Some(Reason::Working)));
    assert_eq!(read(&habits, behind(100, false), 151), (State::Pending, Some(Reason::ProgressStopped)));
    let short = after(&[(0, 1), (2, 3), (4, 5)], false, true);
    assert_eq!(read(&short, behind(100, false), 115).0, State::InProgress);
    assert_eq!(read(&short, behind(100, false), 116).0, State::Pending);
}

#[test]
fn a_wrong_lesson_hides_nothing_for_more_than_four_attempts() {
    let habits = after(&[(0, 1000), (1001, 2000), (2001, 3000)], false, true);
    assert_eq!(read(&habits, behind(100, false), 160).0, State::InProgress);
    assert_eq!(read(&habits, behind(100, false), 161).0, State::Pending);
}

#[test]
fn each_habit_speaks_of_its_own_kind_only() {
    let (at_end, on_success) = (after(&APART, false, true), after(&APART, true, true));
    assert_eq!(read(&on_success, behind(100, true), 110), (State::Failing, Some(Reason::ReportsFailure)));
    assert_eq!(read(&on_success, behind(100, false), 110).0, State::Pending);
    assert_eq!(read(&at_end, behind(100, true), 110).0, State::Failing);
    let silent = Behind { written: None, ..behind(100, false) };
    assert_eq!(read(&at_end, silent, 110), (State::Pending, Some(Reason::ChangeNotProcessed)), "no write, no habit");
}

#[test]
fn a_later_change_moves_nothing_and_an_older_status_is_no_answer() {
    let first = Behind::after(None, &pending(100, false), Some(at(99).tick()), at(101)).unwrap();
    assert_eq!((first.since, first.written), (at(99).tick(), None), "in the second of the change nobody can tell");
    let later = Judgement { desired_at: Some(at(130).wall), ..pending(105, true) };
    let second = Behind::after(Some(first), &later, None, at(131)).unwrap();
    assert_eq!((second.since, second.changed), (first.since, first.changed));
    assert_eq!((second.written, second.has_failed), (Some(at(105).tick()), true), "the first change was answered");
}

#[test]
fn never_is_learnt_from_several_that_are_stuck_and_ends_with_the_first_change_that_is_shown() {
    let mut habits = Habits::default();
    habits.listed(2, false);
    assert_eq!(words(&habits), []);
    habits.listed(3, false);
    habits.listed(0, false);
    assert_eq!(words(&habits), [(Habit::Never, 3)]);
    assert_eq!(read(&habits, behind(100, false), 110), (State::Unknown, Some(Reason::NoSignal)));
    habits.look(&Judgement { shows_change: true, ..Judgement::new(State::Processed, None, "") });
    habits.listed(3, false);
    assert_eq!(words(&habits), []);
    assert_eq!(read(&habits, behind(100, false), 110).0, State::Pending);
}

#[test]
fn lists_without_any_signal_are_said_after_three_in_a_row() {
    let mut habits = Habits::default();
    for is_blank in [true, true, false, true, true] {
        habits.listed(0, is_blank);
        assert_eq!(words(&habits), []);
    }
    habits.listed(0, true);
    assert_eq!(words(&habits), [(Habit::Never, 3)]);
    assert_eq!(read(&habits, behind(100, false), 110).0, State::Pending, "nothing is said of single objects");
}
