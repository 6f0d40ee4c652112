use super::generation::Generation;
use super::{Reader, Rule};
use crate::judge::object::parse_time;
use crate::judge::state::{Excuse, Judgement, Reason, State};

fn judge(json: &str, finalizers: &[&str]) -> Judgement {
    let finalizers = finalizers.iter().map(|&finalizer| finalizer.to_owned()).collect();
    let reader = Reader::new(Rule::Generation(Generation::default()), finalizers);
    let now = parse_time("2026-03-01T12:00:00Z").expect("a time");
    reader.judge(json.as_bytes(), now, |_, judgement| judgement)
}

fn deleted(finalizers: &str) -> String {
    format!(
        r#"{{"metadata":{{"generation":2,"deletionTimestamp":"2026-03-01T11:00:00Z","finalizers":[{finalizers}]}},
        "status":{{"observedGeneration":2}}}}"#
    )
}

#[test]
fn a_deletion_comes_before_everything_else() {
    let judgement = judge(&deleted(r#""example.com/own""#), &["example.com/own"]);
    assert_eq!((judgement.state, judgement.reason), (State::Pending, Some(Reason::DeletionNotProcessed)));
    assert_eq!(judgement.excuse, None);
    assert!(judgement.held);
    assert_eq!(judgement.since.map(|since| since.at), parse_time("2026-03-01T11:00:00Z"));
}

#[test]
fn a_deletion_whose_holder_nobody_knows_alerts_and_never_restarts() {
    for finalizers in [r#""example.com/other""#, ""] {
        let judgement = judge(&deleted(finalizers), &["example.com/own"]);
        assert_eq!(judgement.state, State::Pending);
        assert_eq!(judgement.excuse, Some(Excuse::HolderUnknown));
    }
}

#[test]
fn a_person_can_excuse_an_object() {
    let json =
        r#"{"metadata":{"generation":2,"annotations":{"dogwatch/ignore":"known"}},"status":{"observedGeneration":1}}"#;
    let judgement = judge(json, &[]);
    assert_eq!((judgement.state, judgement.reason), (State::Paused, Some(Reason::Ignored)));
    let json = deleted(r#""example.com/own""#)
        .replace("{\"generation", "{\"annotations\":{\"dogwatch/ignore\":\"\"},\"generation");
    let judgement = judge(&json, &["example.com/own"]);
    assert_eq!((judgement.state, judgement.excuse), (State::Pending, Some(Excuse::Ignored)));
}

#[test]
fn what_cannot_be_decoded_is_unknown_and_keeps_its_name() {
    let reader = Reader::new(Rule::Generation(Generation::default()), Vec::new());
    let now = parse_time("2026-03-01T12:00:00Z").expect("a time");
    let json = br#"{"metadata":{"name":"a","generation":"7"}}"#;
    let (name, judgement) =
        reader.judge(json, now, |identity, judgement| (identity.name.map(str::to_owned), judgement));
    assert_eq!(name.as_deref(), Some("a"));
    assert_eq!((judgement.state, judgement.reason), (State::Unknown, Some(Reason::Undecodable)));
    assert_eq!(judgement.message, "metadata.generation is text, not a whole number");
}
