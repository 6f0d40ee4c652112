//! One GET over a connection of its own. No client, no pool, no proxy: the target is beside us.

use std::fmt;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, HOST, USER_AGENT};
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::tls;

/// By its beginning the listener knows who asks.
const AGENT: &str = concat!("dogwatch-probe/", env!("CARGO_PKG_VERSION"));
/// The header by which dogwatch says that it is dogwatch.
const DOGWATCH: &str = "dogwatch";
/// As much of a body is read for its first line.
const LONGEST_LINE: usize = 1024;

/// What is asked.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Target {
    /// With scheme and authority.
    pub(in crate::cli) uri: Uri,
}

/// What was answered.
#[derive(Debug)]
pub(in crate::cli) struct Reply {
    /// The status.
    pub(in crate::cli) status: StatusCode,
    /// Whether it was dogwatch that answered.
    pub(super) is_dogwatch: bool,
    /// The first line of the body.
    pub(in crate::cli) line: String,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum Error {
    /// Nobody listens there, or the name is unknown.
    #[error("cannot connect to {target}")]
    Connect {
        /// What was asked.
        target: String,
        #[source]
        source: io::Error,
    },
    /// Somebody listens, and does not speak as expected.
    #[error("{target} does not answer in HTTP")]
    Http {
        /// What was asked.
        target: String,
        #[source]
        source: hyper::Error,
    },
    /// The URL cannot be asked for.
    #[error("cannot ask {target}")]
    Request {
        /// What was asked.
        target: String,
        #[source]
        source: http::Error,
    },
    /// No TLS connection.
    #[error("cannot speak TLS to {target}")]
    Tls {
        /// What was asked.
        target: String,
        #[source]
        source: tls::Error,
    },
    /// Nothing in time.
    #[error("no answer from {target} within {} s", after.as_secs_f64())]
    Timeout {
        /// What was asked.
        target: String,
        /// How long was waited.
        after: Duration,
    },
}

/// Without the query, in which a token may stand.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.uri.scheme_str().unwrap_or("http");
        write!(f, "{scheme}://{}{}", self.uri.authority().map_or("", |it| it.as_str()), self.uri.path())
    }
}

impl Target {
    /// Asks, and waits for the answer's first line at most until `limit` is over.
    pub(in crate::cli) async fn get(&self, limit: Duration) -> Result<Reply, Error> {
        let timeout = Error::Timeout { target: self.to_string(), after: limit };
        tokio::time::timeout(limit, self.connect()).await.unwrap_or(Err(timeout))
    }

    async fn connect(&self) -> Result<Reply, Error> {
        let is_tls = self.uri.scheme_str() == Some("https");
        let host = self.uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let port = self.uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let target = || self.to_string();
        let stream = TcpStream::connect((host, port)).await;
        let stream = stream.map_err(|source| Error::Connect { target: target(), source })?;
        if is_tls {
            let stream = tls::connect(host, stream).await;
            self.exchange(stream.map_err(|source| Error::Tls { target: target(), source })?).await
        } else {
            self.exchange(stream).await
        }
    }

    async fn exchange(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Reply, Error> {
        let failed = |source| Error::Http { target: self.to_string(), source };
        let request = self.request().map_err(|source| Error::Request { target: self.to_string(), source })?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
        // Its errors arrive at the sender as well.
        tokio::spawn(connection);
        let response = sender.send_request(request).await.map_err(failed)?;
        let (head, body) = response.into_parts();
        let line = first_line(body).await;
        Ok(Reply { status: head.status, is_dogwatch: head.headers.contains_key(DOGWATCH), line })
    }

    fn request(&self) -> Result<Request<Empty<Bytes>>, http::Error> {
        Request::get(self.uri.path_and_query().map_or("/", |path| path.as_str()))
            .header(HOST, self.uri.authority().map_or("", |authority| authority.as_str()))
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, "*/*")
            .body(Empty::new())
    }
}

/// The status has been said by now: a body that breaks off has an empty or a short first line.
async fn first_line(mut body: Incoming) -> String {
    let mut read = Vec::new();
    while read.len() < LONGEST_LINE && !read.contains(&b'\n') {
        let Some(Ok(frame)) = body.frame().await else { break };
        read.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
    }
    read.truncate(LONGEST_LINE);
    let line = read.split(|byte| *byte == b'\n').next().unwrap_or_default();
    String::from_utf8_lossy(line).trim_end().to_owned()
}
