//! Credentials.

use super::{End, HOUR, Play};
use crate::sidecar::tests::world::MINUTE;
use crate::sim::User;
use crate::view::Decision::Exhausted;
use crate::view::Diagnosis::{Asleep, Unknown};

fn anything(name: &str) -> User {
    User::new(name).allow("*", &["*"], &["*"])
}

/// Both sides need a token; the operator reads its own when it starts, and never again.
async fn with_tokens(name: &'static str, variant: &'static str) -> Play {
    let mut play = Play::set(name, variant, |_| {}).await;
    play.sim.set_token("token-0", anything("operator"));
    play.mounted = Some("token-0".to_owned());
    play.allow(anything("dogwatch"));
    play.start().await;
    play
}

/// The old token is refused; the file has a new one.
fn rotate(play: &mut Play, number: u32) {
    play.sim.revoke_token(&format!("token-{number}"));
    let next = format!("token-{}", number + 1);
    play.sim.set_token(&next, anything("operator"));
    play.mounted = Some(next);
}

#[tokio::test(start_paused = true)]
async fn token_expired() {
    let mut play = with_tokens("token-expired", "once").await;
    rotate(&mut play, 0);
    play.create("unheard");
    play.run(HOUR).await;
    play.is_cured();
}

/// Each restart cures for an hour, until the budget is spent.
#[tokio::test(start_paused = true)]
async fn token_expired_every_hour() {
    let mut play = with_tokens("token-expired", "every hour").await;
    for number in 0..4 {
        rotate(&mut play, number);
        play.create(&format!("unheard-{number}"));
        play.run(45 * MINUTE).await;
    }
    play.ends(End { worst: Asleep, decisions: None, restarts: 3, cured: 3, fruitless: 0 });
    assert_eq!(play.decision(), Exhausted);
}

/// The mounted file itself is stale: both are refused, and only a new Pod helps.
#[tokio::test(start_paused = true)]
async fn token_stale_mount() {
    let mut play = with_tokens("token-stale-mount", "").await;
    play.sim.revoke_token("token-0");
    play.sim.revoke_token("dogwatch");
    play.create("unheard");
    play.run(HOUR).await;
    play.ends(End { worst: Unknown, decisions: None, restarts: 0, cured: 0, fruitless: 0 });
    let problem = play.operator().streams[0].list.problem.clone().unwrap_or_default();
    assert!(problem.contains("401") || problem.contains("nauthorized"), "{problem}");
    play.run(MINUTE).await;
    play.fools_the_naive();
}
