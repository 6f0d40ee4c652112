use std::cell::RefCell;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::*;
use crate::view::example::{
    DATABASES, a_headline, a_healthy_explanation, a_quiet_view, a_restarting_view, a_view, an_explanation, an_operator,
    at, some_connections, tick,
};
use crate::view::{Connections, Decision, Diagnosis, Given, Hold, OwnCheck, Transition, View};

/// Five seconds after the views of the examples were made.
fn soon() -> Duration {
    at("07:06:35").elapsed
}

/// More than three periods after.
fn late() -> Duration {
    at("07:07:01").elapsed
}

struct Got {
    status: StatusCode,
    headers: axum::http::HeaderMap,
    body: String,
}

impl Got {
    fn first_line(&self) -> &str {
        self.body.lines().next().unwrap_or_default()
    }

    fn has(&self, line: &str) -> bool {
        self.body.lines().any(|it| it == line)
    }
}

async fn ask(router: &Router, method: &str, path: &str, agent: &str) -> Got {
    let request = Request::builder().method(method).uri(path).header("User-Agent", agent);
    let response: Response<Body> = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Got { status: head.status, headers: head.headers, body: String::from_utf8(body.to_vec()).unwrap() }
}

async fn get_at(view: View, path: &str, elapsed: fn() -> Duration) -> Got {
    ask(&router(Board::new(view), elapsed), "GET", path, "curl/8").await
}

async fn get(view: View, path: &str) -> Got {
    get_at(view, path, soon).await
}

fn a_failed_check() -> OwnCheck {
    OwnCheck { failed: Some(at("07:05:00").wall), in_a_row: 3, problem: Some("HTTP 503".to_owned()), failures: 3 }
}

#[tokio::test]
async fn a_quiet_operator_is_200_and_says_what_was_decided() {
    let got = get(a_quiet_view(), "/healthz").await;
    assert_eq!(got.status, StatusCode::OK);
    assert_eq!(got.body, "ok watching: since 2026-03-04T07:06Z; everything was seen once\n");
    assert_eq!(got.headers["content-type"], "text/plain; charset=utf-8");
    assert_eq!(got.headers["dogwatch"], env!("CARGO_PKG_VERSION"));
}

#[tokio::test]
async fn a_requested_restart_is_500_with_the_line_of_the_decision() {
    let got = get(a_restarting_view(), "/healthz").await;
    assert_eq!(got.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(
        got.body,
        "asleep databases.db.example.com since 2026-03-04T07:06Z: 3 overdue, last ack 06:58Z, oldest prod/orders-7\n"
    );
}

#[tokio::test]
async fn the_first_line_stays_while_everything_but_the_decision_changes() {
    let board = Board::new(a_restarting_view());
    let router = router(Arc::clone(&board), soon);
    let before = ask(&router, "GET", "/healthz", "kube-probe/1.36").await;
    let mut next = a_restarting_view();
    next.made = at("07:06:34");
    let stream = &mut next.operators[0].streams[0];
    stream.explanation.overdue = 17;
    stream.explanation.last_ack = None;
    stream.explanation.diagnosis = Diagnosis::Unknown;
    board.publish(next);
    let after = ask(&router, "GET", "/healthz", "kube-probe/1.36").await;
    assert_eq!(before.first_line(), after.first_line());
    let verbose = ask(&router, "GET", "/healthz?verbose", "kube-probe/1.36").await;
    assert_eq!(before.first_line(), verbose.first_line());
}

#[tokio::test]
async fn every_other_decision_is_200() {
    for decision in Decision::ALL.iter().filter(|decision| **decision != Decision::Restarting) {
        let about = an_explanation(DATABASES, Diagnosis::Asleep);
        let headline = a_headline(*decision, Some(Transition::Suspect), Some(about.clone()));
        let got = get(a_view(an_operator(&headline, vec![about])), "/healthz").await;
        assert_eq!(got.status, StatusCode::OK, "{decision}");
        assert!(got.body.starts_with(&format!("ok {decision}: asleep {DATABASES} since ")), "{}", got.body);
    }
}

#[tokio::test]
async fn before_anything_is_known_healthz_is_200_and_readyz_is_not_ready() {
    let view = View::starting(at("07:06:30"), Duration::from_secs(10));
    let got = get(view.clone(), "/healthz").await;
    assert_eq!(
        (got.status, &*got.body),
        (StatusCode::OK, "ok starting: since 2026-03-04T07:06Z; not everything was seen yet\n")
    );
    assert_eq!(get(view.clone(), "/livez").await.status, StatusCode::OK);
    let ready = get(view, "/readyz").await;
    assert_eq!(ready.status, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn a_configuration_that_cannot_be_used_is_named_by_readyz_only() {
    let mut view = View::starting(at("07:06:30"), Duration::from_secs(10));
    view.config.problem = Some("config.yaml:3:5: unknown key `resorces`\nand more".to_owned());
    let ready = get(view.clone(), "/readyz").await;
    assert_eq!(ready.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(ready.body, "failed: config: config.yaml:3:5: unknown key `resorces` and more\n");
    let got = get(view, "/healthz").await;
    assert_eq!(got.status, StatusCode::OK);
}

#[tokio::test]
async fn a_bad_reload_leaves_what_is_in_force_ready() {
    let mut view = a_quiet_view();
    view.config.problem = Some("config.yaml:3:5: unknown key".to_owned());
    assert_eq!(get(view, "/readyz").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_view_older_than_three_periods_is_blind_and_not_alive() {
    let boundary = || at("07:07:00").elapsed;
    assert_eq!(get_at(a_restarting_view(), "/healthz", boundary).await.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(get_at(a_restarting_view(), "/livez", boundary).await.status, StatusCode::OK);

    let mut view = a_restarting_view();
    view.operators[0].own_check = Some(a_failed_check());
    let got = get_at(view, "/healthz", late).await;
    assert_eq!(got.status, StatusCode::OK);
    assert_eq!(
        got.body,
        "ok blind: since 2026-03-04T07:07:00Z; the loop of dogwatch has said nothing since 07:06:30Z\n"
    );
    let live = get_at(a_restarting_view(), "/livez", late).await;
    assert_eq!(live.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(live.body, "failed: loop: nothing since 2026-03-04T07:06:30Z\n");
    let much_later = get_at(a_restarting_view(), "/healthz", || at("09:00:00").elapsed).await;
    assert_eq!(much_later.body, got.body, "the line of a stale view does not move either");
}

#[tokio::test]
async fn a_stale_view_says_blind_and_unknown_everywhere() {
    let status: serde_json::Value =
        serde_json::from_str(&get_at(a_restarting_view(), "/status", late).await.body).unwrap();
    assert_eq!(status["stale"], true);
    let operator = &status["operators"][0];
    assert_eq!((&operator["decision"], &operator["failing"]), (&"blind".into(), &false.into()));
    assert!(operator["line"].as_str().unwrap().starts_with("ok blind: "));
    assert_eq!(operator["streams"][0]["diagnosis"], "unknown");
    let verbose = get_at(a_restarting_view(), "/healthz?verbose", late).await;
    assert!(verbose.has("note: what follows was known at 2026-03-04T07:06:30Z"));
}

#[tokio::test]
async fn an_ended_task_fails_livez_alone_and_by_name() {
    let mut view = a_quiet_view();
    view.tasks[1].ended = Some("panicked".to_owned());
    let live = get(view.clone(), "/livez").await;
    assert_eq!((live.status, &*live.body), (StatusCode::INTERNAL_SERVER_ERROR, "failed: task/pod: panicked\n"));
    assert_eq!(get(view.clone(), "/livez/task/lists").await.status, StatusCode::OK);
    assert_eq!(get(view.clone(), "/livez/task/pod").await.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(get(view.clone(), "/livez?exclude=task/pod").await.status, StatusCode::OK);
    assert_eq!(get(view, "/healthz").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_resource_without_a_list_is_not_ready_unless_the_reason_is_documented() {
    let mut view = a_quiet_view();
    let list = &mut view.operators[0].streams[0].list;
    list.is_ready = false;
    list.problem = Some("forbidden: may not list databases".to_owned());
    let ready = get(view.clone(), "/readyz").await;
    assert_eq!(ready.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(
        ready.body,
        format!("failed: list/{DATABASES}: no complete list yet: forbidden: may not list databases\n")
    );
    view.operators[0].streams[0].list.is_ready = true;
    assert_eq!(get(view, "/readyz").await.status, StatusCode::OK);
}

#[tokio::test]
async fn the_operators_own_check_fails_healthz_under_its_own_name() {
    let mut view = a_quiet_view();
    view.operators[0].own_check = Some(OwnCheck { failed: None, ..a_failed_check() });
    assert_eq!(get(view.clone(), "/healthz").await.status, StatusCode::OK);
    view.operators[0].own_check = Some(a_failed_check());
    let got = get(view.clone(), "/healthz").await;
    assert_eq!(got.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(got.body, "operator's own check failed since 2026-03-04T07:05Z: HTTP 503\n");
    assert_eq!(get(view.clone(), "/healthz?exclude=operator").await.status, StatusCode::OK);
    assert_eq!(get(view.clone(), "/healthz/operator").await.status, StatusCode::INTERNAL_SERVER_ERROR);
    let stream = get(view, &format!("/healthz/stream/{DATABASES}")).await;
    assert_eq!((stream.status, &*stream.body), (StatusCode::OK, "ok\n"));
}

#[tokio::test]
async fn verbose_lists_checks_holds_evidence_and_what_is_next() {
    let mut view = a_restarting_view();
    let operator = &mut view.operators[0];
    operator.verdict.holds = vec![Hold::Paused];
    operator.verdict.changes_at = Some(at("07:06:50").elapsed);
    operator.streams[1].explanation.holds = vec![Hold::Paused, Hold::ListNotFresh];
    operator.streams[0].evidence.silent_connection = true;
    operator.connections = some_connections();
    let got = get(view, "/healthz?verbose").await;
    for line in [
        "[-]stream/databases.db.example.com failed: asleep databases.db.example.com since 2026-03-04T07:06Z: \
         3 overdue, last ack 06:58Z, oldest prod/orders-7",
        "[+]stream/backups.db.example.com ok",
        "[+]hold/gate-closed ok",
        "[+]hold/paused holding: the operator is paused by its peering",
        "[+]hold/list-not-fresh holding: the newest complete list is older than three intervals, or there is none \
         (backups.db.example.com)",
        "evidence/databases.db.example.com: silent-connection",
        "evidence/backups.db.example.com: none",
        "connections: 2 to the API server, last byte received 2026-03-04T07:05:30Z",
        "connection 10.0.0.7:40002 to 10.96.0.1:443: path-dead; 0 bytes not read, 120 not acknowledged, sent again 6 times",
        "next: recovering, once the kubelet has acted or was told often enough; looked at again at \
         2026-03-04T07:06:50Z at the latest",
        "healthz check failed",
    ] {
        assert!(got.has(line), "{line}\nis not in\n{}", got.body);
    }
    let mut blind = a_quiet_view();
    blind.operators[0].connections = Connections::unavailable("denied");
    let got = get(blind, "/healthz?verbose").await;
    assert!(got.has("connections: unavailable: denied"), "never none: {}", got.body);
}

#[tokio::test]
async fn verbose_lists_every_hold() {
    let got = get(a_restarting_view(), "/healthz?verbose").await;
    let holds = got.body.lines().filter(|line| line.starts_with("[+]hold/")).count();
    assert_eq!(holds, Hold::ALL.len());
}

#[tokio::test]
async fn an_excluded_restart_is_200_and_says_so() {
    let got = get(a_restarting_view(), &format!("/healthz?verbose&exclude=stream/{DATABASES}&exclude=nothing")).await;
    assert_eq!(got.status, StatusCode::OK);
    assert!(got.body.starts_with("ok restarting: excluded here; asleep databases"), "{}", got.body);
    assert!(got.has(&format!("[+]stream/{DATABASES} excluded: ok")));
    assert!(got.has("warn: cannot exclude what is no check: nothing"));
    assert!(got.has("healthz check passed"));
}

#[tokio::test]
async fn a_restart_of_a_stream_that_is_no_longer_configured_still_fails() {
    let mut view = a_restarting_view();
    view.operators[0].streams.remove(0);
    assert_eq!(get(view, "/healthz").await.status, StatusCode::INTERNAL_SERVER_ERROR);
}

#[tokio::test]
async fn a_check_that_is_none_is_404_with_those_that_are() {
    let got = get(a_quiet_view(), "/healthz/stream/nothing").await;
    assert_eq!(got.status, StatusCode::NOT_FOUND);
    assert!(got.has(&format!("stream/{DATABASES}")), "{}", got.body);
}

#[tokio::test]
async fn an_unknown_path_is_404_with_the_paths_there_are() {
    for path in ["/", "/nothing", "/healthzz", "/metrics/"] {
        let got = get(a_quiet_view(), path).await;
        assert_eq!(got.status, StatusCode::NOT_FOUND, "{path}");
        for known in ["/healthz", "/livez", "/readyz", "/metrics", "/status"] {
            assert!(got.body.contains(known), "{path}: {known}");
        }
    }
}

#[tokio::test]
async fn head_has_the_status_and_no_body_and_nothing_can_be_posted() {
    let router = router(Board::new(a_restarting_view()), soon);
    for (path, status) in [("/healthz", 500), ("/livez", 200), ("/readyz", 200), ("/metrics", 200), ("/status", 200)] {
        let got = ask(&router, "HEAD", path, "curl/8").await;
        assert_eq!((got.status.as_u16(), &*got.body), (status, ""), "{path}");
        assert_eq!(ask(&router, "POST", path, "curl/8").await.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
    }
}

#[tokio::test]
async fn five_hundreds_are_counted_for_probes_and_for_a_restart_only() {
    let board = Board::new(a_restarting_view());
    let router = router(Arc::clone(&board), soon);
    let since = tick("07:06:10");
    let given = || board.probes().given;
    ask(&router, "GET", "/healthz", "curl/8").await;
    ask(&router, "GET", "/readyz", "kube-probe/1.36").await;
    assert_eq!(given(), None);
    ask(&router, "GET", "/healthz", "kube-probe/1.36").await;
    ask(&router, "GET", "/healthz", "dogwatch-probe/0.1.0").await;
    assert_eq!(given(), Some(Given { since, in_a_row: 2 }));
    assert_eq!(board.probes().last_healthz(), Some(tick("07:06:35")));
    ask(&router, "GET", &format!("/healthz?exclude=stream/{DATABASES}"), "kube-probe/1.36").await;
    assert_eq!(given(), None, "the kubelet was told that all is well");

    let mut view = a_quiet_view();
    view.operators[0].own_check = Some(a_failed_check());
    board.publish(view);
    ask(&router, "GET", "/healthz", "kube-probe/1.36").await;
    assert_eq!(given(), None, "a failed check of the operator's own is no restart of ours");
}

#[tokio::test]
async fn with_several_operators_the_worst_is_heard_first_and_names_tell_them_apart() {
    let mut view = a_restarting_view();
    let headline = a_headline(Decision::Watching, Some(Transition::Begin), None);
    let quiet = an_operator(&headline, vec![a_healthy_explanation(DATABASES)]);
    view.operators.insert(0, crate::view::Operator { name: "quiet".to_owned(), ..quiet });
    let got = get(view, "/healthz?verbose").await;
    assert!(got.first_line().starts_with("asleep "));
    assert!(got.has(&format!("[+]stream/quiet/{DATABASES} ok")), "{}", got.body);
    assert!(got.body.contains(&format!("[-]stream/orders-operator/{DATABASES} failed: ")));
}

#[tokio::test]
async fn metrics_have_prometheus_content_type() {
    let got = get(a_quiet_view(), "/metrics").await;
    assert_eq!(got.status, StatusCode::OK);
    assert_eq!(got.headers["content-type"], "text/plain; version=0.0.4");
    assert!(got.body.contains("\ndogwatch_decision{operator=\"orders-operator\",decision=\"watching\"} 1\n"));
}

#[tokio::test]
async fn status_has_the_fields_of_the_contract() {
    let mut view = a_restarting_view();
    view.operators[0].connections = some_connections();
    let board = Board::new(view);
    let router = router(Arc::clone(&board), soon);
    ask(&router, "GET", "/healthz", "kube-probe/1.36").await;
    let got = ask(&router, "GET", "/status", "curl/8").await;
    assert_eq!(got.headers["content-type"], "application/json");
    insta::assert_snapshot!(got.body.replace(env!("CARGO_PKG_VERSION"), "[version]"));
}

#[test]
fn ipv6_off_means_ipv4_and_a_taken_port_means_taken() {
    let any: SocketAddr = "[::]:11850".parse().unwrap();
    let attempt = |listen: SocketAddr, kind: io::ErrorKind| {
        let tried = RefCell::new(Vec::new());
        let result = bind_or_fall_back(listen, |address| {
            tried.borrow_mut().push(address.to_string());
            if address.is_ipv6() || kind == io::ErrorKind::AddrInUse { Err(io::Error::from(kind)) } else { Ok(()) }
        });
        (tried.into_inner().join(" "), result.map(|((), address)| address.to_string()).map_err(|it| it.to_string()))
    };
    let off = attempt(any, io::ErrorKind::AddrNotAvailable);
    assert_eq!(off, ("[::]:11850 0.0.0.0:11850".to_owned(), Ok("0.0.0.0:11850".to_owned())));
    let (tried, taken) = attempt(any, io::ErrorKind::AddrInUse);
    assert_eq!(tried, "[::]:11850");
    assert!(taken.unwrap_err().contains("cannot listen on [::]:11850"));
    let (tried, local) = attempt("[::1]:11850".parse().unwrap(), io::ErrorKind::AddrNotAvailable);
    assert_eq!(tried, "[::1]:11850", "an address that was chosen is not replaced by all addresses");
    assert!(local.is_err());
}

/// One plain request over a socket, and everything that comes back.
async fn raw(address: SocketAddr, request: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn the_listener_answers_on_its_own_thread_until_it_is_told_to_stop() {
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.address();
    let mut view = a_quiet_view();
    view.made.elapsed = clock::elapsed();
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async {
        let _ = stopped.await;
    };
    let server = listener.serve(Board::new(view), shutdown).unwrap();
    // A client that says nothing must not keep others waiting, nor the shutdown.
    let _mute = tokio::net::TcpStream::connect(address).await.unwrap();
    // This thread is the test's only one: it waits without turning, and is answered all the same.
    let answer = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    })
    .join()
    .unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
    assert!(answer.ends_with("ok watching: since 2026-03-04T07:06Z; everything was seen once\n"), "{answer}");
    let garbage = raw(address, "\x16\x03\x01 no request\r\n\r\n").await;
    assert!(garbage.starts_with("HTTP/1.1 400 "), "{garbage}");
    stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(5), server.ended()).await.expect("ended");
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "the port is closed");
}

#[tokio::test]
async fn clients_that_say_nothing_cannot_keep_a_probe_waiting() {
    use tokio::io::AsyncReadExt;
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.address();
    listener.serve(Board::new(a_quiet_view()), std::future::pending()).unwrap();
    let mut mute = Vec::new();
    for _ in 0..300 {
        mute.push(tokio::net::TcpStream::connect(address).await.unwrap());
    }
    let answer = tokio::time::timeout(Duration::from_secs(5), raw(address, "GET /healthz HTTP/1.0\r\n\r\n")).await;
    assert!(answer.expect("in time").starts_with("HTTP/1.0 200 OK\r\n"));
    let oldest = tokio::time::timeout(Duration::from_secs(5), mute[0].read(&mut [0; 8])).await;
    assert!(!matches!(oldest.expect("closed, long before its time is over"), Ok(1..)));
}

#[test]
fn a_port_that_is_taken_is_an_error_with_its_address() {
    let first = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let error = Listener::bind(first.address()).unwrap_err();
    assert!(matches!(&error, Error::Bind { address, .. } if *address == first.address()));
}
