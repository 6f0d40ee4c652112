//! Numbers: short integers are read here, all others by `serde_json`.

use super::{Fault, Tree, Walk};

/// So many digits fit an `i64` whatever they are.
const SHORT: usize = 18;

impl<'a> Walk<'a> {
    pub(in crate::judge) fn number(&mut self) -> Option<Tree<'a>> {
        let start = self.at;
        let is_whole = self.pass_number()?;
        let text = &self.json[start..self.at];
        let (is_negative, digits) = match text {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        if !is_whole || digits.len() > SHORT {
            return self.unusual(text);
        }
        let number = digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        match (is_negative, number) {
            // Negative zero is no integer.
            (true, 0) => self.unusual(text),
            (true, number) => Some(Tree::Int(-number)),
            (false, number) => Some(Tree::Int(number)),
        }
    }

    pub(super) fn skip_number(&mut self) -> Option<()> {
        self.pass_number().map(drop)
    }

    /// Goes behind a number. Returns whether it has neither a fraction nor an exponent.
    fn pass_number(&mut self) -> Option<bool> {
        self.pass(b"-");
        if !self.pass(b"0") {
            self.pass_digits()?;
        }
        let has_fraction = self.pass(b".");
        if has_fraction {
            self.pass_digits()?;
        }
        let has_exponent = self.pass(b"eE");
        if has_exponent {
            self.pass(b"+-");
            self.pass_digits()?;
        }
        Some(!has_fraction && !has_exponent)
    }

    fn pass(&mut self, any: &[u8]) -> bool {
        let is_there = self.json.get(self.at).is_some_and(|byte| any.contains(byte));
        self.at += usize::from(is_there);
        is_there
    }

    /// At least one digit.
    fn pass_digits(&mut self) -> Option<()> {
        let rest = &self.json[self.at..];
        let count = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.at += count;
        match (count, rest) {
            (0, []) => self.fail(Fault::EndsEarly),
            (0, _) => self.fail(Fault::NotJson),
            _ => Some(()),
        }
    }

    /// The text has a number's form, so all that can be wrong with it is its size.
    #[cold]
    fn unusual(&mut self, text: &[u8]) -> Option<Tree<'a>> {
        let Ok(number) = serde_json::from_slice::<serde_json::Number>(text) else {
            return self.fail(Fault::OutOfRange);
        };
        let whole = || number.as_i64().map(Tree::Int).or_else(|| number.as_u64().map(Tree::Uint));
        whole().or_else(|| number.as_f64().map(Tree::Float))
    }
}
