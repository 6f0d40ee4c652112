//! Names with wildcards.

/// Whether `text` fits `pattern`, in which `*` stands for any characters, none included, and `?` for one.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut seen) = (0, 0);
    // Behind the last star, and how much of the text that star has swallowed.
    let mut star = None;
    while seen < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, seen));
                at += 1;
            }
            Some(&byte) if byte == b'?' || byte == text[seen] => {
                at += 1;
                seen += 1;
            }
            _ => {
                let Some((behind, swallowed)) = star else { return false };
                star = Some((behind, swallowed + 1));
                at = behind;
                seen = swallowed + 1;
            }
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text) in [
            ("*.toolkit.fluxcd.io", "kustomizations.kustomize.toolkit.fluxcd.io"),
            ("*", ""),
            ("*", "pods"),
            ("a*b*c", "aXbYbZc"),
            ("team-*", "team-"),
            ("w?dgets.*", "widgets.example.com"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("*.fluxcd.io", "fluxcd.io"),
            ("widgets", "widgets.example.com"),
            ("a*b*c", "aXbYbZ"),
            ("", "a"),
            ("team-?", "team-"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        assert!(!matches(&"a*".repeat(200), &format!("{}b", "a".repeat(199))));
    }
}
