//! Reads the operator's own metrics, `operator.metrics`, as evidence.

use std::sync::Arc;
use std::time::Duration;

use super::own_check::AGENT;
use super::shared::Shared;
use crate::clock;
use crate::cluster::chain;
use crate::config::operator::Metrics;
use crate::endpoint::{Access, Target, Trust};
use crate::judge::decision::{Decision, Pod};
use crate::judge::operator_metrics::Scrape;
use crate::view::SeenMetrics;

const AT_REST: Duration = Duration::from_secs(30);
const IN_DOUBT: Duration = Duration::from_secs(10);
/// Metrics are gathered while they are asked for.
const LIMIT: Duration = Duration::from_secs(10);
/// The metrics of a large operator have about one MiB.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Reads for ever.
pub(super) async fn keep(shared: Arc<Shared>, operator: String, metrics: Metrics) {
    let trust = match (metrics.insecure_skip_verify, metrics.ca_file) {
        (true, _) => Trust::Any,
        (false, Some(file)) => Trust::File(file),
        (false, None) => Trust::System,
    };
    let access = Access { token_file: metrics.token_file, trust };
    let target = Target { uri: metrics.url, agent: AGENT };
    loop {
        let mut scrape = Scrape::default();
        let read = target.lines(&access, LIMIT, MAX_BYTES, &mut |line| scrape.line(line)).await;
        let read = read.map(|()| scrape).map_err(|error| chain(&error));
        let is_in_doubt = shared.with(|known| {
            let life = match known.pod.judged() {
                Pod::Read { container, .. } => container.map(|container| container.id),
                Pod::Elsewhere | Pod::Unread => None,
            };
            let Some(operator) = known.operator(&operator) else { return false };
            operator.own.read_metrics(read, life.as_deref(), shared.now().tick(), &target.to_string());
            matches!(operator.decider.decision(), Decision::Suspect | Decision::Restarting)
        });
        clock::sleep(if is_in_doubt { IN_DOUBT } else { AT_REST }).await;
    }
}

impl super::operator::Own {
    /// Takes in what came of one reading of `target`.
    fn read_metrics(
        &mut self,
        read: Result<Scrape, String>,
        life: Option<&str>,
        now: crate::judge::tick::Tick,
        target: &str,
    ) {
        let seen = match read {
            Ok(scrape) => match self.metrics.note(scrape, life, now) {
                Ok(evidence) => SeenMetrics::Read(evidence),
                Err(missing) => SeenMetrics::Unavailable(format!("{target} shows none of {}", missing.join(", "))),
            },
            Err(problem) => {
                self.metrics.lost();
                SeenMetrics::Unavailable(problem)
            }
        };
        self.seen_metrics = Some(seen);
    }
}
