//! Rows of the table that no timeline takes, and moments to the second.

use super::world::{HOUR, MINUTE, World};
use crate::judge::decision::{
    Blindness, Decider, Decision, Effect, EventReason, Gate, Inputs, Mode, Outcome, Pod, Probe, Transition,
};
use crate::judge::diagnosis::{Diagnosis, Hold};

/// A deaf operator with one object, run until the decision is `wanted`.
pub(super) fn until(world: &mut World, wanted: Decision) {
    world.operator.deaf = [true; 2];
    let limit = world.now + 3 * HOUR;
    while world.decision() != wanted {
        let next = world.now + 1;
        world.run(next, |world| {
            if world.now == 200 {
                world.create(0);
            }
        });
        assert!(world.now < limit, "{wanted} was never reached");
    }
}

#[test]
fn an_annotation_that_says_observe_calls_a_restart_back() {
    let mut world = World::new();
    until(&mut world, Decision::Restarting);
    world.mode = Mode::Observe;
    let now = world.now;
    world.run(now + 10 * MINUTE, |_| ());
    assert_eq!((world.kills(), &world.outcomes[..]), (0, &[Outcome::Cancelled][..]));
}

#[test]
fn a_container_that_lives_on_is_not_seen_and_the_budget_is_spent() {
    let mut world = World::new();
    until(&mut world, Decision::Restarting);
    // A kubelet that asks somebody else.
    let requested = world.now - 1;
    world.kubelet.is_wired = false;
    world.run(requested + 10 * MINUTE, |_| ());
    let rows: Vec<_> = world.transitions.iter().filter(|(at, _)| *at > requested).copied().collect();
    assert_eq!(rows[0], (requested + 40, Transition::HandOver), "(3 + 1) x 10 s");
    assert_eq!(rows[1], (requested + 40 + 30 + 30, Transition::NotSeen));
    assert_eq!((world.kills(), &world.outcomes[..]), (0, &[Outcome::NotSeen][..]));
    assert_eq!(world.dog().last.as_ref().unwrap().budget_remaining, 2);
    assert!(world.took(Transition::Exhaust), "minGap");
}

#[test]
fn exhausted_by_min_gap_goes_on_when_it_has_passed() {
    let mut world = World::new();
    until(&mut world, Decision::Restarting);
    world.kubelet.is_wired = false;
    until(&mut world, Decision::Exhausted);
    let requested = world.requested[0];
    world.run(requested + 900, |_| ());
    assert_eq!(world.decision(), Decision::Exhausted);
    world.run(requested + 901, |_| ());
    assert_eq!(world.decision(), Decision::Suspect);
    assert_eq!(world.transitions.last(), Some(&(requested + 900, Transition::Retry)));
}

#[test]
fn exhausted_relaxes_when_the_stream_wakes() {
    let mut world = World::new();
    world.policy.budget.max = 0;
    until(&mut world, Decision::Exhausted);
    world.operator.deaf = [false; 2];
    let now = world.now;
    world.run(now + 5 * MINUTE, |_| ());
    assert_eq!((world.decision(), world.unserved()), (Decision::Watching, 0));
    assert!(world.took(Transition::Relax));
}

#[test]
fn a_terminating_pod_is_left_alone() {
    let mut world = World::new();
    until(&mut world, Decision::Restarting);
    world.is_terminating = true;
    let now = world.now;
    world.run(now + HOUR, |_| ());
    assert_eq!((world.kills(), world.decision()), (0, Decision::Watching));
    assert_eq!(world.outcomes, [Outcome::Cancelled]);
    assert_eq!(world.dog().last.as_ref().unwrap().holds, [Hold::Terminating]);
}

#[test]
fn lists_that_fail_make_a_stream_unknown_after_three_intervals() {
    let mut world = World::new();
    world.run(300, |_| ());
    // The newest complete list ended at 270.
    world.lists_fail = true;
    world.run(270 + 90, |_| ());
    assert_eq!(world.dog().last.as_ref().unwrap().streams[0].diagnosis, Diagnosis::Healthy);
    world.run(270 + 91, |_| ());
    assert_eq!(world.dog().last.as_ref().unwrap().streams[0].diagnosis, Diagnosis::Unknown);
    assert_eq!(world.decision(), Decision::Blind);
    assert!(world.took(Transition::GoBlind(Blindness::NoStream)));
    let event = Effect::Event { reason: EventReason::Blind, stream: None };
    assert!(world.effects.contains(&event));
    world.lists_fail = false;
    world.run(500, |_| ());
    assert_eq!(world.decision(), Decision::Watching);
}

#[test]
fn a_task_that_ended_blinds_and_calls_a_restart_back() {
    let mut world = World::new();
    until(&mut world, Decision::Restarting);
    let mut streams = world.dog().streams.clone();
    let mut decider = world.dog().decider.clone();
    let mut inputs = world.inputs();
    inputs.has_ended_task = true;
    let step = decider.step(world.moment(), &inputs, &mut streams);
    assert_eq!((step.decision, step.is_failing), (Decision::Blind, false));
    assert_eq!(step.transitions, [Transition::Cancel, Transition::GoBlind(Blindness::TaskEnded)]);
}

#[test]
fn a_stream_that_turns_server_stale_is_no_longer_suspected() {
    let mut world = World::new();
    until(&mut world, Decision::Suspect);
    world.dog.as_mut().unwrap().streams[0].evidence.server_stale = true;
    let now = world.now;
    world.run(now + HOUR, |_| ());
    assert_eq!((world.kills(), world.decision()), (0, Decision::Watching));
    let stale = world
        .effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Event { reason: EventReason::ServerStale, .. }))
        .count();
    assert_eq!(stale, 1, "one Event when it turns so");
}

#[test]
fn a_stream_that_may_not_restart_alone_is_only_diagnosed() {
    let mut world = World::new();
    world.settings.restart = false;
    world.operator.deaf = [true; 2];
    world.run(HOUR, |world| {
        if world.now == 200 {
            world.create(0);
        }
    });
    assert_eq!(world.dog().last.as_ref().unwrap().streams[0].diagnosis, Diagnosis::Asleep);
    assert!(!world.took(Transition::Suspect));
}

#[test]
fn time_in_which_nothing_could_be_seen_makes_no_restart_fruitless() {
    let mut world = World::new();
    until(&mut world, Decision::Recovering);
    world.operator.is_blocked = true;
    let closed = world.now;
    world.gate = Gate::Closed;
    world.run(closed + HOUR, |_| ());
    assert_eq!((world.decision(), world.outcomes.len()), (Decision::Recovering, 0));
    let opened = world.now;
    world.gate = Gate::Open;
    world.run(opened + 900, |_| ());
    assert_eq!(world.decision(), Decision::Recovering);
    world.run(opened + 960, |_| ());
    assert_eq!(world.outcomes, [Outcome::Fruitless]);
}

#[test]
fn an_operator_elsewhere_is_observed_without_a_pod() {
    let mut world = World::new();
    world.run(30, |_| ());
    let mut inputs = Inputs { pod: Pod::Elsewhere, probe: None, mode: Mode::Observe, ..world.inputs() };
    let decide = |inputs: &Inputs| {
        let mut decider = Decider::new(world.policy, world.moment());
        decider.step(world.moment(), inputs, &mut world.dog().streams.clone()).decision
    };
    assert_eq!(decide(&inputs), Decision::Watching);
    inputs.pod = Pod::Unread;
    assert_eq!(decide(&inputs), Decision::Starting, "the own Pod must be read");
    inputs.probe = Some(Probe::default());
    assert_eq!(decide(&inputs), Decision::Watching);
    inputs.gate = Gate::Closed;
    assert_eq!(decide(&inputs), Decision::Starting, "the gate never opened");
}

#[test]
fn what_a_hold_ends_is_not_told_as_recovered() {
    let mut world = World::new();
    until(&mut world, Decision::Suspect);
    world.is_paused = true;
    let now = world.now;
    world.run(now + 10, |_| ());
    assert_eq!(world.transitions.last().unwrap().1, Transition::Dismiss);
    let recovered = |effect: &Effect| matches!(effect, Effect::Event { reason: EventReason::OperatorRecovered, .. });
    assert!(!world.effects.iter().any(recovered));
    world.is_paused = false;
    until(&mut world, Decision::Suspect);
    world.operator.deaf = [false; 2];
    let now = world.now;
    world.run(now + 60, |_| ());
    assert_eq!(world.effects.iter().filter(|effect| recovered(effect)).count(), 1);
}

#[test]
fn the_headline_stays_as_it_was_when_the_decision_was_taken() {
    let mut world = World::new();
    until(&mut world, Decision::Restarting);
    let headline = world.dog().last.as_ref().unwrap().headline.clone();
    assert_eq!((headline.decision, headline.by), (Decision::Restarting, Some(Transition::Restart)));
    let about = headline.about.as_ref().unwrap();
    assert_eq!((about.stream.as_str(), about.overdue, about.diagnosis), ("widgets.example.com", 1, Diagnosis::Asleep));
    assert!(headline.oldest().is_some());
    let now = world.now;
    world.run(now + 5, |_| ());
    assert_eq!(world.dog().last.as_ref().unwrap().headline, headline);
}

#[test]
fn falling_asleep_happens_at_the_announced_moment_and_not_a_second_before() {
    let mut world = World::new();
    world.operator.deaf = [true; 2];
    // First seen at 210; overdue a moment after 510, asleep at 1110.
    world.run(1100, |world| {
        if world.now == 200 {
            world.create(0);
        }
    });
    let mut streams = world.dog().streams.clone();
    let mut decider = world.dog().decider.clone();
    let mut step = |second: u64| {
        world.now = second;
        decider.step(world.moment(), &world.inputs(), &mut streams)
    };
    let before = step(1109);
    assert_eq!(before.streams[0].diagnosis, Diagnosis::Partial);
    assert_eq!(before.changes_at, Some(World::tick_of(1110).elapsed()));
    assert_eq!(step(1110).transitions, [Transition::Suspect]);
    let after = step(1111);
    assert_eq!((after.decision, &after.transitions[..]), (Decision::Suspect, &[][..]));
}
