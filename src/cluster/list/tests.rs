use std::time::Duration;

use super::super::discover::Resource;
use super::super::script::{Asked, Reply, TIMEOUT, client};
use super::{Error, Listing, MAX_EMPTY_PAGES, Query, Reason, Seen, list};

fn widgets() -> Resource {
    Resource {
        group: "example.com".into(),
        version: "v1".into(),
        kind: "Widget".into(),
        plural: "widgets".into(),
        singular: "widget".into(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        verbs: vec!["list".into()],
        has_status: true,
    }
}

/// Lists against a script; what was handed out, as words.
async fn listed(
    replies: impl IntoIterator<Item = Reply>,
    adjust: impl FnOnce(&mut Query<'_>),
) -> (Vec<String>, Listing, Asked) {
    let (client, asked) = client(replies).await;
    let resource = widgets();
    let mut query = Query::new(&resource);
    adjust(&mut query);
    let mut seen = Vec::new();
    let listing = list(&client, &query, &mut |piece| {
        seen.push(match piece {
            Seen::Object(bytes) => {
                let object: serde_json::Value = serde_json::from_slice(bytes).expect("an object");
                object["metadata"]["name"].as_str().unwrap_or("?").to_owned()
            }
            Seen::TooLarge { bytes } => format!("too large {bytes}"),
            Seen::Page { remaining } => format!("page, {} to come", remaining.unwrap_or_default()),
            Seen::Restarted => "restarted".to_owned(),
        });
    })
    .await;
    (seen, listing, asked)
}

async fn listed_simply(replies: impl IntoIterator<Item = Reply>) -> (Vec<String>, Listing, Asked) {
    listed(replies, |_| {}).await
}

fn reason(listing: &Listing) -> Option<Reason> {
    listing.error.as_ref().map(Error::reason)
}

fn expired(fresh: &str) -> Reply {
    Reply::json(
        410,
        format!(r#"{{"kind":"Status","reason":"Expired","message":"too old","metadata":{{"continue":{fresh:?}}}}}"#),
    )
}

#[tokio::test(start_paused = true)]
async fn pages_are_read_with_the_same_limit_until_there_is_no_token() {
    let (seen, listing, asked) = listed_simply([
        Reply::page(&["a", "b"], "t/1+=").header("date", "Wed, 04 Mar 2026 07:00:00 GMT"),
        Reply::page(&["c"], "").header("date", "Wed, 04 Mar 2026 07:00:02 GMT"),
    ])
    .await;
    assert_eq!(seen, ["a", "b", "page, 7 to come", "c", "page, 7 to come"]);
    assert!(listing.is_complete(), "{:?}", listing.error);
    assert_eq!((listing.pages, listing.objects, listing.resumed), (2, 3, 0));
    assert_eq!(listing.resource_version.as_deref(), Some("42"));
    assert_eq!(listing.server.map(|server| server.date.to_string()).as_deref(), Some("2026-03-04T07:00:02Z"));
    assert_eq!(
        asked.targets(),
        ["/apis/example.com/v1/widgets?&limit=500", "/apis/example.com/v1/widgets?&limit=500&continue=t%2F1%2B%3D",]
    );
}

#[tokio::test(start_paused = true)]
async fn selectors_and_a_namespace_narrow_the_list() {
    let (_, listing, asked) = listed([Reply::page(&[], "")], |query| {
        query.namespace = Some("team-a");
        query.labels = Some("app in (x,y)");
        query.fields = Some("metadata.name=z");
        query.page_size = 20;
    })
    .await;
    assert!(listing.is_complete(), "{:?}", listing.error);
    assert_eq!(
        asked.targets(),
        [
            "/apis/example.com/v1/namespaces/team-a/widgets?&fieldSelector=metadata.name%3Dz&labelSelector=app+in+%28x%2Cy%29&limit=20"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_namespace_cannot_lead_to_another_path() {
    for namespace in ["a/b", "..", "a?x=y", "a%2Fb", ""] {
        let (_, listing, asked) = listed([Reply::page(&[], "")], |query| query.namespace = Some(namespace)).await;
        assert!(matches!(listing.error, Some(Error::Namespace { .. })), "{namespace}");
        assert!(asked.targets().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_first_page_is_named_by_its_reason() {
    for (code, why) in [
        (401, Reason::Other),
        (403, Reason::Forbidden),
        (404, Reason::NotFound),
        (410, Reason::Expired),
        (500, Reason::Other),
        (504, Reason::Timeout),
    ] {
        let (seen, listing, _) = listed_simply([Reply::status(code, "Reason", "message")]).await;
        assert_eq!((seen.len(), reason(&listing)), (0, Some(why)), "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_truncated_page_keeps_what_was_seen_and_is_incomplete() {
    let half = r#"{"apiVersion":"example.com/v1","items":[{"metadata":{"name":"b"}},{"meta"#;
    let (seen, listing, _) = listed_simply([Reply::page(&["a"], "t"), Reply::ok(half)]).await;
    assert_eq!(seen, ["a", "page, 7 to come", "b"]);
    assert_eq!((reason(&listing), listing.objects, listing.pages), (Some(Reason::Decode), 2, 2));
    assert!(!listing.is_complete());
}

#[tokio::test(start_paused = true)]
async fn what_is_no_list_of_the_resource_is_a_decode_error() {
    for body in [
        "",
        "<html>log in</html>",
        "nope",
        r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}"#,
        r#"{"apiVersion":"example.com/v1","kind":"Widget","items":[]}"#,
        r#"{"apiVersion":"v1","kind":"PodList","items":[],"metadata":{}}"#,
        r#"{"apiVersion":"meta.k8s.io/v1","kind":"Table","items":[],"metadata":{}}"#,
        r#"{"apiVersion":"v1","kind":"Status","message":"no"}"#,
        r#"{"items":[]}"#,
        r#"{"apiVersion":"example.com/v1","kind":"WidgetList","items":[],"metadata":{"continue":1}}"#,
        r#"{"apiVersion":"example.com/v1","kind":"WidgetList","items":[]}{"apiVersion":"example.com/v1","kind":"WidgetList","items":[]}"#,
    ] {
        let (_, listing, _) = listed_simply([Reply::ok(body)]).await;
        assert_eq!(reason(&listing), Some(Reason::Decode), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_login_page_is_a_decode_error_that_says_so() {
    let page = Reply::ok("<html>log in</html>").header("content-type", "text/html; charset=utf-8");
    let (_, listing, _) = listed_simply([page]).await;
    assert_eq!(reason(&listing), Some(Reason::Decode));
}

#[tokio::test(start_paused = true)]
async fn an_empty_list_may_be_written_as_null_and_a_list_may_have_a_kind_of_its_own() {
    for body in [
        r#"{"apiVersion":"example.com/v1","kind":"WidgetList","metadata":{},"items":null}"#,
        r#"{"apiVersion":"example.com/v1","kind":"WidgetList","metadata":{}}"#,
        r#"{"apiVersion":"example.com/v1","kind":"Herd","metadata":{"continue":null},"items":[]}"#,
    ] {
        let (_, listing, _) = listed_simply([Reply::ok(body)]).await;
        assert!(listing.is_complete(), "{body}: {:?}", listing.error);
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_token_goes_on_from_the_fresh_one_and_nothing_comes_twice() {
    let (seen, listing, asked) =
        listed_simply([Reply::page(&["a"], "old"), expired("fresh"), Reply::page(&["b"], "")]).await;
    assert_eq!(seen, ["a", "page, 7 to come", "b", "page, 7 to come"]);
    assert!(listing.is_complete());
    assert_eq!((listing.resumed, listing.objects, listing.pages), (1, 2, 2));
    assert!(asked.targets()[2].ends_with("continue=fresh"));
}

#[tokio::test(start_paused = true)]
async fn an_expired_token_without_a_fresh_one_begins_again_once_and_says_so() {
    let (seen, listing, asked) =
        listed_simply([Reply::page(&["a"], "old"), expired(""), Reply::page(&["a"], "old"), Reply::page(&["b"], "")])
            .await;
    assert_eq!(seen, ["a", "page, 7 to come", "restarted", "a", "page, 7 to come", "b", "page, 7 to come"]);
    assert!(listing.is_complete(), "{:?}", listing.error);
    assert_eq!((listing.objects, listing.pages), (2, 2));
    assert!(!asked.targets()[2].contains("continue"));

    let (_, listing, _) =
        listed_simply([Reply::page(&["a"], "1"), expired(""), Reply::page(&["a"], "2"), expired("")]).await;
    assert_eq!(reason(&listing), Some(Reason::Expired));
    assert_eq!(listing.objects, 1);
}

#[tokio::test(start_paused = true)]
async fn a_token_that_expires_at_once_again_ends_the_list() {
    let (seen, listing, _) =
        listed_simply([Reply::page(&["a"], "old"), expired("1"), expired("2"), Reply::page(&["b"], "")]).await;
    assert_eq!(seen, ["a", "page, 7 to come"]);
    assert_eq!(reason(&listing), Some(Reason::Expired));
}

#[tokio::test(start_paused = true)]
async fn the_same_token_for_ever_ends_the_list() {
    let (seen, listing, _) = listed_simply((0..10).map(|_| Reply::page(&["a"], "same"))).await;
    assert!(matches!(listing.error, Some(Error::TokenRepeated { page: 2, .. })), "{:?}", listing.error);
    assert_eq!((reason(&listing), seen.len()), (Some(Reason::Decode), 4));
    let circle = (0..10).map(|turn| Reply::page(&["a"], ["x", "y", "z"][turn % 3]));
    assert!(matches!(listed_simply(circle).await.1.error, Some(Error::TokenRepeated { page: 4, .. })));
}

#[tokio::test(start_paused = true)]
async fn empty_pages_without_end_end_the_list() {
    let (_, listing, asked) = listed_simply((0..2000).map(|turn| Reply::page(&[], &turn.to_string()))).await;
    assert!(matches!(listing.error, Some(Error::NeverEnds { .. })), "{:?}", listing.error);
    assert_eq!(asked.targets().len(), MAX_EMPTY_PAGES as usize);
    let (_, listing, _) = listed_simply([Reply::page(&[], "1"), Reply::page(&[], "2"), Reply::page(&["a"], "")]).await;
    assert!(listing.is_complete());
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_too_large_is_reported_and_the_rest_is_read() {
    let huge = "x".repeat(200);
    let (seen, listing, _) = listed([Reply::page(&["a", &huge, "b"], "")], |query| query.max_object_bytes = 150).await;
    assert_eq!(seen, ["a", "too large 224", "b", "page, 7 to come"]);
    assert!(listing.error.is_none());
    assert_eq!((listing.objects, listing.too_large), (3, 1));
    assert!(!listing.is_complete());
}

#[tokio::test(start_paused = true)]
async fn a_page_is_asked_for_again_when_the_api_server_asks_to_slow_down() {
    let slow = || Reply::status(429, "TooManyRequests", "slow down").header("retry-after", "2");
    let begun = tokio::time::Instant::now();
    let (seen, listing, asked) = listed_simply([slow(), slow(), Reply::page(&["a"], "")]).await;
    assert_eq!(seen, ["a", "page, 7 to come"]);
    assert!(listing.is_complete());
    assert_eq!((begun.elapsed().as_secs(), asked.targets().len()), (4, 3));
}

#[tokio::test(start_paused = true)]
async fn slowing_down_ends_at_the_deadline() {
    let begun = tokio::time::Instant::now();
    let slow = || Reply::status(429, "TooManyRequests", "slow down").header("retry-after", "20");
    let (_, listing, asked) = listed_simply([slow(), slow(), slow()]).await;
    assert_eq!(reason(&listing), Some(Reason::Other));
    assert_eq!(asked.targets().len(), 2);
    assert!(begun.elapsed() < TIMEOUT);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_hangs_ends_at_the_deadline_with_what_was_seen() {
    let begun = tokio::time::Instant::now();
    let half = r#"{"apiVersion":"example.com/v1","items":[{"metadata":{"name":"a"}},"#;
    let (seen, listing, _) = listed_simply([Reply::ok(half).then_hangs()]).await;
    assert_eq!((seen, reason(&listing)), (vec!["a".to_owned()], Some(Reason::Timeout)));
    assert!(begun.elapsed() >= TIMEOUT && begun.elapsed() < TIMEOUT + Duration::from_secs(1));
    assert_eq!(listing.bytes, half.len() as u64);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_is_no_end_of_the_list() {
    let whole = r#"{"apiVersion":"example.com/v1","items":[],"kind":"WidgetList"}"#;
    let (_, listing, _) = listed_simply([Reply::ok(whole).then_breaks()]).await;
    assert_eq!(reason(&listing), Some(Reason::Other));
}

#[tokio::test(start_paused = true)]
async fn a_resource_without_the_list_verb_is_named_and_not_asked_for() {
    let (client, asked) = client([]).await;
    let resource = Resource { verbs: vec!["create".into()], ..widgets() };
    let listing = list(&client, &Query::new(&resource), &mut |_| {}).await;
    assert!(matches!(&listing.error, Some(Error::NotListable { resource }) if resource == "widgets.example.com"));
    assert!(asked.targets().is_empty());
}
