//! The kubelet's side of the liveness probe.

use super::World;
use crate::judge::decision::Given;

/// The kubelet's side of the liveness probe.
#[derive(Debug, Clone)]
pub(in crate::judge::decision::tests) struct Kubelet {
    pub(in crate::judge::decision::tests) back_off: u64,
    /// Whether it asks dogwatch at all.
    pub(in crate::judge::decision::tests) is_wired: bool,
    pub(super) failures: u32,
    /// When a 500 was given, and the age of the container that got it.
    pub(in crate::judge::decision::tests) failed: Vec<(u64, u64)>,
    pub(in crate::judge::decision::tests) kills: Vec<u64>,
}

impl World {
    pub(super) fn step_kubelet(&mut self) {
        let is_failing = self.dog.as_ref().is_some_and(|dog| dog.last.as_ref().is_some_and(|step| step.is_failing));
        if self.operator.down_until.is_some() {
            self.kubelet.failures = 0;
            return;
        }
        if !self.now.is_multiple_of(10) {
            return;
        }
        if !is_failing || !self.kubelet.is_wired {
            self.kubelet.failures = 0;
            return;
        }
        self.kubelet.failures += 1;
        let dog = self.dog.as_mut().unwrap();
        let since = dog.last.as_ref().unwrap().since;
        let in_a_row = dog.given.filter(|given| given.since == since).map_or(0, |given| given.in_a_row) + 1;
        dog.given = Some(Given { since, in_a_row });
        self.kubelet.failed.push((self.now, self.now - self.operator.started));
        if self.kubelet.failures >= 3 {
            self.kubelet.failures = 0;
            self.kubelet.kills.push(self.now);
            self.caused.push(self.now);
            self.operator.down_until = Some(self.now + self.kubelet.back_off);
        }
    }
}
