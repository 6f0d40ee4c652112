use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Kopf, Mode, Options, Storage};
use crate::judge::rule::auto::{Evidence, Mark, Signs};
use crate::judge::rule::{Reader, Rule};
use crate::judge::state::{Judgement, Reason, Signal, Since, SinceFrom, State};

const MARK: &str = "kopf.zalando.org/last-handled-configuration";
const FINALIZER: &str = "kopf.zalando.org/KopfFinalizerMarker";

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

/// A time of the day on which every test plays.
fn today(clock: &str) -> Timestamp {
    at(&format!("2026-03-01T{clock}Z"))
}

fn options() -> Options {
    Options { max_attempt: Duration::from_mins(15), ..Options::default() }
}

fn judge_at(options: Options, object: &Value, now: &str) -> Judgement {
    let reader = Reader::new(Rule::Kopf(Kopf::new(options)), Vec::new());
    reader.judge(object.to_string().as_bytes(), today(now), |_, judgement| judgement)
}

fn judge_with(options: Options, object: &Value) -> Judgement {
    judge_at(options, object, "12:00:00")
}

fn judge(object: &Value) -> Judgement {
    judge_with(options(), object)
}

/// An object of two hours ago with one spec, its mark if `mark`, and further annotations.
fn object(mark: Option<&str>, annotations: &[(&str, &str)]) -> Value {
    let mut object = json!({
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "creationTimestamp": "2026-03-01T10:00:00Z", "annotations": {}},
        "spec": {"size": 3},
    });
    for (name, value) in mark.iter().map(|mark| (MARK, *mark)).chain(annotations.iter().copied()) {
        object["metadata"]["annotations"][name] = json!(value);
    }
    object
}

const HANDLED: &str = "{\"spec\":{\"size\":3}}\n";
const OLDER: &str = "{\"spec\":{\"size\":2}}\n";

/// A record that waits until the given time of the day.
fn waiting(purpose: &str, until: &str) -> String {
    format!(
        r#"{{"started":"2026-03-01T11:50:00.5+00:00","delayed":"2026-03-01T{until}.000000+00:00","purpose":"{purpose}","retries":2,"success":false,"failure":false,"message":"secret"}}"#
    )
}

fn with_deletion(mut object: Value, finalizer: &str) -> Value {
    object["metadata"]["deletionTimestamp"] = json!("2026-03-01T11:55:00Z");
    object["metadata"]["finalizers"] = json!([finalizer]);
    object
}

fn managed(mut object: Value, entries: &[(&str, &str, Value)]) -> Value {
    let entries: Vec<_> = entries
        .iter()
        .map(|(manager, time, fields)| {
            json!({"manager": manager, "time": format!("2026-03-01T{time}Z"), "fieldsV1": fields})
        })
        .collect();
    object["metadata"]["managedFields"] = json!(entries);
    object
}

fn told(judgement: &Judgement) -> (State, Option<Reason>) {
    (judgement.state, judgement.reason)
}

const PROCESSED: (State, Option<Reason>) = (State::Processed, None);
const NEVER: (State, Option<Reason>) = (State::Pending, Some(Reason::NeverProcessed));
const CHANGED: (State, Option<Reason>) = (State::Pending, Some(Reason::ChangeNotProcessed));
const STOPPED: (State, Option<Reason>) = (State::Pending, Some(Reason::ProgressStopped));
const DELETION: (State, Option<Reason>) = (State::Pending, Some(Reason::DeletionNotProcessed));
const RETRYING: (State, Option<Reason>) = (State::InProgress, Some(Reason::Retrying));
const WORKING: (State, Option<Reason>) = (State::InProgress, Some(Reason::Working));
const NO_SIGNAL: (State, Option<Reason>) = (State::Unknown, Some(Reason::NoSignal));
const RULE_ERROR: (State, Option<Reason>) = (State::Unknown, Some(Reason::RuleError));

// ---- what mark, difference, progress, finalizer and deletion mean together ----

#[test]
fn an_object_without_mark_and_progress_was_never_handled() {
    let judgement = judge(&object(None, &[]));
    assert_eq!(told(&judgement), NEVER);
    assert_eq!(judgement.since, Some(Since::new(today("10:00:00"), SinceFrom::Creation)));
    assert_eq!(judgement.message, "kopf has left no mark and no progress");
    assert!(judgement.conditional && !judgement.signalled && !judgement.held);
    assert_eq!((judgement.token, judgement.acked_at), (0, None));
    assert_eq!(judgement.desired_at, Some(today("10:00:00")));
}

#[test]
fn a_finalizer_alone_is_no_handling() {
    let mut object = object(None, &[]);
    object["metadata"]["finalizers"] = json!([FINALIZER]);
    let judgement = judge(&object);
    assert_eq!(told(&judgement), NEVER);
    assert!(judgement.held);
    assert_eq!(judgement.message, "kopf has set its finalizer and left no mark and no progress");
}

#[test]
fn progress_without_a_mark_is_a_creation_at_work() {
    let judgement = judge(&object(None, &[("kopf.zalando.org/create_fn", &waiting("create", "12:05:00"))]));
    assert_eq!(told(&judgement), RETRYING);
    assert_eq!(judgement.until, Some(today("12:06:00")));
    assert_eq!(judgement.since, Some(Since::new(today("11:50:00.5"), SinceFrom::Annotation)));
    assert_eq!(judgement.message, "kopf waits before it tries handler create_fn again");
    assert!(judgement.signalled && !judgement.conditional && judgement.token != 0);
}

#[test]
fn an_object_as_it_was_last_handled_is_processed() {
    let judgement = judge(&object(Some(HANDLED), &[]));
    assert_eq!(told(&judgement), PROCESSED);
    assert!(judgement.signalled && judgement.token != 0);
}

#[test]
fn a_changed_object_is_pending_and_its_message_names_paths_only() {
    let mark = r#"{"spec":{"size":"hunter2","gone":1},"metadata":{"labels":{"team":"hunter2"}}}"#;
    let judgement = judge(&object(Some(mark), &[]));
    assert_eq!(told(&judgement), CHANGED);
    assert_eq!(judgement.message, "spec.size and 2 more differ from what was last handled");
    assert_eq!(judgement.since, None);
    assert!(!judgement.conditional);
    let judgement = judge(&object(Some(OLDER), &[("a.example/note", "x")]));
    assert_eq!(judgement.message, "spec.size and 1 more differ from what was last handled");
    let judgement = judge(&object(Some(HANDLED), &[("a.example/note", "x")]));
    assert_eq!(judgement.message, "metadata.annotations[a.example/note] differs from what was last handled");
}

#[test]
fn records_of_an_update_make_a_changed_object_in_progress() {
    for purpose in ["update", "create", "none-known"] {
        let record = waiting(purpose, "12:05:00");
        assert_eq!(told(&judge(&object(Some(OLDER), &[("kopf.zalando.org/fn", &record)]))), RETRYING, "{purpose}");
    }
    for purpose in ["resume", "delete"] {
        let record = waiting(purpose, "12:05:00");
        assert_eq!(told(&judge(&object(Some(OLDER), &[("kopf.zalando.org/fn", &record)]))), CHANGED, "{purpose}");
    }
}

#[test]
fn records_on_an_object_that_is_up_to_date_count_only_while_a_resumption_moves() {
    let of = |record: &str| judge(&object(Some(HANDLED), &[("kopf.zalando.org/fn", record)]));
    let judgement = of(&waiting("resume", "12:05:00"));
    assert_eq!(told(&judgement), RETRYING);
    assert_eq!(judgement.until, None, "it never turns pending");
    for purpose in ["create", "update", "delete"] {
        assert_eq!(told(&of(&waiting(purpose, "12:05:00"))), PROCESSED, "{purpose}");
    }
    assert_eq!(told(&of(&waiting("resume", "11:55:00"))), PROCESSED, "left behind by a handler that is gone");
    assert_eq!(told(&of(r#"{"started":"2026-03-01T11:59:00","purpose":"resume","success":true}"#)), PROCESSED);
}

#[test]
fn a_deletion_without_records_is_not_processed() {
    let record = waiting("update", "12:05:00");
    for annotations in [vec![], vec![("kopf.zalando.org/fn", record.as_str())]] {
        let judgement = judge(&with_deletion(object(Some(HANDLED), &annotations), FINALIZER));
        assert_eq!(told(&judgement), DELETION);
        assert_eq!(judgement.since, Some(Since::new(today("11:55:00"), SinceFrom::Deletion)));
        assert!(judgement.held && judgement.excuse.is_none());
    }
}

#[test]
fn a_deletion_with_live_records_is_in_progress_until_their_time_is_over() {
    let record = waiting("delete", "12:05:00");
    let object = with_deletion(object(Some(HANDLED), &[("kopf.zalando.org/fn", &record)]), FINALIZER);
    let judgement = judge(&object);
    assert_eq!(told(&judgement), RETRYING);
    assert_eq!(judgement.until, Some(today("12:06:00")));
    assert_eq!(told(&judge_at(options(), &object, "12:06:00")), WORKING);
    let judgement = judge_at(options(), &object, "12:06:01");
    assert_eq!(told(&judgement), STOPPED);
    assert_eq!(judgement.since, Some(Since::new(today("12:06:00"), SinceFrom::Deadline)));
}

#[test]
fn a_deletion_without_the_operators_finalizer_is_held_by_others() {
    let record = waiting("delete", "12:05:00");
    let object = object(Some(HANDLED), &[("kopf.zalando.org/fn", &record)]);
    for finalizer in ["foregroundDeletion", "example.com/finalizer", "KopfFinalizerMarker"] {
        let judgement = judge(&with_deletion(object.clone(), finalizer));
        assert_eq!(told(&judgement), (State::Processed, Some(Reason::HeldByOthers)), "{finalizer}");
    }
    let named = Reader::new(Rule::Kopf(Kopf::new(options())), vec!["example.com/finalizer".to_owned()]);
    let json = with_deletion(object, "example.com/finalizer").to_string();
    assert_eq!(told(&named.judge(json.as_bytes(), today("12:00:00"), |_, judgement| judgement)), RETRYING);
}

// ---- where the marks are ----

#[test]
fn marks_are_found_in_the_status() {
    let mut handled = object(None, &[]);
    handled["status"] = json!({"ready": true, "kopf": {"last-handled-configuration": HANDLED.trim()}});
    assert_eq!(told(&judge(&handled)), PROCESSED);
    handled["spec"]["size"] = json!(4);
    assert_eq!(told(&judge(&handled)), CHANGED);
    assert_eq!(told(&judge_with(Options { storage: Storage::Annotations, ..options() }, &handled)), NEVER);
}

#[test]
fn a_status_field_may_be_named_in_every_form_that_kopf_takes() {
    let mut below = object(None, &[]);
    below["status"] = json!({"ops": {"state": {"last-handled-configuration": HANDLED}}});
    let mut direct = object(None, &[]);
    direct["status"] = json!({"ops": {"state": HANDLED}});
    for object in [below, direct] {
        assert_eq!(told(&judge(&object)), NEVER);
        for field in ["ops.state", "status.ops.state"] {
            let options = Options { status_field: Some(field.to_owned()), storage: Storage::Status, ..options() };
            assert_eq!(told(&judge_with(options, &object)), PROCESSED);
        }
    }
    let mut text = object(Some(HANDLED), &[]);
    text["status"] = json!({"kopf": "what an operator of this name is free to say"});
    assert_eq!(told(&judge(&text)), PROCESSED);
}

#[test]
fn progress_in_the_status_counts_and_an_annotation_of_the_same_handler_wins() {
    let record = |until: &str| serde_json::from_str::<Value>(&waiting("create", until)).expect("a record");
    let mut in_status = object(None, &[]);
    in_status["status"] = json!({"kopf": {"progress": {"parent/sub<1>": record("12:05:00")}}});
    let judgement = judge(&in_status);
    assert_eq!(told(&judgement), RETRYING);
    assert_eq!(judgement.since, Some(Since::new(today("11:50:00.5"), SinceFrom::Rule)));
    let mut both = object(None, &[("kopf.zalando.org/parent.sub_1_", &waiting("create", "12:30:00"))]);
    both["status"] = in_status["status"].clone();
    let judgement = judge(&both);
    assert_eq!(judgement.until, Some(today("12:31:00")));
    assert_eq!(judgement.message, "kopf waits before it tries handler parent.sub_1_ again");
    let mut named = object(None, &[]);
    named["status"] = json!({"ops": {"fn": record("12:05:00"), "other": {"ready": true}}});
    let options = Options { status_field: Some("ops".to_owned()), ..options() };
    assert_eq!(told(&judge_with(options, &named)), RETRYING);
    assert_eq!(told(&judge(&named)), NEVER);
}

#[test]
fn a_prefix_is_found_by_its_marker_or_by_its_mark() {
    let marker = [("ops.example/kopf-managed", "yes"), ("ops.example/last-handled-configuration", HANDLED)];
    assert_eq!(told(&judge(&object(None, &marker))), PROCESSED);
    assert_eq!(told(&judge(&object(None, &[("kopf.ops.example/last-handled-configuration", HANDLED)]))), PROCESSED);
    let other_key = [("ops.example/kopf-managed", "yes"), ("ops.example/last", HANDLED)];
    assert_eq!(told(&judge(&object(None, &other_key))), NEVER);
    let options = Options { key: Some("last".to_owned()), ..options() };
    assert_eq!(told(&judge_with(options, &object(None, &other_key))), PROCESSED);
}

#[test]
fn a_configured_prefix_leaves_the_marks_of_other_operators_alone() {
    let annotations = [("ops.example/kopf-managed", "yes"), ("ops.example/last-handled-configuration", OLDER)];
    let object = object(Some(HANDLED), &annotations);
    let judgement = judge(&object);
    assert_eq!(told(&judgement), NO_SIGNAL);
    assert!(judgement.message.contains("set the rule's prefix"), "{}", judgement.message);
    let with = |prefix: &str| Options { prefix: Some(prefix.to_owned()), ..options() };
    assert_eq!(told(&judge_with(with("kopf.zalando.org"), &object)), PROCESSED);
    assert_eq!(told(&judge_with(with("ops.example"), &object)), CHANGED);
    assert_eq!(told(&judge_with(with("none.example"), &object)), NEVER);
}

#[test]
fn both_forms_of_a_mark_are_read_the_current_one_first() {
    let prefix = format!("{}.example", "a".repeat(40));
    let (current, older) = (format!("{prefix}/last-handled-configuration"), format!("{prefix}/last-ha-a.A3qw"));
    let options = || Options { prefix: Some(prefix.clone()), ..options() };
    let judged = |annotations: &[(&str, &str)]| told(&judge_with(options(), &object(None, annotations)));
    assert_eq!(judged(&[(&older, HANDLED)]), PROCESSED);
    assert_eq!(judged(&[(&older, OLDER), (&current, HANDLED)]), PROCESSED);
    assert_eq!(judged(&[(&older, HANDLED), (&current, OLDER)]), CHANGED);
    assert_eq!(judged(&[(&older, HANDLED), (&current, "null")]), PROCESSED);
}

#[test]
fn a_record_in_both_forms_counts_once() {
    let record = waiting("create", "12:05:00");
    let long = "provision_the_external_database_cluster_with_a_very_long-XdAEgA";
    let names =
        [format!("kopf.zalando.org/{long}"), "kopf.zalando.org/provision_the_external_database_cluster-WSskXg".into()];
    let mut annotations: Vec<_> = names.iter().map(|name| (name.as_str(), record.as_str())).collect();
    let judgement = judge(&object(None, &annotations));
    assert_eq!(judgement.message, format!("kopf waits before it tries handler {long} again"));
    annotations.push(("kopf.zalando.org/other", &record));
    let judgement = judge(&object(None, &annotations));
    assert!(judgement.message.ends_with(" and 1 more again"), "{}", judgement.message);
}

#[test]
fn on_the_replica_set_of_a_deployment_only_names_with_the_suffix_count() {
    let record = waiting("create", "12:05:00");
    let mut replica_set = object(Some(OLDER), &[("kopf.zalando.org/fn", &record)]);
    replica_set["kind"] = json!("ReplicaSet");
    replica_set["metadata"]["ownerReferences"] = json!([{"kind": "Deployment", "name": "d"}]);
    assert_eq!(told(&judge(&replica_set)), NEVER);
    replica_set["metadata"]["annotations"]["kopf.zalando.org/fn-ofDRS"] = json!(record);
    assert_eq!(told(&judge(&replica_set)), RETRYING);
    let own_mark = "kopf.zalando.org/last-handled-configuration-ofDRS";
    replica_set["metadata"]["annotations"][own_mark] = json!(HANDLED);
    assert_eq!(told(&judge(&replica_set)), PROCESSED);
    replica_set["kind"] = json!("Widget");
    assert_eq!(told(&judge(&replica_set)), RETRYING, "the plain names count, and the mark is older");
}

// ---- hostile and broken values ----

#[test]
fn an_unreadable_mark_is_a_rule_error_and_null_is_absent() {
    let deep = format!("{{\"spec\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    for mark in ["", "{", "hunter2", "[]", "7", "\"text\"", "{\"spec\":1}{}", &deep] {
        let judgement = judge(&object(Some(mark), &[]));
        assert_eq!(told(&judgement), RULE_ERROR, "{mark:.20}");
        assert!(judgement.message.starts_with("metadata.annotations[kopf.zalando.org/last-handled-configuration] "));
        assert!(!judgement.message.contains("hunter2"));
    }
    assert_eq!(told(&judge(&object(Some("null\n"), &[]))), NEVER);
    let mut number = object(None, &[]);
    number["metadata"]["annotations"][MARK] = json!(5);
    let judgement = judge(&number);
    assert_eq!(told(&judgement), RULE_ERROR);
    assert!(judgement.message.contains("is a number, not text"), "{}", judgement.message);
    number["metadata"]["annotations"][MARK] = json!(null);
    assert_eq!(told(&judge(&number)), NEVER);
}

#[test]
fn a_mark_of_ten_megabytes_is_compared() {
    let mark = format!("{{\"spec\":{{\"size\":3,\"text\":\"{}\"}}}}", "x".repeat(10 << 20));
    let judgement = judge(&object(Some(&mark), &[]));
    assert_eq!(told(&judgement), CHANGED);
    assert_eq!(judgement.message, "spec.text differs from what was last handled");
}

#[test]
fn what_is_no_record_is_no_progress() {
    for value in ["[]", "[{\"started\":1}]", "{", "{}", "{\"purpose\":\"create\"}", "yes", "7", "2026-03-01T12:00:00Z"]
    {
        assert_eq!(told(&judge(&object(None, &[("kopf.zalando.org/fn", value)]))), NEVER, "{value}");
    }
    let mut list = object(None, &[]);
    list["status"] = json!({"kopf": {"progress": [{"started": "2026-03-01T11:59:00Z"}]}});
    assert_eq!(told(&judge(&list)), NEVER);
}

#[test]
fn names_from_an_object_stay_on_one_line_and_short() {
    let mut object = object(Some(HANDLED), &[]);
    object["spec"]["a\nb"] = json!("x".repeat(200));
    assert_eq!(judge(&object).message, "spec.a?b differs from what was last handled");
    object["spec"] = json!({"x".repeat(500): 1, "size": 3});
    assert!(judge(&object).message.len() < 200);
}

// ---- options ----

#[test]
fn modes_without_marks_judge_deletions_only() {
    for (mode, name) in [(Mode::EventOnly, "event-only"), (Mode::DaemonOnly, "daemon-only")] {
        let options = || Options { mode, ..options() };
        for object in [object(None, &[]), object(Some(OLDER), &[])] {
            let judgement = judge_with(options(), &object);
            assert_eq!(told(&judgement), NO_SIGNAL);
            assert!(judgement.message.contains(name), "{}", judgement.message);
        }
        assert_eq!(told(&judge_with(options(), &with_deletion(object(None, &[]), FINALIZER))), DELETION);
        let record = waiting("delete", "12:05:00");
        let deleted = with_deletion(object(None, &[("kopf.zalando.org/fn", &record)]), FINALIZER);
        assert_eq!(told(&judge_with(options(), &deleted)), RETRYING);
    }
}

#[test]
fn mode_auto_takes_old_objects_with_nothing_but_a_finalizer_for_those_of_daemons() {
    let exists = |mode: Mode, signal: Signal| Kopf::new(Options { mode, ..options() }).signal_exists(&signal);
    let daemons = Signal { objects: 4, signalled: 0, held: 3, young: 0 };
    assert!(!exists(Mode::Auto, daemons));
    assert!(exists(Mode::Change, daemons));
    assert!(exists(Mode::Auto, Signal { signalled: 1, ..daemons }));
    assert!(exists(Mode::Auto, Signal { held: 2, ..daemons }));
    assert!(exists(Mode::Auto, Signal { young: 1, ..daemons }), "the young one may be one of the three");
    assert!(!exists(Mode::Auto, Signal { held: 4, young: 1, ..daemons }));
    assert!(!judge_with(Options { mode: Mode::Change, ..options() }, &object(None, &[])).conditional);
}

#[test]
fn the_configured_finalizer_stands_in_for_the_others() {
    let held = |options: Options, finalizer: &str| {
        let annotations = [("ops.example/kopf-managed", "yes")];
        judge_with(options, &with_deletion(object(None, &annotations), finalizer)).held
    };
    assert!(held(options(), FINALIZER));
    assert!(held(options(), "ops.example/anything"));
    assert!(!held(options(), "x.ops.example/anything"));
    let configured = || Options { finalizer: Some("plain".to_owned()), ..options() };
    assert!(held(configured(), "plain"));
    assert!(!held(configured(), FINALIZER));
    let prefix = || Options { prefix: Some("my.example".to_owned()), ..options() };
    assert!(held(prefix(), "my.example/finalizer") && held(prefix(), FINALIZER));
    assert!(!held(prefix(), "ops.example/anything"), "another kopf operator's");
}

#[test]
fn ignored_fields_do_not_count_on_either_side() {
    let judged = |fields: &[&str], mark: &str, spec: Value| {
        let mut object = object(Some(mark), &[("a.example/b", "1")]);
        object["spec"] = spec;
        let ignored_fields = fields.iter().copied().chain(["metadata.annotations.a.example/b"]).map(str::to_owned);
        told(&judge_with(Options { ignored_fields: ignored_fields.collect(), ..options() }, &object))
    };
    assert_eq!(judged(&["spec.n"], r#"{"spec":{"size":3}}"#, json!({"size": 3, "n": 1})), PROCESSED);
    assert_eq!(judged(&["spec.n"], r#"{"spec":{"size":3,"n":2}}"#, json!({"size": 3, "n": 1})), PROCESSED);
    assert_eq!(judged(&["spec.n"], "{}", json!({"n": 1})), PROCESSED, "an emptied parent vanishes");
    assert_eq!(judged(&["spec.a.b"], "{}", json!({"a": {"b": 1}})), PROCESSED);
    assert_eq!(judged(&["spec.n"], "{}", json!({})), CHANGED, "one that was empty does not");
    assert_eq!(judged(&["spec"], "{}", json!({"n": 1})), PROCESSED);
    assert_eq!(judged(&["spec.m", ""], "{}", json!({"n": 1})), CHANGED);
}

#[test]
fn a_text_shows_marks_by_keys_and_not_by_prose() {
    let signs = Signs::new(Evidence::default());
    let shows = |text: &str| signs.find(text.as_bytes()) == Some(Mark::Kopf);
    assert!(shows(&object(Some(HANDLED), &[]).to_string()));
    assert!(shows(&with_deletion(object(None, &[]), FINALIZER).to_string()));
    assert!(shows(&object(None, &[("ops.example/kopf-managed", "yes")]).to_string()));
    assert!(shows(r#"{"status":{"kopf":{"last-handled-configuration":"{}"}}}"#));
    assert!(!shows(
        r#"{"spec":{"image":"example.com/kopf:1","text":"see kopf.zalando.org/ and last-handled-configuration of kopf"}}"#
    ));
}

// ---- times and fingerprints ----

#[test]
fn a_change_is_as_old_as_the_newest_write_by_others() {
    let kopf = ("kopf", "11:00:00", json!({"f:metadata": {"f:annotations": {}}}));
    let stanza = |fields: Value| {
        let judgement = judge(&managed(object(Some(OLDER), &[]), &[kopf.clone(), ("kubectl", "11:20:00", fields)]));
        assert_eq!(told(&judgement), CHANGED);
        judgement.since
    };
    let expected = Some(Since::new(today("11:20:00"), SinceFrom::ManagedFields));
    for owned in [
        json!({"f:spec": {}}),
        json!({"f:metadata": {"f:labels": {}}}),
        json!({"f:metadata": {"f:annotations": {}}}),
        json!({"f:data": {}}),
    ] {
        assert_eq!(stanza(owned.clone()), expected, "{owned}");
    }
    for other in [json!({"f:status": {}}), json!({"f:metadata": {"f:finalizers": {}}})] {
        assert_eq!(stanza(other), None);
    }
}

#[test]
fn a_write_older_than_the_mark_does_not_date_the_change() {
    let writes = |kopf_fields: Value| {
        let entries = [("kopf", "11:00:00", kopf_fields), ("kubectl", "10:00:00", json!({"f:spec": {}}))];
        judge(&managed(object(Some(OLDER), &[]), &entries)).since
    };
    assert_eq!(writes(json!({"f:metadata": {"f:annotations": {}}})), None, "a field was removed, nobody knows when");
    let by_a_timer = json!({"f:metadata": {"f:annotations": {}}, "f:status": {}});
    assert_eq!(writes(by_a_timer), Some(Since::new(today("10:00:00"), SinceFrom::ManagedFields)));
}

#[test]
fn the_acknowledgement_is_kopfs_newest_write_but_no_touch_and_no_status() {
    let mark = ("kopf", "11:00:00", json!({"f:metadata": {"f:annotations": {}}}));
    let timer = ("kopf", "11:30:00", json!({"f:status": {}}));
    let handled = object(Some(HANDLED), &[]);
    assert_eq!(judge(&managed(handled.clone(), &[mark.clone(), timer.clone()])).acked_at, Some(today("11:00:00")));
    assert_eq!(judge(&handled).acked_at, None);
    let mut touched = managed(handled.clone(), std::slice::from_ref(&mark));
    touched["metadata"]["annotations"]["kopf.zalando.org/touch-dummy"] = json!("2026-03-01T11:00:00.1+00:00");
    assert_eq!(judge(&touched).acked_at, None);
    let mut in_status = object(None, &[]);
    in_status["status"] = json!({"kopf": {"last-handled-configuration": HANDLED}});
    assert_eq!(judge(&managed(in_status, &[timer])).acked_at, Some(today("11:30:00")));
    assert_eq!(judge(&managed(object(Some(OLDER), &[]), &[mark])).acked_at, None, "pending");
}

#[test]
fn the_token_moves_with_mark_and_records_only() {
    let base = judge(&object(Some(OLDER), &[])).token;
    let record = waiting("update", "12:05:00");
    let with_record = judge(&object(Some(OLDER), &[("kopf.zalando.org/fn", &record)])).token;
    assert_ne!(base, judge(&object(Some(HANDLED), &[])).token);
    assert_ne!(base, with_record);
    let moved = waiting("update", "12:06:00");
    assert_ne!(with_record, judge(&object(Some(OLDER), &[("kopf.zalando.org/fn", &moved)])).token);
    let touch = [("kopf.zalando.org/touch-dummy", "2026-03-01T11:59:00+00:00"), ("a.example/b", "c")];
    let mut touched = object(Some(OLDER), &touch);
    touched["spec"]["size"] = json!(9);
    assert_eq!(base, judge(&touched).token);
    assert_eq!(base, judge(&with_deletion(object(Some(OLDER), &[]), FINALIZER)).token);
    assert_eq!(base, judge(&with_deletion(object(Some(OLDER), &[]), "other")).token);
}

#[test]
fn the_desired_state_moves_with_the_essence_and_a_deletion_only() {
    let desired = |json: &str| {
        let reader = Reader::new(Rule::Kopf(Kopf::new(options())), Vec::new());
        reader.judge(json.as_bytes(), today("12:00:00"), |_, judgement| judgement.desired)
    };
    let base = desired(r#"{"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"x":1,"y":[{"z":null}]}}"#);
    for same in [
        r#"{"spec":{"y":[{"z":null}],"x":1.0,"n":null},"metadata":{"labels":{"b":"2","a":"1"},"annotations":{}}}"#,
        r#"{"metadata":{"generation":2,"labels":{"a":"1","b":"2"},"annotations":{"kopf.zalando.org/a":"1"}},"spec":{"x":true,"y":[{"z":null}]},"status":{"a":1}}"#,
    ] {
        assert_eq!(desired(same), base, "{same}");
    }
    for other in [
        r#"{"metadata":{"labels":{"a":"1","b":"3"}},"spec":{"x":1,"y":[{"z":null}]}}"#,
        r#"{"metadata":{"labels":{"a":"2","b":"1"}},"spec":{"x":1,"y":[{"z":null}]}}"#,
        r#"{"metadata":{"annotations":{"a":"1","b":"2"}},"spec":{"x":1,"y":[{"z":null}]}}"#,
        r#"{"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"x":1,"y":[{}]}}"#,
        r#"{"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"x":"1","y":[{"z":null}]}}"#,
        r#"{"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"x":1,"y":[{"z":null}]},"data":{}}"#,
        r#"{"metadata":{"deletionTimestamp":"2026-03-01T11:00:00Z","labels":{"a":"1","b":"2"}},"spec":{"x":1,"y":[{"z":null}]}}"#,
    ] {
        assert_ne!(desired(other), base, "{other}");
    }
}

#[test]
fn a_nudge_is_compared_as_kopf_does_and_is_nothing_that_anybody_wants() {
    let plain = json!({"spec": {"size": 3}}).to_string();
    let nudged = json!({"spec": {"size": 3}, "metadata": {"annotations": {"dogwatch/nudged": "then"}}}).to_string();
    let touch = [("dogwatch/nudged", "then")];
    assert_eq!(judge(&object(Some(&plain), &touch)).state, State::Pending, "kopf acts on it");
    assert_eq!(judge(&object(Some(&nudged), &touch)).state, State::Processed);
    assert_eq!(judge(&object(None, &touch)).desired, judge(&object(None, &[])).desired);
    let canary = judge(&object(None, &[("dogwatch/canary", "then")]));
    assert_ne!(canary.desired, judge(&object(None, &[])).desired, "the canary's annotation is wanted");
    let times = [
        ("kubectl", "11:00:00", json!({"f:spec": {}})),
        ("dogwatch-nudge", "11:30:00", json!({"f:metadata": {"f:annotations": {}}})),
    ];
    let judged = judge(&managed(object(None, &touch), &times));
    assert_eq!(judged.desired_at, Some(today("11:00:00")));
}
