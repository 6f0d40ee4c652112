use std::time::Duration;

use http::Request;
use http::header::{ACCEPT, USER_AGENT};
use jiff::SignedDuration;
use tokio::time::Instant;

use super::super::script::{Reply, TIMEOUT, client};
use super::{Answer, Error, Reason, ServerTime};

async fn asked_for(reply: Reply) -> Result<Answer, Error> {
    let (client, _) = client([reply]).await;
    client.send(Request::get("/version").body(Vec::new()).expect("a request"), client.deadline()).await
}

async fn refused_with(reply: Reply) -> Error {
    asked_for(reply).await.expect_err("this is no answer")
}

#[tokio::test]
async fn a_request_says_who_asks_and_what_it_understands() {
    let (client, asked) = client([Reply::ok("{}")]).await;
    let request = Request::get("/version").body(Vec::new()).expect("a request");
    let answer = client.send(request, client.deadline()).await.expect("an answer");
    assert_eq!(answer.body.collect(10).await.expect("a body"), b"{}");
    assert_eq!(asked.last_header(&USER_AGENT).as_deref(), Some(concat!("dogwatch/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(asked.last_header(&ACCEPT).as_deref(), Some("application/json"));
}

#[tokio::test]
async fn each_status_code_has_its_place_and_keeps_the_servers_words() {
    let status = |code| refused_with(Reply::status(code, "Why", "the server's words"));
    assert!(matches!(status(401).await, Error::Unauthorized { message } if message == "the server's words"));
    assert!(matches!(status(403).await, Error::Forbidden { message } if message == "the server's words"));
    assert!(matches!(status(404).await, Error::NotFound { .. }));
    assert!(matches!(status(410).await, Error::Expired { fresh: None, .. }));
    assert!(matches!(status(429).await, Error::Throttled { retry_after: None, .. }));
    for code in [400, 405, 406, 409, 422] {
        assert!(matches!(status(code).await, Error::Refused { status, .. } if status == code));
    }
    for code in [500, 503, 504] {
        assert!(matches!(status(code).await, Error::Server { status, .. } if status == code));
    }
}

#[tokio::test]
async fn a_wait_is_read_from_the_header_or_from_the_status() {
    let header = Reply::status(429, "TooManyRequests", "slow").header("retry-after", "7");
    let details = Reply::json(429, r#"{"kind":"Status","message":"slow","details":{"retryAfterSeconds":9}}"#);
    let date = Reply::status(429, "TooManyRequests", "slow").header("retry-after", "Wed, 04 Mar 2026 07:00:00 GMT");
    for (reply, seconds) in [(header, Some(7)), (details, Some(9)), (date, None)] {
        let Error::Throttled { retry_after, .. } = refused_with(reply).await else { panic!("429 is throttled") };
        assert_eq!(retry_after, seconds.map(Duration::from_secs));
    }
}

#[tokio::test]
async fn a_page_for_people_is_no_answer_of_an_api_server() {
    let login = |code| Reply::json(code, "<html>log in</html>").header("content-type", "text/html; charset=utf-8");
    for code in [200, 302, 401, 403, 404] {
        let error = refused_with(login(code)).await;
        assert!(matches!(error, Error::NotKubernetes { status, .. } if status == code), "{code}: {error}");
        assert_eq!(error.reason(), Reason::Decode);
        assert!(!error.to_string().contains("log in</html>"));
    }
    // A load balancer without an API server behind it.
    let error = refused_with(login(502)).await;
    assert!(matches!(&error, Error::Server { status: 502, message } if message == "Bad Gateway"), "{error}");
}

#[tokio::test]
async fn plain_text_of_an_api_server_is_understood() {
    let page = Reply::json(404, "404 page not found\n").header("content-type", "text/plain");
    assert!(matches!(refused_with(page).await, Error::NotFound { message } if message == "404 page not found"));
    assert!(asked_for(Reply::ok("{}").without_content_type()).await.is_ok());
}

#[tokio::test]
async fn what_a_server_says_cannot_move_the_cursor_or_fill_the_screen() {
    let error = refused_with(Reply::json(403, "{\"kind\":\"Status\",\"message\":\"a\\u001b[2J\\nb\"}")).await;
    assert_eq!(error.to_string(), "forbidden: a [2J b");
    let error = refused_with(Reply::status(403, "Forbidden", &"x".repeat(10_000))).await;
    assert!(error.to_string().len() < 600);
}

#[tokio::test(start_paused = true)]
async fn headers_that_never_come_end_at_the_deadline() {
    let begun = Instant::now();
    let error = refused_with(Reply::never()).await;
    assert!(matches!(error, Error::Timeout { after: TIMEOUT, .. }), "{error}");
    assert_eq!(begun.elapsed(), TIMEOUT);
    assert_eq!(error.reason(), Reason::Timeout);
    assert_eq!(
        error.to_string(),
        "no whole answer from the API server (in this process) within 30 s; see --request-timeout"
    );
}

#[tokio::test(start_paused = true)]
async fn an_error_whose_body_never_ends_is_still_that_error() {
    let begun = Instant::now();
    let error = refused_with(Reply::status(403, "Forbidden", "no").then_hangs()).await;
    assert!(matches!(error, Error::Forbidden { .. }), "{error}");
    assert_eq!(begun.elapsed(), TIMEOUT);
}

#[tokio::test(start_paused = true)]
async fn a_body_is_bound_by_the_deadline_of_its_request() {
    let begun = Instant::now();
    let mut answer = asked_for(Reply::ok("{").then_hangs()).await.expect("headers");
    assert_eq!(answer.body.chunk().await.expect("bytes").as_deref(), Some(b"{".as_slice()));
    tokio::time::advance(Duration::from_secs(20)).await;
    assert!(matches!(answer.body.chunk().await, Err(Error::Timeout { .. })));
    assert_eq!(begun.elapsed(), TIMEOUT);
}

#[tokio::test]
async fn a_small_answer_that_is_large_is_refused() {
    let answer = asked_for(Reply::ok("x".repeat(100))).await.expect("headers");
    assert!(matches!(answer.body.collect(99).await, Err(Error::TooLarge { limit: 99 })));
}

#[tokio::test]
async fn a_broken_connection_is_no_end() {
    let mut body = asked_for(Reply::ok("{}").then_breaks()).await.expect("headers").body;
    assert!(body.chunk().await.expect("bytes").is_some());
    assert!(matches!(body.chunk().await, Err(Error::Lost { .. })));
}

#[test]
fn the_skew_is_how_far_the_server_is_ahead() {
    let mut headers = http::HeaderMap::new();
    let wall = "2026-03-04T06:59:50Z".parse().expect("a time");
    assert_eq!(ServerTime::read(&headers, wall), None);
    headers.insert("date", "Wed, 04 Mar 2026 07:00:00 GMT".parse().expect("a value"));
    let read = ServerTime::read(&headers, wall).expect("a date");
    assert_eq!((read.date.to_string().as_str(), read.skew), ("2026-03-04T07:00:00Z", SignedDuration::from_secs(10)));
    headers.insert("date", "tomorrow".parse().expect("a value"));
    assert_eq!(ServerTime::read(&headers, wall), None);
}
