//! Sizes in bytes, as Kubernetes writes quantities.

/// Why something is no size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not in the form `4Mi`.
    #[error("is not a size; write it as 512Ki, 4Mi or a number of bytes")]
    Unreadable,
    /// Zero or less.
    #[error("must be at least 1 byte")]
    Zero,
    /// More than this machine can address.
    #[error("is larger than this machine can address")]
    TooLarge,
}

/// The suffixes of Kubernetes quantities that make sense for bytes.
const UNITS: [(&str, u64); 6] =
    [("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30), ("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];

/// Reads a number of bytes: `4194304`, `4Mi`, `4M`.
pub fn parse(text: &str) -> Result<usize, Error> {
    let (digits, factor) = UNITS
        .iter()
        .find_map(|(suffix, factor)| text.strip_suffix(suffix).map(|digits| (digits, *factor)))
        .unwrap_or((text, 1));
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::Unreadable);
    }
    let number: u64 = digits.parse().map_err(|_| Error::TooLarge)?;
    number.checked_mul(factor).ok_or(Error::TooLarge).and_then(|bytes| from_number(bytes.into()))
}

pub(super) fn from_number(bytes: i128) -> Result<usize, Error> {
    if bytes < 1 { Err(Error::Zero) } else { usize::try_from(bytes).map_err(|_| Error::TooLarge) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read() {
        for (text, bytes) in
            [("1", 1), ("4Mi", 4_194_304), ("512Ki", 524_288), ("1Gi", 1_073_741_824), ("2M", 2_000_000)]
        {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused_for_its_own_reason() {
        for text in ["", "Mi", "4 Mi", "4MB", "4mi", "-4Mi", "1.5Mi"] {
            assert_eq!(parse(text), Err(Error::Unreadable), "{text}");
        }
        assert_eq!(parse("0Ki"), Err(Error::Zero));
        assert_eq!(parse("99999999999999999999"), Err(Error::TooLarge));
        assert_eq!(parse("18446744073709551615Gi"), Err(Error::TooLarge));
    }
}
