//! Durations as Go and kubectl write them.

use std::time::Duration;

use jiff::SignedDuration;
use jiff::fmt::friendly::{Spacing, SpanPrinter};

/// The longest duration: one year. Sums of a few of them stay far from any overflow.
const LONGEST: Duration = Duration::from_hours(8760);

/// Why a text is no duration; the text itself is left to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not in the form `1h30m`.
    #[error("is not a duration; write it as 30s, 5m or 1h30m")]
    Unreadable,
    /// Below zero.
    #[error("is negative; write a duration longer than zero")]
    Negative,
    /// Zero where that has no meaning.
    #[error("is zero; write a duration longer than zero")]
    Zero,
    /// More than a year.
    #[error("is too long; the longest is 8760h")]
    TooLong,
}

/// Reads a duration longer than zero: `1h30m`, `1.5h`, `300ms`; units are `h`, `m`, `s`, `ms`, `us` and `ns`.
///
/// Fit to be the value parser of a flag.
pub fn parse(text: &str) -> Result<Duration, Error> {
    match parse_or_zero(text)? {
        Duration::ZERO => Err(Error::Zero),
        duration => Ok(duration),
    }
}

/// The same where zero means "none" or "at once".
pub fn parse_or_zero(text: &str) -> Result<Duration, Error> {
    // jiff also reads ISO 8601 and English; one spelling is enough, and the schema can describe it.
    let is_go =
        text.chars().all(|character| matches!(character, '0'..='9' | '.' | '-' | 'h' | 'm' | 's' | 'u' | 'µ' | 'n'));
    let signed: SignedDuration = text.parse().ok().filter(|_| is_go).ok_or(Error::Unreadable)?;
    let duration = Duration::try_from(signed).map_err(|_| Error::Negative)?;
    if duration > LONGEST { Err(Error::TooLong) } else { Ok(duration) }
}

/// Writes a duration as [`parse`] reads it.
pub fn show(duration: Duration) -> String {
    SpanPrinter::new().spacing(Spacing::None).unsigned_duration_to_string(&duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_forms_are_read() {
        let cases = [
            ("90s", 90_000),
            ("1h30m", 5_400_000),
            ("1.5h", 5_400_000),
            ("300ms", 300),
            ("1m1s1ms", 61_001),
            ("24h", 86_400_000),
        ];
        for (text, milliseconds) in cases {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_for_its_own_reason() {
        for text in ["", "5", "m", "5 m", "PT5M", "5m ago", "5 minutes", "1d", "5min", "+5m", "5m-3s", "auto", "0"] {
            assert_eq!(parse(text), Err(Error::Unreadable), "{text}");
        }
        assert_eq!(parse("-5m"), Err(Error::Negative));
        assert_eq!(parse("0s"), Err(Error::Zero));
        assert_eq!(parse("8761h"), Err(Error::TooLong));
        assert_eq!(parse_or_zero("0s"), Ok(Duration::ZERO));
        assert_eq!(parse_or_zero("-1ns"), Err(Error::Negative));
    }
}
