//! The operator's process.

use std::collections::VecDeque;

use super::World;
use super::thing::Deletion;

/// The operator's process.
#[derive(Debug, Clone)]
pub(in crate::judge::decision::tests) struct Operator {
    /// Seconds that one object takes.
    pub(in crate::judge::decision::tests) service: u64,
    /// While it works on an object it writes the status once in so many seconds.
    pub(in crate::judge::decision::tests) writes_every: Option<u64>,
    /// Streams from which no event arrives any more; a restart cures that.
    pub(in crate::judge::decision::tests) deaf: [bool; 2],
    /// Deaf again so many seconds after each start.
    pub(in crate::judge::decision::tests) deaf_after: Option<u64>,
    /// Nothing is ever served, also after a restart.
    pub(in crate::judge::decision::tests) is_blocked: bool,
    pub(in crate::judge::decision::tests) started: u64,
    pub(in crate::judge::decision::tests) life: u32,
    /// Down until then.
    pub(in crate::judge::decision::tests) down_until: Option<u64>,
    pub(super) queue: VecDeque<usize>,
    pub(super) busy: Option<(usize, u64, u64)>,
}

impl World {
    pub(super) fn step_operator(&mut self) {
        if let Some(until) = self.operator.down_until {
            if self.now < until {
                return;
            }
            self.operator.down_until = None;
            self.start_operator();
        }
        if self.operator.deaf_after.is_some_and(|after| self.now == self.operator.started + after) {
            self.operator.deaf = [true; 2];
        }
        for index in 0..self.things.len() {
            let thing = &mut self.things[index];
            let is_new = thing.heard != thing.wanted || matches!(thing.deletion, Some(Deletion::Held(_)));
            if is_new && !self.operator.deaf[thing.stream] && !self.operator.queue.contains(&index) {
                thing.heard = thing.wanted;
                self.operator.queue.push_back(index);
            }
        }
        if self.operator.is_blocked {
            return;
        }
        if let Some((index, until, _)) = self.operator.busy
            && let Some(every) = self.operator.writes_every
            && until > self.now
            && (until - self.now).is_multiple_of(every)
        {
            self.write_status(index, false);
        }
        if let Some((index, until, wanted)) = self.operator.busy
            && until <= self.now
        {
            self.operator.busy = None;
            self.serve(index, wanted);
        }
        while self.operator.busy.is_none() {
            let Some(index) = self.operator.queue.pop_front() else { break };
            if self.things[index].is_filtered {
                continue;
            }
            let wanted = self.things[index].wanted;
            if self.operator.service == 0 {
                self.serve(index, wanted);
            } else {
                self.operator.busy = Some((index, self.now + self.operator.service, wanted));
            }
        }
    }

    /// A new container lists everything.
    pub(super) fn start_operator(&mut self) {
        let operator = &mut self.operator;
        operator.started = self.now;
        operator.life += 1;
        operator.deaf = [false; 2];
        operator.busy = None;
        operator.queue.clear();
        for (index, thing) in self.things.iter_mut().enumerate() {
            thing.heard = thing.wanted;
            if !thing.is_served() && thing.deletion != Some(Deletion::Others) {
                operator.queue.push_back(index);
            }
        }
    }
}
