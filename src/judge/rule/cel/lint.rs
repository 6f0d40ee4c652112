//! Tries an expression on small objects of the kinds that occur, before it judges real ones.

use super::expression::Wanted;
use super::fault::{Cause, Failure, Fault};
use super::function::to_time;
use super::node::{Form, Node};
use super::run::Run;
use super::value::Value;
use crate::judge::object::mask::Mask;
use crate::judge::object::tree::Tree;

/// Objects that no operator has touched: what fails on them fails whenever the operator is deaf, which is when the
/// answer matters.
const UNTOUCHED: [&str; 3] = [
    r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"b","uid":"c","resourceVersion":"1","generation":1,"creationTimestamp":"2026-03-01T12:00:00Z","managedFields":[{"manager":"kubectl","operation":"Apply","apiVersion":"example.com/v1","time":"2026-03-01T12:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]},"spec":{}}"#,
    r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","uid":"c","resourceVersion":"1","generation":1,"creationTimestamp":"2026-03-01T12:00:00Z","labels":{},"annotations":{}},"spec":{},"status":{}}"#,
    r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","uid":"c","resourceVersion":"1","generation":1,"creationTimestamp":"2026-03-01T12:00:00Z"},"spec":{},"status":{"observedGeneration":null,"conditions":null}}"#,
];

/// Objects that an operator has served. They differ in the types that operators choose for the same fields, so that
/// only what fails on all of them is wrong.
const SERVED: [&str; 3] = [
    r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"b","uid":"c","resourceVersion":"9","generation":3,"creationTimestamp":"2026-03-01T12:00:00Z","deletionTimestamp":"2026-03-01T13:00:00Z","finalizers":["example.com/own"],"labels":{"app":"a"},"annotations":{"example.com/a":"b"},"managedFields":[{"manager":"kubectl","operation":"Apply","apiVersion":"example.com/v1","time":"2026-03-01T12:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}},{"manager":"operator","operation":"Update","apiVersion":"example.com/v1","time":"2026-03-01T12:00:01Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{}},"subresource":"status"}]},"spec":{},"status":{"observedGeneration":3,"conditions":[{"type":"Ready","status":"True","reason":"Ok","message":"m","observedGeneration":3,"lastTransitionTime":"2026-03-01T12:00:01Z"},{"type":"Stalled","status":"False","reason":"Ok","message":"","observedGeneration":2,"lastTransitionTime":"2026-03-01T12:00:01Z"}]}}"#,
    r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","uid":"c","resourceVersion":"9","generation":3,"creationTimestamp":"2026-03-01T12:00:00Z","finalizers":[]},"spec":{},"status":{"observedGeneration":"3","conditions":{"Ready":{"status":"True"}}}}"#,
    r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","uid":"c","resourceVersion":"9","generation":3,"creationTimestamp":"2026-03-01T12:00:00Z"},"spec":{},"status":{"observedGeneration":3,"conditions":[]}}"#,
];

/// What goes wrong on the samples.
pub(super) fn try_on_samples(root: &Node, mask: &Mask, wanted: Wanted) -> Vec<Fault> {
    let mut faults = Vec::new();
    for sample in UNTOUCHED {
        if let Err(failure) = try_on(sample, root, mask, wanted)
            && let Some(fault) = on_untouched(root, failure, wanted)
        {
            faults.push(fault);
        }
    }
    let served: Vec<_> = SERVED.iter().map(|sample| try_on(sample, root, mask, wanted)).collect();
    let is_absent = |failure: &Failure| failure.cause == Cause::Absent;
    if let Some(Err(failure)) = served.first().filter(|_| served.iter().all(|it| it.is_err_and(|it| !is_absent(&it)))) {
        faults.push(Fault::new(failure.at, failure.cause.to_string()));
    }
    faults
}

fn try_on(sample: &str, root: &Node, mask: &Mask, wanted: Wanted) -> Result<(), Failure> {
    let at = root.at;
    let tree = Tree::read(sample.as_bytes(), mask).map_err(|_| Failure { at, cause: Cause::NotA("a sample") })?;
    let mut run = Run::new(&tree);
    match wanted {
        Wanted::Condition => run.is_true(root).map(drop),
        Wanted::Time => match run.evaluate(root)? {
            Value::Null => Ok(()),
            value => to_time(&value).map(drop).map_err(|cause| Failure { at, cause }),
        },
    }
}

/// A field of the spec may be one that every object has; a field of the status is one that only the operator writes.
fn on_untouched(root: &Node, failure: Failure, wanted: Wanted) -> Option<Fault> {
    if failure.cause != Cause::Absent {
        return Some(Fault::new(failure.at, failure.cause.to_string()));
    }
    let problem = "is not there on an object that no operator has touched, which is what must be seen; \
                   test for it first, as in has(self.status.phase) && self.status.phase == 'Ready'";
    let is_taken_for_granted = wanted == Wanted::Condition && reads_status(root, failure.at);
    is_taken_for_granted.then(|| Fault::new(failure.at, problem))
}

/// Whether the step at this place looks up the status or something in it.
fn reads_status(node: &Node, at: usize) -> bool {
    let is_it = node.at == at && matches!(node.form, Form::Select(..) | Form::Index(_)) && is_of_status(node);
    is_it || node.children().into_iter().any(|child| reads_status(child, at))
}

fn is_of_status(node: &Node) -> bool {
    match &node.form {
        Form::Select(of, key) => (matches!(of.form, Form::Own) && &**key == "status") || is_of_status(of),
        Form::Index(two) => is_of_status(&two[0]),
        _ => false,
    }
}
