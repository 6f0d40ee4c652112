//! A backlog of deletions, and what becomes of a restart for it.

use super::world::{Deletion, HOUR, World};
use crate::judge::decision::{Outcome, Transition};

/// A deaf operator whose whole backlog is deletions, and what became of the one restart.
fn restarted_for_deletions(others: impl Fn(&mut World)) -> World {
    let mut world = World::new();
    world.operator.deaf = [true; 2];
    world.run(2 * HOUR, |world| {
        if world.now == 300 {
            let wall = world.wall();
            world.write(0).deletion = Some(Deletion::Held(wall));
            world.write(1).deletion = Some(Deletion::Held(wall));
            others(world);
        }
        // The new container takes its finalizers away, and the objects are no more.
        for thing in &mut world.things {
            thing.is_gone |= thing.deletion == Some(Deletion::Others);
        }
    });
    assert_eq!(world.kills(), 1);
    world
}

#[test]
fn a_backlog_of_deletions_that_comes_to_its_end_is_cured_and_is_no_ack() {
    let world = restarted_for_deletions(|_| ());
    assert_eq!(world.outcomes, [Outcome::Cured]);
    assert_eq!((world.dog().streams[0].fruitless(), world.last_ack[0]), (0, None));
    let wait = world.transitions.iter().find(|(_, row)| *row == Transition::Cure).unwrap().0 - world.kubelet.kills[0];
    assert!(wait <= 45, "cured {wait} s after the kill");
}

#[test]
fn deletions_that_end_while_others_wait_cure_nothing() {
    let world = restarted_for_deletions(|world| {
        let index = world.create(0);
        world.things[index].is_filtered = true;
    });
    assert_eq!(world.outcomes, [Outcome::Fruitless]);
}

#[test]
fn a_deletion_that_ended_before_the_kill_cures_nothing() {
    let mut world = World::new();
    world.operator.deaf = [true; 2];
    world.run(2 * HOUR, |world| {
        if world.now == 300 {
            for index in 0..2 {
                let wall = world.wall();
                world.write(index).deletion = Some(Deletion::Held(wall));
            }
            let index = world.create(0);
            world.things[index].is_filtered = true;
        }
        world.things[0].is_gone |= world.now == 700;
        // By hand, when the container runs again; the other two remain.
        world.operator.is_blocked = true;
    });
    assert_eq!((world.kills(), &world.outcomes[..]), (1, &[Outcome::Fruitless][..]));
}
