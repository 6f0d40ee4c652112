//! Why a target is not well, or could not be asked. Texts show addresses without their query, and never a token.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::tls;

/// Why a target is not well, or could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody listens there, or the name is unknown.
    #[error("cannot connect to {target}")]
    Connect {
        /// What was asked.
        target: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Somebody listens, and does not speak as expected.
    #[error("{target} does not answer in HTTP")]
    Http {
        /// What was asked.
        target: String,
        /// Why.
        #[source]
        source: hyper::Error,
    },
    /// The URL cannot be asked for.
    #[error("cannot ask {target}")]
    Request {
        /// What was asked.
        target: String,
        /// Why.
        #[source]
        source: http::Error,
    },
    /// No TLS connection.
    #[error("cannot speak TLS to {target}")]
    Tls {
        /// What was asked.
        target: String,
        /// Why.
        #[source]
        source: tls::Error,
    },
    /// A file that belongs to the request.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file with a token that no header can hold.
    #[error("{} holds no token", path.display())]
    Token {
        /// The file.
        path: PathBuf,
    },
    /// Nothing in time.
    #[error("no answer from {target} within {} s", after.as_secs_f64())]
    Timeout {
        /// What was asked.
        target: String,
        /// How long was waited.
        after: Duration,
    },
    /// An answer that is none of success.
    #[error("{target} answered HTTP {status}{line}")]
    Status {
        /// What was asked.
        target: String,
        /// The status.
        status: u16,
        /// The first line of the body, after a colon; empty where there is none.
        line: String,
    },
    /// More than is read.
    #[error("the answer of {target} has more than {limit} bytes")]
    TooLarge {
        /// What was asked.
        target: String,
        /// How many are read.
        limit: usize,
    },
    /// Somebody listens, and speaks no HTTP/2.
    #[error("{target} does not answer in gRPC")]
    Grpc {
        /// What was asked.
        target: String,
        /// Why.
        #[source]
        source: h2::Error,
    },
    /// The call failed.
    #[error("{target} answered gRPC status {code}")]
    GrpcStatus {
        /// What was asked.
        target: String,
        /// As gRPC numbers them: 5 for a service that it does not know, 12 where it has no health service.
        code: String,
    },
    /// The service says that it is not well.
    #[error("{target} answered {status}")]
    NotServing {
        /// What was asked.
        target: String,
        /// By the names of `grpc.health.v1`.
        status: &'static str,
    },
}
