//! The predicates of the table: what they are, how they are evaluated, what they read, and how they are said.

pub(super) mod compare;
pub(super) mod condition;
pub(super) mod entry;
pub(super) mod facts;
pub(super) mod prelude;
mod reads;
pub(super) mod value;
pub(super) mod when;
mod words;
