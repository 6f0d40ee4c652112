use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

/// Short, so that a server that hangs does not hold up the tests.
const SHORT: Limits = Limits { request: Duration::from_millis(300), all: Duration::from_secs(2) };

const OK: &str = "HTTP/1.1 200 OK\r\nDogwatch: 0.1.0\r\nContent-Length: 25\r\n\r\nok watching: since 07:06Z";
const ASLEEP: &str = "HTTP/1.1 500 Internal Server Error\r\nDogwatch: 0.1.0\r\nTransfer-Encoding: chunked\r\n\r\n\
                      6\r\nasleep\r\n6\r\n a.b\n+\r\n0\r\n\r\n";

/// A server on loopback that gives every connection the same answer; `None`: it accepts and says nothing.
async fn a_server(answer: Option<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            if let Some(answer) = answer {
                let mut request = vec![0; 2048];
                let length = stream.read(&mut request).await.unwrap();
                let request = String::from_utf8_lossy(&request[..length]).to_lowercase();
                assert!(request.contains(concat!("user-agent: dogwatch-probe/", env!("CARGO_PKG_VERSION"))));
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
            kept.push(stream);
        }
    });
    address
}

/// A port at which nobody listens.
async fn nobody() -> String {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string()
}

async fn probe(dogwatch: &str, also: Option<&str>) -> (Exit, String) {
    let args = Args { also: also.map(|also| check_url(also).unwrap()), address: address(dogwatch).unwrap() };
    ask(&args, SHORT).await
}

#[tokio::test]
async fn an_ok_is_printed_and_passes() {
    let printed = probe(&a_server(Some(OK)).await, None).await;
    assert_eq!(printed, (Exit::Clean, "ok watching: since 07:06Z\n".to_owned()));
}

#[tokio::test]
async fn a_500_by_dogwatch_fails_with_its_first_line_alone() {
    let printed = probe(&a_server(Some(ASLEEP)).await, None).await;
    assert_eq!(printed, (Exit::Findings, "asleep a.b\n".to_owned()));
}

#[tokio::test]
async fn a_500_by_somebody_else_passes() {
    let other = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 4\r\n\r\noops";
    let (exit, text) = probe(&a_server(Some(other)).await, None).await;
    assert_eq!(exit, Exit::Clean);
    assert!(text.starts_with("ok: http://127.0.0.1:") && text.contains("is not dogwatch (HTTP 500)"), "{text}");
}

#[tokio::test]
async fn any_other_status_of_dogwatch_passes() {
    for status in ["404 Not Found", "503 Service Unavailable", "501 Not Implemented"] {
        let answer = format!("HTTP/1.1 {status}\r\nDogwatch: 1\r\nContent-Length: 0\r\n\r\n");
        let (exit, _) = probe(&a_server(Some(answer.leak())).await, None).await;
        assert_eq!(exit, Exit::Clean, "{status}");
    }
}

#[tokio::test]
async fn no_answer_from_dogwatch_passes_in_time() {
    let silent = a_server(None).await;
    let garbage = a_server(Some("SSH-2.0-OpenSSH_9.6\r\n")).await;
    let broken = a_server(Some("HTTP/1.1 500 Inter")).await;
    for (address, reason) in [
        (nobody().await, "cannot connect"),
        (silent, "no answer from http"),
        (garbage, "does not answer in HTTP"),
        (broken, ""),
    ] {
        let start = tokio::time::Instant::now();
        let (exit, text) = probe(&address, None).await;
        assert_eq!(exit, Exit::Clean, "{text}");
        assert!(text.starts_with("ok: no answer from dogwatch, ") && text.contains(reason), "{text}");
        assert_eq!(text.lines().count(), 1);
        assert!(start.elapsed() < SHORT.all);
    }
}

#[tokio::test]
async fn a_500_whose_body_never_comes_still_counts() {
    let head = "HTTP/1.1 500 Internal Server Error\r\nDogwatch: 1\r\nContent-Length: 99\r\n\r\nasleep a.b\n";
    let printed = probe(&a_server(Some(head)).await, None).await;
    assert_eq!(printed, (Exit::Findings, "asleep a.b\n".to_owned()));
}

#[tokio::test]
async fn the_operators_own_check_passes_from_200_to_399() {
    let dogwatch = a_server(Some(OK)).await;
    for (answer, expected) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Exit::Clean),
        ("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", Exit::Clean),
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", Exit::Findings),
        ("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n", Exit::Findings),
    ] {
        let also = format!("http://{}/healthz?token=hunter2", a_server(Some(answer)).await);
        let (exit, text) = probe(&dogwatch, Some(&also)).await;
        assert_eq!(exit, expected, "{answer}");
        assert!(text.starts_with("ok watching"), "{text}");
        assert_eq!(text.contains("operator's own check failed: http://"), expected == Exit::Findings, "{text}");
        assert!(!text.contains("hunter2"));
    }
}

#[tokio::test]
async fn an_own_check_that_is_slow_or_refused_fails_in_time_though_dogwatch_is_silent_too() {
    let silent = a_server(None).await;
    for also in [silent.clone(), nobody().await] {
        let start = tokio::time::Instant::now();
        let (exit, text) = probe(&silent, Some(&format!("http://{also}/healthz"))).await;
        assert_eq!(exit, Exit::Findings, "{text}");
        assert_eq!(text.lines().count(), 2);
        // Both are asked at the same time: two limits one after the other would be too long for four seconds.
        assert!(start.elapsed() < SHORT.request * 2, "{:?}", start.elapsed());
    }
}

#[tokio::test]
async fn https_is_checked_as_the_kubelet_does_without_verifying() {
    let certified = rcgen::generate_simple_self_signed(["elsewhere.example".to_owned()]).unwrap();
    let key = certified.signing_key.serialize_der();
    let provider = std::sync::Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = tokio_rustls::rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key.try_into().unwrap())
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(std::sync::Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let also = format!("https://{}/healthz", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = acceptor.accept(stream).await.unwrap();
        let _ = stream.read(&mut [0; 2048]).await.unwrap();
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        stream.shutdown().await.unwrap();
    });
    let dogwatch = a_server(Some(OK)).await;
    assert_eq!(probe(&dogwatch, Some(&also)).await.0, Exit::Clean);
    let plain = format!("https://{}/", a_server(Some(OK)).await);
    let (exit, text) = probe(&dogwatch, Some(&plain)).await;
    assert_eq!(exit, Exit::Findings, "{text}");
}

#[test]
fn an_address_has_a_port_and_a_url_has_no_password() {
    assert_eq!(address("[::1]:11850").unwrap().to_string(), "http://[::1]:11850/healthz");
    for wrong in ["127.0.0.1", "http://127.0.0.1:1", ":11850", "a@b:1", ""] {
        assert!(address(wrong).is_err(), "{wrong}");
    }
    for wrong in
        ["127.0.0.1:8081", "ftp://a/", "http://user:hunter2@a/", "/healthz", "", "tcp://a", "grpc://a", "tcp://a:1/x"]
    {
        assert!(check_url(wrong).is_err(), "{wrong}");
    }
}
