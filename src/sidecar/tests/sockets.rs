//! What the connections beside dogwatch change.

use std::time::Duration;

use serde_json::json;

use super::world::{MINUTE, World};
use crate::judge::connection::{Phase, Socket};
use crate::sockets::Error;
use crate::view::Decision::{Restarting, Suspect, Watching};

const LOOK: Duration = Duration::from_secs(5);

fn socket(inode: u16, silent_for: Duration) -> Socket {
    Socket {
        local: ([10, 0, 0, 7], 40_000 + inode).into(),
        peer: ([10, 96, 0, 1], 443).into(),
        phase: Phase::Established,
        inode: inode.into(),
        is_own: inode == 1,
        silent_for: Some(silent_for),
        receive_queue: 0,
        send_queue: 0,
        retransmits: 0,
    }
}

/// Looks every five seconds until a restart is requested; returns when the stream was suspected, from the event on.
async fn until_restarting(world: &mut World, silent_for: impl Fn(Duration) -> Duration) -> Duration {
    let (mut passed, mut suspected) = (Duration::ZERO, None);
    while world.decision() != Restarting {
        assert!(passed < 30 * MINUTE, "{:#?}", world.operator());
        world.look(|| Ok(vec![socket(1, LOOK), socket(2, silent_for(passed))]));
        world.run(LOOK).await;
        passed += LOOK;
        suspected = suspected.or((world.decision() == Suspect).then_some(passed));
    }
    suspected.expect("suspected before")
}

async fn deaf() -> World {
    let mut world = World::new().await;
    world.start();
    world.until(5 * MINUTE, |world| world.decision() == Watching).await;
    for _ in 0..4 {
        world.look(|| Ok(vec![socket(1, LOOK), socket(2, MINUTE)]));
        world.run(LOOK).await;
    }
    world.deafen();
    world.create("unheard");
    world
}

#[tokio::test(start_paused = true)]
async fn a_silent_operator_is_suspected_sooner_and_a_pinged_one_as_ever() {
    let mut silent = deaf().await;
    let sooner = until_restarting(&mut silent, |passed| MINUTE + passed).await;
    assert!((660..=700).contains(&sooner.as_secs()), "the rule's own cure and a minute: {sooner:?}");
    let (_, verbose) = silent.ask("/healthz?verbose").await;
    assert!(verbose.contains("\nevidence/widgets.example.com: silent-connection\n"), "{verbose}");

    let mut pinged = deaf().await;
    let later = until_restarting(&mut pinged, |_| LOOK).await;
    assert!((900..=940).contains(&later.as_secs()), "asleepAfter: {later:?}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_seen_takes_the_evidence_back_and_shows() {
    let mut world = deaf().await;
    for passed in 1..100 {
        world.look(|| Ok(vec![socket(1, LOOK), socket(2, MINUTE + passed * LOOK)]));
        world.run(LOOK).await;
    }
    assert!(world.operator().streams[0].evidence.silent_connection);
    world.look(|| Err(Error::Answer { problem: "cut off".to_owned() }));
    world.run(LOOK * 3).await;
    let operator = world.operator();
    assert!(!operator.streams[0].evidence.silent_connection);
    assert!(operator.connections.problem.is_some_and(|problem| problem.ends_with("cut off")));
}

#[tokio::test(start_paused = true)]
async fn in_the_network_of_the_whole_node_nobody_looks() {
    let mut world = World::new().await;
    world.sim.patch("pods", Some("prod"), "op-1", json!({"spec": {"hostNetwork": true}}), "kubectl").expect("patched");
    world.start();
    world.until(5 * MINUTE, |world| world.decision() == Watching).await;
    world.look(|| panic!("the connections of others"));
    world.run(LOOK * 3).await;
    let problem = world.operator().connections.problem.expect("unavailable");
    assert!(problem.contains("hostNetwork"), "{problem}");
}
