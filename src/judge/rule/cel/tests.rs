use std::thread;

use super::expression::{Expression, LONGEST, STACK, Wanted, compile};
use super::fault::{Fault, Problem, place};
use super::node::Node;
use super::run::{Run, STEPS};
use super::{Cel, Options, lower, paths};
use crate::judge::object::mask::Mask;
use crate::judge::object::parse_time;
use crate::judge::object::tree::Tree;
use crate::judge::rule::{Reader, Rule, generation, kopf};
use crate::judge::state::{Judgement, Reason, SinceFrom, State};

mod hostile;
mod oracle;

/// Runs on a stack as deep as the library needs.
fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK);
        builder.spawn_scoped(scope, work).expect("a thread").join().expect("no panic")
    })
}

/// Runs on a quarter of the stack that the threads have on which objects are judged.
fn shallow<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(512 << 10);
        builder.spawn_scoped(scope, work).expect("a thread").join().expect("no panic")
    })
}

fn compiled(source: &str, wanted: Wanted) -> Result<Expression, Vec<Fault>> {
    deep(|| compile(source, wanted))
}

fn condition(source: &str) -> Expression {
    compiled(source, Wanted::Condition).unwrap_or_else(|faults| panic!("{source}: {faults:?}"))
}

/// What is evaluated, without the checks that refuse what cannot be right.
fn steps(source: &str) -> Option<(Node, Mask)> {
    deep(|| {
        let (parsed, places) = cel::parser::Parser::new().parse_with_source_info(source).ok()?;
        let (node, faults) = lower::lower(&parsed, &places);
        let node = node.filter(|_| faults.is_empty())?;
        let mask = paths::mask(&node);
        Some((node, mask))
    })
}

/// The faults of an expression, one a line, as a configuration shows them.
fn faults(source: &str) -> String {
    let faults = compiled(source, Wanted::Condition).expect_err(source);
    let shown = faults.iter().map(|fault| {
        let problem = match &fault.problem {
            Problem::Unknown { noun, name, .. } => format!("unknown {noun} {name}"),
            Problem::Other(problem) => problem.clone(),
        };
        format!("{}: {problem}", place(source, fault.at))
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// What a condition comes to over an object with this `spec`; the error is the cause.
fn answer(source: &str, spec: &str) -> Result<bool, String> {
    let (node, mask) = steps(source).unwrap_or_else(|| panic!("{source} cannot be read"));
    let json = format!(r#"{{"spec":{spec}}}"#);
    let tree = Tree::read(json.as_bytes(), &mask).expect("JSON");
    Run::new(&tree).is_true(&node).map_err(|failure| failure.cause.to_string())
}

fn options(processed: &str) -> Options {
    Options {
        processed: condition(processed),
        in_progress: None,
        failing: None,
        paused: None,
        pending: None,
        since: None,
    }
}

fn judge_with(reader: &Reader, json: &str) -> Judgement {
    let now = parse_time("2026-03-01T12:00:00Z").expect("a time");
    reader.judge(json.as_bytes(), now, |_, judgement| judgement)
}

fn reader(options: Options) -> Reader {
    Reader::new(Rule::Cel(Box::new(Cel::new(options, None))), Vec::new())
}

const SERVED: &str = "observedGeneration(self) == generation(self)";

/// A rule with every expression, by phase.
fn full() -> Reader {
    let phase = |phase: &str| Some(condition(&format!("has(self.status.phase) && self.status.phase == '{phase}'")));
    let since = "has(self.status.since) ? self.status.since : null";
    reader(Options {
        in_progress: phase("Busy"),
        failing: phase("Failed"),
        paused: Some(condition("has(self.spec.paused) && self.spec.paused == true")),
        pending: Some(condition("observedGeneration(self) < generation(self)")),
        since: compiled(since, Wanted::Time).ok(),
        ..options("has(self.status.phase) && self.status.phase == 'Done'")
    })
}

fn object(spec: &str, status: &str) -> String {
    format!(
        r#"{{"metadata":{{"name":"a","generation":2,"creationTimestamp":"2026-03-01T10:00:00Z"}},"spec":{spec},"status":{status}}}"#
    )
}

#[test]
fn every_state_is_reached_and_the_first_that_is_true_wins() {
    let full = full();
    let cases = [
        (r#"{"paused":true}"#, r#"{"observedGeneration":1}"#, State::Paused, Some(Reason::Suspended)),
        ("{}", r#"{"observedGeneration":1,"phase":"Failed"}"#, State::Pending, Some(Reason::ChangeNotProcessed)),
        ("{}", "{}", State::Pending, Some(Reason::NeverProcessed)),
        ("{}", "null", State::Pending, Some(Reason::NeverProcessed)),
        ("{}", r#"{"observedGeneration":2,"phase":"Failed"}"#, State::Failing, Some(Reason::ReportsFailure)),
        ("{}", r#"{"observedGeneration":2,"phase":"Busy"}"#, State::InProgress, Some(Reason::Working)),
        ("{}", r#"{"observedGeneration":2,"phase":"Done"}"#, State::Processed, None),
        ("{}", r#"{"observedGeneration":2,"phase":"Other"}"#, State::Unknown, Some(Reason::NoSignal)),
        ("{}", r#"{"observedGeneration":2,"phase":["Done"]}"#, State::Unknown, Some(Reason::NoSignal)),
        ("{}", r#"{"observedGeneration":true,"phase":"Done"}"#, State::Unknown, Some(Reason::RuleError)),
    ];
    for (spec, status, state, reason) in cases {
        let judgement = judge_with(&full, &object(spec, status));
        assert_eq!((judgement.state, judgement.reason), (state, reason), "{spec} {status}: {}", judgement.message);
    }
}

#[test]
fn without_pending_what_is_none_of_the_others_is_pending() {
    let reader = reader(Options { failing: Some(condition("has(self.status.error)")), ..options(SERVED) });
    let state = |status: &str| judge_with(&reader, &object("{}", status)).state;
    assert_eq!(state("{}"), State::Pending);
    assert_eq!(state(r#"{"observedGeneration":1}"#), State::Pending);
    assert_eq!(state(r#"{"observedGeneration":2}"#), State::Processed);
    assert_eq!(state(r#"{"observedGeneration":2,"error":"e"}"#), State::Failing);
}

#[test]
fn an_error_is_unknown_and_never_pending_whatever_stands_beside_it() {
    for processed in
        ["1 / self.spec.zero == 1", "1 / self.spec.zero == 1 || true", "self.spec.zero + 'a' == 'b' || true"]
    {
        let reader = reader(options(processed));
        let judgement = judge_with(&reader, &object(r#"{"zero":0}"#, "{}"));
        assert_eq!((judgement.state, judgement.reason), (State::Unknown, Some(Reason::RuleError)), "{processed}");
        assert!(judgement.message.starts_with("`processed` cannot be evaluated: "), "{}", judgement.message);
    }
    assert_eq!(answer("self.spec.missing == 1 || true", "{}"), Ok(true), "what is absent is no error of the rule");
    assert_eq!(answer("[1, 2].exists(i, self.spec.missing == i || i == 2)", "{}"), Ok(true));
    assert_eq!(answer("[0, 2].exists(i, 2 / i == 1)", "{}"), Err("a division by zero".into()));
}

#[test]
fn since_is_read_leniently_and_sets_the_deadline() {
    let full = full();
    let times = [
        r#""2026-03-01T11:50:00Z""#,
        r#""2026-03-01T11:50:00.000000+0000""#,
        r#""2026-03-01T12:50:00+01:00""#,
        r#""2026-03-01T11:50:00""#,
        r#""20260301T115000Z""#,
        "1772365800",
    ];
    for since in times {
        let status = format!(r#"{{"observedGeneration":2,"phase":"Busy","since":{since}}}"#);
        let judgement = judge_with(&full, &object("{}", &status));
        assert_eq!(
            judgement.since.map(|it| (it.at, it.from)),
            Some((parse_time("2026-03-01T11:50:00Z").unwrap(), SinceFrom::Rule)),
            "{since}: {}",
            judgement.message
        );
        assert_eq!(judgement.until, parse_time("2026-03-01T12:05:00Z"));
        assert_eq!((judgement.state, judgement.moved_at), (State::InProgress, parse_time("2026-03-01T11:50:00Z")));
    }
    let late =
        judge_with(&full, &object("{}", r#"{"observedGeneration":2,"phase":"Failed","since":"2026-03-01T11:00:00Z"}"#));
    assert_eq!((late.state, late.reason), (State::Pending, Some(Reason::ProgressStopped)));
    let bad = judge_with(&full, &object("{}", r#"{"observedGeneration":2,"phase":"Busy","since":"hunter2"}"#));
    assert_eq!(bad.reason, Some(Reason::RuleError));
    assert_eq!(bad.message, "`since` cannot be evaluated: the value cannot be read as a time (character 24)");
    let untold =
        judge_with(&full, &object("{}", r#"{"observedGeneration":1}"#).replace("\"generation\":2", "\"generation\":1"));
    assert_eq!(untold.state, State::Unknown, "observed 1 of 1, no phase");
}

#[test]
fn without_since_the_objects_own_times_date_what_is_pending() {
    let reader = reader(options(SERVED));
    let created = judge_with(&reader, &object("{}", "{}").replace("\"generation\":2", "\"generation\":1"));
    assert_eq!(created.since.map(|it| it.from), Some(SinceFrom::Creation));
    let changed = object("{}", r#"{"observedGeneration":1}"#).replace(
        "\"name\":\"a\"",
        r#""name":"a","managedFields":[{"manager":"kubectl","time":"2026-03-01T11:00:00Z","fieldsV1":{"f:spec":{}}}]"#,
    );
    let changed = judge_with(&reader, &changed);
    assert_eq!(
        changed.since.map(|it| (it.at, it.from)),
        parse_time("2026-03-01T11:00:00Z").map(|at| (at, SinceFrom::ManagedFields))
    );
    assert_eq!((changed.reason, changed.desired), (Some(Reason::ChangeNotProcessed), 2));
}

#[test]
fn an_observed_generation_that_changes_is_an_acknowledgement() {
    let reader = reader(options("has(self.status.phase) && self.status.phase == 'Done'"));
    let token = |status: &str| judge_with(&reader, &object("{}", status)).token;
    assert_eq!(token("{}"), 0);
    assert_ne!(token(r#"{"observedGeneration":1}"#), token(r#"{"observedGeneration":2}"#));
    assert_ne!(
        token(r#"{"conditions":[{"observedGeneration":1}]}"#),
        token(r#"{"conditions":[{"observedGeneration":2}]}"#)
    );
    assert_eq!(token(r#"{"observedGeneration":1,"phase":"a"}"#), token(r#"{"observedGeneration":1,"phase":"b"}"#));
}

#[test]
fn a_deletion_comes_before_every_expression() {
    let deleted = object(r#"{"paused":true}"#, r#"{"observedGeneration":2,"phase":"Done"}"#).replace(
        "\"name\":\"a\"",
        r#""name":"a","deletionTimestamp":"2026-03-01T11:00:00Z","finalizers":["example.com/own"]"#,
    );
    let held = full();
    let judgement = judge_with(&held, &deleted);
    assert_eq!((judgement.state, judgement.reason), (State::Pending, Some(Reason::DeletionNotProcessed)));
    assert_ne!(judgement.token, 0, "else the request would look like an acknowledgement");
}

#[test]
fn where_leaves_out_objects_under_every_rule_and_before_their_deletion() {
    let selection = || Some(condition("!has(self.spec) || !has(self.spec.class) || self.spec.class == 'x'"));
    let rules = [
        Rule::Kopf(kopf::Kopf::new(kopf::Options::default())),
        Rule::Generation(generation::Generation::default()),
        Rule::Cel(Box::new(Cel::new(options(SERVED), None))),
    ];
    let deleted = |spec: &str| {
        object(spec, "{}").replace("\"name\":\"a\"", r#""name":"a","deletionTimestamp":"2026-03-01T11:00:00Z","finalizers":["kopf.zalando.org/KopfFinalizerMarker"]"#)
    };
    for rule in rules {
        let plain = Reader::new(rule.clone(), Vec::new());
        let reader = Reader::new(rule, Vec::new()).selecting(selection());
        for spec in [r#"{"class":"x"}"#, r#"{"class":null}"#, "{}", "null"] {
            for json in [object(spec, "{}"), deleted(spec)] {
                assert_eq!(judge_with(&reader, &json), judge_with(&plain, &json), "{} {json}", plain.rule().name());
            }
        }
        for json in [object(r#"{"class":"y"}"#, "{}"), deleted(r#"{"class":"y"}"#)] {
            let judgement = judge_with(&reader, &json);
            assert_eq!((judgement.state, judgement.reason), (State::Paused, Some(Reason::NotSelected)));
        }
        let judgement = judge_with(&reader, &object(r#""text""#, "{}"));
        assert_eq!((judgement.state, judgement.reason), (State::Unknown, Some(Reason::RuleError)));
        assert_eq!(judgement.message, "`where` cannot be evaluated: found text, a map is needed (`has`, character 21)");
    }
}

#[test]
fn null_is_as_good_as_absent() {
    let spec = r#"{"n":null,"m":{"a":null,"b":1},"l":[null,1]}"#;
    for (source, expected) in [
        ("has(self.spec.n)", false),
        ("has(self.spec.n.x)", false),
        ("has(self.spec.m.a)", false),
        ("'a' in self.spec.m", false),
        ("size(self.spec.m) == 1", true),
        ("self.spec.m.all(k, k == 'b')", true),
        ("self.spec.m == {'b': 1}", true),
        ("size(self.spec.l) == 2", true),
        ("self.spec.l[0] == null", true),
        ("self.spec.l.exists(i, i == null)", true),
    ] {
        assert_eq!(answer(source, spec), Ok(expected), "{source}");
    }
    assert_eq!(answer("self.spec.n == null", spec), Err("what is asked for is not there".into()));
}

#[test]
fn numbers_compare_by_value_whatever_their_type() {
    let spec = r#"{"i":3,"f":3.0,"h":3.5,"u":18446744073709551615,"n":-3}"#;
    for (source, expected) in [
        ("self.spec.i == 3 && self.spec.i == 3u && self.spec.i == 3.0", true),
        ("self.spec.f == 3 && self.spec.f == self.spec.i", true),
        ("self.spec.i < self.spec.h && self.spec.h > 3u", true),
        ("self.spec.u > self.spec.i && self.spec.u > 1.0", true),
        ("self.spec.n < 0u && self.spec.n < 0.0 && -self.spec.n == 3", true),
        ("self.spec.i + 1 == 4 && self.spec.i / 2 == 1 && self.spec.i % 2 == 1", true),
        ("int(self.spec.h) == 3 && double(self.spec.i) == 3.0 && uint(3) == 3u", true),
        ("type(self.spec.i) == int && type(self.spec.h) == double && type(self.spec.u) == uint", true),
        ("self.spec.i in [1, 3.0] && 3u in [self.spec.i]", true),
        ("self.spec.i == '3'", false),
    ] {
        assert_eq!(answer(source, spec), Ok(expected), "{source}");
    }
    assert_eq!(answer("self.spec.u + 1 == 1", spec), Err("found a whole number, an unsigned number is needed".into()));
    assert_eq!(answer("9223372036854775807 + self.spec.i == 1", spec), Err("a number is out of range".into()));
}

#[test]
fn the_helpers_take_what_operators_write() {
    let judge = |processed: &str, status: &str| judge_with(&reader(options(processed)), &object("{}", status));
    let state = |processed: &str, status: &str| judge(processed, status).state;
    for status in [r#"{"observedGeneration":"2"}"#, r#"{"observed_generation":2}"#, r#"{"observedGeneration":2}"#] {
        assert_eq!(state(SERVED, status), State::Processed, "{status}");
    }
    assert_eq!(
        judge(SERVED, r#"{"observedGeneration":"5d8f"}"#).reason,
        Some(Reason::RuleError),
        "a hash tells nothing"
    );
    let ready = "conditions(self).exists(c, c.type == 'Ready' && observedGeneration(c) == generation(self))";
    assert_eq!(
        state(ready, r#"{"conditions":[null,"x",{"type":"Ready","observedGeneration":"2"}]}"#),
        State::Processed
    );
    for status in ["null", "{}", r#"{"conditions":null}"#, r#"{"conditions":{"Ready":true}}"#] {
        assert_eq!(state(ready, status), State::Pending, "{status}");
    }
    let elsewhere = "has(self.status) && conditions(self.status.v1beta2).exists(c, c.type == 'Ready')";
    assert_eq!(state(elsewhere, r#"{"v1beta2":{"conditions":[{"type":"Ready"}]}}"#), State::Processed);
    assert_eq!(state(elsewhere, "{}"), State::Pending);
    let dated = "has(self.status.at) && timestamp(self.status.at) - timestamp(self.metadata.creationTimestamp) > duration('90m')";
    assert_eq!(state(dated, r#"{"at":"2026-03-01T11:31:00+0000"}"#), State::Processed);
    assert_eq!(state(dated, r#"{"at":"2026-03-01T11:29:00.5"}"#), State::Pending);
}

#[test]
fn what_cannot_be_right_is_refused_at_its_place() {
    for (source, expected) in [
        ("self.spec.class.endswith('x')", "`endswith`, character 17: unknown function endswith"),
        ("true || self.spec.x.startswith('a')", "`startswith`, character 21: unknown function startswith"),
        ("sefl.spec.x == 1", "`sefl`, character 1: unknown variable sefl"),
        ("'é' == self.spec.x && nope", "`nope`, character 23: unknown variable nope"),
        ("self.spec.x == 1 &&\n  nope", "`nope`, line 2, character 3: unknown variable nope"),
        ("size(self.spec)", "`size`, character 1: the expression comes to a whole number, not to true or false"),
        ("self.metadata.name", "`.name`, character 14: the expression comes to text, not to true or false"),
        ("self.metadata.generation > '1'", "character 26: a whole number has no order with text"),
        ("self.metadata.generation == '1'", "character 26: a whole number is never equal to text"),
        ("size(1) == 1", "`1`, character 6: `size` takes text or a list or a map, not a whole number"),
        ("has(self.spec) && 'a'", "character 19: is text; true or false is needed here"),
        ("startsWith('a', 'b')", "`startsWith`, character 1: `startsWith` is written as `x.startsWith()`"),
        ("size('a', 'b') == 1", "`size`, character 1: `size` takes 1 in its brackets, found 2"),
        ("self.spec.x.matches('(')", "character 21: the pattern of `matches` is no regular expression"),
        ("b'a' == self.spec.x", "`b`, character 1: bytes do not occur in objects; write text"),
    ] {
        assert_eq!(faults(source), expected, "{source}");
    }
    for source in [
        "self.status.phase == 'Ready'",
        "has(self.status) && self.status.phase == 'x'",
        "self.status.conditions.exists(c, true)",
    ] {
        assert!(faults(source).contains("no operator has touched"), "{}", faults(source));
    }
    for source in
        ["self.spec.m.exists(k, v, v == 1)", "self.spec.?x", "self.spec.", "now > timestamp('x')", "oldSelf == self"]
    {
        assert!(!faults(source).is_empty());
    }
}

#[test]
fn what_is_guarded_is_not_refused() {
    for source in [
        "has(self.status.phase) && self.status.phase == 'Ready'",
        "has(self.status) && has(self.status.phase) && self.status.phase == 'Ready'",
        "!has(self.status) || !has(self.status.conditions) || self.status.conditions.all(c, c.status == 'True')",
        "has(self.status.observedGeneration) && string(self.status.observedGeneration).matches('^[0-9]{1,9}$')",
        "has(self.status.conditions.Ready) && self.status.conditions.Ready.status == 'True'",
        "has(self.metadata.annotations) && 'a' in self.metadata.annotations && self.metadata.annotations['a'] == 'b'",
        "self.spec.class == 'x'",
        "true",
    ] {
        assert!(compiled(source, Wanted::Condition).is_ok(), "{source}: {}", faults(source));
    }
}
