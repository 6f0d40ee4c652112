//! A watch reader against scripted answers.

use std::time::Duration;

use super::super::script::{Reply, client};
use super::*;

fn pods() -> Resource {
    Resource {
        group: String::new(),
        version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        plural: "pods".to_owned(),
        singular: "pod".to_owned(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        verbs: Vec::new(),
        has_status: true,
    }
}

async fn watched(reply: Reply) -> (Vec<String>, Watched, Vec<String>) {
    let (client, asked) = client([reply]).await;
    let resource = pods();
    let query = Query {
        resource: &resource,
        namespace: Some("prod"),
        name: Some("web-0"),
        labels: None,
        from: "7",
        lasts: Duration::from_mins(5),
        idle_after: Duration::from_secs(90),
        max_object_bytes: 2000,
    };
    let mut seen = Vec::new();
    let watched = watch(&client, &query, &mut |event| {
        seen.push(match event {
            Event::Added(json) => format!("added {}", String::from_utf8_lossy(json)),
            Event::Modified(json) => format!("modified {}", String::from_utf8_lossy(json)),
            Event::Deleted(json) => format!("deleted {}", String::from_utf8_lossy(json)),
            Event::Bookmark => "bookmark".to_owned(),
            Event::TooLarge => "too large".to_owned(),
            Event::Failed => "failed".to_owned(),
            Event::Begun => return,
        });
    })
    .await;
    (seen, watched, asked.targets())
}

fn event(kind: &str, version: &str) -> String {
    format!(r#"{{"type":"{kind}","object":{{"metadata":{{"resourceVersion":"{version}"}}}}}}"#) + "\n"
}

#[tokio::test(start_paused = true)]
async fn events_are_handed_out_and_the_newest_version_is_remembered() {
    let body = event("ADDED", "8") + &event("MODIFIED", "9") + "\n" + &event("BOOKMARK", "12");
    let (seen, watched, asked) = watched(Reply::ok(body)).await;
    assert_eq!(
        seen,
        [
            r#"added {"metadata":{"resourceVersion":"8"}}"#,
            r#"modified {"metadata":{"resourceVersion":"9"}}"#,
            "bookmark"
        ]
    );
    assert!(matches!(watched.end, Ok(End::Closed)));
    assert_eq!(watched.version.as_deref(), Some("12"));
    assert!(asked[0].starts_with("/api/v1/namespaces/prod/pods?"), "{asked:?}");
    for part in ["watch=true", "fieldSelector=metadata.name%3Dweb-0", "resourceVersion=7", "allowWatchBookmarks=true"] {
        assert!(asked[0].contains(part), "{part} in {asked:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_ends() {
    let (seen, watched, _) = watched(Reply::ok(event("DELETED", "8")).then_hangs()).await;
    assert_eq!(seen.len(), 1);
    assert!(matches!(watched.end, Ok(End::Idle)));
}

#[tokio::test(start_paused = true)]
async fn headers_that_never_come_are_a_timeout() {
    let begun = tokio::time::Instant::now();
    let (_, watched, _) = watched(Reply::never()).await;
    assert!(matches!(watched.end, Err(request::Error::Timeout { .. })), "{watched:?}");
    assert_eq!(begun.elapsed(), Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn too_old_a_version_is_expired_whether_by_code_or_by_event() {
    let by_event = r#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}}"#;
    for reply in [Reply::ok(by_event.to_owned() + "\n"), Reply::status(410, "Expired", "too old")] {
        let (_, watched, _) = watched(reply).await;
        assert!(matches!(watched.end, Err(request::Error::Expired { .. })), "{watched:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_beyond_the_limit_is_reported_and_the_next_one_is_read() {
    let large = format!(r#"{{"type":"ADDED","object":{{"data":"{}"}}}}"#, "x".repeat(5000));
    let (seen, watched, _) = watched(Reply::ok(large + "\n" + &event("MODIFIED", "9"))).await;
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0], "too large");
    assert!(matches!(watched.end, Ok(End::Closed)));
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_an_error() {
    let (seen, watched, _) = watched(Reply::ok(event("ADDED", "8")).then_breaks()).await;
    assert_eq!(seen.len(), 1);
    assert!(matches!(watched.end, Err(request::Error::Lost { .. })), "{watched:?}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_accepted_says_so_before_anything_comes() {
    let (client, _) = client([Reply::ok("").then_hangs()]).await;
    let resource = pods();
    let query = Query {
        resource: &resource,
        namespace: None,
        name: None,
        labels: None,
        from: "7",
        lasts: Duration::from_mins(5),
        idle_after: Duration::from_secs(90),
        max_object_bytes: 2000,
    };
    let mut seen = 0;
    let watched = watch(&client, &query, &mut |event| seen += usize::from(event == Event::Begun)).await;
    assert_eq!(seen, 1);
    assert!(matches!(watched.end, Ok(End::Idle)));
}

#[tokio::test(start_paused = true)]
async fn an_error_event_ends_the_watch_with_what_the_same_answer_would_mean() {
    let status = |fields: &str| format!(r#"{{"type":"ERROR","object":{{"kind":"Status",{fields}}}}}"#) + "\n";
    let ended = async |fields: &str| {
        let (seen, watched, _) = watched(Reply::ok(status(fields))).await;
        assert_eq!(seen, ["failed"]);
        watched.end.expect_err("it has failed")
    };
    assert!(matches!(ended(r#""code":403,"message":"no""#).await, request::Error::Forbidden { .. }));
    assert!(matches!(
        ended(r#""code":500,"reason":"InternalError""#).await,
        request::Error::Server { status: 500, .. }
    ));
    assert!(matches!(ended(r#""code":0"#).await, request::Error::Server { status: 500, .. }));
    let throttled = ended(r#""code":429,"message":"slow","details":{"retryAfterSeconds":7}"#).await;
    let wait = Some(Duration::from_secs(7));
    assert!(matches!(throttled, request::Error::Throttled { retry_after, .. } if retry_after == wait));
}
