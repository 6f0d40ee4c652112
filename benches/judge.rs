//! How fast objects are cut from a list and judged, on one core. `cargo bench --bench judge` prints MB/s of list JSON.
#![allow(clippy::expect_used, clippy::panic, missing_docs, reason = "a benchmark that cannot go on says why and ends")]

use divan::Bencher;
use divan::counter::BytesCount;
use dogwatch::config::rule_from_flag;
use dogwatch::judge::cut::{Cutter, Piece};
use dogwatch::judge::object::parse_time;
use dogwatch::judge::rule::auto::{Evidence, Signs};
use dogwatch::judge::rule::{Choice, Reader, Rule, table};
use dogwatch::judge::state::State;

/// What a socket hands over at a time.
const CHUNK: usize = 16 << 10;
const OBJECTS: usize = 2000;

fn main() {
    divan::main();
}

/// A list of objects of about 2.3 KB, which the operator has processed.
fn list(rule: &str) -> String {
    let variables: Vec<String> =
        (0..24).map(|n| format!(r#"{{"name":"VARIABLE_{n}","value":"value-{n}-of-some-length"}}"#)).collect();
    let spec = format!(
        r#"{{"environment":[{}],"image":"registry.example/application:1.2.3","replicas":3,"resources":{{"limits":{{"cpu":"500m","memory":"512Mi"}}}}}}"#,
        variables.join(",")
    );
    let mark = serde_json::to_string(&format!(r#"{{"spec":{spec}}}"#)).expect("text");
    let object = |n: usize| {
        let annotations = match rule {
            "kopf" => format!(r#""annotations":{{"kopf.zalando.org/last-handled-configuration":{mark}}},"#),
            _ => String::new(),
        };
        format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{{annotations}"creationTimestamp":"2026-03-01T10:00:00Z","generation":1,"managedFields":[{{"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{{"f:spec":{{".":{{}},"f:environment":{{}},"f:image":{{}},"f:replicas":{{}}}}}},"manager":"kubectl","operation":"Update","time":"2026-03-01T10:00:00Z"}},{{"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{{"f:status":{{".":{{}},"f:conditions":{{}}}}}},"manager":"operator","operation":"Update","subresource":"status","time":"2026-03-01T10:00:01Z"}}],"name":"widget-{n}","namespace":"default","resourceVersion":"{n}","uid":"00000000-0000-4000-8000-{n:012}"}},"spec":{spec},"status":{{"conditions":[{{"lastTransitionTime":"2026-03-01T10:00:01Z","message":"all is well","observedGeneration":1,"reason":"Ok","status":"True","type":"Ready"}}],"observedGeneration":1}}}}"#
        )
    };
    let items: Vec<String> = (0..OBJECTS).map(object).collect();
    format!(r#"{{"apiVersion":"example.com/v1","items":[{}],"kind":"WidgetList","metadata":{{}}}}"#, items.join(","))
}

#[divan::bench]
fn cut(bencher: Bencher<'_, '_>) {
    let list = list("generation");
    bencher.counter(BytesCount::of_str(&list)).bench_local(|| {
        let mut objects = 0;
        feed(&list, |_| objects += 1);
        assert_eq!(objects, OBJECTS);
    });
}

/// Rules of expressions, by what they read: two fields, a list of conditions, or five expressions over both.
const CEL: [(&str, &str); 3] = [
    (
        "cel two paths",
        "{cel: {processed: 'has(self.status) && has(self.status.observedGeneration) && \
         self.status.observedGeneration >= self.metadata.generation'}}",
    ),
    (
        "cel conditions",
        "{cel: {processed: \"has(self.status) && has(self.status.conditions) && self.status.conditions.exists(c, \
         c.type == 'Ready' && c.status == 'True')\"}}",
    ),
    (
        "cel five expressions",
        "{cel: {paused: 'has(self.spec.suspend) && self.spec.suspend == true', \
         pending: 'observedGeneration(self) < generation(self)', \
         failing: \"conditions(self).exists(c, c.type == 'Stalled' && c.status == 'True')\", \
         inProgress: \"conditions(self).exists(c, c.type == 'Ready' && c.status != 'True')\", \
         processed: 'observedGeneration(self) == generation(self)'}}",
    ),
];

#[divan::bench(args = ["generation", "kopf", "flux", "cert-manager", CEL[0].0, CEL[1].0, CEL[2].0])]
fn cut_and_judge(bencher: Bencher<'_, '_>, rule: &str) {
    let list = list(rule);
    let written = CEL.iter().find(|(name, _)| *name == rule).map_or(rule, |(_, written)| *written);
    let reader = Reader::new(named(written), Vec::new());
    let now = parse_time("2026-03-01T12:00:00Z").expect("a time");
    bencher.counter(BytesCount::of_str(&list)).bench_local(|| {
        let mut processed = 0;
        feed(&list, |json| {
            processed += usize::from(reader.judge(json, now, |_, judgement| judgement.state == State::Processed));
        });
        assert_eq!(processed, OBJECTS);
    });
}

/// Expressions that use up, or nearly, what one object may cost, on an object that lets them.
const COSTLY: [&str; 5] = [
    "self.spec.numbers.all(i, self.spec.numbers.all(j, i + j >= 0))",
    "self.spec.numbers.exists(i, self.spec.numbers.map(j, j + i) == self.spec.numbers)",
    "self.spec.text.matches('(a|aa)+$')",
    "self.spec.numbers.all(i, !self.spec.text.contains('ab'))",
    "self.spec.numbers.all(i, self.spec.text + self.spec.text != '')",
];

#[divan::bench(args = COSTLY)]
fn the_most_that_one_object_may_cost(bencher: Bencher<'_, '_>, expression: &str) {
    let reader = Reader::new(named(&format!("{{cel: {{processed: \"{expression}\"}}}}")), Vec::new());
    let numbers: Vec<String> = (0..2000).map(|number: usize| number.to_string()).collect();
    let text = "a".repeat(30_000);
    let object = format!(r#"{{"metadata":{{}},"spec":{{"numbers":[{}],"text":"{text}"}}}}"#, numbers.join(","));
    let now = parse_time("2026-03-01T12:00:00Z").expect("a time");
    bencher.bench_local(|| reader.judge(object.as_bytes(), now, |_, judgement| judgement.state));
}

/// Every rule of the table over the same list, whatever it makes of it.
#[divan::bench(args = table::ALL.iter().map(|ecosystem| ecosystem.name))]
fn cut_and_read(bencher: Bencher<'_, '_>, rule: &str) {
    let list = list("generation");
    let reader = Reader::new(named(rule), Vec::new());
    let now = parse_time("2026-03-01T12:00:00Z").expect("a time");
    bencher.counter(BytesCount::of_str(&list)).bench_local(|| {
        let mut objects = 0;
        feed(&list, |json| reader.judge(json, now, |_, _| objects += 1));
        assert_eq!(objects, OBJECTS);
    });
}

/// What looking for marks adds, for a resource of which nothing is known.
#[divan::bench]
fn cut_and_look_for_marks(bencher: Bencher<'_, '_>) {
    let list = list("generation");
    let signs = Signs::new(Evidence::default());
    bencher.counter(BytesCount::of_str(&list)).bench_local(|| {
        feed(&list, |json| assert!(signs.find(json).is_none()));
    });
}

fn named(rule: &str) -> Rule {
    match rule_from_flag(rule).expect("a rule") {
        Choice::Named(named) => named,
        Choice::Auto { .. } => panic!("{rule} is no rule of its own"),
    }
}

fn feed(list: &str, mut each: impl FnMut(&[u8])) {
    let mut cutter = Cutter::new(4 << 20);
    for chunk in list.as_bytes().chunks(CHUNK) {
        let hand_out = &mut |piece: Piece<'_>| {
            if let Piece::Item(json) = piece {
                each(json);
            }
        };
        cutter.feed(chunk, hand_out).expect("a list");
    }
    cutter.finish().expect("whole");
}
