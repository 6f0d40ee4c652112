//! Names with `*` and `?`, and lists of them with exclusions.

/// Why a text is no pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing is written, or nothing after the `!`.
    #[error("is empty; write a name or a pattern such as team-*")]
    Empty,
    /// A character that no name has.
    #[error("holds {0:?}, which no name has; write one name or one pattern with * and ?")]
    Character(char),
    /// A resource that is excluded.
    #[error("cannot be excluded here; list the resources that are wanted")]
    Exclusion,
}

/// A name in which `*` stands for any characters, dots included, and `?` for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// A pattern over `plural.group`, or the name of one resource in any form that kubectl resolves.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.starts_with('!') { Err(Error::Exclusion) } else { Self::of_name(text) }
    }

    /// The pattern that everything fits.
    pub fn any() -> Self {
        Self("*".to_owned())
    }

    fn of_name(text: &str) -> Result<Self, Error> {
        let is_known =
            |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '*' | '?');
        match text.chars().find(|character| !is_known(*character)) {
            Some(other) => Err(Error::Character(other)),
            None if text.is_empty() => Err(Error::Empty),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it can match more than one name, and so follows discovery.
    pub fn is_glob(&self) -> bool {
        self.0.contains(['*', '?'])
    }

    /// Whether `name` fits, case included.
    pub fn matches(&self, name: &str) -> bool {
        matches(self.0.as_bytes(), name.as_bytes())
    }
}

/// Goes back to the latest `*` only, so that the time is bounded by the product of both lengths. Patterns are ASCII;
/// in a name that is not, `?` stands for one byte, and Kubernetes has no such names.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut in_name) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = name.get(in_name) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, in_name));
                at += 1;
            }
            Some(expected) if *expected == b'?' || expected == byte => {
                at += 1;
                in_name += 1;
            }
            _ => {
                let Some((after_star, matched)) = star else { return false };
                star = Some((after_star, matched + 1));
                at = after_star;
                in_name = matched + 1;
            }
        }
    }
    pattern.iter().skip(at).all(|byte| *byte == b'*')
}

/// Which namespaces are meant.
///
/// A namespace is meant if it fits one of the patterns, or if there are only exclusions, and fits no exclusion. The
/// order does not matter. The default is all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Namespaces {
    included: Vec<Pattern>,
    excluded: Vec<Pattern>,
}

impl Namespaces {
    /// Adds a pattern, or with a leading `!` an exclusion.
    pub fn add(&mut self, text: &str) -> Result<(), Error> {
        match text.strip_prefix('!') {
            Some(excluded) => self.excluded.push(Pattern::of_name(excluded)?),
            None => self.included.push(Pattern::of_name(text)?),
        }
        Ok(())
    }

    /// Whether a namespace is meant.
    pub fn contains(&self, namespace: &str) -> bool {
        let fits = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(namespace));
        (self.included.is_empty() || fits(&self.included)) && !fits(&self.excluded)
    }

    /// Whether every namespace is meant.
    pub fn is_all(&self) -> bool {
        self.excluded.is_empty() && self.included.iter().all(|pattern| pattern.as_str() == "*")
    }

    /// The namespaces, where they are all named: then each can be listed alone, with no right to list all.
    pub fn names(&self) -> Option<Vec<&str>> {
        if self.included.is_empty() || self.included.iter().any(Pattern::is_glob) {
            return None;
        }
        let mut names: Vec<&str> =
            self.included.iter().map(Pattern::as_str).filter(|name| self.contains(name)).collect();
        names.sort_unstable();
        names.dedup();
        Some(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters_dots_included() {
        let cases = [
            ("*.toolkit.fluxcd.io", "kustomizations.kustomize.toolkit.fluxcd.io", true),
            ("*.toolkit.fluxcd.io", "toolkit.fluxcd.io", false),
            ("team-*", "team-", true),
            ("team-*", "my-team-a", false),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b-c-d", false),
            ("shard-?", "shard-1", true),
            ("shard-?", "shard-12", false),
            ("a**", "a", true),
            ("exact", "exact", true),
            ("exact", "exactly", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(Pattern::parse(pattern).unwrap().matches(name), expected, "{pattern} on {name}");
        }
    }

    #[test]
    fn many_stars_do_not_take_exponential_time() {
        let pattern = Pattern::parse(&"a*".repeat(40)).unwrap();
        assert!(!pattern.matches(&format!("{}b", "a".repeat(10))));
        assert!(!Pattern::parse(&format!("{}b", "a*".repeat(40))).unwrap().matches(&"a".repeat(2000)));
    }

    fn namespaces(list: &[&str]) -> Namespaces {
        let mut namespaces = Namespaces::default();
        for text in list {
            namespaces.add(text).unwrap();
        }
        namespaces
    }

    #[test]
    fn an_exclusion_wins_wherever_it_stands() {
        for list in [["a", "team-*", "!team-x"], ["!team-x", "team-*", "a"]] {
            let namespaces = namespaces(&list);
            let meant: Vec<_> =
                ["a", "b", "team-x", "team-y"].into_iter().filter(|name| namespaces.contains(name)).collect();
            assert_eq!(meant, ["a", "team-y"]);
        }
    }

    #[test]
    fn exclusions_alone_leave_all_the_others() {
        let namespaces = namespaces(&["!kube-*"]);
        assert!(namespaces.contains("default") && !namespaces.contains("kube-system"));
        assert!(!namespaces.is_all() && Namespaces::default().is_all());
    }

    #[test]
    fn namespaces_are_named_only_where_no_pattern_is() {
        assert_eq!(namespaces(&["b", "a", "b", "!x"]).names(), Some(vec!["a", "b"]));
        assert_eq!(namespaces(&["a", "team-*"]).names(), None);
        assert_eq!(namespaces(&["!x"]).names(), None);
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        assert_eq!(Pattern::parse(""), Err(Error::Empty));
        assert_eq!(Pattern::parse("a,b"), Err(Error::Character(',')));
        assert_eq!(Pattern::parse("!a"), Err(Error::Exclusion));
        assert_eq!(Namespaces::default().add("!"), Err(Error::Empty));
    }
}
