//! The names of the annotations that kopf writes.
//!
//! kopf makes the name from a key (a handler's id, or the key of a mark) in two forms and writes both while it supports
//! the older one: v2, since 0.28, keeps the part after the slash within 63 characters; v1, from 0.27, keeps the whole
//! name within 63. What is too long is cut and gets a hash. Characters count, not bytes.

use std::fmt::Write;

use blake2::digest::consts::U4;
use blake2::{Blake2b, Digest};

/// The prefix that kopf uses unless told otherwise.
pub(super) const DEFAULT_PREFIX: &str = "kopf.zalando.org";
/// The key of the annotation that holds the stored essence, unless told otherwise.
pub(super) const DEFAULT_KEY: &str = "last-handled-configuration";
/// The annotation that tells every kopf operator that the annotations of its prefix are marks of kopf (since 0.28).
pub(super) const MANAGED: &str = "kopf-managed";
/// The key of the annotation that kopf writes to provoke a watch event; its value is a time.
pub(super) const TOUCH: &str = "touch-dummy";
/// What kopf appends to every key on the `ReplicaSets` of Deployments (since 1.29), because Kubernetes copies the
/// Deployment's annotations down to them.
pub(super) const REPLICA_SET_SUFFIX: &str = "-ofDRS";

const LIMIT: usize = 63;

/// The part after the slash of the annotation for `key`, in the v2 form.
pub(super) fn current_form(key: &str) -> String {
    let safe = sanitised(key);
    if key.chars().count() <= LIMIT {
        return safe;
    }
    cut(&safe, LIMIT, &suffix(key))
}

/// The part after the slash of the annotation for `key` below `prefix`, in the v1 form.
pub(super) fn older_form(prefix: &str, key: &str) -> String {
    let safe = sanitised(key);
    let limit = LIMIT.saturating_sub(prefix.chars().count() + 1);
    if safe.chars().count() <= limit {
        return safe;
    }
    cut(&safe, limit, &suffix(&safe))
}

/// Whether `name` is the v1 form of `key` below `prefix`, where that is not the v2 form as well.
pub(super) fn is_older_form(prefix: &str, key: &str, name: &str) -> bool {
    // Bytes are no fewer than characters.
    prefix.len() + 1 + key.len() > LIMIT && name == older_form(prefix, key)
}

/// Whether `name` can be the v1 form of the key of which `longer` is the v2 form.
///
/// Only the lengths and the beginnings are compared, since the key itself is not known.
pub(super) fn can_be_older_form(prefix: &str, name: &str, longer: &str) -> bool {
    /// A dash and the base64 form of 4 bytes.
    const SUFFIX: usize = 7;
    let length = name.chars().count();
    let shared = name.chars().zip(longer.chars()).take_while(|(a, b)| a == b).count();
    prefix.chars().count() + 1 + length == LIMIT && longer.chars().count() > length && shared + SUFFIX >= length
}

fn sanitised(key: &str) -> String {
    key.replace('/', ".").replace(['<', '>'], "_")
}

fn cut(text: &str, limit: usize, suffix: &str) -> String {
    let kept = limit.saturating_sub(suffix.chars().count());
    let mut name: String = text.chars().take(kept).collect();
    name.push_str(suffix);
    name
}

/// A dash and the hash in base64, whose two special characters are replaced by those that names may hold.
fn suffix(text: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.";
    let hash: [u8; 4] = Blake2b::<U4>::digest(text.as_bytes()).into();
    let bits = u64::from(u32::from_be_bytes(hash)) << 4;
    let mut suffix = String::from("-");
    for shift in [30, 24, 18, 12, 6, 0] {
        let at = usize::try_from(bits >> shift & 63).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = suffix.write_char(char::from(ALPHABET[at]));
    }
    suffix.trim_end_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::{can_be_older_form, current_form, older_form};

    #[derive(Deserialize)]
    struct Vector {
        prefix: String,
        key: String,
        v2: String,
        v1: String,
    }

    fn vectors() -> Vec<Vector> {
        serde_json::from_str(include_str!("../../../../tests/fixtures/kopf/vectors-keys.json")).expect("vectors")
    }

    #[test]
    fn names_are_those_of_kopf() {
        for Vector { prefix, key, v2, v1 } in vectors() {
            assert_eq!(format!("{prefix}/{}", current_form(&key)), v2, "{key}");
            assert_eq!(format!("{prefix}/{}", older_form(&prefix, &key)), v1, "{key}");
        }
    }

    #[test]
    fn the_mark_has_a_hashed_form_below_long_prefixes() {
        let prefix = "a".repeat(52);
        assert_eq!(older_form(&prefix, "last-handled-configuration"), "las-a.A3qw");
        assert_eq!(older_form(&"a".repeat(36), "last-handled-configuration"), "last-handled-configuration");
        assert_eq!(older_form(&"a".repeat(300), "last-handled-configuration"), "-a.A3qw");
    }

    #[test]
    fn two_forms_of_one_key_are_known_without_the_key() {
        let vectors = vectors();
        for (at, one) in vectors.iter().enumerate() {
            for (other_at, other) in vectors.iter().enumerate().filter(|(_, other)| other.prefix == one.prefix) {
                let name = |full: &str| full[one.prefix.len() + 1..].to_owned();
                let answer = can_be_older_form(&one.prefix, &name(&one.v1), &name(&other.v2));
                // 63 and 64 times the same letter: not told apart, which is why the values must be the same as well.
                let are_alike = one.key.starts_with("aaa") && other.key.starts_with("aaa");
                assert_eq!(answer, (at == other_at || are_alike) && one.v1 != other.v2, "{} {}", one.v1, other.v2);
            }
        }
    }
}
