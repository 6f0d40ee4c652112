//! Predicates in plain words.

use std::fmt::{self, Display, Formatter};

use super::condition::{Condition, Own, USUAL};
use super::entry::{Finalizers, Fit, Group, Kinds, Names as Finalizer};
use super::value::Value;
use super::when::{Claim, When};

impl Display for When {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(all) => joined(f, all, " and "),
            Self::Any(any) => joined(f, any, " or "),
            Self::Not(when) => write!(f, "not ({when})"),
            Self::NoStatus => f.write_str("no status"),
            Self::FirstGeneration => f.write_str("generation 1"),
            Self::StatusAfterSpec => f.write_str("the status was written after the spec (managedFields)"),
            Self::Current(path) => write!(f, "{path} is the generation"),
            Self::Below(path) => write!(f, "{path} is below the generation"),
            Self::Zero(path) => write!(f, "{path} is 0"),
            Self::PrefixCurrent(path) => write!(f, "{path} begins with the generation"),
            Self::PrefixBelow(path) => write!(f, "{path} begins with an older generation"),
            Self::Condition(condition) => write!(f, "{condition}"),
            Self::Behind(condition) => write!(f, "{condition} carries an older generation, and none the current one"),
            Self::Field(path, value) => write!(f, "{path} {value}"),
            Self::Annotation(name, value) => write!(f, "annotation {name} {value}"),
            Self::Unanswered { annotation, answer } => {
                write!(f, "annotation {annotation} is not repeated in {answer}")
            }
            Self::Differ(one, other) => write!(f, "{one} differs from {other}"),
            Self::Claims(Claim::AllCurrent) => {
                f.write_str("each of spec.parentRefs has an answer in status.parents for the generation")
            }
            Self::Claims(Claim::SomeBehind) => {
                f.write_str("one of spec.parentRefs has answers in status.parents, for older generations only")
            }
            Self::Claims(Claim::None) => f.write_str("status.parents is empty"),
        }
    }
}

fn joined(f: &mut Formatter<'_>, parts: &[When], word: &str) -> fmt::Result {
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            f.write_str(word)?;
        }
        match part {
            When::All(inner) | When::Any(inner) if inner.len() > 1 => write!(f, "({part})")?,
            part => write!(f, "{part}")?,
        }
    }
    Ok(())
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Present => f.write_str("is there"),
            Self::Missing => f.write_str("is absent or empty"),
            Self::Empty => f.write_str("is there and empty"),
            Self::Yes => f.write_str("is true"),
            Self::No => f.write_str("is false"),
            Self::Is(texts) => write!(f, "is {}", list(texts, " or ")),
            Self::Begins(texts) => write!(f, "begins with {}", list(texts, " or ")),
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.types {
            [] => f.write_str("a condition")?,
            types => write!(f, "condition {}", list(types, " or "))?,
        }
        if self.path != USUAL {
            write!(f, " in {}", self.path)?;
        }
        for (what, words) in [("is", self.statuses), ("with reason", self.reasons), ("of severity", self.severities)] {
            if !words.is_empty() {
                write!(f, " {what} {}", list(words, " or "))?;
            }
        }
        if !self.other_reasons.is_empty() {
            write!(f, " with a reason other than {}", list(self.other_reasons, " or "))?;
        }
        f.write_str(match self.generation {
            Own::Any => "",
            Own::Current if self.statuses.is_empty() => " carries the current generation",
            Own::Current => " for the current generation",
            Own::Absent => " carries no generation",
            Own::NotOlder => " for the current generation or for none",
        })
    }
}

fn list(words: &[&str], last: &str) -> String {
    let quoted =
        |word: &&str| if word.is_empty() || word.contains(' ') { format!("{word:?}") } else { (*word).to_owned() };
    match words {
        [] => String::new(),
        [one] => quoted(one),
        [others @ .., end] => {
            format!("{}{last}{}", others.iter().map(quoted).collect::<Vec<_>>().join(", "), quoted(end))
        }
    }
}

impl Display for Fit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.kinds {
            Kinds::All => f.write_str("every kind")?,
            Kinds::Only(kinds) => f.write_str(&list(kinds, ", "))?,
            Kinds::Ending(end) => write!(f, "*{end}")?,
        }
        match self.group {
            Group::Is(group) => write!(f, " of {group}"),
            Group::Below(group) => write!(f, " of {group} or *.{group}"),
        }
    }
}

impl Display for Finalizers {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("none known: a deletion that hangs is reported and never a reason to restart"),
            Self::Some(own) => write!(f, "{own} (there may be others)"),
            Self::All(own) => write!(f, "{own}"),
        }
    }
}

impl Display for Finalizer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let domains = self.domains.iter().map(|domain| format!("those of {domain}"));
        let all: Vec<String> = self.names.iter().map(|name| (*name).to_owned()).chain(domains).collect();
        f.write_str(&all.join(", "))
    }
}
