//! Expressions and objects that are made to cost, and objects that are made to be quoted.

use proptest::prelude::*;

use super::*;

/// Evaluates without the checks at load; returns the cause, if it fails, and the steps taken.
fn cost(source: &str, spec: &str) -> (Option<String>, usize) {
    let (node, mask) = steps(source).unwrap_or_else(|| panic!("{source} cannot be read"));
    let json = format!(r#"{{"spec":{spec}}}"#);
    let tree = Tree::read(json.as_bytes(), &mask).expect("JSON");
    let mut run = Run::new(&tree);
    let cause = run.evaluate(&node).err().map(|failure| failure.cause.to_string());
    (cause, run.taken())
}

const TOO_LARGE: &str = "the object is too large for this expression";

#[test]
fn no_expression_takes_more_than_its_steps() {
    let numbers: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
    let list = format!("[{}]", numbers.join(","));
    let text = format!("\"{}\"", "a".repeat(1 << 20));
    let ones = ["1"; 100].join(",");
    let doubled = (0..20).fold("self.spec".to_owned(), |inner, _| format!("[{inner}].map(i, i + i)[0]"));
    let grown = (0..20).fold("[1, 1]".to_owned(), |inner, _| format!("[{inner}].map(i, i + i)[0]"));
    let cases = [
        (format!("[{ones}].all(i, [{ones}].all(j, [i, j].size() > 0 && [{ones}].size() > 1))"), "{}".to_owned()),
        ("self.spec.all(i, self.spec.all(j, i + j >= 0))".to_owned(), list.clone()),
        ("self.spec.map(i, self.spec) == self.spec.map(i, self.spec)".to_owned(), list.clone()),
        (
            "self.spec.exists(i, self.spec == [i])  || self.spec.exists(i, self.spec.map(j, j + 0) == [])".to_owned(),
            list,
        ),
        (format!("{doubled} == ''"), "\"aaaaaaaaaaaaaaaa\"".to_owned()),
        (format!("size({grown}) == 0"), "{}".to_owned()),
        (format!("[{ones}].all(i, self.spec + self.spec != '')"), text.clone()),
        (
            format!("[{ones}].all(i, self.spec.contains('b') || [{ones}].all(j, !self.spec.contains('ab')))"),
            text.clone(),
        ),
        (format!("[{ones}].all(i, self.spec == self.spec)"), text.clone()),
        ("self.spec.matches('(a|aa)+$')".to_owned(), text.clone()),
        ("self.spec.matches('(a{30}){30}b')".to_owned(), text),
    ];
    for (source, spec) in cases {
        let (cause, taken) = cost(&source, &spec);
        assert!(taken <= STEPS);
        assert_eq!(cause.as_deref(), Some(TOO_LARGE), "{source:.80} took {taken}");
    }
}

#[test]
fn ordinary_expressions_on_large_objects_stay_within_their_steps() {
    let condition = r#"{"type":"Ready","status":"False","reason":"x","message":"m"}"#;
    let spec = format!("[{}]", vec![condition; 5000].join(","));
    let (cause, taken) = cost("self.spec.exists(c, c.type == 'Ready' && c.status == 'True')", &spec);
    assert_eq!(cause, None);
    assert!(taken < STEPS / 2, "{taken}");
}

#[test]
fn sources_that_are_too_long_or_too_deep_are_refused() {
    assert!(faults(&"x".repeat(LONGEST + 1)).contains("longer than"));
    assert!(faults(&format!("{} == 1", ["1"; 900].join(" + "))).contains("nested deeper than 64"));
    assert!(faults(&format!("self.spec{} == 1", ".a".repeat(500))).contains("nested deeper than 64"));
    assert!(faults(&format!("{}true", "!(".repeat(50))).contains("cannot be read"));
    let three = "[1].all(a, [1].all(b, [1].all(c, true)))";
    assert!(faults(three).contains("more than 2 of exists"), "{}", faults(three));
    assert!(faults("self.spec.x.matches(self.spec.y)").contains("must be written in the expression"));
    assert!(faults("self.spec.x.matches('((a{99}){99}){99}')").contains("the pattern of `matches` is"));
    let wide = vec!["self.spec.x == 1"; 150].join(" || ");
    assert!(compiled(&wide, Wanted::Condition).is_ok(), "a long list of alternatives is balanced");
}

#[test]
fn the_deepest_expression_and_the_deepest_object_need_little_stack() {
    let sum = vec!["self.spec.n"; 60].join(" + ");
    assert_eq!(shallow(|| answer(&format!("{sum} == 60"), r#"{"n":1}"#)), Ok(true));
    let object = format!(r#"{{"n":{}{}}}"#, "[".repeat(120), "]".repeat(120));
    assert_eq!(shallow(|| answer("self.spec.n == self.spec.n", &object)), Ok(true));
}

const SECRET: &str = "hunter2";

/// Places of an object at which a secret may stand, and steps that fail on one or the other.
fn failing_source() -> impl Strategy<Value = String> {
    let part =
        prop::sample::select(vec!["self.spec.s", "self.spec.l", "self.spec.m", "self.spec.n", "self.spec.m.hunter2"]);
    let form = prop::sample::select(vec![
        "A + B == A",
        "A - B == 1",
        "A < B",
        "int(A) == 1",
        "uint(A) == 1u",
        "double(A) > 1.0",
        "bool(A)",
        "A[B] == 1",
        "timestamp(A) > timestamp(B)",
        "duration(A) == duration(B)",
        "A.x == 1",
        "{A: 1, B: 2} == {}",
        "A in B",
        "A && B",
        "!A",
        "A.exists(i, i + B == 1)",
        "A.map(i, i.x) == B",
        "A.contains(B)",
        "A.matches('^x')",
        "size(A) == B.y",
        "generation(A) == 1",
        "observedGeneration(A) == 1",
        "conditions(A).all(c, c.x)",
        "A ? B : A",
        "-A == 1",
        "A / B == 1",
    ]);
    (form, part.clone(), part).prop_map(|(form, a, b)| form.replace('A', a).replace('B', b))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_message_carries_a_value_of_an_object(source in failing_source()) {
        let spec = r#"{"s":"hunter2","l":["hunter2",{"hunter2":"hunter2"}],"m":{"hunter2":"hunter2"},"n":7777777}"#;
        let Ok(processed) = compiled(&source, Wanted::Condition) else { return Ok(()) };
        let rule = reader(Options { processed, ..options("true") });
        let message = judge_with(&rule, &object(spec, "{}")).message;
        // The key of a map stands in the expression itself.
        let message = message.replace("`.hunter2`", "");
        prop_assert!(!message.contains(SECRET) && !message.contains("7777777"), "{source}: {message}");
    }
}
