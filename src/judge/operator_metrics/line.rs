//! One line of the Prometheus text format, borrowed.

/// A sample of a family.
#[derive(Debug, PartialEq)]
pub(super) struct Sample<'l> {
    labels: &'l str,
    pub(super) value: f64,
}

impl<'l> Sample<'l> {
    /// Reads `family{label="value",...} value [time]`. `None` for what is another family or no number that counts.
    pub(super) fn read(line: &'l [u8], family: &str) -> Option<Self> {
        let rest = std::str::from_utf8(line).ok()?.strip_prefix(family)?;
        let (labels, value) = match rest.strip_prefix('{') {
            Some(rest) => rest.split_at_checked(end_of_labels(rest)?)?,
            None => ("", rest),
        };
        let value = value.strip_prefix('}').unwrap_or(value);
        // A longer name begins with this one.
        if !value.starts_with([' ', '\t']) {
            return None;
        }
        let value: f64 = value.split_ascii_whitespace().next()?.parse().ok()?;
        (value.is_finite() && value >= 0.0).then_some(Self { labels, value })
    }

    /// The value of a label, as it is escaped; nothing that is looked for here has anything to escape.
    pub(super) fn label(&self, name: &str) -> Option<&'l str> {
        let mut rest = self.labels;
        while let Some((key, after)) = rest.split_once("=\"") {
            let end = end_of_value(after)?;
            if key.trim_matches([',', ' ']) == name {
                return after.get(..end);
            }
            rest = after.get(end + 1..)?;
        }
        None
    }
}

/// Where the closing bracket stands: not within quotes.
fn end_of_labels(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let next = text.get(at..)?.find(['"', '}'])? + at;
        if text.as_bytes().get(next) == Some(&b'}') {
            return Some(next);
        }
        at = next + 1 + end_of_value(text.get(next + 1..)?)? + 1;
    }
}

/// Where the closing quote stands: behind an even number of backslashes.
fn end_of_value(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(Option<&str>, f64)> {
        let sample = Sample::read(line.as_bytes(), "depth")?;
        Some((sample.label("name"), sample.value))
    }

    #[test]
    fn samples_are_read_with_and_without_labels() {
        assert_eq!(read("depth 3"), Some((None, 3.0)));
        assert_eq!(read("depth{} 3"), Some((None, 3.0)));
        assert_eq!(read("depth{name=\"a\"} 1.5e+03 1700000000000"), Some((Some("a"), 1500.0)));
        assert_eq!(read("depth{controller=\"b\",name=\"a\",priority=\"\",} 0"), Some((Some("a"), 0.0)));
        assert_eq!(read(r#"depth{x="}\"\\", name="a"} 2"#), Some((Some("a"), 2.0)));
        assert_eq!(read("depth{rename=\"b\"} 2"), Some((None, 2.0)));
    }

    #[test]
    fn what_is_no_sample_of_the_family_is_none() {
        for line in [
            "depth_total 3",
            "depth",
            "depth{",
            "depth{name=\"a",
            "depth{name=\"a\"}",
            "depth{name=\"a\"}3",
            "depth x",
            "depth NaN",
            "depth -1",
            "depth +Inf",
            "# TYPE depth gauge",
            "",
            "depth{name=\"a\\\"} 3",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
        assert_eq!(Sample::read(b"depth{name=\"\xff\"} 1", "depth"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_line_makes_it_panic(tail in "[{}\"=,\\\\a-z0-9 é]{0,40}") {
            if let Some(sample) = Sample::read(format!("depth{tail}").as_bytes(), "depth") {
                let _ = sample.label("name");
            }
        }
    }
}
