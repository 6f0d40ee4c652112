use super::{Error, Object, common_mask, identity_of, parse_time};

fn refusal(json: &str) -> String {
    match Object::read(json.as_bytes(), &common_mask()) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn facts_that_answers_stand_on_must_have_their_type() {
    assert_eq!(refusal(r#"{"kind":"K"}"#), "metadata is missing");
    assert_eq!(refusal(r#"{"metadata":null}"#), "metadata is missing");
    assert_eq!(refusal(r#"{"apiVersion":{"a":null},"metadata":{}}"#), "apiVersion is a map, not text");
    assert_eq!(refusal("[]"), "the object is a list, not a map");
    assert_eq!(refusal(r#"{"metadata":{"generation":"3"}}"#), "metadata.generation is text, not a whole number");
    let digits = format!(r#"{{"metadata":{{"generation":{}}}}}"#, "1".repeat(40));
    assert_eq!(refusal(&digits), "metadata.generation is a number, not a whole number");
    assert_eq!(
        refusal(r#"{"metadata":{"creationTimestamp":"soon"}}"#),
        "metadata.creationTimestamp is text, not a time"
    );
    assert_eq!(refusal(r#"{"metadata":{"finalizers":"a"}}"#), "metadata.finalizers is text, not a list of texts");
    assert_eq!(refusal(r#"{"metadata":{"finalizers":[1]}}"#), "metadata.finalizers is a list, not a list of texts");
    assert_eq!(refusal(r#"{"metadata":{"name":"a"}}"#), "accepted");
    assert_eq!(refusal(r#"{"metadata":{"name":null,"generation":null,"deletionTimestamp":null}}"#), "accepted");
}

#[test]
fn messages_never_quote_values() {
    for json in
        [r#"{"metadata":{"generation":"hunter2"}}"#, r#"{"metadata":{"name":"a","name":"hunter2"}}"#, r#"{"hunter2"#]
    {
        assert!(!refusal(json).contains("hunter2"), "{}", refusal(json));
    }
    assert_eq!(
        refusal(r#"{"metadata":{"name":"a","name":"b"}}"#),
        "the object has a key twice in one map (line 1, column 35)"
    );
}

#[test]
fn large_annotations_and_deep_values_cost_nothing() {
    let json = format!(
        r#"{{"metadata":{{"name":"a","annotations":{{"big":"{}"}}}},"spec":{}{}}}"#,
        "x".repeat(5 << 20),
        "[".repeat(5000),
        "]".repeat(5000)
    );
    assert_eq!(refusal(&json), "accepted");
}

#[test]
fn a_refused_object_still_has_its_name() {
    let json = br#"{"metadata":{"name":"a","namespace":"n","generation":"x"}}"#;
    assert!(matches!(Object::read(json, &common_mask()), Err(Error::Field { .. })));
    assert_eq!(
        identity_of(json, |id| (id.namespace.map(str::to_owned), id.name.map(str::to_owned))),
        (Some("n".into()), Some("a".into()))
    );
    assert!(identity_of(b"{", |id| id.name.is_none()));
}

#[test]
fn times_are_read_in_every_form_seen() {
    let expected = parse_time("2026-03-01T12:00:00Z");
    assert!(expected.is_some());
    for text in [
        "2026-03-01T12:00:00+00:00",
        "2026-03-01T12:00:00.000000",
        "2026-03-01T12:00:00+0000",
        "20260301T120000Z",
        "2026-03-01T13:00:00+01:00",
    ] {
        assert_eq!(parse_time(text), expected, "{text}");
    }
    for text in ["2026-02-30T12:00:00Z", "2026-13-01T12:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T12:00:0xZ"] {
        assert_eq!(parse_time(text), None, "{text}");
    }
    assert_eq!(parse_time("2016-12-31T23:59:60Z"), parse_time("2016-12-31T23:59:59Z"), "a leap second");
    assert_eq!(parse_time("12:00"), None);
    assert_eq!(parse_time("9".repeat(40).as_str()), None);
}

#[test]
fn managed_fields_tell_who_owns_what() {
    let json = br#"{"metadata":{"managedFields":[
        {"manager":"kubectl","time":"2026-03-01T12:00:00Z","fieldsV1":{"f:spec":{"f:a":{}},"f:metadata":{"f:labels":{}}}},
        {"manager":"operator","time":"2026-03-01T12:00:01Z","fieldsV1":{"f:status":{}}},
        {"manager":"no-time","fieldsV1":{"f:status":{}}}]}}"#;
    let object = Object::read(json, &common_mask()).expect("valid");
    let entries: Vec<_> = object.managed_fields().collect();
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[1].at(), parse_time("2026-03-01T12:00:01Z"));
    assert_eq!(entries[2].at(), None);
    assert!(entries[0].owns_spec && entries[0].owns_metadata && !entries[0].owns_status);
    assert!(entries[1].owns_status && !entries[1].owns_spec && !entries[1].owns_metadata);
}
