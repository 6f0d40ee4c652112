//! Timelines that a first design got wrong, each with the number of restarts that is right.

use super::world::{HOUR, MINUTE, World, seconds};
use crate::judge::decision::{Decision, Gate, Outcome, Transition};
use crate::judge::diagnosis::Diagnosis;
use crate::judge::state::Excuse;

pub(super) fn excused(world: &World, excuse: Excuse) -> u64 {
    let streams = &world.dog().last.as_ref().unwrap().streams;
    streams[0].excused.iter().find(|(reason, _)| *reason == excuse).map_or(0, |(_, count)| *count)
}

pub(super) fn diagnosis(world: &World, stream: usize) -> Diagnosis {
    world.dog().last.as_ref().unwrap().streams[stream].diagnosis
}

pub(super) fn creates_at(second: u64) -> impl FnMut(&mut World) {
    move |world| {
        if world.now == second {
            world.create(0);
        }
    }
}

#[test]
fn an_idle_operator_is_left_alone() {
    let mut world = World::new();
    world.run(6 * HOUR, |_| ());
    assert_eq!((world.kills(), world.decision()), (0, Decision::Watching));
    assert_eq!(diagnosis(&world, 0), Diagnosis::Healthy);
}

#[test]
fn a_deaf_operator_with_one_object_is_restarted_once_and_cured() {
    let mut world = World::new();
    world.operator.deaf = [true; 2];
    world.run(2 * HOUR, creates_at(200));
    assert_eq!((world.kills(), world.unserved()), (1, 0));
    assert_eq!(world.outcomes, [Outcome::Cured]);
    let at = world.kubelet.kills[0];
    assert!((200 + 900 + 45..200 + 900 + 45 + 120).contains(&at), "killed at {at}");
}

#[test]
fn t01_a_backlog_does_not_mask_deafness_since_silence_counts_from_the_last_ack() {
    let mut world = World::new();
    world.operator.service = 25;
    world.run(3 * HOUR, |world| {
        if world.now == 60 {
            for _ in 0..300 {
                world.create(0);
            }
        }
        if world.now == 660 {
            world.operator.is_blocked = true;
        }
        if world.operator.life > 1 {
            world.operator.is_blocked = false;
        }
    });
    assert_eq!((world.kills(), &world.outcomes[..]), (1, &[Outcome::Cured][..]));
    assert!(world.unserved() < 300 - 100, "the new container works the backlog off");
}

#[test]
fn t01_a_backlog_that_is_worked_off_slowly_is_no_reason() {
    let mut world = World::new();
    world.operator.service = 25;
    world.run(3 * HOUR, |world| {
        if world.now == 60 {
            for _ in 0..300 {
                world.create(0);
            }
        }
    });
    assert_eq!(world.kills(), 0);
    assert!(world.diagnoses.contains_key(&(0, Diagnosis::Partial)));
    assert!(!world.diagnoses.contains_key(&(0, Diagnosis::Asleep)));
}

#[test]
fn t02_a_frozen_progress_record_ends_at_its_deadline() {
    let mut world = World::new();
    world.operator.deaf = [true; 2];
    world.run(3 * HOUR, |world| {
        if world.now == 200 {
            let index = world.create(0);
            let wall = world.wall();
            let thing = world.write(index);
            (thing.token, thing.progress) = (1, Some((wall + 900, wall)));
        }
    });
    assert_eq!((world.kills(), world.unserved(), &world.outcomes[..]), (1, 0, &[Outcome::Cured][..]));
    let at = world.kubelet.kills[0];
    // Its ack was at 200, its deadline at 1100; overdue and silent for long enough at 1100 + 900.
    assert!((2000..2200).contains(&at), "killed at {at}");
}

#[test]
fn t03_a_long_handler_that_writes_nothing_is_left_alone_when_max_attempt_says_so() {
    let mut world = World::new();
    world.operator.service = 25 * MINUTE;
    world.settings.max_attempt = seconds(30 * MINUTE);
    world.run(3 * HOUR, creates_at(100));
    assert_eq!((world.kills(), world.unserved()), (0, 0));
}

#[test]
fn t03_with_the_default_it_costs_one_fruitless_restart_and_then_doubling() {
    let mut world = World::new();
    world.operator.service = 25 * MINUTE;
    world.run(12 * HOUR, |world| {
        if world.now % HOUR == 100 {
            world.create(0);
        }
    });
    assert!(world.kills() <= 2, "{} restarts", world.kills());
    assert_eq!(world.outcomes.first(), Some(&Outcome::Fruitless));
}

#[test]
fn t04_another_resource_that_is_served_does_not_speak_for_the_deaf_one() {
    let mut world = World::new();
    world.stream_count = 2;
    world.run(2 * HOUR, |world| {
        if world.now == 100 {
            world.operator.deaf[0] = true;
        }
        if world.now == 200 {
            world.create(0);
        }
        if world.now.is_multiple_of(20) {
            match world.things.iter().position(|thing| thing.stream == 1) {
                Some(index) => world.change(index),
                None => _ = world.create(1),
            }
        }
    });
    assert_eq!((world.kills(), &world.outcomes[..]), (1, &[Outcome::Cured][..]));
    let at = world.kubelet.kills[0];
    assert!(at < 200 + 900 + 200, "killed at {at}");
}

#[test]
fn t05_a_new_leader_does_not_fire_on_what_it_remembers_from_standby() {
    let mut world = World::new();
    world.operator.service = 5;
    world.run(3 * HOUR, |world| {
        world.leads = Some(world.now >= 1500);
        world.renewal = world.now / 10;
        world.operator.is_blocked = world.now < 1520;
        if world.now == 200 {
            world.create(0);
        }
    });
    assert_eq!((world.kills(), world.unserved()), (0, 0));
    assert!(world.took(Transition::StandBy) && !world.took(Transition::Suspect));
}

#[test]
fn t06_a_filtered_object_from_before_the_rollout_is_harmless() {
    let mut world = World::new();
    let index = world.create(0);
    let old = world.wall() - 3 * 86_400;
    let thing = &mut world.things[index];
    (thing.created, thing.wanted_at, thing.is_filtered) = (old, old, true);
    world.run(6 * HOUR, |_| ());
    assert_eq!(world.kills(), 0);
    assert_eq!((diagnosis(&world, 0), excused(&world, Excuse::BeforeStart)), (Diagnosis::Partial, 1));
}

#[test]
fn t07_api_servers_that_restart_one_after_the_other_start_no_race() {
    let mut world = World::new();
    world.operator.service = 60;
    world.run(2 * HOUR, |world| {
        if world.now == 280 {
            world.create(0);
        }
        world.gate = if (300..420).contains(&world.now) { Gate::Closed } else { Gate::Open };
        if world.now == 281 {
            world.operator.deaf = [true; 2];
        }
        if world.now == 590 {
            world.operator.deaf = [false; 2];
        }
    });
    assert_eq!((world.kills(), world.unserved()), (0, 0));
    assert!(world.took(Transition::GoBlind(crate::judge::decision::Blindness::GateClosed)));
    assert!(world.took(Transition::Return));
}

#[test]
fn t08_an_operator_that_crashes_by_itself_spends_nothing() {
    let mut world = World::new();
    world.operator.service = 120;
    world.run(2 * HOUR, |world| {
        if world.now == 50 {
            world.create(0);
        }
        if world.now == 100 {
            world.operator.down_until = Some(400);
        }
    });
    assert_eq!((world.kills(), world.unserved()), (0, 0));
    assert_eq!(world.dog().last.as_ref().unwrap().budget_remaining, 3);
    assert_eq!((world.outcomes.len(), world.dog().streams[0].fruitless()), (0, 0));
}

#[test]
fn t09_a_back_off_after_our_kill_brings_no_second_one() {
    let mut world = World::new();
    world.kubelet.back_off = 300;
    world.operator.deaf = [true; 2];
    world.run(3 * HOUR, creates_at(200));
    assert!(world.kubelet.failed.iter().all(|(_, age)| *age > 900), "{:?}", world.kubelet.failed);
    assert_eq!((world.kills(), &world.outcomes[..]), (1, &[Outcome::Cured][..]));
}
