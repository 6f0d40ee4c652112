//! Values that mean the same.
//!
//! Operators that repeat a part of the spec in their status write it as their own types serialise it, which drops what
//! is empty. So nothing, `null`, `""`, `0`, `false`, `[]`, `{}`, and a map of nothing but those are the same here.

use crate::judge::object::tree::Tree;

/// Whether two values differ once everything empty is left out of both.
pub(in crate::judge::rule::table) fn differ(one: Option<&Tree<'_>>, other: Option<&Tree<'_>>) -> bool {
    match (one.filter(|tree| !is_empty(tree)), other.filter(|tree| !is_empty(tree))) {
        (None, None) => false,
        (Some(one), Some(other)) => !is_same(one, other),
        _ => true,
    }
}

fn is_empty(tree: &Tree<'_>) -> bool {
    match tree {
        Tree::Null | Tree::Bool(false) | Tree::Int(0) => true,
        Tree::Text(text) => text.is_empty(),
        Tree::List(items) => items.is_empty(),
        Tree::Map(entries) => entries.iter().all(|(_, value)| is_empty(value)),
        Tree::Bool(true) | Tree::Int(_) | Tree::Uint(_) | Tree::Float(_) | Tree::Unread => false,
    }
}

fn is_same(one: &Tree<'_>, other: &Tree<'_>) -> bool {
    match (one, other) {
        (Tree::Map(left), Tree::Map(right)) => {
            left.iter().all(|(key, value)| !differ(Some(value), other.get(key)))
                && right.iter().all(|(key, value)| one.get(key).is_some() || is_empty(value))
        }
        (Tree::List(left), Tree::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| !differ(Some(left), Some(right)))
        }
        (one, other) => {
            one == other
                || matches!((as_double(one), as_double(other)), (Some(one), Some(other)) if one.total_cmp(&other).is_eq())
        }
    }
}

/// `1` and `1.0` are one number. Whole numbers that a double does not hold exactly are compared before.
#[expect(clippy::cast_precision_loss, reason = "only numbers that fit are meant")]
fn as_double(tree: &Tree<'_>) -> Option<f64> {
    match tree {
        Tree::Int(number) if number.unsigned_abs() < 1 << 53 => Some(*number as f64),
        Tree::Float(number) => Some(*number),
        _ => None,
    }
}
