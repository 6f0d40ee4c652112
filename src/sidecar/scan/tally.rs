//! How a list of one resource went.

use std::time::Duration;

use crate::cluster::chain;
use crate::cluster::list::Listing;
use crate::cluster::request::{self, Reach, Reason};
use crate::view::ListResult;

/// How a list went.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) bytes: u64,
    pub(super) objects: u64,
    /// The resourceVersion that the list is as new as.
    pub(super) version: Option<String>,
    pub(super) failure: Option<Failure>,
}

/// Why a list failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) text: String,
    pub(super) reason: Reason,
    pub(super) reach: Reach,
    is_unauthorized: bool,
    /// How long the API server asks to wait.
    pub(super) wait: Option<Duration>,
}

impl Tally {
    /// Adds the list of one namespace.
    pub(super) fn add(&mut self, listing: Listing) {
        self.bytes = self.bytes.saturating_add(listing.bytes);
        self.objects += listing.objects;
        // The first of several is the oldest, and promises least.
        self.version = self.version.take().or(listing.resource_version);
        self.failure = self.failure.take().or(listing.error.map(|error| {
            let cause = match &error {
                crate::cluster::list::Error::Request { source, .. } => Some(source),
                _ => None,
            };
            Failure {
                text: chain(&error),
                reason: error.reason(),
                reach: error.reach(),
                is_unauthorized: matches!(cause, Some(request::Error::Unauthorized { .. })),
                wait: cause.and_then(asked_to_wait),
            }
        }));
    }
}

fn asked_to_wait(error: &request::Error) -> Option<Duration> {
    match error {
        request::Error::Throttled { retry_after, .. } => *retry_after,
        _ => None,
    }
}

impl Failure {
    pub(super) fn of_request(error: &request::Error) -> Self {
        Self {
            text: chain(error),
            reason: error.reason(),
            reach: error.reach(),
            is_unauthorized: matches!(error, request::Error::Unauthorized { .. }),
            wait: asked_to_wait(error),
        }
    }

    /// 401, 403 and 404 are answers: there is nothing to read here.
    pub(super) const fn is_refusal(&self) -> bool {
        self.is_unauthorized || matches!(self.reason, Reason::Forbidden | Reason::NotFound)
    }
}

/// By which word a failed list is counted.
pub(super) const fn result(reason: Reason) -> ListResult {
    match reason {
        Reason::Forbidden => ListResult::Forbidden,
        Reason::NotFound => ListResult::NotFound,
        Reason::Timeout => ListResult::Timeout,
        Reason::Expired => ListResult::Expired,
        Reason::Decode => ListResult::Decode,
        Reason::Other => ListResult::Other,
    }
}
