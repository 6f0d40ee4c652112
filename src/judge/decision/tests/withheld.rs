//! What a suspicion waits for before it becomes a restart.

use super::rows::until;
use super::world::{HOUR, MINUTE, World, seconds};
use crate::judge::decision::{Decision, Effect, Mode, Transition, Withheld};

fn withheld(world: &World) -> Vec<Withheld> {
    world
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Withheld(reason) => Some(*reason),
            _ => None,
        })
        .collect()
}

#[test]
fn observe_withholds_once_per_suspicion_and_gives_no_500() {
    let mut world = World::new();
    world.mode = Mode::Observe;
    until(&mut world, Decision::Suspect);
    let now = world.now;
    world.run(now + HOUR, |_| ());
    assert_eq!(world.decision(), Decision::Suspect);
    assert_eq!(withheld(&world), [Withheld::Observe]);
    assert_eq!((world.kubelet.failed.len(), world.requested.len()), (0, 0));
}

#[test]
fn without_proof_there_is_no_restart_and_with_the_first_processed_object_there_is() {
    let mut world = World::new();
    world.things.clear();
    until(&mut world, Decision::Suspect);
    let now = world.now;
    world.run(now + 10 * MINUTE, |_| ());
    assert_eq!((withheld(&world), world.requested.len()), (vec![Withheld::NoProof], 0));
    let index = world.create(0);
    let thing = &mut world.things[index];
    (thing.acked, thing.token, thing.created, thing.wanted_at) = (1, 1, thing.created - 9000, thing.wanted_at - 9000);
    let now = world.now;
    world.run(now + 2 * MINUTE, |_| ());
    assert_eq!(world.requested.len(), 1);
}

#[test]
fn work_in_flight_delays_for_two_attempts_at_most() {
    let mut world = World::new();
    world.stream_count = 2;
    let index = world.create(1);
    // Something touches the marker of another stream's object on and on.
    let touch = move |world: &mut World| {
        let wall = world.wall();
        let thing = world.write(index);
        (thing.token, thing.progress) = (1, Some((wall + 900, wall)));
    };
    world.operator.deaf = [true; 2];
    world.run(3 * HOUR, |world| {
        if world.now == 200 {
            world.create(0);
        }
        touch(world);
    });
    assert_eq!(withheld(&world), [Withheld::WorkInFlight]);
    let suspect = world.transitions.iter().find(|(_, row)| *row == Transition::Suspect).unwrap().0;
    assert_eq!(world.requested, [suspect + 2 * 900]);
}

#[test]
fn a_restart_needs_a_list_that_began_within_the_suspicion() {
    let mut world = World::new();
    world.settings.interval = seconds(600);
    until(&mut world, Decision::Suspect);
    let since = world.now - 1;
    world.lists_fail = true;
    world.run(since + 300, |_| ());
    assert_eq!((world.decision(), world.requested.len()), (Decision::Suspect, 0));
}

#[test]
fn a_reread_that_disagrees_undoes_those_before() {
    let mut world = World::new();
    until(&mut world, Decision::Suspect);
    let since = world.now - 1;
    world.rereads_disagree = true;
    world.run(since + 300, |_| ());
    assert_eq!((world.decision(), world.requested.len()), (Decision::Suspect, 0));
    world.rereads_disagree = false;
    world.run(since + 340, |_| ());
    assert_eq!(world.requested.len(), 1);
}
