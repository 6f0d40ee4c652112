//! What is wrong in a configuration, where, and what to do about it.

use std::cell::RefCell;
use std::fmt::{self, Write as _};

/// A place in a text; line and column count from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u64,
    /// The column.
    pub column: u64,
}

impl Position {
    /// Where a text begins.
    pub(super) const START: Self = Self { line: 1, column: 1 };
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where in the text.
    pub at: Position,
    /// The keys that lead there, as in `resources[0].rule.kopf.mode`; empty where the text is not readable at all.
    pub path: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.at.line, self.at.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

/// The problems found so far.
#[derive(Debug, Default)]
pub(super) struct Problems(RefCell<Vec<Problem>>);

impl Problems {
    pub(super) fn add(&self, at: Position, path: &str, message: impl Into<String>) {
        self.0.borrow_mut().push(Problem { at, path: path.to_owned(), message: message.into() });
    }

    /// All of them in the order of the text.
    pub(super) fn into_sorted(self) -> Vec<Problem> {
        let mut problems = self.0.into_inner();
        problems.sort_by_key(|problem| problem.at);
        problems
    }
}

/// A word of the file as a message shows it: on one line, and not at any length.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", plain(text))
}

/// The same without the quotes.
pub(super) fn plain(text: &str) -> String {
    const LONGEST: usize = 60;
    let text = one_line(text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// A text in which no line break or escape sequence can disturb the list of problems.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// What to write instead of `word`: the nearest of `known`, or all of them where none is near.
pub(super) fn suggestion(word: &str, known: &[&str]) -> String {
    if let Some(nearest) = nearest(word, known) {
        return format!("did you mean `{nearest}`?");
    }
    let mut text = String::from("known here: ");
    for (index, name) in known.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        let _ = write!(text, "{separator}`{name}`");
    }
    text
}

/// Case and the separators of other spellings (`idle_after`, `idle-after`) do not count as differences.
pub(super) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let normal = |word: &str| -> String {
        word.chars().filter(|character| !matches!(character, '_' | '-')).flat_map(char::to_lowercase).collect()
    };
    let word = normal(word);
    // Nothing in a configuration is that long; comparing costs the product of both lengths.
    if word.len() > 64 {
        return None;
    }
    let distance = |name: &str| strsim::damerau_levenshtein(&word, &normal(name));
    let (distance, name) = known.iter().map(|name| (distance(name), *name)).min_by_key(|(distance, _)| *distance)?;
    (distance <= (name.len() / 3).max(1)).then_some(name)
}
