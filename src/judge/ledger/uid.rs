//! Which object it is, in 16 bytes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use twox_hash::XxHash3_64;

/// `metadata.uid`, which a new object under an old name does not share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(u128);

impl Uid {
    /// The uid as Kubernetes writes it (RFC 4122); of anything else a fingerprint.
    pub fn of(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|| {
            let half = |seed| u128::from(XxHash3_64::oneshot_with_seed(seed, text.as_bytes()));
            Self(half(0) << 64 | half(1))
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let digits = text.bytes().filter(|byte| *byte != b'-').count();
        if text.len() != 36 || digits != 32 {
            return None;
        }
        text.bytes()
            .filter(|byte| *byte != b'-')
            .try_fold(0_u128, |number, byte| {
                let digit = char::from(byte).to_digit(16)?;
                Some(number << 4 | u128::from(digit))
            })
            .map(Self)
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Uid {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(text, 16).map(Self)
    }
}

impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Uid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| de::Error::custom("a uid must be 32 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_keeps_its_digits() {
        let uid = Uid::of("0f8fad5b-d9cb-469f-a165-70867728950e");
        assert_eq!(uid.to_string(), "0f8fad5bd9cb469fa16570867728950e");
        assert_eq!(uid.to_string().parse(), Ok(uid));
    }

    #[test]
    fn other_texts_are_told_apart() {
        assert_ne!(Uid::of("prod/orders-7"), Uid::of("prod/orders-8"));
        assert_ne!(Uid::of(""), Uid::of("0"));
    }
}
