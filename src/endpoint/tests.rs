use std::sync::{Arc, Mutex};

use bytes::Bytes;
use h2::server;
use http::{HeaderMap, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

const SHORT: Duration = Duration::from_millis(500);

fn target(uri: &str) -> Target {
    Target { uri: uri.parse().expect("a URL"), agent: "test/1" }
}

async fn said(uri: &str) -> String {
    match target(uri).check(SHORT).await {
        Ok(()) => "ok".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Answers every connection with `answer`, and notes what was asked.
async fn a_server(answer: Vec<u8>) -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let asked = Arc::new(Mutex::new(String::new()));
    let note = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).await.unwrap_or(0);
            note.lock().expect("unlocked").push_str(&String::from_utf8_lossy(&request[..length]));
            let _ = stream.write_all(&answer).await;
            let _ = stream.shutdown().await;
        }
    });
    (address, asked)
}

async fn nobody() -> String {
    TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address").to_string()
}

/// A gRPC server with this health: the answer's message and its status, which may come with the head alone.
async fn a_grpc_server(message: &'static [u8], code: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut connection = server::handshake(stream).await.expect("HTTP/2");
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    assert_eq!(request.uri().path(), "/grpc.health.v1.Health/Check");
                    assert_eq!(request.headers()["content-type"], "application/grpc");
                    assert_eq!(request.headers()["te"], "trailers");
                    let mut status = HeaderMap::new();
                    status.insert("grpc-status", code.parse().expect("a value"));
                    let mut head = Response::builder().header("content-type", "application/grpc");
                    if message.is_empty() {
                        head = head.header("grpc-status", code);
                        let _ = respond.send_response(head.body(()).expect("a head"), true);
                        continue;
                    }
                    let mut body = respond.send_response(head.body(()).expect("a head"), false).expect("open");
                    body.send_data(Bytes::from_static(message), false).expect("open");
                    body.send_trailers(status).expect("open");
                }
            });
        }
    });
    address
}

#[tokio::test]
async fn grpc_passes_only_where_the_service_says_that_it_serves() {
    let serving = a_grpc_server(&[0, 0, 0, 0, 2, 8, 1], "0").await;
    assert_eq!(said(&format!("grpc://{serving}")).await, "ok");
    assert_eq!(said(&format!("grpc://{serving}/liveness")).await, "ok");
    let asked = |message, code| async move {
        let uri = format!("grpc://{}/live", a_grpc_server(message, code).await);
        said(&uri).await.replace(&uri, "URI")
    };
    assert_eq!(asked(&[0, 0, 0, 0, 2, 8, 2], "0").await, "URI answered NOT_SERVING");
    assert_eq!(asked(&[0, 0, 0, 0, 0], "0").await, "URI answered UNKNOWN");
    assert_eq!(asked(&[0, 0, 0], "0").await, "URI answered no status");
    assert_eq!(asked(&[], "12").await, "URI answered gRPC status 12");
    assert_eq!(asked(&[], "0").await, "URI answered no status");
}

#[tokio::test]
async fn grpc_fails_in_time_where_nobody_speaks_it() {
    assert!(said(&format!("grpc://{}", nobody().await)).await.starts_with("cannot connect to grpc://"));
    let http = a_server(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).await.0;
    assert!(said(&format!("grpc://{http}")).await.ends_with("does not answer in gRPC"));
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let said = said(&format!("grpc://{}", silent.local_addr().expect("an address"))).await;
    assert!(said.starts_with("no answer from grpc://") && said.ends_with("within 0.5 s"), "{said}");
}

#[tokio::test]
async fn tcp_passes_where_the_port_is_open() {
    let open = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    assert_eq!(said(&format!("tcp://{}", open.local_addr().expect("an address"))).await, "ok");
    let closed = nobody().await;
    assert_eq!(said(&format!("tcp://{closed}")).await, format!("cannot connect to tcp://{closed}"));
}

#[tokio::test]
async fn http_passes_from_200_to_399_and_shows_no_query() {
    for (status, passes) in [("204 No Content", true), ("399 Odd", true), ("400 Bad", false), ("503 Sick", false)] {
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 6\r\n\r\nab\ncd\n");
        let uri = format!("http://{}/healthz?token=hunter2", a_server(answer.into_bytes()).await.0);
        let said = said(&uri).await;
        assert_eq!(said == "ok", passes, "{said}");
        assert!(passes || said.ends_with(&format!("/healthz answered HTTP {}: ab", &status[..3])), "{said}");
    }
}

async fn lines(uri: &str, access: &Access, limit: usize) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    let mut each = |line: &[u8]| found.push(String::from_utf8_lossy(line).into_owned());
    target(uri).lines(access, SHORT, limit, &mut each).await?;
    Ok(found)
}

#[tokio::test]
async fn lines_come_with_the_token_of_the_file_and_within_the_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let token_file = folder.path().join("token");
    std::fs::write(&token_file, "secret-1\n").expect("written");
    let (address, asked) = a_server(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\na 1\nb 2\n".to_vec()).await;
    let uri = format!("http://{address}/metrics");
    let access = Access { token_file: Some(token_file.clone()), trust: Trust::System };
    assert_eq!(lines(&uri, &access, 8).await.expect("read"), ["a 1", "b 2"]);
    assert!(asked.lock().expect("unlocked").to_lowercase().contains("authorization: bearer secret-1\r\n"));
    let too_large = lines(&uri, &access, 7).await.expect_err("too large");
    assert!(too_large.to_string().ends_with("has more than 7 bytes"), "{too_large}");

    std::fs::write(&token_file, "two\nlines").expect("written");
    let error = lines(&uri, &access, 8).await.expect_err("no token");
    assert!(
        error.to_string().ends_with("token holds no token") && !format!("{error:?}").contains("lines"),
        "{error:?}"
    );
    std::fs::remove_file(&token_file).expect("removed");
    assert!(matches!(lines(&uri, &access, 8).await, Err(Error::File { .. })));
    let refused = a_server(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".to_vec()).await.0;
    let error = lines(&format!("http://{refused}/"), &Access::default(), 8).await.expect_err("forbidden");
    assert!(error.to_string().ends_with("answered HTTP 403"), "{error}");
}

#[tokio::test]
async fn metrics_over_tls_are_verified_unless_told_otherwise() {
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = tokio_rustls::rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(
            vec![certified.cert.der().clone()],
            certified.signing_key.serialize_der().try_into().expect("a key"),
        )
        .expect("a server");
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let uri = format!("https://{}/metrics", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let _ = stream.read(&mut [0; 2048]).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na 1\n").await;
            let _ = stream.shutdown().await;
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, certified.cert.pem()).expect("written");
    let with = |trust| Access { token_file: None, trust };
    assert_eq!(lines(&uri, &with(Trust::Any), 9).await.expect("any"), ["a 1"]);
    assert_eq!(lines(&uri, &with(Trust::File(file.clone())), 9).await.expect("by the file"), ["a 1"]);
    assert!(matches!(lines(&uri, &with(Trust::System), 9).await, Err(Error::Tls { .. })), "nobody knows it");
    std::fs::write(&file, "nothing").expect("written");
    assert!(matches!(lines(&uri, &with(Trust::File(file)), 9).await, Err(Error::Tls { .. })));
}
