//! What must hold whatever happens, and in whatever order.

use proptest::prelude::*;

use std::time::Duration;

use super::world::{Deletion, HOUR, World};
use crate::judge::decision::{Gate, LEASE, Mode, Step, Transition};
use crate::judge::diagnosis::{Diagnosis, Explanation};
use crate::judge::state::Moment;
use crate::judge::tests::quick;

/// Something that happens to the world.
#[derive(Debug, Clone)]
enum Happening {
    Wait(u64),
    Create { stream: usize, is_filtered: bool },
    Change(usize),
    Serve(usize),
    Progress(usize),
    Delete(usize),
    Vanish(usize),
    Deaf(usize),
    Block(bool),
    Crash(u64),
    JumpClock(i64),
    Gate(bool),
    Lead(bool),
    Pause(bool),
    Observe(bool),
    FailLists(bool),
    WriteStatus { index: usize, fails: bool },
    WritesStatus(bool),
    RestartDogwatch(File),
}

/// What is left of the state file when dogwatch restarts.
#[derive(Debug, Clone, Copy)]
enum File {
    Kept,
    Lost,
    /// Cut after so many bytes.
    Cut(usize),
}

fn happening() -> impl Strategy<Value = Happening> {
    use Happening as It;
    prop_oneof![
        6 => (1_u64..1500).prop_map(It::Wait),
        5 => (0_usize..2, prop::bool::weighted(0.3))
            .prop_map(|(stream, is_filtered)| It::Create { stream, is_filtered }),
        2 => (0_usize..40).prop_map(It::Change),
        1 => (0_usize..40).prop_map(It::Serve),
        1 => (0_usize..40).prop_map(It::Progress),
        1 => (0_usize..40).prop_map(It::Delete),
        1 => (0_usize..40).prop_map(It::Vanish),
        3 => (0_usize..2).prop_map(It::Deaf),
        2 => any::<bool>().prop_map(It::Block),
        1 => (1_u64..400).prop_map(It::Crash),
        1 => (-200_000_i64..200_000).prop_map(It::JumpClock),
        1 => any::<bool>().prop_map(It::Gate),
        1 => any::<bool>().prop_map(It::Lead),
        1 => any::<bool>().prop_map(It::Pause),
        1 => any::<bool>().prop_map(It::Observe),
        1 => any::<bool>().prop_map(It::FailLists),
        3 => (0_usize..40, any::<bool>()).prop_map(|(index, fails)| It::WriteStatus { index, fails }),
        1 => any::<bool>().prop_map(It::WritesStatus),
        2 => prop_oneof![8 => Just(File::Kept), 1 => Just(File::Lost), 1 => (0_usize..2000).prop_map(File::Cut)]
            .prop_map(It::RestartDogwatch),
    ]
}

fn is_held(world: &World) -> bool {
    world.gate == Gate::Closed || world.leads == Some(false) || world.is_paused || world.is_terminating
}

/// What must hold in every second.
fn check(world: &World, before: (usize, usize)) {
    let (kills, failed) = before;
    let budget = world.policy.budget;
    for (index, at) in world.caused.iter().enumerate() {
        let in_window = world.caused[index..].iter().take_while(|other| **other < at + budget.window.as_secs()).count();
        assert!(in_window <= budget.max as usize, "{:?}", world.caused);
    }
    assert!(world.caused.len() <= world.requested.len(), "{:?} {:?}", world.caused, world.requested);
    if world.kubelet.failed.len() > failed {
        assert!(!is_held(world), "a 500 at {} in spite of a hold", world.now);
        assert_eq!(world.mode, Mode::Enforce, "a 500 at {}", world.now);
    }
    if world.kubelet.kills.len() > kills {
        // The container was down for as long as a lease may be: that is a stream of its own.
        let subject = world.dog().last.as_ref().unwrap().subject.clone().unwrap();
        let is_lease = subject == LEASE;
        let stream = usize::from(subject != "widgets.example.com");
        let shortest = world.settings.asleep_after.as_secs();
        assert!(
            is_lease || world.last_ack[stream].is_none_or(|ack| world.now > ack + shortest),
            "{subject} was killed at {} and acknowledged at {:?}",
            world.now - 1,
            world.last_ack
        );
    }
}

fn wait(world: &mut World, seconds: u64) {
    let end = world.now + seconds;
    while world.now < end {
        let before = (world.kubelet.kills.len(), world.kubelet.failed.len());
        let next = world.now + 1;
        world.run(next, |world| {
            if world.operator.down_until.is_none() {
                world.renewal = world.now / 10;
            }
        });
        check(world, before);
    }
}

fn happen(world: &mut World, happening: &Happening) {
    let pick = |world: &World, index: usize| (!world.things.is_empty()).then(|| index % world.things.len().max(1));
    match *happening {
        Happening::Wait(seconds) => wait(world, seconds),
        Happening::Create { stream, is_filtered } => {
            let index = world.create(stream);
            world.things[index].is_filtered = is_filtered;
        }
        Happening::Change(index) => _ = pick(world, index).map(|index| world.change(index)),
        Happening::Serve(index) => {
            if let Some(index) = pick(world, index) {
                let wanted = world.things[index].wanted;
                world.serve(index, wanted);
            }
        }
        Happening::Progress(index) => {
            if let Some(index) = pick(world, index) {
                let wall = world.wall();
                let thing = world.write(index);
                thing.progress = Some((wall + 900, wall));
                thing.token += 1;
            }
        }
        Happening::Delete(index) => {
            if let Some(index) = pick(world, index) {
                let wall = world.wall();
                world.write(index).deletion = Some(Deletion::Held(wall));
            }
        }
        Happening::Vanish(index) => {
            // The last one goes, so that the operator's queue keeps its meaning; its place is taken by nobody.
            if pick(world, index).is_some_and(|index| index + 1 == world.things.len()) {
                world.forget_last();
            }
        }
        Happening::Deaf(stream) => world.operator.deaf[stream] = true,
        Happening::Block(is_blocked) => world.operator.is_blocked = is_blocked,
        Happening::Crash(seconds) => world.operator.down_until = Some(world.now + seconds),
        Happening::JumpClock(seconds) => world.wall_jump += seconds,
        Happening::Gate(is_open) => world.gate = if is_open { Gate::Open } else { Gate::Closed },
        Happening::Lead(leads) => world.leads = Some(leads),
        Happening::Pause(is_paused) => world.is_paused = is_paused,
        Happening::Observe(observes) => world.mode = if observes { Mode::Observe } else { Mode::Enforce },
        Happening::FailLists(fail) => world.lists_fail = fail,
        Happening::WriteStatus { index, fails } => {
            _ = pick(world, index).map(|index| world.write_status(index, fails));
        }
        Happening::WritesStatus(writes) => {
            (world.operator.service, world.operator.writes_every) = if writes { (1200, Some(60)) } else { (1, None) };
        }
        Happening::RestartDogwatch(file) => {
            world.dog = None;
            match (file, &mut world.state_file) {
                (File::Lost, file) => *file = None,
                (File::Cut(length), Some(file)) => file.truncate(length),
                (File::Kept | File::Cut(_), _) => {}
            }
        }
    }
}

fn a_world() -> World {
    let mut world = World::new();
    world.stream_count = 2;
    world.has_state_file = true;
    world.policy.budget.max = 2;
    world
}

/// The stream's explanation now.
fn explained(world: &World, stream: usize) -> Explanation {
    world.dog().last.as_ref().unwrap().streams[stream].clone()
}

/// What can be seen of a step, moments left out.
fn outside(step: &Step) -> impl PartialEq + std::fmt::Debug + use<> {
    let streams: Vec<_> = step
        .streams
        .iter()
        .map(|it| {
            let counts = (it.pending, it.overdue, it.candidates, it.enough, it.excused.clone());
            (it.diagnosis, counts, it.holds.clone(), it.asleep_after, it.in_flight_until, it.silent_since)
        })
        .collect();
    (step.decision, step.transitions.clone(), step.effects.clone(), streams, step.budget_remaining)
}

proptest! {
    #![proptest_config(quick(40))]

    #[test]
    fn restarts_stay_within_budget_and_never_meet_a_hold_or_a_fresh_ack(
        happenings in prop::collection::vec(happening(), 10..50),
    ) {
        let mut world = a_world();
        for happening in &happenings {
            happen(&mut world, happening);
        }
        wait(&mut world, 2000);
    }

    #[test]
    fn a_silent_stream_with_enough_candidates_is_found_in_time(
        happenings in prop::collection::vec(happening(), 0..12),
    ) {
        let mut world = a_world();
        for happening in &happenings {
            happen(&mut world, happening);
        }
        // No hold from here on, and nothing that heals.
        (world.gate, world.leads, world.is_paused) = (Gate::Open, None, false);
        (world.mode, world.lists_fail) = (Mode::Observe, false);
        wait(&mut world, HOUR);
        prop_assume!(world.operator.down_until.is_none());
        let acks = world.last_ack[0];
        world.operator.is_blocked = true;
        let enough = explained(&world, 0).enough;
        for _ in 0..enough {
            world.create(0);
        }
        let asleep_after = explained(&world, 0).asleep_after.as_secs();
        let interval = world.settings.interval.as_secs();
        let (created, mut found) = (world.now, false);
        // One observation until they are seen, `asleepAfter` until they count as silent, one to look again.
        while world.now <= created + interval + asleep_after + interval {
            wait(&mut world, 1);
            found |= explained(&world, 0).diagnosis == Diagnosis::Asleep;
        }
        prop_assert!(found, "{:?} {:?} {:?}", explained(&world, 0), acks, world.last_ack);
        prop_assert!(world.took(Transition::Suspect));
    }

    #[test]
    fn nothing_happens_before_the_announced_moment(
        happenings in prop::collection::vec(happening(), 0..25),
        parts in prop::collection::vec(0.0_f64..1.0, 3),
    ) {
        let mut world = a_world();
        for happening in &happenings {
            happen(&mut world, happening);
        }
        wait(&mut world, 1);
        let (mut decider, mut streams) = (world.dog().decider.clone(), world.dog().streams.clone());
        let (inputs, now) = (world.inputs(), world.moment());
        decider.step(now, &inputs, &mut streams);
        // A second step at the same moment brings nothing new.
        let step = decider.step(now, &inputs, &mut streams);
        prop_assert_eq!((&step.transitions[..], &step.effects[..]), (&[][..], &[][..]));
        let far = now.elapsed + Duration::from_hours(100);
        let rest = step.changes_at.unwrap_or(far).saturating_sub(now.elapsed);
        prop_assert!(rest >= Duration::from_millis(1));
        let least = Duration::from_millis(1);
        let moments = parts.iter().map(|part| rest.saturating_sub(least).mul_f64(*part)).chain([rest.saturating_sub(least)]);
        for passed in moments {
            let passed = Duration::from_millis(u64::try_from(passed.as_millis()).unwrap());
            let then = Moment { wall: now.wall + passed, elapsed: now.elapsed + passed };
            let seen = decider.clone().step(then, &inputs, &mut streams.clone());
            prop_assert_eq!(outside(&seen), outside(&step), "{:?} of {:?} later", passed, rest);
        }
    }
}
