//! The only place that reads a clock.

use jiff::Timestamp;

/// The wall clock of this machine.
///
/// It may jump, and it differs from the API server's by the skew that [`crate::cluster::request::ServerTime`] measures.
#[expect(clippy::disallowed_methods, reason = "this is the place that the ban points to")]
pub fn wall() -> Timestamp {
    Timestamp::now()
}
