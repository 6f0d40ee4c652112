//! The only place where clocks are read.

use jiff::Timestamp;

/// This machine's wall clock.
#[allow(clippy::disallowed_methods, reason = "this is the place")]
pub fn wall() -> Timestamp {
    Timestamp::now()
}
