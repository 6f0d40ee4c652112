//! A lease that is ours, elsewhere, or cannot be read.

use super::world::{HOUR, World};
use crate::judge::decision::{Decision, Effect, LEASE, Leadership, Outcome};

#[test]
fn a_lease_that_is_ours_and_not_renewed_is_a_stream_of_its_own() {
    let mut world = World::new();
    world.leads = Some(true);
    world.run(HOUR, |world| {
        if world.now < 1000 || world.operator.life > 1 {
            world.renewal = world.now / 10;
        }
    });
    assert_eq!((world.kills(), &world.outcomes[..]), (1, &[Outcome::Cured][..]));
    let at = world.kubelet.kills[0];
    // The last renewal was seen at 990; asleep after two durations of 60 s, confirmed after 45 s, three answers.
    assert!((990 + 120 + 45..990 + 120 + 45 + 31).contains(&at), "killed at {at}");
    let outcome = Effect::Outcome { stream: LEASE.to_owned(), outcome: Outcome::Cured };
    assert!(world.effects.contains(&outcome));
}

#[test]
fn a_lease_that_a_restart_does_not_cure_is_restarted_for_once() {
    let mut world = World::new();
    world.leads = Some(true);
    world.run(6 * HOUR, |world| world.renewal = world.now.min(1000) / 10);
    assert_eq!((world.kills(), &world.outcomes[..]), (1, &[Outcome::Fruitless][..]));
}

#[test]
fn a_lease_that_cannot_be_read_blinds_and_one_elsewhere_stands_by() {
    let mut world = World::new();
    world.run(200, |_| ());
    let mut streams = world.dog().streams.clone();
    let mut decider = world.dog().decider.clone();
    let mut inputs = world.inputs();
    let mut step = |leadership| {
        inputs.leadership = leadership;
        decider.step(world.moment(), &inputs, &mut streams).decision
    };
    assert_eq!(step(Leadership::Unreadable), Decision::Blind);
    assert_eq!(step(Leadership::Elsewhere), Decision::Standby);
    assert_eq!(step(Leadership::Unreadable), Decision::Blind);
    assert_eq!(step(Leadership::NotNeeded), Decision::Watching);
}
