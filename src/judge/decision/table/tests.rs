use super::{Facts, Transition as Row, next};
use crate::judge::decision::{Blindness, Decision, EventReason, Outcome, Withheld};

fn facts() -> Facts {
    Facts::default()
}

const BLIND: Option<Blindness> = Some(Blindness::GateClosed);

#[test]
fn starting_waits_until_everything_was_seen_whatever_else_is_true() {
    let from = Decision::Starting;
    let others = Facts { blind: BLIND, leads_elsewhere: true, has_sleeper: true, ..facts() };
    assert_eq!(next(from, &others), None);
    assert_eq!(next(from, &Facts { is_ready: true, ..others }), Some(Row::Begin));
    assert_eq!(next(from, &Facts { is_ready: true, is_resuming: true, ..others }), Some(Row::Resume));
}

#[test]
fn watching_suspects_a_sleeper() {
    assert_eq!(next(Decision::Watching, &facts()), None);
    assert_eq!(next(Decision::Watching, &Facts { has_sleeper: true, ..facts() }), Some(Row::Suspect));
}

#[test]
fn suspect_goes_row_by_row() {
    let from = Decision::Suspect;
    let asleep = Facts { is_asleep: true, ..facts() };
    assert_eq!(next(from, &facts()), Some(Row::Dismiss), "no longer asleep");
    assert_eq!(next(from, &Facts { is_held: true, ..asleep }), Some(Row::Dismiss), "a hold");
    assert_eq!(next(from, &asleep), None, "not confirmed yet");
    assert_eq!(next(from, &Facts { is_allowed: true, ..asleep }), None, "not confirmed yet");
    let confirmed = Facts { is_confirmed: true, ..asleep };
    for reason in Withheld::ALL {
        let withheld = Facts { withheld: Some(*reason), is_allowed: true, ..confirmed };
        assert_eq!(next(from, &withheld), Some(Row::Withhold(*reason)));
        assert_eq!(next(from, &Facts { is_confirmed: false, ..withheld }), None, "nothing is due yet");
    }
    assert_eq!(next(from, &Facts { is_allowed: true, ..confirmed }), Some(Row::Restart));
    assert_eq!(next(from, &confirmed), Some(Row::Exhaust));
}

#[test]
fn restarting_hands_over_before_it_calls_back() {
    let from = Decision::Restarting;
    assert_eq!(next(from, &facts()), None);
    for hold in [Facts { is_acked: true, ..facts() }, Facts { is_held_otherwise: true, ..facts() }] {
        assert_eq!(next(from, &hold), Some(Row::Cancel));
        assert_eq!(next(from, &Facts { has_left: true, ..hold }), Some(Row::HandOver));
        assert_eq!(next(from, &Facts { was_told: true, ..hold }), Some(Row::HandOver));
    }
}

#[test]
fn recovering_has_three_ends_and_the_best_comes_first() {
    let from = Decision::Recovering;
    assert_eq!(next(from, &facts()), None);
    assert_eq!(next(from, &Facts { is_unmoved: true, ..facts() }), Some(Row::NotSeen));
    assert_eq!(next(from, &Facts { is_overtime: true, ..facts() }), Some(Row::Fail));
    assert_eq!(next(from, &Facts { is_overtime: true, is_acked: true, ..facts() }), Some(Row::Cure));
}

#[test]
fn restarting_and_recovering_leave_only_by_their_own_rows() {
    let others = Facts { blind: BLIND, leads_elsewhere: true, has_sleeper: true, is_held: true, ..facts() };
    assert_eq!(next(Decision::Restarting, &others), None);
    assert_eq!(next(Decision::Recovering, &others), None);
}

#[test]
fn exhausted_relaxes_or_tries_again() {
    let from = Decision::Exhausted;
    let asleep = Facts { is_asleep: true, ..facts() };
    assert_eq!(next(from, &asleep), None);
    assert_eq!(next(from, &Facts { is_allowed: true, ..asleep }), Some(Row::Retry));
    assert_eq!(next(from, &Facts { is_allowed: true, ..facts() }), Some(Row::Relax));
    assert_eq!(next(from, &Facts { is_held: true, is_allowed: true, ..asleep }), Some(Row::Relax));
}

#[test]
fn what_cannot_be_seen_comes_before_who_leads_and_both_before_the_rest() {
    for from in [Decision::Watching, Decision::Suspect, Decision::Exhausted] {
        let all = Facts { is_asleep: true, has_sleeper: true, is_confirmed: true, is_allowed: true, ..facts() };
        let elsewhere = Facts { leads_elsewhere: true, ..all };
        assert_eq!(next(from, &elsewhere), Some(Row::StandBy), "{from}");
        assert_eq!(
            next(from, &Facts { blind: BLIND, ..elsewhere }),
            Some(Row::GoBlind(Blindness::GateClosed)),
            "{from}"
        );
    }
}

#[test]
fn standby_and_blind_return_when_their_cause_is_gone() {
    let elsewhere = Facts { leads_elsewhere: true, ..facts() };
    assert_eq!(next(Decision::Standby, &elsewhere), None);
    assert_eq!(next(Decision::Standby, &Facts { blind: BLIND, ..elsewhere }), Some(Row::Return));
    assert_eq!(next(Decision::Standby, &facts()), Some(Row::Return));
    assert_eq!(next(Decision::Blind, &Facts { blind: BLIND, ..facts() }), None);
    assert_eq!(next(Decision::Blind, &elsewhere), Some(Row::Return));
}

#[test]
fn only_one_row_leads_to_a_500_and_each_outcome_has_one_row() {
    let rows = [
        Row::Begin,
        Row::Resume,
        Row::Suspect,
        Row::Dismiss,
        Row::Withhold(Withheld::Observe),
        Row::Restart,
        Row::Exhaust,
        Row::Cancel,
        Row::HandOver,
        Row::NotSeen,
        Row::Cure,
        Row::Fail,
        Row::Relax,
        Row::Retry,
        Row::StandBy,
        Row::GoBlind(Blindness::NoStream),
        Row::Return,
    ];
    let mut names: Vec<_> = rows.iter().map(|row| row.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), rows.len(), "each row has a name of its own");
    let failing: Vec<_> = rows.iter().filter(|row| row.to() == Decision::Restarting).collect();
    assert_eq!(failing, [&Row::Restart]);
    for outcome in Outcome::ALL {
        assert_eq!(rows.iter().filter(|row| row.outcome() == Some(*outcome)).count(), 1, "{outcome}");
    }
    for reason in EventReason::ALL {
        let is_told = rows.iter().any(|row| row.event() == Some(*reason));
        assert!(is_told || *reason == EventReason::ServerStale, "{reason}");
    }
}
