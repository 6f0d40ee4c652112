//! dogwatch's own restarts: what the state file carries over, and what it refuses.

use jiff::Timestamp;

use super::world::{HOUR, World, seconds};
use crate::judge::decision::snapshot::{Error, Owner, Snapshot};
use crate::judge::decision::{Decider, Decision, Outcome, Transition};
use crate::judge::diagnosis::Stream;
use crate::judge::state::Moment;

/// A world whose restart is under way, with a state file.
fn restarting() -> World {
    let mut world = World::new();
    world.has_state_file = true;
    world.operator.deaf = [true; 2];
    world.run(1156, |world| {
        if world.now == 200 {
            world.create(0);
        }
    });
    assert_eq!(world.decision(), Decision::Restarting);
    world
}

fn saved(world: &World) -> Vec<u8> {
    world.state_file.clone().unwrap()
}

/// Restores a file at `now`.
fn restore(
    world: &World,
    file: &[u8],
    owner: Owner<'_>,
    now: Moment,
    rule: &str,
) -> Result<(Decider, Vec<Stream>), Error> {
    let mut streams = vec![Stream::new("widgets.example.com", world.settings.clone())];
    let decider =
        Decider::restore(world.policy, Snapshot::parse(file)?, now, owner, &mut streams, |_| rule.to_owned())?;
    Ok((decider, streams))
}

const OWNER: Owner<'static> = Owner { operator: "demo", boot: "boot-1" };

#[test]
fn the_restart_is_on_record_before_the_first_500() {
    let world = restarting();
    let file = String::from_utf8(saved(&world)).unwrap();
    assert!(file.contains(r#""restart":{"stream":"widgets.example.com""#), "{file}");
    assert!(world.kubelet.failed.is_empty() && world.requested.len() == 1);
}

#[test]
fn a_restart_under_way_gets_its_outcome_and_no_further_500() {
    let mut world = restarting();
    let now = world.now;
    world.dog = None;
    world.run(now + 600, |_| ());
    assert_eq!(world.transitions.last().unwrap().1, Transition::NotSeen);
    assert_eq!((world.kills(), &world.outcomes[..]), (0, &[Outcome::NotSeen][..]));
    assert_eq!(world.dog().last.as_ref().unwrap().budget_remaining, 2);
}

#[test]
fn a_cure_is_seen_by_the_next_dogwatch() {
    let mut world = restarting();
    world.run(1300, |world| {
        if world.operator.down_until.is_some() {
            world.dog = None;
        }
    });
    assert_eq!((world.kills(), &world.outcomes[..]), (1, &[Outcome::Cured][..]));
}

#[test]
fn a_snapshot_that_is_restored_is_the_same_snapshot() {
    let world = restarting();
    let file = saved(&world);
    let now = world.moment();
    let (decider, streams) = restore(&world, &file, OWNER, now, "rule").unwrap();
    let again = decider.snapshot(now, OWNER, &streams, |_| "rule".to_owned());
    let mut before: serde_json::Value = serde_json::from_slice(&file).unwrap();
    let mut after = serde_json::to_value(again).unwrap();
    for value in [&mut before, &mut after] {
        value["now"].take();
        value["wall"].take();
    }
    assert_eq!(before, after);
}

#[test]
fn on_another_boot_times_keep_their_distance_by_the_wall_clock() {
    let world = restarting();
    let file = saved(&world);
    let later = world.moment().wall + seconds(HOUR);
    let now = Moment { wall: later, elapsed: seconds(20) };
    let owner = Owner { boot: "boot-2", ..OWNER };
    let (decider, streams) = restore(&world, &file, owner, now, "rule").unwrap();
    let again = serde_json::to_value(decider.snapshot(now, owner, &streams, |_| "rule".to_owned())).unwrap();
    // Saved at 1155 when the restart was requested; the wall clock says that this is an hour and a second ago.
    assert_eq!(again["requested"][0], (20 - 3600 - 1) * 1000);
    let first_seen = &again["streams"]["widgets.example.com"]["ledger"]["objects"][0]["clock"]["firstSeen"];
    assert_eq!(*first_seen, (20 - 3600 - 1 - (1155 - 210)) * 1000);
}

#[test]
fn a_wall_clock_that_went_back_refunds_no_budget() {
    let world = restarting();
    let now = Moment { wall: Timestamp::from_second(0).unwrap(), elapsed: seconds(20) };
    let owner = Owner { boot: "boot-2", ..OWNER };
    let (decider, streams) = restore(&world, &saved(&world), owner, now, "rule").unwrap();
    let again = serde_json::to_value(decider.snapshot(now, owner, &streams, |_| "rule".to_owned())).unwrap();
    assert_eq!(again["requested"][0], 20_000, "as if it had been just now");
}

#[test]
fn a_ledger_of_another_rule_is_left_behind_and_the_budget_is_not() {
    let world = restarting();
    let (decider, streams) = restore(&world, &saved(&world), OWNER, world.moment(), "another").unwrap();
    assert!(streams[0].ledger.is_empty() && !streams[0].ledger.is_proven());
    let again = serde_json::to_value(decider.snapshot(world.moment(), OWNER, &streams, |_| "rule".to_owned())).unwrap();
    assert_eq!(again["requested"].as_array().unwrap().len(), 1);
}

#[test]
fn foreign_and_unknown_content_is_refused() {
    let world = restarting();
    let file = String::from_utf8(saved(&world)).unwrap();
    let refused = |text: &str| restore(&world, text.as_bytes(), OWNER, world.moment(), "").unwrap_err();
    assert!(matches!(refused("{"), Error::Malformed(_)));
    assert!(matches!(refused("[]"), Error::Foreign));
    assert!(matches!(refused(r#"{"kind":"something","version":1}"#), Error::Foreign));
    let newer = file.replacen(r#""version":1"#, r#""version":2"#, 1);
    assert!(matches!(refused(&newer), Error::Version { found: 2 }));
    let extended = file.replacen(r#""requested""#, r#""surplus":1,"requested""#, 1);
    assert!(matches!(refused(&extended), Error::Malformed(_)));
    let cut = file.replacen(r#""firstSeen""#, r#""first""#, 1);
    assert!(matches!(refused(&cut), Error::Malformed(_)));
    let other = Owner { operator: "another", ..OWNER };
    let error = restore(&world, file.as_bytes(), other, world.moment(), "").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the state file is of operator demo, not of another; give each operator a stateFile of its own"
    );
}
