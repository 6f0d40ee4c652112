//! Finds the end of one JSON value in a stream of chunks, by its strings and brackets alone.

mod block;

use block::{Brackets, Kind, Strings, WIDTH};

/// Where in a value the last chunk ended.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Scan {
    inside: Inside,
    kind: Kind,
    depth: u64,
    strings: Strings,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Inside {
    /// Nothing of the value was seen.
    #[default]
    Nothing,
    /// In a list or a map.
    Brackets,
    /// In a string that is the whole value.
    Text,
    /// Behind a backslash in it.
    Escape,
    /// A number, `true`, `false` or `null` that is the whole value.
    Scalar,
}

impl Scan {
    /// Goes on over `chunk`. Returns the index behind the value's last byte, or `None` if the value goes on.
    ///
    /// The first byte of a value must not be white space. A scalar ends before the byte that ends it, so its end shows
    /// only with the next byte. A map ends where its braces balance and a list where its square brackets do; brackets
    /// of the other kind are not looked at.
    pub(super) fn advance(&mut self, chunk: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < chunk.len() {
            match self.inside {
                Inside::Nothing => match chunk[at] {
                    byte @ (b'{' | b'[') => {
                        self.kind = if byte == b'{' { Kind::Map } else { Kind::List };
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
                Inside::Brackets => return self.brackets(&chunk[at..]).map(|more| at + more),
                Inside::Text => {
                    at += memchr::memchr2(b'"', b'\\', &chunk[at..])?;
                    if chunk[at] == b'"' {
                        return Some(at + 1);
                    }
                    self.inside = Inside::Escape;
                    at += 1;
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

    fn brackets(&mut self, chunk: &[u8]) -> Option<usize> {
        let (blocks, rest) = chunk.as_chunks::<WIDTH>();
        // Kept out of memory while the blocks are gone through.
        let mut scan = *self;
        for (place, block) in blocks.iter().enumerate() {
            let brackets = scan.strings.brackets(block, WIDTH, scan.kind);
            if let Some(end) = scan.close(brackets) {
                return Some(place * WIDTH + end);
            }
        }
        if !rest.is_empty() {
            let mut block = [b' '; WIDTH];
            block[..rest.len()].copy_from_slice(rest);
            let brackets = scan.strings.brackets(&block, rest.len(), scan.kind);
            if let Some(end) = scan.close(brackets) {
                return Some(blocks.len() * WIDTH + end);
            }
        }
        *self = scan;
        None
    }

    /// The index in its block behind the bracket that closes the value.
    #[inline]
    fn close(&mut self, brackets: Brackets) -> Option<usize> {
        let count = |bits: u64| u64::from(bits.count_ones());
        if self.depth <= count(brackets.closing) {
            let mut rest = brackets.closing;
            let mut closed = 0;
            while rest != 0 {
                let bit = rest & rest.wrapping_neg();
                closed += 1;
                if self.depth + count(brackets.opening & (bit - 1)) == closed {
                    return usize::try_from(bit.trailing_zeros()).ok().map(|at| at + 1);
                }
                rest ^= bit;
            }
        }
        self.depth = self.depth + count(brackets.opening) - count(brackets.closing);
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
