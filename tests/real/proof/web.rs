//! Asks a server on loopback over plain HTTP, as a kubelet does: a fresh connection each time.

use std::time::Duration;

use bytes::Bytes;
use http::header::{HOST, USER_AGENT};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::BoxError;

use crate::task::Task;

/// Status and body, or `None` where there is no whole answer in time.
pub(crate) async fn get(port: u16, path: &str, agent: &str, timeout: Duration) -> Option<(StatusCode, String)> {
    tokio::time::timeout(timeout, ask(Method::GET, port, path, agent)).await.ok()?.ok()
}

/// The same with POST, for those who are told to do something.
pub(crate) async fn post(port: u16, path: &str, timeout: Duration) -> Option<(StatusCode, String)> {
    tokio::time::timeout(timeout, ask(Method::POST, port, path, "dogwatch-proof")).await.ok()?.ok()
}

async fn ask(method: Method, port: u16, path: &str, agent: &str) -> Result<(StatusCode, String), BoxError> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let _connection = Task::spawn(async move {
        // How it ends, the request says.
        let _ = connection.await;
    });
    let request = Request::builder().method(method).uri(path).header(HOST, "127.0.0.1").header(USER_AGENT, agent);
    let response = sender.send_request(request.body(Empty::<Bytes>::new())?).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}
