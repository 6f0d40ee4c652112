//! The text of an expression: compiled where it is written, with every fault at its place.

use std::thread;

use super::cursor::Cursor;
use super::problem::{quoted, suggestion};
use crate::judge::rule::cel::expression::{Expression, STACK, Wanted, compile};
use crate::judge::rule::cel::fault::{Fault, Problem, place};

/// Reads a condition, which is true or false.
pub(super) fn condition(cursor: &Cursor<'_>) -> Option<Expression> {
    expression(cursor, Wanted::Condition)
}

/// Reads an expression that comes to a time.
pub(super) fn time(cursor: &Cursor<'_>) -> Option<Expression> {
    expression(cursor, Wanted::Time)
}

fn expression(cursor: &Cursor<'_>, wanted: Wanted) -> Option<Expression> {
    let source = cursor.text()?;
    let compiled = thread::scope(|scope| {
        let builder = thread::Builder::new().name("compile".to_owned()).stack_size(STACK);
        let handle = builder.spawn_scoped(scope, || compile(&source, wanted)).ok()?;
        // What the library cannot take is refused like what it does not know.
        handle.join().ok()
    });
    match compiled {
        Some(Ok(expression)) => Some(expression),
        Some(Err(faults)) => {
            for fault in &faults {
                cursor.refuse(message(&source, fault));
            }
            None
        }
        None => {
            cursor.refuse("cannot be compiled; write it more simply");
            None
        }
    }
}

fn message(source: &str, fault: &Fault) -> String {
    let at = place(source, fault.at);
    match &fault.problem {
        Problem::Unknown { noun, name, known } => {
            format!("at {at}: unknown {noun} {}; {}", quoted(name), suggestion(name, known))
        }
        Problem::Other(problem) => format!("at {at}: {problem}"),
    }
}
