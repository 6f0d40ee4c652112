//! Asks the operator's own check, `operator.healthz`, and counts what it says.

use std::sync::Arc;
use std::time::Duration;

use super::shared::Shared;
use crate::clock;
use crate::cluster::chain;
use crate::config::operator::Healthz;
use crate::endpoint::{Error, Target};
use crate::judge::tick::Tick;

/// Another name than the probe's: an address that leads back to dogwatch must not count as the kubelet.
pub(super) const AGENT: &str = concat!("dogwatch/", env!("CARGO_PKG_VERSION"));
/// The kubelet's default is 1 s, which a throttled operator may well need for an honest answer; one that hangs does not
/// answer in 5 s either.
const LONGEST: Duration = Duration::from_secs(5);

/// Asks for ever.
pub(super) async fn keep(shared: Arc<Shared>, operator: String, healthz: Healthz) {
    let target = Target { uri: healthz.url, agent: AGENT };
    let limit = healthz.period.min(LONGEST);
    loop {
        let begins = shared.now().elapsed;
        let now = shared.now().tick();
        let from = shared.with(|known| {
            known.see_own_checks(shared.now());
            known.operator(&operator)?.own.check.as_ref()?.counted.asks_from()
        });
        let wait = match from {
            Some(from) if now >= from => {
                note(&shared, &operator, &target.check(limit).await, now);
                healthz.period.saturating_sub(shared.now().elapsed.saturating_sub(begins))
            }
            Some(from) => from.since(now).min(healthz.period),
            None => healthz.period,
        };
        clock::sleep(wait).await;
    }
}

fn note(shared: &Shared, operator: &str, answer: &Result<(), Error>, began: Tick) {
    let now = shared.now();
    let problem = answer.as_ref().err().map(|error| chain(error));
    let turned = shared.with(|known| {
        known.see_own_checks(now);
        let own = known.operator(operator)?.own.check.as_mut()?;
        let before = own.counted.failed();
        own.counted.note(answer.is_ok(), began, now);
        own.problem.clone_from(&problem);
        (own.counted.failed().is_some() != before.is_some()).then_some(own.counted.in_a_row())
    });
    match (turned, problem) {
        (Some(in_a_row), Some(problem)) => {
            tracing::warn!(operator, in_a_row, problem, "the operator's own check failed: /healthz fails for it");
        }
        (Some(_), None) => tracing::info!(operator, "the operator's own check passes again"),
        (None, _) => return,
    }
    shared.changed.notify_one();
}
