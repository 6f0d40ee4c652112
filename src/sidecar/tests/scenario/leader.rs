//! Replicas and their lease.

use serde_json::json;

use super::{End, HOUR, Play};
use crate::sidecar::tests::world::{WIDGETS, of_operator};
use crate::sim::operator::flaw::{Aim, Flaw};
use crate::sim::operator::lease::Lease;
use crate::sim::{Fault, Scope};
use crate::view::Decision::Standby;
use crate::view::Diagnosis::{Asleep, Healthy, Partial};

const LEASES: &str = "leases.coordination.k8s.io";

/// A lease that `holder` has, and an operator beside dogwatch that is `op-1_x`.
async fn with_lease(name: &'static str, variant: &'static str, holder: &str, for_life: bool) -> Play {
    let lease =
        Lease { namespace: "prod".to_owned(), name: "my-lock".to_owned(), identity: "op-1_x".to_owned(), for_life };
    let mut play = Play::set(name, variant, |options| options.lease = Some(lease)).await;
    // Long enough for another replica's to last until the story begins.
    let duration = if holder.is_empty() { 15 } else { 600 };
    let object = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "my-lock", "namespace": "prod"},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": duration, "renewTime": "2026-03-04T07:00:00.000000Z"},
    });
    play.sim.create(object, "operator").expect("created");
    if !holder.is_empty() {
        // Whoever led before has served these.
        for name in ["a", "b", "served"] {
            let status = json!({"status": {"observedGeneration": 1}});
            play.sim.patch(WIDGETS, Some("prod"), name, status, "operator").expect("written");
        }
    }
    play.configure("operator: {lease: my-lock}\nresources: [widgets.example.com]");
    play.start().await;
    play
}

/// It could not renew for 20 s, has stopped all work, and stays; its name is still on the lease.
#[tokio::test(start_paused = true)]
async fn lease_lost_zombie() {
    let mut play = with_lease("lease-lost-zombie", "", "", false).await;
    let readonly = play.sim.begin(Fault::ApiReadonly, Scope { resource: Some(LEASES.to_owned()), ..of_operator() });
    play.run(std::time::Duration::from_secs(20)).await;
    play.sim.end(readonly);
    play.run(HOUR).await;
    play.is_cured();
    assert_eq!(play.record.diagnoses["widgets.example.com"], [Healthy], "nothing was wanted meanwhile");
    play.fools_the_naive();
}

#[tokio::test(start_paused = true)]
async fn lease_renews_no_work() {
    let mut play = with_lease("lease-renews-no-work", "", "", false).await;
    play.kind.flaws.begin(Flaw::Hangs, Aim::default());
    play.create("unheard");
    play.run(HOUR).await;
    play.is_cured();
}

/// Whoever holds it is dead and will hold it for ever; a restart of the one that waits helps nobody.
#[tokio::test(start_paused = true)]
async fn leader_for_life_dead_holder() {
    let mut play = with_lease("leader-for-life-dead-holder", "", "op-0_dead", true).await;
    play.create("unheard");
    play.run(2 * HOUR).await;
    play.ends(End { worst: Partial, decisions: Some(&[Standby]), restarts: 0, cured: 0, fruitless: 0 });
    play.fools_the_naive();
}

#[tokio::test(start_paused = true)]
async fn standby() {
    let mut play = with_lease("standby", "", "op-2_y", false).await;
    for round in 0..360 {
        if round == 30 {
            // The leader has a fault of its own; that is its own dogwatch's affair.
            play.create("unheard");
        }
        let renewal = json!({"spec": {"holderIdentity": "op-2_y", "renewTime": format!("round {round}")}});
        play.sim.patch(LEASES, Some("prod"), "my-lock", renewal, "operator").expect("renewed");
        play.run(std::time::Duration::from_secs(10)).await;
    }
    assert!(play.operator().streams[0].explanation.diagnosis != Asleep);
    play.ends(End { worst: Partial, decisions: Some(&[Standby]), restarts: 0, cured: 0, fruitless: 0 });
    play.fools_the_naive();
}
