//! One expression, ready to be evaluated.

use std::fmt;

use cel::parser::Parser;

use super::fault::{Failure, Fault, place};
use super::node::Node;
use super::value::Kind;
use super::{check, lint, lower, paths};
use crate::judge::object::mask::Mask;

/// The longest source, in bytes.
pub const LONGEST: usize = 4 << 10;
/// The stack that [`compile`] needs: the library recurses as deep as a source nests, and a source of [`LONGEST`] that
/// is nothing but `1+1+1...` is deeper than a thread's usual 2 MiB in a debug build.
pub const STACK: usize = 64 << 20;

/// What an expression must come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// True or false.
    Condition,
    /// A time, text that can be read as one, or null.
    Time,
}

/// An expression. Two of the same source are the same, also in what `Debug` prints.
#[derive(Clone)]
pub struct Expression {
    source: Box<str>,
    root: Node,
    mask: Mask,
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.source, f)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Expression {
    /// The text that was compiled.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What the expression reads of an object.
    pub const fn mask(&self) -> &Mask {
        &self.mask
    }

    pub(super) const fn root(&self) -> &Node {
        &self.root
    }

    /// One line for a person: the expression's key, the cause and the place. No value of an object.
    pub(super) fn message(&self, key: &str, failure: Failure) -> String {
        format!("`{key}` cannot be evaluated: {} ({})", failure.cause, place(&self.source, failure.at))
    }
}

/// Compiles an expression and tries it on samples. Runs on a stack of [`STACK`] bytes.
///
/// # Errors
/// Every fault that is found, in the order of the source: syntax, unknown names, limits, types that cannot be right,
/// and fields of the status that are taken for granted.
pub fn compile(source: &str, wanted: Wanted) -> Result<Expression, Vec<Fault>> {
    if source.len() > LONGEST {
        return Err(vec![Fault::new(0, format!("is longer than the {LONGEST} bytes that are allowed"))]);
    }
    let (parsed, places) = Parser::new().parse_with_source_info(source).map_err(|errors| syntax(source, &errors))?;
    let (root, mut faults) = lower::lower(&parsed, &places);
    let Some(root) = root.filter(|_| faults.is_empty()) else { return Err(sorted(faults)) };
    check_answer(check::check(&root, &mut faults), wanted, root.at, &mut faults);
    let mask = paths::mask(&root);
    if faults.is_empty() {
        faults.extend(lint::try_on_samples(&root, &mask, wanted));
    }
    if faults.is_empty() { Ok(Expression { source: source.into(), root, mask }) } else { Err(sorted(faults)) }
}

fn sorted(mut faults: Vec<Fault>) -> Vec<Fault> {
    faults.sort_by_key(|fault| fault.at);
    faults.dedup();
    faults
}

fn check_answer(found: Option<Kind>, wanted: Wanted, at: usize, faults: &mut Vec<Fault>) {
    let (fits, word): (&[Kind], _) = match wanted {
        Wanted::Condition => (&[Kind::Bool], "true or false"),
        Wanted::Time => (&[Kind::Time, Kind::Text, Kind::Int, Kind::Null], "a time"),
    };
    if let Some(found) = found.filter(|found| !fits.contains(found)) {
        faults.push(Fault::new(at, format!("the expression comes to {}, not to {word}", found.as_str())));
    }
}

/// The library's words for what it could not read, without the list of all tokens that might stand there.
fn syntax(source: &str, errors: &cel::ParseErrors) -> Vec<Fault> {
    let fault = |error: &cel::ParseError| {
        let (line, column) = error.pos;
        let (line, column) = (usize::try_from(line).unwrap_or(1), usize::try_from(column).unwrap_or(0));
        let before = source.split_inclusive('\n').take(line.saturating_sub(1)).map(|line| line.chars().count());
        let words = error.msg.split(" expecting {").next().unwrap_or_default();
        let words = words.split(" expecting ").next().unwrap_or_default();
        // A quoted token may hold the end of its line.
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        Fault::new(before.sum::<usize>() + column.saturating_sub(1), format!("cannot be read: {words}"))
    };
    // What follows the first is mostly its consequence.
    errors.errors.iter().take(1).map(fault).collect()
}
