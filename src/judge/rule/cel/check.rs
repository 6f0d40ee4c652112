//! What can be told about types without running: literals, functions, comparisons and the API server's own metadata
//! have known ones. Everything of `spec` and `status` may be anything.

use super::fault::Fault;
use super::function::FUNCTIONS;
use super::node::{Fold, Form, Gather, Literal, Node, Operator};
use super::value::Kind;

/// Reports steps that can never go well. Returns the type of the answer where it is known.
pub(super) fn check(node: &Node, faults: &mut Vec<Fault>) -> Option<Kind> {
    match &node.form {
        Form::Literal(literal) => Some(kind_of(literal)),
        Form::Own => Some(Kind::Map),
        Form::Local(_) => None,
        Form::Select(of, key) => {
            want(of, &[Kind::Map], "a map", faults);
            known_field(of, key)
        }
        Form::Has(of, _) => {
            want(of, &[Kind::Map], "a map", faults);
            Some(Kind::Bool)
        }
        Form::Index(two) => {
            index(two, faults);
            None
        }
        Form::Not(of) => {
            want_condition(of, faults);
            Some(Kind::Bool)
        }
        Form::Negate(of) => want(of, &[Kind::Int, Kind::Double], "a number with a sign", faults),
        Form::And(two) | Form::Or(two) => {
            two.iter().for_each(|side| want_condition(side, faults));
            Some(Kind::Bool)
        }
        Form::If(_) | Form::Equal(..) | Form::Compare(..) | Form::In(_) | Form::Arithmetic(..) => several(node, faults),
        Form::Call(..) => call(node, faults),
        Form::Matches(text, _) => {
            want(text, &[Kind::Text], "text", faults);
            Some(Kind::Bool)
        }
        Form::List(items) => {
            for item in items {
                check(item, faults);
            }
            Some(Kind::List)
        }
        Form::Map(entries) => {
            for part in entries.iter().flatten() {
                check(part, faults);
            }
            Some(Kind::Map)
        }
        Form::Fold(fold) => Some(check_fold(fold, faults)),
    }
}

/// Steps of which the types must go together.
fn several(node: &Node, faults: &mut Vec<Fault>) -> Option<Kind> {
    match &node.form {
        Form::If(three) => {
            let [condition, then, otherwise] = &**three;
            want_condition(condition, faults);
            let (then, otherwise) = (check(then, faults), check(otherwise, faults));
            then.filter(|kind| otherwise == Some(*kind))
        }
        Form::Equal(_, two) => {
            equal(node.at, two, faults);
            Some(Kind::Bool)
        }
        Form::Compare(_, two) => {
            compare(node.at, two, faults);
            Some(Kind::Bool)
        }
        Form::In(two) => {
            let [value, of] = &**two;
            check(value, faults);
            want(of, &[Kind::List, Kind::Map], "a list or a map", faults);
            Some(Kind::Bool)
        }
        Form::Arithmetic(operator, two) => arithmetic(node.at, *operator, two, faults),
        _ => None,
    }
}

fn index(two: &[Node; 2], faults: &mut Vec<Fault>) {
    let [of, index] = two;
    if want(of, &[Kind::Map, Kind::List], "a list or a map", faults) == Some(Kind::List) {
        want(index, &[Kind::Int], "a whole number", faults);
    } else {
        check(index, faults);
    }
}

fn want(node: &Node, kinds: &[Kind], wanted: &str, faults: &mut Vec<Fault>) -> Option<Kind> {
    let found = check(node, faults)?;
    if !kinds.contains(&found) {
        faults.push(Fault::new(node.at, format!("is {}; {wanted} is needed here", found.as_str())));
        return None;
    }
    Some(found)
}

fn want_condition(node: &Node, faults: &mut Vec<Fault>) {
    want(node, &[Kind::Bool], "true or false", faults);
}

const fn kind_of(literal: &Literal) -> Kind {
    match literal {
        Literal::Null => Kind::Null,
        Literal::Bool(_) => Kind::Bool,
        Literal::Int(_) => Kind::Int,
        Literal::Uint(_) => Kind::Uint,
        Literal::Double(_) => Kind::Double,
        Literal::Text(_) => Kind::Text,
        Literal::Kind(_) => Kind::Type,
    }
}

/// The type of a field that is the same in every object; see `Object::read`, which refuses others.
fn known_field(of: &Node, key: &str) -> Option<Kind> {
    match (&of.form, key) {
        (Form::Own, "metadata") => Some(Kind::Map),
        (Form::Own, "apiVersion" | "kind") => Some(Kind::Text),
        (Form::Select(of, parent), key) if matches!(of.form, Form::Own) && &**parent == "metadata" => match key {
            "name" | "namespace" | "uid" | "resourceVersion" | "creationTimestamp" | "deletionTimestamp" => {
                Some(Kind::Text)
            }
            "generation" => Some(Kind::Int),
            "labels" | "annotations" => Some(Kind::Map),
            "finalizers" | "managedFields" | "ownerReferences" => Some(Kind::List),
            _ => None,
        },
        _ => None,
    }
}

fn both(two: &[Node; 2], faults: &mut Vec<Fault>) -> Option<(Kind, Kind)> {
    let [left, right] = two;
    let (left, right) = (check(left, faults), check(right, faults));
    left.zip(right)
}

fn equal(at: usize, two: &[Node; 2], faults: &mut Vec<Fault>) {
    if let Some((left, right)) = both(two, faults)
        && left != right
        && left != Kind::Null
        && right != Kind::Null
        && !(left.is_number() && right.is_number())
    {
        faults.push(Fault::new(at, format!("{} is never equal to {}", left.as_str(), right.as_str())));
    }
}

fn compare(at: usize, two: &[Node; 2], faults: &mut Vec<Fault>) {
    if let Some((left, right)) = both(two, faults)
        && !left.compares_with(right)
    {
        let hint = match (left, right) {
            (Kind::Text, Kind::Time) | (Kind::Time, Kind::Text) => "; write timestamp(...) around the text",
            _ => "",
        };
        faults.push(Fault::new(at, format!("{} has no order with {}{hint}", left.as_str(), right.as_str())));
    }
}

fn arithmetic(at: usize, operator: Operator, two: &[Node; 2], faults: &mut Vec<Fault>) -> Option<Kind> {
    let (left, right) = both(two, faults)?;
    let result = match (operator, left, right) {
        (Operator::Add, Kind::Text, Kind::Text) => Some(Kind::Text),
        (Operator::Add, Kind::List, Kind::List) => Some(Kind::List),
        (Operator::Add, Kind::Duration, Kind::Time)
        | (Operator::Add | Operator::Subtract, Kind::Time, Kind::Duration) => Some(Kind::Time),
        (Operator::Add | Operator::Subtract, Kind::Duration, Kind::Duration)
        | (Operator::Subtract, Kind::Time, Kind::Time) => Some(Kind::Duration),
        (Operator::Remainder, Kind::Double, Kind::Double) => None,
        (_, left, right) if left == right && left.is_number() => Some(left),
        _ => None,
    };
    if result.is_none() {
        let hint =
            if left.is_number() && right.is_number() { "; convert one with int(), uint() or double()" } else { "" };
        faults.push(Fault::new(at, format!("cannot compute with {} and {}{hint}", left.as_str(), right.as_str())));
    }
    result
}

fn call(node: &Node, faults: &mut Vec<Fault>) -> Option<Kind> {
    let Form::Call(function, arguments) = &node.form else { return None };
    let signature = FUNCTIONS.iter().find(|it| it.function == *function)?;
    for (argument, takes) in arguments.iter().zip(signature.takes) {
        let found = check(argument, faults);
        if let Some(found) = found.filter(|found| !takes.is_empty() && !takes.contains(found)) {
            let takes: Vec<_> = takes.iter().map(|kind| kind.as_str()).collect();
            let problem = format!("`{}` takes {}, not {}", signature.name, takes.join(" or "), found.as_str());
            faults.push(Fault::new(argument.at, problem));
        }
    }
    signature.returns
}

fn check_fold(fold: &Fold, faults: &mut Vec<Fault>) -> Kind {
    want(&fold.range, &[Kind::List, Kind::Map], "a list or a map", faults);
    match &fold.gather {
        Gather::Exists(condition) | Gather::All(condition) | Gather::ExistsOne(condition) => {
            want_condition(condition, faults);
            Kind::Bool
        }
        Gather::Collect { when, item } => {
            if let Some(condition) = when {
                want_condition(condition, faults);
            }
            check(item, faults);
            Kind::List
        }
    }
}
