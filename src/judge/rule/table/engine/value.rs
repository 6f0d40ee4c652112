//! What can be asked of one value.

use crate::judge::object::tree::Tree;

/// What can be asked of the value at a path, or of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// There is one. `null` is none.
    Present,
    /// There is none, or it is empty: `""`, `{}` or `[]`.
    Missing,
    /// There is a list or a map, and it is empty.
    Empty,
    /// It says yes: `true`, or a text that Go's `ParseBool` takes for true.
    Yes,
    /// It says no: `false`, or a text that Go's `ParseBool` takes for false.
    No,
    /// It is one of these texts.
    Is(&'static [&'static str]),
    /// It begins with one of these texts.
    Begins(&'static [&'static str]),
}

const YES: [&str; 6] = ["1", "t", "T", "TRUE", "true", "True"];
const NO: [&str; 6] = ["0", "f", "F", "FALSE", "false", "False"];

impl Value {
    /// Whether it is true of `found`; `None` where there is no value.
    pub(super) fn holds(self, found: Option<&Tree<'_>>) -> bool {
        let text = found.and_then(Tree::as_str);
        match self {
            Self::Present => found.is_some(),
            Self::Missing => found.is_none_or(is_empty),
            Self::Empty => found.is_some_and(|found| !matches!(found, Tree::Text(_)) && is_empty(found)),
            Self::Yes => found.is_some_and(Tree::is_true) || text.is_some_and(|text| YES.contains(&text)),
            Self::No => found == Some(&Tree::Bool(false)) || text.is_some_and(|text| NO.contains(&text)),
            Self::Is(texts) => text.is_some_and(|text| texts.contains(&text)),
            Self::Begins(texts) => text.is_some_and(|text| texts.iter().any(|start| text.starts_with(start))),
        }
    }
}

fn is_empty(tree: &Tree<'_>) -> bool {
    match tree {
        Tree::Text(text) => text.is_empty(),
        Tree::List(items) => items.is_empty(),
        Tree::Map(entries) => entries.is_empty(),
        _ => false,
    }
}

/// A whole number, also where it is written as text. A text that is no number (Argo Rollouts before 0.10 wrote a hash)
/// says nothing, nor does one of more than nine digits, which is a hash as well.
pub(in crate::judge::rule::table) fn number(found: Option<&Tree<'_>>) -> Option<i64> {
    match found? {
        Tree::Int(number) => Some(*number),
        Tree::Text(text) if (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().ok()
        }
        _ => None,
    }
}
