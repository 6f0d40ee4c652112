//! The half that asks an API server: how to reach it, which resources it serves, and their objects.
//!
//! Everything goes through [`request`], which bounds each request in time and sorts what can come back into a closed
//! set. "Could not ask" is never turned into "is not there".

pub mod access;
pub mod connect;
pub mod discover;
pub mod event;
pub mod lease;
pub mod list;
pub mod look;
mod page;
pub mod peering;
pub mod pod;
pub mod request;
pub mod touch;
pub mod watch;

#[cfg(test)]
mod script;

/// An error and its causes in one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
