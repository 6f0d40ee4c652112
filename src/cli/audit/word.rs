//! RESOURCE words where no cluster can resolve them: matched against what the objects say of themselves.

/// One word, as in `widgets`, `widget.example.com`, `widgets.v1.example.com` or `widget/blue`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    text: String,
    kind: String,
    suffix: Option<String>,
    name: Option<String>,
}

/// A resource as a dump shows it.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'s> {
    /// The API group; empty for the core group.
    pub group: &'s str,
    /// The version.
    pub version: &'s str,
    /// The kind.
    pub kind: &'s str,
}

impl Word {
    /// Splits comma lists and `TYPE/NAME`.
    pub fn parse_all(words: &[String]) -> Vec<Self> {
        words.iter().flat_map(|word| word.split(',')).filter(|word| !word.is_empty()).map(Self::parse).collect()
    }

    fn parse(text: &str) -> Self {
        let (resource, name) = match text.split_once('/') {
            Some((resource, name)) => (resource, Some(name.to_owned())),
            None => (text, None),
        };
        let lower = resource.to_lowercase();
        let (kind, suffix) = match lower.split_once('.') {
            Some((kind, suffix)) => (kind.to_owned(), Some(suffix.to_owned())),
            None => (lower, None),
        };
        Self { text: text.to_owned(), kind, suffix, name }
    }

    /// The word as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the word means this resource.
    pub fn means(&self, shown: Shown<'_>) -> bool {
        let kind = shown.kind.to_lowercase();
        let is_kind = self.kind == kind || self.kind == plural(&kind);
        is_kind
            && self
                .suffix
                .as_ref()
                .is_none_or(|suffix| suffix == shown.group || *suffix == format!("{}.{}", shown.version, shown.group))
    }

    /// Whether the word means the object of this name.
    pub fn names(&self, name: Option<&str>) -> bool {
        self.name.is_none() || self.name.as_deref() == name
    }
}

/// The plural of a kind, as well as it can be guessed without the API server.
pub fn plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    let vowel_before_y = |stem: &str| stem.ends_with(['a', 'e', 'i', 'o', 'u']);
    match kind.strip_suffix('y') {
        Some(stem) if !vowel_before_y(stem) => format!("{stem}ies"),
        _ if kind == "endpoints" || kind.is_empty() => kind,
        _ if ["s", "x", "z", "ch", "sh"].iter().any(|ending| kind.ends_with(ending)) => format!("{kind}es"),
        _ => format!("{kind}s"),
    }
}

/// `plural.group`, as reports name resources.
pub fn resource_name(group: &str, kind: &str) -> String {
    match (kind, group) {
        ("", _) => "unknown".to_owned(),
        (kind, "") => plural(kind),
        (kind, group) => format!("{}.{group}", plural(kind)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Shown, Word, plural};

    fn means(word: &str) -> bool {
        let shown = Shown { group: "example.com", version: "v1", kind: "Gateway" };
        Word::parse(word).means(shown)
    }

    #[test]
    fn words_are_matched_as_kubectl_resolves_them() {
        for word in ["gateway", "gateways", "Gateway", "gateways.example.com", "Gateway.v1.example.com", "gateway/blue"]
        {
            assert!(means(word), "{word}");
        }
        for word in ["gate", "gateways.example", "gateways.v2.example.com", "gateways.v1"] {
            assert!(!means(word), "{word}");
        }
        assert!(Word::parse("gateway/blue").names(Some("blue")));
        assert!(!Word::parse("gateway/blue").names(None));
        assert_eq!(Word::parse_all(&["a,b".to_owned(), ",c".to_owned()]).len(), 3);
    }

    #[test]
    fn plurals_are_guessed_like_english() {
        for (kind, expected) in [
            ("Widget", "widgets"),
            ("Policy", "policies"),
            ("Gateway", "gateways"),
            ("Redis", "redises"),
            ("Mesh", "meshes"),
        ] {
            assert_eq!(plural(kind), expected);
        }
    }
}
