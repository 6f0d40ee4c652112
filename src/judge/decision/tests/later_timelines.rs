//! Timelines that a first design got wrong, each with the number of restarts that is right: from the tenth on.

use super::timelines::{creates_at, diagnosis, excused};
use super::world::{Deletion, HOUR, MINUTE, World, seconds};
use crate::judge::decision::{Decision, Effect, EventReason, Outcome, Transition};
use crate::judge::diagnosis::Diagnosis;
use crate::judge::state::{Excuse, State};

#[test]
fn t10_restarts_for_filtered_objects_die_out() {
    let mut world = World::new();
    world.settings.interval = seconds(60);
    world.run(72 * HOUR, |world| {
        if world.now % HOUR == 100 {
            let index = world.create(0);
            world.things[index].is_filtered = true;
        }
    });
    // 72 objects pay for 1 + 2 + 4 + 8 + 16 + 32 of them.
    assert!((1..=6).contains(&world.kills()), "{} restarts", world.kills());
    assert!(world.outcomes.iter().all(|outcome| *outcome == Outcome::Fruitless));
    let last = *world.kubelet.kills.last().unwrap();
    assert!(last < 64 * HOUR, "the last one was at {last}");
}

#[test]
fn t11_an_undecodable_object_costs_few_restarts_and_then_an_alert() {
    let mut world = World::new();
    world.settings.interval = seconds(60);
    world.run(24 * HOUR, |world| {
        world.operator.is_blocked = world.now >= 100;
        if world.now % 600 == 150 {
            world.create(0);
        }
    });
    assert_eq!(world.kills(), 3, "the budget of a day");
    assert_eq!(world.outcomes, [Outcome::Fruitless; 3]);
    assert_eq!(world.decision(), Decision::Exhausted);
    let event =
        Effect::Event { reason: EventReason::RestartBudgetExhausted, stream: Some("widgets.example.com".to_owned()) };
    assert!(world.effects.contains(&event));
    // Each needed twice as many objects as the one before, one every ten minutes.
    let kills = &world.kubelet.kills;
    assert!(kills[2] - kills[1] > 2 * (kills[1] - kills[0]), "{kills:?}");
}

#[test]
fn t12_a_stream_that_heals_while_the_500_is_given_is_spared() {
    let mut world = World::new();
    world.operator.deaf = [true; 2];
    world.run(2 * HOUR, |world| {
        creates_at(200)(world);
        if world.transitions.last().is_some_and(|(at, row)| *row == Transition::Restart && world.now == at + 5) {
            world.operator.deaf = [false; 2];
        }
    });
    assert_eq!((world.kills(), world.unserved()), (0, 0));
    assert_eq!((&world.outcomes[..], world.decision()), (&[Outcome::Cancelled][..], Decision::Watching));
    assert_eq!(world.dog().last.as_ref().unwrap().budget_remaining, 2, "no refund");
}

#[test]
fn t13_an_object_that_is_never_quite_served_but_moves_is_no_reason() {
    let mut world = World::new();
    world.operator.service = 2;
    world.run(2 * HOUR, |world| world.change(0));
    assert_eq!(world.kills(), 0);
    assert!(!world.took(Transition::Suspect));
}

#[test]
fn t13_the_same_object_on_a_deaf_operator_is_found() {
    let mut world = World::new();
    world.operator.service = 2;
    world.run(3 * HOUR, |world| {
        world.change(0);
        if world.now == 500 {
            world.operator.is_blocked = true;
        }
        if world.operator.life > 1 {
            world.operator.is_blocked = false;
        }
    });
    assert_eq!((world.kills(), &world.outcomes[..]), (1, &[Outcome::Cured][..]));
    assert!(world.kubelet.kills[0] < 500 + 900 + 200);
}

#[test]
fn t14_a_deletion_held_by_others_is_never_a_candidate() {
    for deletion in [Deletion::Others, Deletion::HolderUnknown(0)] {
        let mut world = World::new();
        world.run(3 * HOUR, |world| {
            if world.now == 300 {
                let wall = world.wall();
                world.write(0).deletion = Some(match deletion {
                    Deletion::HolderUnknown(_) => Deletion::HolderUnknown(wall),
                    other => other,
                });
            }
        });
        assert_eq!(world.kills(), 0, "{deletion:?}");
        assert!(!world.took(Transition::Suspect), "{deletion:?}");
        let alerts = u64::from(matches!(deletion, Deletion::HolderUnknown(_)));
        assert_eq!(excused(&world, Excuse::HolderUnknown), alerts, "{deletion:?}");
    }
}

#[test]
fn t14_a_deletion_that_the_operator_holds_and_ignores_is_one() {
    let mut world = World::new();
    world.operator.deaf = [true; 2];
    world.run(2 * HOUR, |world| {
        if world.now == 300 {
            let wall = world.wall();
            world.write(0).deletion = Some(Deletion::Held(wall));
        }
    });
    assert_eq!((world.kills(), &world.outcomes[..]), (1, &[Outcome::Cured][..]));
}

#[test]
fn t15_clocks_that_differ_make_no_object_overdue_at_birth() {
    for ahead in [400, -400] {
        let mut world = World::new();
        world.other_server_ahead = ahead;
        world.operator.service = 200;
        world.run(3 * HOUR, |world| {
            if world.now % 600 == 100 {
                let index = world.create(0);
                if world.now % 1200 == 100 {
                    let created = world.wall() + ahead;
                    let thing = &mut world.things[index];
                    (thing.created, thing.wanted_at) = (created, created);
                }
            }
        });
        assert_eq!(world.kills(), 0, "{ahead}");
        assert!(!world.took(Transition::Suspect), "{ahead}");
        assert!(!world.diagnoses.contains_key(&(0, Diagnosis::Asleep)), "{ahead}");
    }
}

#[test]
fn t15_clocks_that_differ_do_not_fake_service_of_a_deaf_operator() {
    let mut world = World::new();
    world.other_server_ahead = 400;
    world.operator.deaf = [true; 2];
    world.run(2 * HOUR, |world| {
        if world.now == 200 {
            world.create(0);
        }
        // A timer rewrites the status of a processed object on and on.
        if world.now.is_multiple_of(10) {
            world.write(1);
        }
    });
    assert_eq!((world.kills(), &world.outcomes[..]), (1, &[Outcome::Cured][..]));
}

#[test]
fn t16_a_crashing_dogwatch_keeps_budget_and_first_seen() {
    for (period, least) in [(16 * MINUTE, 0), (18 * MINUTE, 1)] {
        let mut world = World::new();
        world.has_state_file = true;
        world.policy.budget.max = 2;
        world.run(6 * HOUR, |world| {
            world.operator.is_blocked = world.now >= 100;
            if world.now % 300 == 150 {
                world.create(0);
            }
            if world.now % period == period - 1 {
                world.dog = None;
            }
        });
        assert!((least..=2).contains(&world.kills()), "{} restarts", world.kills());
        assert_eq!(world.requested.len(), 2);
        assert_eq!(world.dog().last.as_ref().unwrap().budget_remaining, 0);
    }
}

#[test]
fn t16_first_seen_survives_dogwatch_and_silence_does_not() {
    let mut world = World::new();
    world.has_state_file = true;
    world.operator.deaf = [true; 2];
    world.run(2 * HOUR, |world| {
        creates_at(200)(world);
        if world.now == 1000 {
            world.dog = None;
        }
        if world.now == 1010 {
            let explanation = &world.dog().last.as_ref().unwrap().streams[0];
            assert_eq!(explanation.candidates, 1, "overdue since before dogwatch started");
            assert_eq!(explanation.diagnosis, Diagnosis::Partial);
        }
    });
    let at = world.kubelet.kills[0];
    assert!((1900..2100).contains(&at), "killed at {at}");
}

#[test]
fn t17_a_default_added_to_the_definition_is_no_reason() {
    let mut world = World::new();
    for _ in 0..500 {
        let index = world.create(0);
        let thing = &mut world.things[index];
        (thing.created, thing.wanted_at, thing.acked, thing.token) =
            (thing.created - 9000, thing.wanted_at - 9000, 1, 1);
    }
    world.operator.deaf = [true; 2];
    world.run(HOUR, |world| {
        if world.now == 300 {
            // The objects look changed and nobody wrote them.
            world.things.iter_mut().for_each(|thing| thing.wanted = 2);
        }
    });
    assert_eq!(world.kills(), 0);
    assert_eq!(world.listed.iter().map(|listed| listed.mistrusted).max(), Some(505));
    assert_eq!(diagnosis(&world, 0), Diagnosis::Unknown);
    let step = world.dog().last.as_ref().unwrap();
    assert_eq!((step.streams[0].states.of(State::Unknown), step.streams[0].pending), (505, 0));
    assert_eq!(world.decision(), Decision::Blind);
    // What is written is judged again.
    world.operator.deaf = [false; 2];
    let now = world.now;
    world.run(now + 60, |world| {
        if world.now == now {
            world.change(0);
        }
    });
    assert_eq!(diagnosis(&world, 0), Diagnosis::Healthy);
}

#[test]
fn t18_an_old_filtered_object_is_passed_over_where_others_are_served_at_once() {
    let mut world = World::new();
    world.operator.service = 0;
    world.run(6 * HOUR, |world| {
        if world.now == 100 {
            let index = world.create(0);
            world.things[index].is_filtered = true;
        }
        if world.now % 200 == 50 && world.now < 3 * HOUR {
            world.create(0);
        }
    });
    assert_eq!(world.kills(), 0);
    assert_eq!((diagnosis(&world, 0), excused(&world, Excuse::PassedOver)), (Diagnosis::Partial, 1));
}

#[test]
fn an_operator_that_goes_deaf_after_each_start_is_restarted_until_the_budget_is_spent() {
    let mut world = World::new();
    world.operator.deaf_after = Some(3000);
    world.run(24 * HOUR, |world| {
        if world.now % 1200 == 200 {
            world.create(0);
        }
    });
    assert_eq!((world.kills(), world.decision()), (3, Decision::Exhausted));
    assert_eq!(world.outcomes, [Outcome::Cured; 3]);
}

#[test]
fn stepping_more_often_than_announced_changes_nothing() {
    let run = |steps_always| {
        let mut world = World::new();
        world.steps_always = steps_always;
        world.operator.deaf_after = Some(3000);
        world.run(8 * HOUR, |world| {
            if world.now % 1200 == 200 {
                world.create(0);
            }
        });
        (world.transitions, world.kubelet.kills)
    };
    assert_eq!(run(true), run(false));
}
