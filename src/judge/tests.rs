//! The whole way from the bytes of lists to a diagnosis.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::connection::Reception;
use super::cut::{Cutter, Piece};
use super::diagnosis::{Explanation, Settings, Stream, Surroundings};
use super::ledger::snapshot::LedgerSnapshot;
use super::ledger::{ListEnd, Listed, Source};
use super::object::{Identity, identity_mask, identity_of};
use super::rule::generation::Generation;
use super::rule::kopf::Kopf;
use super::rule::{Reader, Rule};
use super::state::{Moment, State};
use super::tally::{Keep, States, Tally};

/// Few cases by default; as many as `PROPTEST_CASES` says, where it says so.
pub(super) fn quick(cases: u32) -> ProptestConfig {
    const PROPTESTS_OWN: u32 = 256;
    let asked = ProptestConfig::default();
    let cases = if asked.cases == PROPTESTS_OWN { cases } else { asked.cases };
    ProptestConfig { cases, failure_persistence: None, ..asked }
}

/// The day on which everything happens; an object's times are seconds of it.
const DAY: i64 = 20_000 * 86_400;

fn time(second: u64) -> String {
    Timestamp::from_second(DAY + second.cast_signed()).unwrap().to_string()
}

fn moment(second: u64) -> Moment {
    let wall = Timestamp::from_second(DAY + second.cast_signed()).unwrap();
    Moment { wall, elapsed: Duration::from_secs(1_000_000 + second) }
}

/// An object as one list shows it: what differs from list to list is drawn, what does not follows from `number`.
#[derive(Debug, Clone)]
struct Shown {
    number: u8,
    version: u16,
    generation: u8,
    observed: Option<u8>,
    spec_at: u16,
    status_at: Option<u16>,
    condition: Option<(bool, u16)>,
    is_deleted: bool,
    is_paused: bool,
    text: String,
}

fn shown() -> impl Strategy<Value = Shown> {
    let numbers = (0_u8..25, 1_u16..400, 1_u8..4, prop::option::of(0_u8..4));
    let times = (0_u16..900, prop::option::of(0_u16..900), prop::option::of((any::<bool>(), 0_u16..900)));
    let rest = (prop::bool::weighted(0.1), prop::bool::weighted(0.1), r#"[a-z"\\\]\}\[{, é]{0,12}"#);
    (numbers, times, rest).prop_map(
        |((number, version, generation, observed), (spec_at, status_at, condition), (is_deleted, is_paused, text))| {
            Shown { number, version, generation, observed, spec_at, status_at, condition, is_deleted, is_paused, text }
        },
    )
}

impl Shown {
    fn json(&self) -> Value {
        let number = self.number;
        let written = |manager: &str, part: &str, second: u16| json!({"manager": manager, "time": time(second.into()), "fieldsV1": {part: {}}});
        let mut managed = vec![written("kubectl", "f:spec", self.spec_at)];
        managed.extend(self.status_at.map(|second| written("operator", "f:status", second)));
        let mut object = json!({
            "metadata": {
                "name": format!("o{number}"), "namespace": "n", "uid": format!("uid-{number}"),
                "resourceVersion": self.version.to_string(), "generation": self.generation,
                "creationTimestamp": time(1), "managedFields": managed,
            },
            "spec": {"text": self.text, "suspend": self.is_paused},
        });
        if self.observed.is_some() || self.condition.is_some() {
            object["status"] = json!({"observedGeneration": self.observed, "conditions": []});
        }
        if let Some((is_well, second)) = self.condition {
            object["status"]["conditions"] = json!([{
                "type": "Ready", "status": if is_well { "True" } else { "False" }, "reason": "Failed",
                "lastTransitionTime": time(second.into()),
            }]);
        }
        if self.is_deleted {
            object["metadata"]["deletionTimestamp"] = time(self.spec_at.into()).into();
            object["metadata"]["finalizers"] = json!(["example.com/own"]);
        }
        object
    }
}

fn lists() -> impl Strategy<Value = Vec<Vec<Shown>>> {
    let one = prop::collection::vec(shown(), 0..25).prop_map(|mut objects| {
        objects.sort_by_key(|object| object.number);
        objects.dedup_by_key(|object| object.number);
        objects
    });
    prop::collection::vec(one, 1..5)
}

/// How a list arrives: in which order, on how many pages, in chunks of which sizes.
#[derive(Debug, Clone)]
struct Way {
    order: Vec<Index>,
    page: usize,
    chunks: Vec<usize>,
}

fn way() -> impl Strategy<Value = Way> {
    let order = prop::collection::vec(any::<Index>(), 25);
    (order, 1_usize..30, prop::collection::vec(1_usize..200, 1..6)).prop_map(|(order, page, chunks)| Way {
        order,
        page,
        chunks,
    })
}

fn shuffled(objects: &[Shown], order: &[Index]) -> Vec<Shown> {
    let mut objects = objects.to_vec();
    for (at, index) in order.iter().enumerate().take(objects.len()) {
        let other = index.index(objects.len());
        objects.swap(at, other);
    }
    objects
}

/// The objects of one page as they are cut from its bytes.
fn read(page: &[Shown], chunks: &[usize], each: &mut impl FnMut(&[u8])) {
    let items: Vec<Value> = page.iter().map(Shown::json).collect();
    let body =
        json!({"apiVersion": "v1", "items": items, "kind": "WidgetList", "metadata": {"continue": "x"}}).to_string();
    let mut cutter = Cutter::new(1 << 20);
    let mut take = |piece: Piece<'_>| {
        if let Piece::Item(json) = piece {
            each(json);
        }
    };
    let mut rest = body.as_bytes();
    for size in chunks.iter().cycle() {
        let (chunk, behind) = rest.split_at((*size).min(rest.len()));
        cutter.feed(chunk, &mut take).unwrap();
        rest = behind;
        if rest.is_empty() {
            break;
        }
    }
    cutter.finish().unwrap();
}

/// Everything that lists come to: memory, diagnosis, what each list brought to light, and the last list in one look.
type Outcome = (LedgerSnapshot, Explanation, Vec<Listed>, States, u64, Vec<String>);

fn outcome(rule: &Rule, lists: &[Vec<Shown>], way: Option<&Way>) -> Outcome {
    let reader = Reader::new(rule.clone(), vec!["example.com/own".to_owned()]);
    let settings = Settings {
        overdue_after: Duration::from_mins(5),
        asleep_after: Duration::from_mins(15),
        max_attempt: Duration::from_mins(15),
        own_cure: Duration::from_mins(10),
        min_overdue: 1,
        interval: Duration::from_secs(30),
        restart: true,
        require_proof: true,
    };
    let around = Surroundings {
        holds: &[],
        held_until: None,
        started: moment(0).tick(),
        grace: Duration::from_mins(3),
        reception: Reception::default(),
    };
    let mut stream = Stream::new("widgets.example.com", settings);
    let keep = Keep { states: State::ALL.to_vec(), limit: Some(1000) };
    let mut tally = Tally::new(moment(0).wall, Duration::from_mins(5), Duration::from_mins(15), keep);
    let mut listed = Vec::new();
    let mut second = 900;
    for (objects, number) in lists.iter().zip(1_u64..) {
        second += 300;
        let now = moment(second);
        let (objects, size, chunks) = match way {
            Some(way) => (shuffled(objects, &way.order), way.page, &way.chunks[..]),
            None => (objects.clone(), usize::MAX, &[usize::MAX][..]),
        };
        stream.ledger.begin_list(stream.settings.overdue_after, now);
        tally.reset();
        for page in objects.chunks(size.min(objects.len().max(1))) {
            read(page, chunks, &mut |json| {
                reader.judge(json, now.wall, |identity: Identity<'_>, judgement| {
                    identity_of(json, &identity_mask(), |again| assert_eq!(again.uid, identity.uid));
                    tally.add(identity, &judgement);
                    stream.ledger.apply(Source::List, identity, &judgement, now);
                });
            });
        }
        let version = (number * 100).to_string();
        let signal_exists = |signal: &_| reader.rule().signal_exists(signal);
        listed.push(stream.ledger.end_list(ListEnd::Complete { version: Some(&version) }, now, signal_exists));
        stream.diagnose(now, &around);
    }
    let explanation = stream.diagnose(moment(second + 1200), &around);
    let summary = tally.finish(reader.rule(), true);
    let mut names: Vec<String> = summary.findings.iter().map(|it| format!("{} {:?}", it.name, it.reason)).collect();
    names.sort_unstable();
    (stream.ledger.snapshot(), explanation, listed, summary.states, summary.overdue, names)
}

proptest! {
    #![proptest_config(quick(60))]

    #[test]
    fn the_outcome_depends_neither_on_the_order_of_objects_nor_on_pages_nor_on_chunks(
        lists in lists(),
        way in way(),
        is_kopf in any::<bool>(),
    ) {
        let kopf = Rule::Kopf(Kopf::new(super::rule::kopf::Options::default()));
        let rule = if is_kopf { kopf } else { Rule::Generation(Generation::default()) };
        prop_assert_eq!(outcome(&rule, &lists, Some(&way)), outcome(&rule, &lists, None));
    }
}
