//! What the operator itself shows: its place among its peers, its own check and its metrics.

use crate::config::operator::{Healthz, ObjectName, Operator as Beside};
use crate::judge::decision::{Peering, Pod, Probe};
use crate::judge::operator_metrics::OperatorMetrics;
use crate::judge::own_check::{OwnCheck, Settings};
use crate::judge::state::Moment;
use crate::view::{self, SeenMetrics, SeenPeering};

/// What the operator itself shows; of each part nothing where it is not configured.
#[derive(Debug, Default)]
pub(in crate::sidecar) struct Own {
    pub(in crate::sidecar) peering: Option<SeenPeering>,
    pub(in crate::sidecar) check: Option<Check>,
    pub(in crate::sidecar) metrics: OperatorMetrics,
    pub(in crate::sidecar) seen_metrics: Option<SeenMetrics>,
}

/// The operator's own check, and what was wrong with it last.
#[derive(Debug)]
pub(in crate::sidecar) struct Check {
    healthz: Healthz,
    pub(in crate::sidecar) counted: OwnCheck,
    pub(in crate::sidecar) problem: Option<String>,
}

impl Own {
    /// Puts a configuration in force. What it leaves as it was keeps its memory.
    pub(in crate::sidecar) fn configure(&mut self, beside: Option<&Beside>, now: Moment) {
        let object = beside.and_then(|beside| beside.peering.as_ref()).map(shown);
        self.peering = match (self.peering.take(), object) {
            (_, None) => None,
            (Some(seen), Some(object)) if seen.object == object => Some(seen),
            (_, Some(object)) => Some(SeenPeering::unread(object)),
        };
        let healthz = beside.and_then(|beside| beside.healthz.as_ref());
        self.check = healthz.map(|healthz| match self.check.take() {
            Some(check) if check.healthz.url == healthz.url => check.configured(healthz),
            _ => {
                Check { counted: OwnCheck::new(settings(healthz), now.tick()), healthz: healthz.clone(), problem: None }
            }
        });
        self.metrics.lost();
        let waits = || SeenMetrics::Unavailable("not read yet".to_owned());
        self.seen_metrics = beside.and_then(|beside| beside.metrics.as_ref()).map(|_| waits());
    }

    /// For the decision.
    pub(in crate::sidecar) fn judged_peering(&self) -> Peering {
        self.peering.as_ref().map_or(Peering::NotNeeded, |seen| seen.state)
    }

    /// Lets the check know of the Pod.
    pub(in crate::sidecar) fn see(&mut self, pod: &Pod, probe: Option<Probe>, now: Moment) {
        if let Some(own) = &mut self.check {
            own.counted.see(pod, probe, now.tick());
        }
    }

    /// The check for readers. One that can no longer be trusted fails nothing.
    pub(in crate::sidecar) fn shown_check(&self, is_trusted: bool) -> Option<view::OwnCheck> {
        let own = self.check.as_ref()?;
        Some(view::OwnCheck {
            failed: own.counted.failed().filter(|_| is_trusted),
            in_a_row: own.counted.in_a_row(),
            problem: own.problem.clone().filter(|_| own.counted.in_a_row() > 0),
            failures: own.counted.failures(),
        })
    }
}

impl Check {
    fn configured(mut self, healthz: &Healthz) -> Self {
        self.counted.settings = settings(healthz);
        self.healthz = healthz.clone();
        self
    }
}

const fn settings(healthz: &Healthz) -> Settings {
    Settings { failure_threshold: healthz.failure_threshold, initial_delay: healthz.initial_delay }
}

fn shown(object: &ObjectName) -> String {
    object.namespace.as_ref().map_or_else(|| object.name.clone(), |namespace| format!("{namespace}/{}", object.name))
}
