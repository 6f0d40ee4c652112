//! Finds the end of one JSON value in a stream of chunks.

/// Where in a value the last chunk ended.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Scan {
    depth: u32,
    inside: Inside,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Inside {
    /// Nothing of the value was seen.
    #[default]
    Nothing,
    /// Between the strings of a list or a map.
    Brackets,
    Text,
    /// Behind a backslash in a string.
    Escape,
    /// A number, `true`, `false` or `null` that is the whole value.
    Scalar,
}

/// Bytes that matter between strings.
const MATTERS: [bool; 256] = {
    let mut table = [false; 256];
    table[b'"' as usize] = true;
    table[b'{' as usize] = true;
    table[b'}' as usize] = true;
    table[b'[' as usize] = true;
    table[b']' as usize] = true;
    table
};

impl Scan {
    /// Goes on over `chunk`. Returns the index behind the value's last byte, or `None` if the value goes on.
    ///
    /// The first byte of a value must not be white space. A scalar ends before the byte that ends it, so its end shows
    /// only with the next byte.
    pub(super) fn advance(&mut self, chunk: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < chunk.len() {
            match self.inside {
                Inside::Nothing => match chunk[at] {
                    b'{' | b'[' => {
                        self.depth = 1;
                        self.inside = Inside::Brackets;
                        at += 1;
                    }
                    b'"' => {
                        self.inside = Inside::Text;
                        at += 1;
                    }
                    _ => self.inside = Inside::Scalar,
                },
                Inside::Brackets => {
                    at += chunk[at..].iter().position(|byte| MATTERS[usize::from(*byte)])?;
                    match chunk[at] {
                        b'"' => self.inside = Inside::Text,
                        b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                        _ => self.depth -= 1,
                    }
                    at += 1;
                    if self.depth == 0 && self.inside == Inside::Brackets {
                        return Some(at);
                    }
                }
                Inside::Text => {
                    at += memchr::memchr2(b'"', b'\\', &chunk[at..])?;
                    self.inside = if chunk[at] == b'"' { Inside::Brackets } else { Inside::Escape };
                    at += 1;
                    if self.depth == 0 && self.inside == Inside::Brackets {
                        return Some(at);
                    }
                }
                Inside::Escape => {
                    self.inside = Inside::Text;
                    at += 1;
                }
                Inside::Scalar => {
                    let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
                    return chunk[at..].iter().position(ends).map(|more| at + more);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Scan;

    fn end(text: &str) -> Option<usize> {
        Scan::default().advance(text.as_bytes())
    }

    #[test]
    fn a_value_ends_where_its_brackets_close() {
        assert_eq!(end(r#"{"a":[1,{"b":"}]\"{"}]} tail"#), Some(23));
        assert_eq!(end(r"[] "), Some(2));
        assert_eq!(end(r#""te\\xt",1"#), Some(8));
        assert_eq!(end("12.5e3,"), Some(6));
        assert_eq!(end("nu"), None);
    }

    #[test]
    fn the_end_is_the_same_wherever_the_chunks_are_cut() {
        let text = r#"{"k\"\\":{"a":["x\u0022",[],{}],"b":-1.5e9},"z":"\\"}rest"#;
        let whole = end(text).expect("the value ends");
        for cut in 0..text.len() {
            let mut scan = Scan::default();
            let found = scan
                .advance(&text.as_bytes()[..cut])
                .or_else(|| scan.advance(&text.as_bytes()[cut..]).map(|more| cut + more));
            assert_eq!(found, Some(whole), "cut at {cut}");
        }
    }
}
