//! The audit's report: one value, written in several formats.

pub mod json;
pub mod name;
pub mod table;

use std::time::Duration;

use jiff::Timestamp;

use crate::cluster::request::Reason;
use crate::judge::rule::RuleFrom;
use crate::judge::state::State;
use crate::judge::tally::{Diagnosis, Finding, States, Summary};

use super::exit::Exit;

/// What an audit found.
#[derive(Debug)]
pub struct Report {
    /// When the report was made, on this machine's clock.
    pub generated_at: Timestamp,
    /// The moment that ages and deadlines are counted to.
    pub now: Timestamp,
    /// Where `now` was read.
    pub now_from: NowFrom,
    /// Whether a cluster was asked, and not a dump.
    pub is_live: bool,
    /// The kubeconfig's context; absent for dumps and in a cluster.
    pub context: Option<String>,
    /// Whether a file of the dump could not be read to its end.
    pub is_cut_short: bool,
    /// Every resource, in the order asked for or found.
    pub resources: Vec<Resource>,
    /// What is wrong with the look itself, in lines for a person.
    pub warnings: Vec<String>,
}

crate::judge::state::words! {
    /// Where a report's `now` was read.
    NowFrom {
        /// The API server's `Date`.
        Server = "server",
        /// This machine's clock.
        Clock = "clock",
        /// A file's modification time, or a newer time inside it.
        Mtime = "mtime",
        /// `--now`.
        Flag = "flag",
    }
}

/// Why a resource's objects could not all be read.
#[derive(Debug, Clone)]
pub struct ResourceError {
    /// The kind of failure.
    pub reason: Reason,
    /// One line for a person.
    pub message: String,
}

/// One resource of a report.
#[derive(Debug)]
pub struct Resource {
    /// The operator that it is counted under.
    pub operator: String,
    /// `plural.group`.
    pub resource: String,
    /// The API version that was read.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The rule's name.
    pub rule: &'static str,
    /// Why this rule.
    pub rule_from: RuleFrom,
    /// The deadline that was applied.
    pub overdue_after: Duration,
    /// What was found.
    pub summary: Summary,
    /// Why not everything could be read.
    pub error: Option<ResourceError>,
    /// Asked for by name.
    pub is_named: bool,
    /// Of a kind on which no operator acknowledges anything: nothing is owed to it, and nothing follows from it.
    pub is_static: bool,
}

/// One operator of a report: the sum of its resources.
#[derive(Debug, PartialEq, Eq)]
pub struct Operator<'r> {
    /// The operator's name.
    pub operator: &'r str,
    /// The worst diagnosis of its resources.
    pub diagnosis: Diagnosis,
    /// How many objects there are.
    pub objects: u64,
    /// How many are overdue.
    pub overdue: u64,
    /// Since when the oldest pending object is pending.
    pub oldest_pending: Option<Timestamp>,
    /// The newest acknowledgement.
    pub last_ack: Option<Timestamp>,
}

/// What makes an audit exit with 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    /// A resource whose stream is asleep.
    Asleep,
    /// An object pending for longer than `overdueAfter`.
    Overdue,
    /// Any pending object.
    Pending,
    /// An object whose operator reports a failure.
    Failing,
    /// An object that could not be judged.
    Unknown,
    /// Nothing.
    Never,
}

impl Resource {
    /// The findings with the resource that they belong to, those that are left out not counted.
    fn findings(&self) -> impl Iterator<Item = (&Self, &Finding)> {
        self.summary.findings.iter().map(move |finding| (self, finding))
    }

    /// Whether there were objects and none of them could be judged.
    fn is_unjudged(&self) -> bool {
        let total = self.summary.states.total();
        total > 0 && total == self.summary.states.of(State::Unknown)
    }
}

impl Report {
    /// Objects by state, over all resources.
    pub fn states(&self) -> States {
        States::sum(self.resources.iter().map(|resource| &resource.summary.states))
    }

    /// Overdue objects, over all resources.
    pub fn overdue(&self) -> u64 {
        self.resources.iter().map(|resource| resource.summary.overdue).sum()
    }

    /// Whether something was not read.
    pub fn is_incomplete(&self) -> bool {
        self.is_cut_short || self.resources.iter().any(|resource| resource.error.is_some())
    }

    /// The operators, worst first.
    pub fn operators(&self) -> Vec<Operator<'_>> {
        let mut operators: Vec<Operator<'_>> = Vec::new();
        for resource in &self.resources {
            let summary = &resource.summary;
            let index = operators.iter().position(|known| known.operator == resource.operator).unwrap_or_else(|| {
                operators.push(Operator {
                    operator: &resource.operator,
                    diagnosis: self.diagnosis_of(&resource.operator),
                    objects: 0,
                    overdue: 0,
                    oldest_pending: None,
                    last_ack: None,
                });
                operators.len() - 1
            });
            let operator = &mut operators[index];
            operator.objects += summary.states.total();
            operator.overdue += summary.overdue;
            operator.oldest_pending = [operator.oldest_pending, summary.oldest_pending].into_iter().flatten().min();
            operator.last_ack = operator.last_ack.max(summary.last_ack);
        }
        operators.sort_by(|one, other| one.diagnosis.cmp(&other.diagnosis).then(other.overdue.cmp(&one.overdue)));
        operators
    }

    /// The worst diagnosis of an operator's resources; of those that are static only where it has no others.
    fn diagnosis_of(&self, operator: &str) -> Diagnosis {
        let own = self.resources.iter().filter(|resource| resource.operator == operator && !resource.is_static);
        own.map(|resource| resource.summary.diagnosis).min().unwrap_or(Diagnosis::Unknown)
    }

    /// The findings to name, at most `limit`, the oldest first; without a limit all, in the order of the lists. Also
    /// how many there are beyond them.
    pub fn findings(&self, limit: Option<usize>) -> (Vec<(&Resource, &Finding)>, u64) {
        let mut findings: Vec<_> = self.resources.iter().flat_map(Resource::findings).collect();
        let mut left_out: u64 = self.resources.iter().map(|resource| resource.summary.left_out).sum();
        if let Some(limit) = limit {
            findings.sort_by_key(|(_, finding)| finding.since.map_or(Timestamp::MAX, |since| since.at));
            left_out += findings.len().saturating_sub(limit) as u64;
            findings.truncate(limit);
        }
        (findings, left_out)
    }

    /// The exit code: findings before what could not be determined, since a finding is a fact whatever else could not
    /// be seen.
    pub fn exit(&self, fail_on: &[FailOn], allow_partial: bool) -> Exit {
        let states = States::sum(self.resources.iter().filter(|it| !it.is_static).map(|it| &it.summary.states));
        let is_found = fail_on.iter().any(|fail_on| match fail_on {
            FailOn::Asleep => self.resources.iter().any(|resource| resource.summary.diagnosis == Diagnosis::Asleep),
            FailOn::Overdue => self.overdue() > 0,
            FailOn::Pending => states.of(State::Pending) > 0,
            FailOn::Failing => states.of(State::Failing) > 0,
            FailOn::Unknown => states.of(State::Unknown) > 0,
            FailOn::Never => false,
        });
        let is_unjudged =
            self.resources.iter().any(|resource| resource.is_named && !resource.is_static && resource.is_unjudged())
                || (states.total() > 0 && states.total() == states.of(State::Unknown));
        match (is_found, self.is_incomplete() || is_unjudged) {
            (true, _) => Exit::Findings,
            (false, true) if !allow_partial => Exit::Undetermined,
            _ => Exit::Clean,
        }
    }
}

#[cfg(test)]
mod tests;
