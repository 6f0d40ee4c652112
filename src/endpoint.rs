//! What the operator serves itself: its own check and its metrics.
//!
//! Every request has a connection of its own. No client, no pool, no proxy: the target is beside us, and what is asked is
//! whether it answers now.

mod error;
mod exchange;
mod grpc;
mod tls;

use std::fmt;
use std::time::Duration;

use http::Uri;
use tokio::net::TcpStream;

pub use error::Error;
pub use exchange::{Access, Reply};
pub use tls::Trust;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Target {
    /// With scheme and authority. Schemes: `http`, `https`, `tcp`, `grpc`.
    pub uri: Uri,
    /// The User-Agent. Who begins with `dogwatch-probe/` is a probe to dogwatch's own listener.
    pub agent: &'static str,
}

/// Without the query, in which a token may stand.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.uri.scheme_str().unwrap_or("http");
        let path = if scheme == "tcp" { "" } else { self.uri.path() };
        write!(f, "{scheme}://{}{path}", self.uri.authority().map_or("", |it| it.as_str()))
    }
}

impl Target {
    /// Whether the operator says that it is well, as the kubelet's own probes take it: a status from 200 to 399, an open
    /// port, or `SERVING`. Certificates are not verified, and redirects not followed.
    ///
    /// # Errors
    /// Why it is not, or cannot be asked, or did not answer within `limit`.
    pub async fn check(&self, limit: Duration) -> Result<(), Error> {
        match self.uri.scheme_str() {
            Some("tcp") => self.within(limit, self.connect()).await.map(drop),
            Some("grpc") => self.within(limit, grpc::check(self)).await,
            _ => {
                let Reply { status, line, .. } = self.get(limit).await?;
                if (200..400).contains(&status.as_u16()) {
                    return Ok(());
                }
                let line = if line.is_empty() { line } else { format!(": {line}") };
                Err(Error::Status { target: self.to_string(), status: status.as_u16(), line })
            }
        }
    }

    async fn within<T>(&self, limit: Duration, asked: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let timeout = || Error::Timeout { target: self.to_string(), after: limit };
        tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| Err(timeout()))
    }

    async fn connect(&self) -> Result<TcpStream, Error> {
        let port = match self.uri.scheme_str() {
            Some("https") => 443,
            _ => 80,
        };
        let stream = TcpStream::connect((self.host(), self.uri.port_u16().unwrap_or(port))).await;
        stream.map_err(|source| Error::Connect { target: self.to_string(), source })
    }

    fn host(&self) -> &str {
        self.uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    fn authority(&self) -> &str {
        self.uri.authority().map_or("", |authority| authority.as_str())
    }
}

#[cfg(test)]
mod tests;
