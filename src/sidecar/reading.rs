//! One small object that is read again and again: when its last answer still holds, and when it counts as unreadable.

use std::time::Duration;

use super::shared::Shared;
use crate::cluster::chain;
use crate::cluster::connect::Cluster;
use crate::cluster::request::{Client, Reach};

/// From one reading to the next. client-go renews a lease every 2 s, controller-runtime every 2 to 10 s, kopf its record
/// in a peering every 50 to 55 s.
pub(super) const EVERY: Duration = Duration::from_secs(10);
/// So many reads in a row may fail before it counts as unreadable. While the API server is at fault the gate closes.
const FAILURES: u8 = 3;

/// What one read came to.
pub(super) enum Answer<T> {
    Is(T),
    /// Reading it is not allowed, it is not there, or it is something else.
    Refused(String),
    Failed(String),
}

impl<T> Answer<T> {
    /// What an error of reading comes to, by what it tells of the API server.
    pub(super) fn of_error(shared: &Shared, reach: Reach, problem: String) -> Self {
        shared.heard(Err(reach));
        if reach == Reach::Neither { Self::Refused(problem) } else { Self::Failed(problem) }
    }
}

/// The reading of one object.
#[derive(Debug, Default)]
pub(super) struct Reading {
    client: Option<Client>,
    failures: u8,
}

impl Reading {
    /// A client to read with; a new one after a failure.
    pub(super) async fn client(&mut self, shared: &Shared, cluster: &Cluster) -> Result<Client, String> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        match cluster.client().await {
            Ok(fresh) => Ok(self.client.insert(fresh).clone()),
            Err(error) => {
                shared.heard(Err(error.reach()));
                Err(chain(&error))
            }
        }
    }

    /// What is known after an answer: `None` while what was known before still holds.
    pub(super) fn settle<T>(&mut self, answer: Answer<T>) -> Option<Result<T, String>> {
        match answer {
            Answer::Is(found) => {
                self.failures = 0;
                Some(Ok(found))
            }
            Answer::Refused(problem) => Some(Err(problem)),
            Answer::Failed(problem) => {
                self.client = None;
                self.failures = self.failures.saturating_add(1);
                (self.failures >= FAILURES).then_some(Err(problem))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_counts_at_once_and_a_failure_only_three_in_a_row() {
        let mut reading = Reading::default();
        let mut settle = |answer| reading.settle::<u8>(answer).map(Result::ok);
        let failed = || Answer::Failed(String::new());
        assert_eq!(settle(failed()), None);
        assert_eq!(settle(failed()), None);
        assert_eq!(settle(Answer::Is(1)), Some(Some(1)));
        assert_eq!(settle(failed()), None);
        assert_eq!(settle(failed()), None);
        assert_eq!(settle(failed()), Some(None));
        assert_eq!(settle(Answer::Is(2)), Some(Some(2)));
        assert_eq!(settle(Answer::Refused(String::new())), Some(None));
    }
}
