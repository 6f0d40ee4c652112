//! Why a request has no usable answer.

use std::sync::Arc;
use std::time::Duration;

use kube::client::AuthError;
use tower::BoxError;

/// Why a request has no usable answer. Messages of the API server are cut to one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// 403: these credentials may not do this.
    #[error("forbidden: {message}")]
    Forbidden {
        /// The API server's own words.
        message: String,
    },
    /// 401: the API server does not accept these credentials.
    #[error(
        "the API server does not accept these credentials ({message}); log in again, or name others with --context"
    )]
    Unauthorized {
        /// The API server's own words.
        message: String,
    },
    /// 404: there is no such object, resource or path.
    #[error("not found: {message}")]
    NotFound {
        /// The API server's own words.
        message: String,
    },
    /// 410: a continue token or resource version is too old.
    #[error("expired: {message}")]
    Expired {
        /// The API server's own words.
        message: String,
        /// A token with which a list can go on behind the last object it returned, from a newer state.
        fresh: Option<String>,
    },
    /// 429: the API server asks to slow down.
    #[error("the API server asks to slow down: {message}")]
    Throttled {
        /// The API server's own words.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// Any other 4xx: the request itself is at fault.
    #[error("the API server refused the request (HTTP {status}): {message}")]
    Refused {
        /// The HTTP status code.
        status: u16,
        /// The API server's own words.
        message: String,
    },
    /// 5xx.
    #[error("the API server failed (HTTP {status}): {message}")]
    Server {
        /// The HTTP status code.
        status: u16,
        /// The API server's own words.
        message: String,
    },
    /// No whole answer before the deadline.
    #[error("no whole answer from the API server ({server}) within {}; see --request-timeout", seconds(*.after))]
    Timeout {
        /// The API server's address.
        server: Arc<str>,
        /// The time that a request has.
        after: Duration,
    },
    /// No connection: refused, no route, name unknown, certificate not trusted.
    #[error("cannot reach the API server ({server})")]
    Unreachable {
        /// The API server's address.
        server: Arc<str>,
        /// What the connection failed with.
        #[source]
        source: BoxError,
    },
    /// The connection broke while the body was read.
    #[error("lost the connection to the API server ({server}) in the middle of an answer")]
    Lost {
        /// The API server's address.
        server: Arc<str>,
        /// What the connection failed with.
        #[source]
        source: BoxError,
    },
    /// Something answers that is no API server: a login page, a proxy, a redirect.
    #[error(
        "the answer is not from a Kubernetes API server (HTTP {status}, {content_type}); check the address in the kubeconfig, and whether a proxy or login page stands before it"
    )]
    NotKubernetes {
        /// The HTTP status code.
        status: u16,
        /// The answer's content type.
        content_type: String,
    },
    /// The credentials that the kubeconfig names could not be read or made.
    #[error("cannot get credentials: {problem}")]
    Credentials {
        /// What failed; never a credential or a command's output.
        problem: String,
    },
    /// The client could not be set up from the kubeconfig.
    #[error("cannot set up the connection to the API server ({server})")]
    Setup {
        /// The API server's address.
        server: Arc<str>,
        /// What failed.
        #[source]
        source: BoxError,
    },
    /// An answer that should be small was not.
    #[error("the answer has more than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

/// The closed set of words by which reports name a failed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The credentials do not allow it.
    Forbidden,
    /// There is no such resource.
    NotFound,
    /// No whole answer in time.
    Timeout,
    /// The list took longer than the API server keeps its history.
    Expired,
    /// The answer could not be read.
    Decode,
    /// Anything else.
    Other,
}

impl Reason {
    /// The value's one spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::NotFound => "not-found",
            Self::Timeout => "timeout",
            Self::Expired => "expired",
            Self::Decode => "decode",
            Self::Other => "other",
        }
    }
}

/// What an answer tells of the API server as a whole, and not of one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It answers.
    Answers,
    /// It does not, or something else does in its place.
    Fails,
    /// Neither: it asks to slow down, or the answer concerns one resource or these credentials alone.
    Neither,
}

impl Error {
    /// What it tells of the API server.
    pub const fn reach(&self) -> Reach {
        match self {
            Self::Forbidden { .. }
            | Self::Unauthorized { .. }
            | Self::NotFound { .. }
            | Self::Expired { .. }
            | Self::Throttled { .. }
            | Self::Refused { .. }
            | Self::TooLarge { .. } => Reach::Neither,
            Self::Server { .. }
            | Self::Timeout { .. }
            | Self::Unreachable { .. }
            | Self::Lost { .. }
            | Self::NotKubernetes { .. }
            | Self::Credentials { .. }
            | Self::Setup { .. } => Reach::Fails,
        }
    }

    /// The word for it in reports.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Forbidden { .. } => Reason::Forbidden,
            Self::NotFound { .. } => Reason::NotFound,
            Self::Expired { .. } => Reason::Expired,
            // 504 is the API server's own deadline.
            Self::Timeout { .. } | Self::Server { status: 504, .. } => Reason::Timeout,
            Self::NotKubernetes { .. } | Self::TooLarge { .. } => Reason::Decode,
            _ => Reason::Other,
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// Sorts an error of kube's `send`.
pub(super) fn from_kube(error: kube::Error, server: &Arc<str>) -> Error {
    match error {
        kube::Error::Auth(error) => Error::Credentials { problem: credential_problem(&error) },
        // Its text holds the proxy's address, which may hold a password.
        kube::Error::ProxyProtocolUnsupported { .. } | kube::Error::ProxyProtocolDisabled { .. } => Error::Setup {
            server: Arc::clone(server),
            source: "the proxy's protocol is not supported: use http or socks5".into(),
        },
        kube::Error::RustlsTls(error) => Error::Setup { server: Arc::clone(server), source: Box::new(error) },
        kube::Error::InferKubeconfig(error) => Error::Setup { server: Arc::clone(server), source: Box::new(error) },
        error => match cause(error).downcast::<AuthError>() {
            Ok(error) => Error::Credentials { problem: credential_problem(&error) },
            Err(source) => Error::Unreachable { server: Arc::clone(server), source },
        },
    }
}

/// Takes off kube's wrapping, which would print its cause twice.
pub(super) fn cause(error: kube::Error) -> BoxError {
    match error {
        kube::Error::Service(source) => source,
        kube::Error::HyperError(source) => Box::new(source),
        error => Box::new(error),
    }
}

/// kube's own texts hold the command's output, in which a token may stand.
fn credential_problem(error: &AuthError) -> String {
    match error {
        AuthError::ReadTokenFile(source, path) => format!("token file {}: {source}", path.display()),
        AuthError::AuthExecStart(source) => format!("the kubeconfig's credential command does not start: {source}"),
        AuthError::AuthExecRun { out, .. } => {
            format!("the kubeconfig's credential command ended with {}; run `kubectl get --raw /version`", out.status)
        }
        AuthError::MissingCommand => "the kubeconfig's credential plugin names no command".into(),
        AuthError::InvalidBasicAuth(_) | AuthError::InvalidBearerToken(_) => {
            "the kubeconfig's token or password holds characters that a header cannot".into()
        }
        AuthError::NoValidNativeRootCA(_) => "this machine has no trusted certificate authorities".into(),
        _ => "the kubeconfig's credential plugin gave no usable credential; run `kubectl get --raw /version`".into(),
    }
}
