use crate::judge::object::parse_time;
use crate::judge::rule::{Reader, Rule};
use crate::judge::state::{Judgement, Reason, SinceFrom, State};

use super::Generation;

/// Judges an object given as JSON at 12:00.
fn judge(json: &str) -> Judgement {
    let reader = Reader::new(Rule::Generation(Generation::default()), Vec::new());
    let now = parse_time("2026-03-01T12:00:00Z").expect("a time");
    reader.judge(json.as_bytes(), now, |_, judgement| judgement)
}

/// An object of a generation with this status, created at 11:00; the spec was last written at 11:30 by a person and
/// the status at 11:50 by the operator.
fn object(generation: i64, status: &str) -> String {
    format!(
        r#"{{"metadata":{{"name":"a","generation":{generation},"creationTimestamp":"2026-03-01T11:00:00Z","managedFields":[
            {{"manager":"kubectl","time":"2026-03-01T11:30:00Z","fieldsV1":{{"f:spec":{{}}}}}},
            {{"manager":"operator","time":"2026-03-01T11:50:00Z","fieldsV1":{{"f:status":{{}}}}}}]}},
            "spec":{{}},"status":{status}}}"#
    )
}

fn state(status: &str) -> (State, Option<Reason>) {
    let judgement = judge(&object(3, status));
    (judgement.state, judgement.reason)
}

#[test]
fn the_observed_generation_decides() {
    assert_eq!(state(r#"{"observedGeneration":3}"#), (State::Processed, None));
    assert_eq!(state(r#"{"observedGeneration":2}"#), (State::Pending, Some(Reason::ChangeNotProcessed)));
    assert_eq!(state(r#"{"observedGeneration":0}"#), (State::Pending, Some(Reason::NeverProcessed)));
    assert_eq!(state(r#"{"observedGeneration":-1}"#), (State::Pending, Some(Reason::NeverProcessed)));
    assert_eq!(state(r#"{"observedGeneration":4}"#), (State::Unknown, Some(Reason::NoSignal)));
    assert_eq!(state(r#"{"observed_generation":3}"#), (State::Processed, None));
    assert_eq!(state(r#"{"observedGeneration":"3"}"#), (State::Processed, None));
}

#[test]
fn a_number_of_another_type_is_no_number() {
    // The status was written after the spec, which is what then counts.
    for status in
        [r#"{"observedGeneration":"5f7b"}"#, r#"{"observedGeneration":null}"#, r#"{"observedGeneration":[2]}"#]
    {
        assert_eq!(state(status), (State::Processed, None), "{status}");
    }
    assert_eq!(state(r#"{"observedGeneration":1e30}"#), (State::Processed, None));
}

#[test]
fn a_condition_that_saw_the_generation_counts_as_seen() {
    let conditions = r#""conditions":[{"type":"Released","status":"True","observedGeneration":1},
        {"type":"Ready","status":"True","observedGeneration":3}]"#;
    assert_eq!(state(&format!("{{{conditions}}}")), (State::Processed, None));
    let behind = format!(r#"{{"observedGeneration":2,{conditions}}}"#);
    assert_eq!(state(&behind), (State::InProgress, Some(Reason::Working)));
    let all_behind = r#"{"conditions":[{"type":"Ready","status":"True","observedGeneration":2}]}"#;
    assert_eq!(state(all_behind), (State::Pending, Some(Reason::ChangeNotProcessed)));
}

#[test]
fn conditions_tell_how_it_went() {
    let with = |condition: &str| state(&format!(r#"{{"observedGeneration":3,"conditions":[{condition}]}}"#));
    assert_eq!(with(r#"{"type":"Stalled","status":"True"}"#), (State::Failing, Some(Reason::ReportsFailure)));
    assert_eq!(
        with(r#"{"type":"Ready","status":"False","reason":"ReconcileFailed"}"#),
        (State::Failing, Some(Reason::ReportsFailure))
    );
    assert_eq!(
        with(r#"{"type":"Ready","status":"False","reason":"Waiting"}"#),
        (State::InProgress, Some(Reason::Working))
    );
    assert_eq!(with(r#"{"type":"Ready","status":"Unknown"}"#), (State::InProgress, Some(Reason::Working)));
    assert_eq!(with(r#"{"type":"Reconciling","status":"True"}"#), (State::InProgress, Some(Reason::Working)));
    assert_eq!(with(r#"{"type":"Degraded","status":"False"}"#), (State::Processed, None));
    // A condition of an older generation speaks of an older desired state.
    assert_eq!(with(r#"{"type":"Stalled","status":"True","observedGeneration":2}"#), (State::Processed, None));
}

#[test]
fn work_without_movement_is_pending_after_its_deadline() {
    let working = |time: &str| {
        judge(&format!(
            r#"{{"metadata":{{"generation":1,"creationTimestamp":"2026-03-01T09:00:00Z"}},"status":{{"observedGeneration":1,
            "conditions":[{{"type":"Ready","status":"False","lastTransitionTime":"{time}"}}]}}}}"#
        ))
    };
    assert_eq!(working("2026-03-01T11:45:00Z").state, State::InProgress);
    let stopped = working("2026-03-01T11:44:59Z");
    assert_eq!((stopped.state, stopped.reason), (State::Pending, Some(Reason::ProgressStopped)));
    assert_eq!(stopped.since.map(|since| since.at), parse_time("2026-03-01T11:59:59Z"));
    assert_eq!(stopped.since.map(|since| since.from), Some(SinceFrom::Deadline));
}

#[test]
fn a_final_failure_has_no_deadline() {
    let json = r#"{"metadata":{"generation":1},"status":{"observedGeneration":1,
        "conditions":[{"type":"Stalled","status":"True","lastTransitionTime":"2020-01-01T00:00:00Z"}]}}"#;
    assert_eq!(judge(json).state, State::Failing);
}

#[test]
fn without_any_status_the_answer_depends_on_the_other_objects() {
    for status in ["null", "{}"] {
        let judgement = judge(&object(1, status));
        assert_eq!((judgement.state, judgement.conditional), (State::Pending, true), "{status}");
        assert_eq!(judgement.since.map(|since| since.from), Some(SinceFrom::Creation));
        let unknown = judgement.clone().resolved(false);
        assert_eq!((unknown.state, unknown.reason), (State::Unknown, Some(Reason::NoSignal)));
        assert_eq!(judgement.resolved(true).state, State::Pending);
    }
}

#[test]
fn a_status_without_numbers_counts_only_if_it_was_written_for_this_spec() {
    assert_eq!(state(r#"{"phase":"Running"}"#), (State::Processed, None));
    let older = object(3, r#"{"phase":"Running"}"#).replace("11:50", "11:29");
    assert_eq!(judge(&older).state, State::Unknown);
    // At generation 1 a condition that is younger than the object is enough; the CRD's default is not.
    let first = |time: &str| {
        judge(&format!(
            r#"{{"metadata":{{"generation":1,"creationTimestamp":"2026-03-01T11:00:00Z"}},
            "status":{{"conditions":[{{"type":"Ready","status":"True","lastTransitionTime":"{time}"}}]}}}}"#
        ))
        .state
    };
    assert_eq!(first("2026-03-01T11:00:00Z"), State::Processed);
    assert_eq!(first("1970-01-01T00:00:00Z"), State::Unknown);
}

#[test]
fn since_is_the_last_write_of_the_spec_by_somebody_else() {
    let since = |json: &str| judge(json).since.map(|since| since.at);
    let changed = judge(&object(3, r#"{"observedGeneration":2}"#));
    assert_eq!(
        changed.since.map(|since| (Some(since.at), since.from)),
        Some((parse_time("2026-03-01T11:30:00Z"), SinceFrom::ManagedFields))
    );
    let both = object(3, r#"{"observedGeneration":2}"#).replace(
        r#"{"manager":"kubectl""#,
        r#"{"manager":"operator","time":"2026-03-01T11:40:00Z","fieldsV1":{"f:spec":{}}},{"manager":"kubectl""#,
    );
    assert_eq!(since(&both), parse_time("2026-03-01T11:30:00Z"), "the operator's own write is no desire");
    let own = object(3, r#"{"observedGeneration":2}"#).replace("kubectl", "operator");
    assert_eq!(since(&own), parse_time("2026-03-01T11:30:00Z"), "unless nobody else writes the spec");
    let hidden =
        r#"{"metadata":{"generation":2,"creationTimestamp":"2026-03-01T11:00:00Z"},"status":{"observedGeneration":1}}"#;
    assert_eq!(judge(hidden).since, None, "without managedFields nobody knows when");
}

#[test]
fn pauses_are_seen_before_anything_is_pending() {
    for field in ["suspend", "suspended", "paused", "pause"] {
        let json = format!(
            r#"{{"metadata":{{"generation":2}},"spec":{{"{field}":true}},"status":{{"observedGeneration":1}}}}"#
        );
        assert_eq!(judge(&json).state, State::Paused, "{field}");
        assert_eq!(judge(&json.replace("true", "false")).state, State::Pending, "{field}");
    }
    let annotated = r#"{"metadata":{"generation":2,"annotations":{"cluster.x-k8s.io/paused":""}},"status":{"observedGeneration":1}}"#;
    assert_eq!(judge(annotated).state, State::Paused);
}

#[test]
fn the_token_moves_with_what_was_observed_and_with_nothing_else() {
    let token = |generation, status: &str| judge(&object(generation, status)).token;
    assert_eq!(token(3, r#"{"observedGeneration":2}"#), token(4, r#"{"observedGeneration":2,"phase":"x"}"#));
    assert_ne!(token(3, r#"{"observedGeneration":2}"#), token(3, r#"{"observedGeneration":3}"#));
    let condition =
        r#"{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True","observedGeneration":3}]}"#;
    assert_ne!(token(3, r#"{"observedGeneration":2}"#), token(3, condition));
}

#[test]
fn without_a_generation_nothing_can_be_said() {
    for generation in ["", r#""generation":0"#, r#""generation":null"#] {
        let json = format!(r#"{{"metadata":{{{generation}}},"status":{{"observedGeneration":1}}}}"#);
        assert_eq!(judge(&json).state, State::Unknown);
    }
}

#[test]
fn without_the_status_subresource_the_number_means_nothing() {
    let rule = Generation::default().without_status_subresource();
    let reader = Reader::new(Rule::Generation(rule), Vec::new());
    let now = parse_time("2026-03-01T12:00:00Z").expect("a time");
    for observed in [2, 3] {
        let json = object(3, &format!(r#"{{"observedGeneration":{observed}}}"#));
        let judgement = reader.judge(json.as_bytes(), now, |_, judgement| judgement);
        assert_eq!((judgement.state, judgement.reason), (State::Unknown, Some(Reason::NoSignal)));
    }
}

#[test]
fn a_number_that_a_default_wrote_is_no_acknowledgement() {
    let token = |status: &str| judge(&object(3, status)).token;
    assert_eq!([r#"{"phase":"x"}"#, r#"{"observedGeneration":0}"#, r#"{"observedGeneration":-1}"#].map(token), [0; 3]);
    assert_ne!(token(r#"{"observedGeneration":1}"#), 0);
    assert_ne!(token(r#"{"observedGeneration":1}"#), token(r#"{"observedGeneration":2}"#));
}

#[test]
fn an_object_that_is_behind_tells_when_its_status_was_written_and_what_that_may_mean() {
    let behind =
        |condition: &str| judge(&object(3, &format!(r#"{{"observedGeneration":2,"conditions":[{condition}]}}"#)));
    let working = behind(r#"{"type":"Ready","status":"Unknown"}"#);
    let write = working.status_write.unwrap();
    assert_eq!((Some(write.at), write.reports_failure), (parse_time("2026-03-01T11:50:00Z"), false));
    assert_eq!(write.attempt, std::time::Duration::from_mins(15));
    assert!(working.message.contains("at the end of long work only"), "{}", working.message);
    let failed = behind(r#"{"type":"Ready","status":"False","reason":"Failed"}"#);
    assert!(failed.status_write.unwrap().reports_failure);
    assert!(failed.message.contains("on success only"), "{}", failed.message);
    let of_an_older_state = behind(r#"{"type":"Stalled","status":"True","observedGeneration":2}"#);
    assert!(!of_an_older_state.status_write.unwrap().reports_failure);
    assert_eq!([&working, &failed].map(|it| it.state), [State::Pending; 2], "one look proves nothing");

    let before = judge(&object(3, r#"{"observedGeneration":2}"#).replace("11:50:00Z", "11:30:00Z"));
    assert_eq!(before.message, "generation 3, observed 2", "within one second nobody can tell");
    let acknowledged = judge(&object(3, r#"{"observedGeneration":3}"#));
    assert_eq!((acknowledged.status_write, acknowledged.shows_change), (None, true));
    assert!(!judge(&object(3, r#"{"observedGeneration":1}"#)).shows_change);
}
