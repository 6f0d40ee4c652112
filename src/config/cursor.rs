//! Reading one value of the file: what is expected there, and a problem with path and line where something else is.

use std::fmt::Display;
use std::time::Duration;

use super::problem::{Position, Problems, plain, quoted, suggestion};
use super::raw::{Entry, Node, Value};
use super::{duration, size};

/// One value, the keys that lead to it, and where to report problems.
///
/// Every reading method returns `None` when it has reported a problem.
pub(super) struct Cursor<'t> {
    node: &'t Node,
    path: String,
    problems: &'t Problems,
}

impl<'t> Cursor<'t> {
    /// The value at the top of the file.
    pub(super) fn root(node: &'t Node, problems: &'t Problems) -> Self {
        Self { node, path: String::new(), problems }
    }

    /// Reports a problem of this value.
    pub(super) fn refuse(&self, message: impl Into<String>) {
        self.problems.add(self.node.at, &self.path, message);
    }

    /// A word that is not empty.
    pub(super) fn text(&self) -> Option<String> {
        match &self.node.value {
            Value::Text(text) if text.trim().is_empty() => self.reject("is empty; write a value or leave the key out"),
            Value::Text(text) => Some(text.clone()),
            Value::Boolean(_) | Value::Integer(_) | Value::Fraction => {
                self.reject(format!("expected text, found {}; put it in quotes", self.found()))
            }
            _ => self.unexpected("text"),
        }
    }

    /// `true` or `false`.
    pub(super) fn boolean(&self) -> Option<bool> {
        match self.node.value {
            Value::Boolean(value) => Some(value),
            _ => self.unexpected("true or false"),
        }
    }

    /// Anything, as JSON has it. A key that is written twice counts as it was written last.
    pub(super) fn json(&self) -> Option<serde_json::Value> {
        json(self.node)
            .or_else(|| self.reject("holds a number that is not whole, or a very large one; put it in quotes"))
    }

    /// A whole number, at least 1.
    pub(super) fn count(&self) -> Option<u32> {
        match self.node.value {
            Value::Integer(number) if number >= 1 => match u32::try_from(number) {
                Ok(number) => Some(number),
                Err(_) => self.reject(format!("must be at most {}", u32::MAX)),
            },
            Value::Integer(_) => self.reject("must be at least 1"),
            _ => self.unexpected("a whole number"),
        }
    }

    /// One word out of a closed list.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Option<T> {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let Value::Text(text) = &self.node.value else {
            return self.unexpected(&format!("one of {}", known.join(", ")));
        };
        match words.iter().find(|(word, _)| word == text) {
            Some((_, value)) => Some(*value),
            None => self.reject(format!("unknown value {}; {}", quoted(text), suggestion(text, &known))),
        }
    }

    /// A word that `parse` understands; its error says what to do and does not name the word.
    pub(super) fn parsed<T, E: Display>(&self, parse: impl FnOnce(&str) -> Result<T, E>) -> Option<T> {
        let text = self.text()?;
        parse(&text).map_or_else(|error| self.reject(error.to_string()), Some)
    }

    /// A duration longer than zero.
    pub(super) fn duration(&self) -> Option<Duration> {
        self.duration_by(duration::parse, "a duration such as 30s or 1h30m")
    }

    /// A duration where zero means "none" or "at once".
    pub(super) fn duration_or_zero(&self) -> Option<Duration> {
        self.duration_by(duration::parse_or_zero, "a duration such as 30s, or 0s")
    }

    /// A duration, or `None` for `auto`, and for what was refused.
    pub(super) fn duration_or_auto(&self) -> Option<Duration> {
        match &self.node.value {
            Value::Text(text) if text == "auto" => None,
            _ => self.duration_by(duration::parse, "`auto` or a duration such as 30s or 1h30m"),
        }
    }

    fn duration_by(&self, parse: fn(&str) -> Result<Duration, duration::Error>, what: &str) -> Option<Duration> {
        match &self.node.value {
            Value::Text(text) => match parse(text) {
                Ok(duration) => Some(duration),
                Err(duration::Error::Unreadable) => {
                    self.reject(format!("{} is not {what}; units are h, m, s and ms", quoted(text)))
                }
                Err(error) => self.reject(format!("{} {error}", quoted(text))),
            },
            Value::Integer(number) => self.reject(format!("expected {what}, found {number} without a unit")),
            _ => self.unexpected(what),
        }
    }

    /// A number of bytes, at least 1.
    pub(super) fn size(&self) -> Option<usize> {
        let read = match &self.node.value {
            Value::Text(text) => size::parse(text),
            Value::Integer(number) => size::from_number(*number),
            _ => return self.unexpected("a size such as 512Ki or 4Mi"),
        };
        read.map_or_else(|error| self.reject(error.to_string()), Some)
    }

    /// The values of a list.
    pub(super) fn items(&self) -> Option<Vec<Self>> {
        let Value::List(items) = &self.node.value else {
            return self.reject(format!("expected a list, found {}; put it in brackets", self.found()));
        };
        let item = |(index, node)| Self { node, path: format!("{}[{index}]", self.path), problems: self.problems };
        Some(items.iter().enumerate().map(item).collect())
    }

    /// The words of a list; what was refused is left out.
    pub(super) fn texts(&self) -> Option<Vec<String>> {
        Some(self.items()?.iter().filter_map(Self::text).collect())
    }

    /// A mapping; nothing is as good as an empty one. Every key that `read` has not asked for is refused afterwards,
    /// and so is a key written twice.
    pub(super) fn section<T>(&self, read: impl FnOnce(&mut Section<'t>) -> T) -> Option<T> {
        let entries = match &self.node.value {
            Value::Map(entries) => entries.as_slice(),
            Value::Null => &[],
            _ => return self.unexpected("a mapping"),
        };
        let Self { node, path, problems } = self;
        let (at, path) = (node.at, path.clone());
        let mut section = Section { at, entries, path, problems, noun: "key", asked: Vec::new() };
        let result = read(&mut section);
        section.refuse_the_rest();
        Some(result)
    }

    /// A word, which is short for a mapping, or the mapping.
    pub(super) fn short_or_long<T>(
        &self,
        short: impl FnOnce(&Self) -> Option<T>,
        long: impl FnOnce(&mut Section<'t>) -> Option<T>,
    ) -> Option<T> {
        match self.node.value {
            Value::Text(_) => short(self),
            Value::Map(_) | Value::Null => self.section(long).flatten(),
            _ => self.unexpected("text or a mapping"),
        }
    }

    fn reject<T>(&self, message: impl Into<String>) -> Option<T> {
        self.refuse(message);
        None
    }

    fn unexpected<T>(&self, expected: &str) -> Option<T> {
        self.reject(format!("expected {expected}, found {}", self.found()))
    }

    const fn found(&self) -> &'static str {
        match self.node.value {
            Value::Null => "nothing",
            Value::Boolean(_) => "true or false",
            Value::Integer(_) => "a number",
            Value::Fraction => "a number that is not whole",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

/// A mapping of the file while it is read.
pub(super) struct Section<'t> {
    at: Position,
    entries: &'t [Entry],
    path: String,
    problems: &'t Problems,
    /// What a key is called in messages.
    noun: &'static str,
    /// The keys that were asked for, which are those that exist.
    asked: Vec<&'static str>,
}

impl<'t> Section<'t> {
    /// What `read` makes of the value of a key; `null` is as good as absent.
    pub(super) fn read<T>(&mut self, key: &'static str, read: impl FnOnce(&Cursor<'t>) -> Option<T>) -> Option<T> {
        read(&self.get(key)?)
    }

    /// The same for a key that must be there; `hint` says what to write.
    pub(super) fn required<T>(
        &mut self,
        key: &'static str,
        hint: &str,
        read: impl FnOnce(&Cursor<'t>) -> Option<T>,
    ) -> Option<T> {
        let Some(cursor) = self.get(key) else {
            self.problems.add(self.at, &self.path_of(key), format!("is missing; {hint}"));
            return None;
        };
        read(&cursor)
    }

    /// The value of a key; `null` is as good as absent.
    pub(super) fn get(&mut self, key: &'static str) -> Option<Cursor<'t>> {
        self.written(key).filter(|cursor| !matches!(cursor.node.value, Value::Null))
    }

    /// The value of a key that is written, be it `null`.
    pub(super) fn written(&mut self, key: &'static str) -> Option<Cursor<'t>> {
        self.asked.push(key);
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(Cursor { node: &entry.node, path: self.path_of(key), problems: self.problems })
    }

    /// How many keys are written.
    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Calls the keys by another noun in messages.
    pub(super) const fn call_keys(&mut self, noun: &'static str) {
        self.noun = noun;
    }

    /// Reports a problem of the mapping as a whole.
    pub(super) fn refuse(&self, message: impl Into<String>) {
        self.problems.add(self.at, &self.path, message);
    }

    fn refuse_the_rest(&self) {
        for (index, entry) in self.entries.iter().enumerate() {
            let path = self.path_of(&plain(&entry.key));
            if let Some(first) = self.entries.iter().take(index).find(|earlier| earlier.key == entry.key) {
                let message = format!("is written twice, first in line {}; keep one of them", first.at.line);
                self.problems.add(entry.at, &path, message);
            } else if !self.asked.contains(&entry.key.as_str()) {
                let message = format!("unknown {}; {}", self.noun, suggestion(&entry.key, &self.asked));
                self.problems.add(entry.at, &path, message);
            }
        }
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

/// A value as JSON; nothing where it holds a number that JSON or [`Value`] does not keep.
fn json(node: &Node) -> Option<serde_json::Value> {
    Some(match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Boolean(value) => (*value).into(),
        Value::Integer(number) => i64::try_from(*number).ok()?.into(),
        Value::Fraction => return None,
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(json).collect::<Option<Vec<_>>>()?.into(),
        Value::Map(entries) => {
            let pairs = entries.iter().map(|entry| Some((entry.key.clone(), json(&entry.node)?)));
            serde_json::Value::Object(pairs.collect::<Option<_>>()?)
        }
    })
}
