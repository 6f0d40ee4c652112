//! Finds the brackets in 64 bytes of JSON at once.

use wide::u8x16;

/// How many bytes a block has: one for each bit of a mask.
pub(super) const WIDTH: usize = 64;
const LANES: usize = 16;

/// What the bytes before a block leave open.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Strings {
    /// Whether the block begins inside a string: all bits or none.
    inside: u64,
    /// Whether its first byte stands behind a backslash: the lowest bit.
    escaped: u64,
}

/// A pair of brackets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// `{` and `}`.
    #[default]
    Map,
    /// `[` and `]`.
    List,
}

/// The brackets of one kind that stand in a block outside strings. Bit n stands for byte n.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Brackets {
    pub(super) opening: u64,
    pub(super) closing: u64,
}

impl Kind {
    const fn pair(self) -> (u8, u8) {
        match self {
            Self::Map => (b'{', b'}'),
            Self::List => (b'[', b']'),
        }
    }
}

/// Which bytes of a block have this value.
#[inline]
fn places(block: &[u8x16; WIDTH / LANES], byte: u8) -> u64 {
    let part = |at: usize| u64::from(block[at].simd_eq(u8x16::splat(byte)).to_bitmask()) << (at * LANES);
    part(0) | part(1) | part(2) | part(3)
}

/// Whether any byte of a block has this value.
#[inline]
fn has(block: &[u8x16; WIDTH / LANES], byte: u8) -> bool {
    let is_byte = |at: usize| block[at].simd_eq(u8x16::splat(byte));
    (is_byte(0) | is_byte(1) | is_byte(2) | is_byte(3)).any()
}

impl Strings {
    /// Goes on over the first `length` bytes of `block`, at least one; the bytes behind them must be white space.
    #[inline]
    pub(super) fn brackets(&mut self, block: &[u8; WIDTH], length: usize, kind: Kind) -> Brackets {
        let (parts, _) = block.as_chunks::<LANES>();
        let parts = [0, 1, 2, 3].map(|at| u8x16::new(parts[at]));
        let quotes = places(&parts, b'"');
        let inside = if has(&parts, b'\\') || self.escaped != 0 {
            let backslashes = places(&parts, b'\\');
            let (escapes, meant) = escapes(backslashes, self.escaped);
            let inside = parity(quotes & !meant) ^ self.inside;
            // Outside strings a backslash is no JSON and escapes nothing, so that it does harm to its own object alone.
            if backslashes & !inside != 0 {
                return self.one_by_one(&block[..length], kind);
            }
            self.escaped = escapes >> (length - 1) & 1;
            inside
        } else {
            parity(quotes) ^ self.inside
        };
        self.inside = 0_u64.wrapping_sub(inside >> (WIDTH - 1));
        let (opening, closing) = kind.pair();
        Brackets { opening: places(&parts, opening) & !inside, closing: places(&parts, closing) & !inside }
    }

    #[cold]
    fn one_by_one(&mut self, bytes: &[u8], kind: Kind) -> Brackets {
        let (opening, closing) = kind.pair();
        let mut brackets = Brackets::default();
        for (at, byte) in bytes.iter().enumerate() {
            let is_inside = self.inside != 0;
            match *byte {
                _ if self.escaped != 0 => self.escaped = 0,
                b'\\' if is_inside => self.escaped = 1,
                b'"' => self.inside = !self.inside,
                byte if byte == opening && !is_inside => brackets.opening |= 1 << at,
                byte if byte == closing && !is_inside => brackets.closing |= 1 << at,
                _ => {}
            }
        }
        brackets
    }
}

/// Which backslashes escape the byte behind them, and which bytes are escaped. A backslash that is escaped itself
/// escapes nothing, so that in a run of them every other one counts: the subtraction carries a bit through each run,
/// and where it comes out tells whether the run began on an even or an odd byte.
const fn escapes(backslashes: u64, first: u64) -> (u64, u64) {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    let free = backslashes & !first;
    let ends = ((free << 1) | ODD).wrapping_sub(free) ^ ODD;
    (ends & backslashes, ends ^ (backslashes | first))
}

/// Bit n of the answer is the parity of the bits up to n: ones from each opening quote to before the closing one.
const fn parity(mut bits: u64) -> u64 {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^ (bits << 32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Kind, Strings, WIDTH};

    fn json_like(length: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(&b"\\\\\\\"\"{}[]x \xff"[..]), length)
    }

    proptest! {
        #[test]
        fn a_block_is_what_its_bytes_are_one_by_one(bytes in json_like(1..=WIDTH), inside: bool, escaped: bool, map: bool) {
            let kind = if map { Kind::Map } else { Kind::List };
            let start = Strings {
                inside: if inside { u64::MAX } else { 0 },
                escaped: u64::from(inside && escaped),
            };
            let mut block = [b' '; WIDTH];
            block[..bytes.len()].copy_from_slice(&bytes);
            let (mut at_once, mut single) = (start, start);
            prop_assert_eq!(at_once.brackets(&block, bytes.len(), kind), single.one_by_one(&bytes, kind));
            prop_assert_eq!((at_once.inside, at_once.escaped), (single.inside, single.escaped));
        }
    }
}
