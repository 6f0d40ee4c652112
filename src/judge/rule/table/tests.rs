//! Every example, and that masks let through what predicates ask for.

use proptest::prelude::*;

use super::engine::prelude::*;
use super::{ALL, Table};
use crate::judge::object::mask::Mask;
use crate::judge::object::tree::Tree;
use crate::judge::object::{Object, common_mask, parse_time};
use crate::judge::rule::{Reader, Rule};
use crate::judge::state::{Judgement, Reason, SinceFrom, State};

/// Each ecosystem with each of its entries.
fn all() -> impl Iterator<Item = (Table, &'static Entry)> {
    ALL.iter()
        .flat_map(|ecosystem| ecosystem.entries.iter().map(|entry| (Table { entry, ..Table::new(ecosystem) }, entry)))
}

fn judge(table: Table, json: &str) -> Judgement {
    let now = parse_time("2026-03-01T12:00:00Z").expect("a time");
    Reader::new(Rule::Table(table), Vec::new()).judge(json.as_bytes(), now, |_, judgement| judgement)
}

#[test]
fn every_example_is_what_it_says() {
    let mut wrong = Vec::new();
    for (table, entry) in all() {
        for example in entry.examples {
            let judgement = judge(table, example.object);
            if judgement.state != example.state {
                wrong.push(format!(
                    "{}: {} is {}, not {}: {}",
                    table.ecosystem.name, example.object, judgement.state, example.state, judgement.message
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_shows_by_example_what_it_can_say() {
    let mut missing = Vec::new();
    for ecosystem in ALL {
        let shown: Vec<State> =
            ecosystem.entries.iter().flat_map(|entry| entry.examples).map(|example| example.state).collect();
        let says = |tell: fn(&Entry) -> bool| ecosystem.entries.iter().any(tell);
        for (state, is_said) in [
            (Paused, says(|entry| !entry.paused.is_empty())),
            (Pending, says(|entry| !entry.pending.is_empty())),
            (Failing, says(|entry| !entry.failing.is_empty())),
            (InProgress, says(|entry| !entry.in_progress.is_empty())),
            (Processed, says(|entry| !entry.processed.is_empty())),
        ] {
            if is_said && !shown.contains(&state) {
                missing.push(format!("{}: {state}", ecosystem.name));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// What a predicate asks for and the mask leaves out would look absent.
#[test]
fn masks_let_through_what_predicates_ask_for() {
    let everything = common_mask().whole(&[]);
    let now = parse_time("2026-03-01T12:00:00Z").expect("a time");
    let examples: Vec<&str> = all().flat_map(|(_, entry)| entry.examples).map(|example| example.object).collect();
    for (table, _) in all() {
        let mask = table.mask(common_mask());
        for json in &examples {
            let judged = |mask: &Mask| table.judge(&Object::read(json.as_bytes(), mask).expect("an object"), now);
            assert_eq!(judged(&mask), judged(&everything), "{}: {json}", table.ecosystem.name);
        }
    }
}

/// A Cluster on whose deletion the operator works, or not.
fn deleted(observed: u32, finalizer: &str) -> Judgement {
    let table = super::of_resource("cluster.x-k8s.io", "Cluster").expect("known");
    judge(
        table,
        &format!(
            r#"{{"metadata":{{"generation":4,"deletionTimestamp":"2026-03-01T11:00:00Z","finalizers":["{finalizer}"],"managedFields":[
            {{"manager":"m","time":"2026-03-01T11:30:00Z","fieldsV1":{{"f:status":{{}}}}}}]}},"status":{{"observedGeneration":{observed}}}}}"#
        ),
    )
}

#[test]
fn a_deletion_that_the_operator_has_seen_is_in_progress_until_it_stops_moving() {
    let seen = deleted(4, "cluster.cluster.x-k8s.io");
    assert_eq!((seen.state, seen.until), (State::InProgress, parse_time("2026-03-01T13:30:00Z")));
    let unseen = deleted(3, "cluster.cluster.x-k8s.io");
    assert_eq!((unseen.state, unseen.reason), (State::Pending, Some(Reason::DeletionNotProcessed)));
    assert!(unseen.held && unseen.excuse.is_none());
    let released = deleted(4, "example.com/other");
    assert_eq!((released.state, released.reason), (State::Processed, Some(Reason::HeldByOthers)));
}

#[test]
fn what_is_owed_is_as_old_as_the_object_tells() {
    let table = super::of_resource("kustomize.toolkit.fluxcd.io", "Kustomization").expect("known");
    let metadata = r#""creationTimestamp":"2026-03-01T09:00:00Z","managedFields":[
        {"manager":"kubectl","time":"2026-03-01T10:00:00Z","fieldsV1":{"f:spec":{}}},
        {"manager":"controller","time":"2026-03-01T10:30:00Z","fieldsV1":{"f:spec":{},"f:status":{}}}]"#;
    let since = |generation: u32, more: &str, status: &str| {
        let object = format!(r#"{{"metadata":{{"generation":{generation},{metadata}{more}}},"status":{status}}}"#);
        let judgement = judge(table, &object);
        (judgement.reason, judgement.since.map(|since| (since.at, since.from)))
    };
    let at = |clock: &str| parse_time(&format!("2026-03-01T{clock}:00Z")).expect("a time");
    let behind = r#"{"observedGeneration":1}"#;
    assert_eq!(since(2, "", behind), (Some(Reason::ChangeNotProcessed), Some((at("10:00"), SinceFrom::ManagedFields))));
    assert_eq!(since(1, "", "{}"), (Some(Reason::NeverProcessed), Some((at("09:00"), SinceFrom::Creation))));
    let asked = |value: &str| {
        let more = format!(r#","annotations":{{"reconcile.fluxcd.io/requestedAt":"{value}"}}"#);
        since(1, &more, r#"{"observedGeneration":1}"#)
    };
    let requested = Some(Reason::RequestNotProcessed);
    assert_eq!(asked("2026-03-01T11:00:00.5+00:00").0, requested);
    assert_eq!(asked("2026-03-01T11:00:00Z"), (requested, Some((at("11:00"), SinceFrom::Annotation))));
    assert_eq!(asked("2020-01-01T00:00:00Z"), (requested, Some((at("09:00"), SinceFrom::Annotation))));
    assert_eq!(asked("2099-01-01T00:00:00Z"), (requested, None), "nobody asks in the future");
    assert_eq!(asked("now"), (requested, None));
}

#[test]
fn tokens_change_with_an_acknowledgement_and_desires_with_a_request() {
    let table = super::of_resource("kustomize.toolkit.fluxcd.io", "Kustomization").expect("known");
    let of = |requested: &str, handled: &str, heartbeat: &str| {
        let object = format!(
            r#"{{"metadata":{{"generation":1,"annotations":{{"reconcile.fluxcd.io/requestedAt":"{requested}"}}}},
            "status":{{"observedGeneration":1,"lastHandledReconcileAt":"{handled}","heartbeat":"{heartbeat}"}}}}"#
        );
        let judgement = judge(table, &object);
        (judgement.token, judgement.desired)
    };
    let before = of("a", "a", "1");
    assert_eq!(of("a", "a", "2"), before, "a heartbeat acknowledges nothing");
    let asked = of("b", "a", "1");
    assert!(asked.0 == before.0 && asked.1 != before.1);
    let answered = of("b", "b", "1");
    assert!(answered.0 != asked.0 && answered.1 == asked.1);
}

#[test]
fn evidence_that_is_missing_accuses_nobody_and_excuses_nobody() {
    // Of an object that says nothing but that it has a status.
    for (table, entry) in all() {
        let state =
            judge(table, r#"{"metadata":{"name":"a"},"spec":{},"status":{"conditions":[{"x":1}],"x":1}}"#).state;
        let is_pending_for_a_word = entry.pending.iter().any(|owed| format!("{owed:?}").contains("Missing"));
        assert!(state == State::Unknown || is_pending_for_a_word, "{}: {state}", table.ecosystem.name);
    }
}

#[test]
fn durations_fit_together_and_every_entry_explains_itself() {
    for (table, entry) in all() {
        let durations = table.durations();
        assert!(durations.asleep_after >= durations.max_attempt, "{}", table.ecosystem.name);
        assert!(!durations.overdue_after.is_zero() && durations.overdue_after <= durations.asleep_after);
        assert!(!entry.about.is_empty(), "{}", table.ecosystem.name);
    }
}

#[test]
fn names_are_unique_and_no_resource_is_claimed_twice() {
    let mut names: Vec<&str> = ALL.iter().map(|ecosystem| ecosystem.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    for (table, entry) in all() {
        for fit in entry.fits {
            let (Group::Is(group) | Group::Below(group)) = fit.group;
            let kinds: &[&str] = if let Kinds::Only(kinds) = fit.kinds { kinds } else { &[] };
            for kind in kinds {
                let found = super::of_resource(group, kind).expect("its own");
                assert_eq!(found.ecosystem.name, table.ecosystem.name, "{kind} of {group}");
                assert!(std::ptr::eq(found.entry, entry), "{kind} of {group} is read by an earlier entry");
            }
        }
    }
}

#[test]
fn a_resource_finds_its_entry_by_group_and_kind() {
    let found =
        |group, kind| super::of_resource(group, kind).map(|table| (table.ecosystem.name, table.entry.is_static()));
    assert_eq!(found("s3.aws.upbound.io", "Bucket"), Some(("crossplane", false)));
    assert_eq!(found("aws.upbound.io", "ProviderConfig"), Some(("crossplane", true)));
    assert_eq!(found("infrastructure.cluster.x-k8s.io", "AWSMachineTemplate"), Some(("cluster-api", true)));
    assert_eq!(found("notcluster.x-k8s.io", "Cluster"), None, "a name that only ends alike");
    assert_eq!(found("argoproj.io", "Application"), Some(("argo-cd", false)));
    assert_eq!(found("argoproj.io", "Workflow"), Some(("argo-workflows", false)));
    assert_eq!(found("argoproj.io", "EventBus"), None);
    assert_eq!(found("example.com", "Widget"), None);
}

/// Values as they occur, and as they do not.
fn value() -> impl Strategy<Value = serde_json::Value> {
    const KEYS: [&str; 9] = [
        "type",
        "status",
        "conditions",
        "observedGeneration",
        "lastTransitionTime",
        "phase",
        "sync",
        "parents",
        "name",
    ];
    const WORDS: [&str; 10] =
        ["Ready", "True", "False", "Unknown", "2026-03-01T11:00:00Z", "2-a", "", "Running", "3", "-"];
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        (-2_i64..5).prop_map(Into::into),
        proptest::sample::select(&WORDS[..]).prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            proptest::collection::btree_map(proptest::sample::select(&KEYS[..]), inner, 0..5).prop_map(|map| map
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<serde_json::Map<_, _>>()
                .into()),
        ]
    })
}

proptest! {
    #[test]
    fn no_object_makes_a_rule_panic(spec in value(), status in value(), generation in 0_i64..4) {
        let json = serde_json::json!({"metadata": {"generation": generation}, "spec": spec, "status": status}).to_string();
        for (table, _) in all() {
            judge(table, &json);
        }
    }
}

#[test]
fn what_is_empty_makes_no_difference_in_a_comparison() {
    use super::engine::compare::differ;
    let whole = Mask::new().whole(&[]);
    let tree = |json: &'static str| Tree::read(json.as_bytes(), &whole).expect("JSON");
    let same = |one, other| !differ(Some(&tree(one)), Some(&tree(other)));
    assert!(same(r#"{"a":"","b":{"c":[]},"d":1}"#, r#"{"d":1.0,"e":false}"#));
    assert!(same(r#"[{"a":null}]"#, "[{}]"));
    assert!(!same("[{}]", "[]"), "a list of one empty item is not empty");
    assert!(!same(r#"{"a":1}"#, r#"{"a":"1"}"#));
    assert!(!same("9007199254740993", "9007199254740992"));
    assert!(!differ(None, Some(&tree("{}"))));
    assert!(differ(None, Some(&tree("1"))));
}
