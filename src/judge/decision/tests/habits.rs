//! Operators whose acknowledgements lag behind on purpose, and the faults that look like them.

use super::world::{HOUR, MINUTE, World};
use crate::judge::decision::{Outcome, Withheld};
use crate::judge::diagnosis::{Diagnosis, Explanation};
use crate::judge::ledger::Habit;
use crate::judge::state::State;

fn explained(world: &World) -> &Explanation {
    &world.dog().last.as_ref().unwrap().streams[0]
}

fn habits(world: &World) -> Vec<Habit> {
    explained(world).habits.iter().map(|learnt| learnt.habit).collect()
}

/// An operator whose work takes 25 minutes, with a status written each minute and the acknowledgement at its end.
fn at_end() -> World {
    let mut world = World::new();
    (world.operator.service, world.operator.writes_every) = (25 * MINUTE, Some(MINUTE));
    world
}

/// Changes one of five objects every 40 minutes.
fn changes(world: &mut World) {
    if world.now % (40 * MINUTE) == 400 {
        let index = usize::try_from(world.now / (40 * MINUTE) % 5).unwrap();
        world.change(index);
    }
}

/// Run until the habit is known and the operator is idle.
fn taught() -> World {
    let mut world = at_end();
    world.run(120 * MINUTE, changes);
    assert_eq!(habits(&world), [Habit::AtEnd]);
    assert_eq!((explained(&world).habits[0].proofs, world.unserved(), world.kills()), (3, 0, 0));
    world
}

#[test]
fn long_work_that_is_acknowledged_at_its_end_costs_no_restart_and_is_not_overdue_once_learnt() {
    let mut world = taught();
    let mut most = 0;
    world.run(24 * HOUR, |world| {
        changes(world);
        if world.now > 120 * MINUTE {
            most = most.max(explained(world).overdue);
        }
    });
    assert_eq!((world.kills(), most), (0, 0));
    assert_eq!(world.requested.len(), 0);
}

#[test]
fn before_it_is_learnt_a_status_that_moves_delays_as_work_in_flight_does() {
    let mut world = at_end();
    world.run(10 + 30 * MINUTE, |world| {
        if world.now == 10 {
            world.change(0);
        }
    });
    assert_eq!((world.kills(), world.unserved()), (0, 0));
    assert!(world.diagnoses.contains_key(&(0, Diagnosis::Asleep)), "nothing else speaks for the operator");
    assert!(world.effects.contains(&crate::judge::decision::Effect::Withheld(Withheld::WorkInFlight)));
}

#[test]
fn what_is_at_work_by_habit_is_in_progress_and_no_candidate() {
    let mut world = taught();
    let now = world.now;
    world.change(0);
    world.run(now + 20 * MINUTE, |_| ());
    let explanation = explained(&world);
    assert_eq!((explanation.diagnosis, explanation.pending, explanation.candidates), (Diagnosis::Healthy, 0, 0));
    assert_eq!(explanation.states.of(State::InProgress), 1);
    assert!(explanation.in_flight_until.is_some());
}

#[test]
fn an_operator_that_goes_deaf_after_its_habit_was_learnt_is_found_all_the_same() {
    let mut world = taught();
    world.operator.deaf = [true; 2];
    let changed = world.now;
    world.change(0);
    world.run(changed + 3 * HOUR, |_| ());
    assert_eq!((world.kills(), world.unserved()), (1, 0));
    // The longest service of the day is a floor, with and without habits: twice 25 minutes, as lists show it.
    let asleep_after = explained(&world).asleep_after.as_secs();
    assert!(asleep_after <= 51 * MINUTE);
    let at = world.kubelet.kills[0];
    assert!(at < changed + asleep_after + 3 * MINUTE, "killed at {at}, changed at {changed}");
}

#[test]
fn an_operator_that_goes_deaf_in_the_middle_of_its_work_is_found_after_the_deadline() {
    let mut world = taught();
    let changed = world.now;
    world.change(0);
    world.run(changed + 5 * HOUR, |world| {
        // It hangs; a new container does its work.
        world.operator.is_blocked = world.now > changed + 10 * MINUTE && world.operator.life == 1;
    });
    assert_eq!((world.kills(), &world.outcomes.len(), world.unserved()), (1, &1, 0));
    let at = world.kubelet.kills[0];
    assert!((changed + 50 * MINUTE..changed + 105 * MINUTE).contains(&at), "killed at {at}, changed at {changed}");
}

/// The operator's cache stands still: it writes the status of what it should serve, from an old spec, for ever.
fn frozen(world: &mut World) {
    world.operator.is_blocked = world.operator.life == 1;
    if world.operator.life == 1 && world.now.is_multiple_of(MINUTE) {
        world.write_status(0, false);
    }
}

#[test]
fn a_status_rewritten_from_a_cache_that_stands_still_is_found_whether_a_habit_was_learnt_or_not() {
    for (is_taught, longest) in [(false, 35 * MINUTE), (true, 105 * MINUTE)] {
        let mut world = if is_taught { taught() } else { World::new() };
        world.operator.service = 1;
        let changed = world.now;
        world.change(0);
        world.run(changed + 6 * HOUR, frozen);
        assert_eq!((world.kills(), &world.outcomes[..], world.unserved()), (1, &[Outcome::Cured][..], 0));
        let at = world.kubelet.kills[0];
        assert!(at < changed + longest, "killed at {at}, changed at {changed}");
        // A cure by a restart teaches nothing.
        assert_eq!(habits(&world).len(), usize::from(is_taught));
    }
}

#[test]
fn a_fault_that_heals_by_itself_is_one_proof_whatever_it_held() {
    let mut world = World::new();
    world.run(2 * HOUR, |world| {
        world.operator.is_blocked = (100..700).contains(&world.now);
        if world.now == 110 {
            (0..5).for_each(|index| world.change(index));
        }
        if world.now == 600 {
            (0..5).for_each(|index| world.write_status(index, false));
        }
    });
    assert_eq!((world.unserved(), world.kills()), (0, 0));
    assert_eq!(habits(&world), []);
}

/// Fails for 12 minutes of every hour, writes so, and acknowledges once it succeeds.
fn fails_at_first(world: &mut World) {
    let minute = world.now % HOUR / MINUTE;
    world.operator.is_blocked = (1..13).contains(&minute);
    if world.now % HOUR == 70 {
        world.change(0);
    }
    if world.operator.is_blocked && world.now % 120 == 90 {
        world.write_status(0, true);
    }
}

#[test]
fn failures_that_are_written_before_a_success_are_learnt_and_no_longer_overdue() {
    let mut world = World::new();
    world.run(4 * HOUR, fails_at_first);
    assert_eq!(habits(&world), [Habit::OnSuccess]);
    let mut most = 0;
    world.run(12 * HOUR, |world| {
        fails_at_first(world);
        most = most.max(explained(world).overdue);
    });
    assert_eq!((world.kills(), most), (0, 0));
    world.run(12 * HOUR + 10 * MINUTE, fails_at_first);
    assert_eq!(explained(&world).states.of(State::Failing), 1);
    // Without a failure in its status the object is pending as ever: only this habit was learnt.
    world.operator.is_blocked = true;
    world.change(1);
    world.run(12 * HOUR + 12 * MINUTE, |world| {
        if world.now.is_multiple_of(30) {
            world.write_status(1, false);
        }
    });
    assert_eq!((explained(&world).states.of(State::Failing), explained(&world).pending), (1, 1));
}

/// Serves each change at once, writes the status, and never raises the number.
fn never(world: &mut World) {
    for index in 0..world.things.len() {
        let thing = &world.things[index];
        let is_new = thing.acked > 0 && thing.acked != thing.wanted;
        if is_new && thing.status.is_none_or(|(at, _)| at <= thing.wanted_at) {
            world.write_status(index, false);
        }
    }
}

#[test]
fn an_operator_that_never_acknowledges_a_change_is_not_judged_by_changes_and_is_judged_by_new_objects() {
    let mut world = World::new();
    let blocks_changes = |world: &mut World| {
        let is_new = world.things.iter().any(|thing| thing.acked == 0);
        world.operator.is_blocked = !is_new || world.operator.deaf[0];
    };
    world.run(6 * HOUR, |world| {
        blocks_changes(world);
        if world.now < 5 * 60 && world.now % 60 == 10 {
            world.change(usize::try_from(world.now / 60).unwrap());
        }
        never(world);
    });
    assert_eq!((habits(&world), world.kills()), (vec![Habit::Never], 0));
    assert_eq!(explained(&world).states.of(State::Unknown), 5);
    assert_eq!(explained(&world).overdue, 0);

    world.operator.deaf = [true; 2];
    let created = world.now;
    world.create(0);
    world.run(created + 20 * MINUTE, |world| {
        blocks_changes(world);
        never(world);
    });
    assert_eq!(world.kills(), 1, "a new object is asked for as ever");
}

#[test]
fn the_first_change_that_is_acknowledged_ends_the_habit_of_never() {
    let mut world = World::new();
    world.operator.is_blocked = true;
    world.run(20 * MINUTE, |world| {
        if world.now < 4 * 60 && world.now % 60 == 10 {
            world.change(usize::try_from(world.now / 60).unwrap());
        }
        never(world);
    });
    assert_eq!((habits(&world), world.kills()), (vec![Habit::Never], 0));
    let wanted = world.things[0].wanted;
    world.serve(0, wanted);
    let now = world.now;
    world.run(now + 2 * MINUTE, never);
    assert_eq!(habits(&world), []);
    assert_eq!((explained(&world).pending, explained(&world).states.of(State::Unknown)), (3, 0));
}

#[test]
fn what_was_learnt_survives_the_state_file_and_not_its_loss() {
    for (keeps_file, overdue) in [(true, 0), (false, 1)] {
        let mut world = at_end();
        world.has_state_file = true;
        world.run(120 * MINUTE, changes);
        world.change(0);
        world.dog = None;
        if !keeps_file {
            world.state_file = None;
        }
        let now = world.now;
        world.run(now + 20 * MINUTE, |_| ());
        assert_eq!(habits(&world), if keeps_file { vec![Habit::AtEnd] } else { vec![] });
        assert_eq!(explained(&world).overdue, overdue);
        // An object that was at work by habit goes on where it was.
        world.dog = None;
        world.run(now + 24 * MINUTE, |_| ());
        assert_eq!(explained(&world).overdue, overdue);
    }
}

#[test]
fn a_change_in_the_middle_of_the_work_moves_no_deadline() {
    let mut world = taught();
    let changed = world.now;
    world.change(0);
    let mut first_overdue = None;
    world.run(changed + 2 * HOUR, |world| {
        world.operator.is_blocked = world.now > changed + 5 * MINUTE;
        if world.operator.is_blocked && world.now.is_multiple_of(MINUTE) {
            world.change(0);
            world.write_status(0, false);
        }
        if explained(world).overdue > 0 {
            first_overdue = first_overdue.or(Some(world.now));
        }
    });
    let allowed = explained(&world).habits[0].allowance.unwrap().as_secs();
    let at = first_overdue.unwrap() - changed;
    assert!((allowed + 300..allowed + 300 + 60).contains(&at), "overdue after {at} s, allowed were {allowed} s");
}
