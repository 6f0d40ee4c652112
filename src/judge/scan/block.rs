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

/// The brackets of a block that stand outside strings. Bit n stands for byte n.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Brackets {
    pub(super) opening: u64,
    pub(super) closing: u64,
}

/// Where the bytes that matter stand, inside strings or not.
#[derive(Default)]
struct Marks {
    quotes: u64,
    backslashes: u64,
    opening: u64,
    closing: u64,
}

impl Marks {
    fn of(block: &[u8; WIDTH]) -> Self {
        /// Turns `[` into `{` and `]` into `}`, and nothing else into either.
        const CASE: u8 = 0x20;
        let mut marks = Self::default();
        let (parts, _) = block.as_chunks::<LANES>();
        for (place, part) in parts.iter().enumerate() {
            let bytes = u8x16::new(*part);
            let brackets = bytes | u8x16::splat(CASE);
            let mask =
                |bytes: u8x16, byte: u8| u64::from(bytes.simd_eq(u8x16::splat(byte)).to_bitmask()) << (place * LANES);
            marks.quotes |= mask(bytes, b'"');
            marks.backslashes |= mask(bytes, b'\\');
            marks.opening |= mask(brackets, b'{');
            marks.closing |= mask(brackets, b'}');
        }
        marks
    }
}

impl Strings {
    /// Goes on over the first `length` bytes of `block`, at least one; the bytes behind them must be white space.
    pub(super) fn brackets(&mut self, block: &[u8; WIDTH], length: usize) -> Brackets {
        let marks = Marks::of(block);
        let (escapes, escaped) = escapes(marks.backslashes, self.escaped);
        let inside = parity(marks.quotes & !escaped) ^ self.inside;
        // Outside strings a backslash is no JSON and escapes nothing, so that it does harm to its own object alone.
        if marks.backslashes & !inside != 0 {
            return self.one_by_one(&block[..length]);
        }
        self.inside = 0_u64.wrapping_sub(inside >> (WIDTH - 1));
        self.escaped = escapes >> (length - 1) & 1;
        Brackets { opening: marks.opening & !inside, closing: marks.closing & !inside }
    }

    fn one_by_one(&mut self, bytes: &[u8]) -> Brackets {
        let mut brackets = Brackets::default();
        for (at, byte) in bytes.iter().enumerate() {
            let is_inside = self.inside != 0;
            match byte {
                _ if self.escaped != 0 => self.escaped = 0,
                b'\\' if is_inside => self.escaped = 1,
                b'"' => self.inside = !self.inside,
                b'{' | b'[' if !is_inside => brackets.opening |= 1 << at,
                b'}' | b']' if !is_inside => brackets.closing |= 1 << at,
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

    use super::{Strings, WIDTH};

    fn json_like(length: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(&b"\\\\\\\"\"{}[]x \xff"[..]), length)
    }

    proptest! {
        #[test]
        fn a_block_is_what_its_bytes_are_one_by_one(bytes in json_like(1..=WIDTH), inside: bool, escaped: bool) {
            let start = Strings {
                inside: if inside { u64::MAX } else { 0 },
                escaped: u64::from(inside && escaped),
            };
            let mut block = [b' '; WIDTH];
            block[..bytes.len()].copy_from_slice(&bytes);
            let (mut at_once, mut single) = (start, start);
            prop_assert_eq!(at_once.brackets(&block, bytes.len()), single.one_by_one(&bytes));
            prop_assert_eq!((at_once.inside, at_once.escaped), (single.inside, single.escaped));
        }
    }
}
