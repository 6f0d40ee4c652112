//! A proxy between clients and the API server that can make single watches go silent without closing them: what a load
//! balancer that forgot a flow, or an API server that orphaned a watch, looks like to a client.
//!
//! Each connection of a client has one connection of its own to the API server, over TLS on both sides, and both speak
//! the version of HTTP on which the client and the API server would have agreed: HTTP/2 where the client offers it. Of
//! the watches of one HTTP/2 connection each is silent or not by itself, and pings are answered all the time.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{HOST, USER_AGENT};
use http::{Request, Response, Uri, Version};
use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};
use tower::BoxError;

use super::rules::{Client, Mute, Rules, Stream};
use super::tap;
use crate::task::Task;

type Body = BoxBody<Bytes, BoxError>;
type Downstream = TokioIo<server::TlsStream<TcpStream>>;
type Upstream = TokioIo<client::TlsStream<TcpStream>>;

/// What the API server offers, the better one first, and so does the proxy.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// A running proxy. Gone, with every connection through it, when dropped.
pub(crate) struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    _task: Task,
}

/// What all connections know.
pub(super) struct Shared {
    rules: watch::Sender<Rules>,
    counters: Mutex<BTreeMap<(Client, String), Counters>>,
    /// Connections so far.
    connections: AtomicU64,
}

/// What one client did under one path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Requests that are no watches.
    pub(crate) requests: u64,
    /// Watches begun.
    pub(crate) watches: u64,
    /// Watches that the client still holds open.
    pub(crate) open: u64,
    /// Lines of watches that the client got: events and bookmarks.
    pub(crate) passed: u64,
    /// Lines of watches that it did not get.
    pub(crate) swallowed: u64,
    /// The connection of the newest watch, by its number.
    pub(crate) connection: u64,
    /// The version of HTTP that it speaks.
    pub(crate) version: Option<Version>,
}

/// Both sides' TLS, and where the API server is.
#[derive(Clone)]
struct Ends {
    acceptor: TlsAcceptor,
    http1: TlsConnector,
    http2: TlsConnector,
    upstream: SocketAddr,
}

/// One connection of a client, for each of its requests.
#[derive(Clone)]
struct Connection {
    number: u64,
    upstream: SocketAddr,
    shared: Arc<Shared>,
}

impl Proxy {
    /// Starts one on loopback. `folder` holds `ca.crt`, `tls.crt` and `tls.key`; `upstream` is the API server's
    /// address, `https://127.0.0.1:<port>`.
    pub(crate) async fn start(folder: &Path, upstream: &str) -> Self {
        let upstream = upstream.strip_prefix("https://").and_then(|address| address.parse().ok());
        let ends = Ends::new(folder, upstream.expect("an address with a port"));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        let (rules, _) = watch::channel(Rules::default());
        let shared = Arc::new(Shared { rules, counters: Mutex::default(), connections: AtomicU64::default() });
        let task = Task::spawn(accept(listener, ends, Arc::clone(&shared)));
        Self { address, shared, _task: task }
    }

    /// `https://127.0.0.1:<port>`.
    pub(crate) fn address(&self) -> String {
        format!("https://{}", self.address)
    }

    /// From now on swallows what the API server sends on these watches. They stay open, even where the API server ends
    /// them.
    pub(crate) fn mute(&self, mute: Mute) {
        self.shared.rules.send_modify(|rules| rules.mute(mute));
    }

    /// Ends every mute. What was swallowed stays lost.
    pub(crate) fn unmute(&self) {
        self.shared.rules.send_modify(Rules::unmute);
    }

    /// Breaks the open watches of one client under one path.
    pub(crate) fn drop_watches(&self, client: Client, plural: &str) {
        self.shared.rules.send_modify(|rules| rules.drop_watches(client, plural));
    }

    /// Breaks every connection, and each new one at once, until told otherwise.
    pub(crate) fn refuse(&self, refuses: bool) {
        self.shared.rules.send_modify(|rules| rules.refuses = refuses);
    }

    /// What one client did with one resource.
    pub(crate) fn counters(&self, client: Client, plural: &str) -> Counters {
        let counters = self.shared.counters.lock().unwrap_or_else(PoisonError::into_inner);
        counters.get(&(client, plural.to_owned())).copied().unwrap_or_default()
    }
}

impl Shared {
    /// Changes what is counted of a stream's client and path.
    pub(super) fn count(&self, stream: &Stream, change: impl FnOnce(&mut Counters)) {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        change(counters.entry((stream.client, stream.plural.clone())).or_default());
    }

    /// The rules now and in future.
    pub(super) fn rules(&self) -> watch::Receiver<Rules> {
        self.rules.subscribe()
    }
}

impl Ends {
    fn new(folder: &Path, upstream: SocketAddr) -> Self {
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(folder.join("ca.crt")).expect("a certificate")).expect("an authority");
        let mut client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("ring has every version")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let [http2, http1] = PROTOCOLS.map(|protocol| {
            client.alpn_protocols = vec![protocol.to_vec()];
            TlsConnector::from(Arc::new(client.clone()))
        });
        let certificate = CertificateDer::from_pem_file(folder.join("tls.crt")).expect("a certificate");
        let key = PrivateKeyDer::from_pem_file(folder.join("tls.key")).expect("a key");
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has every version")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("a key that fits");
        server.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Self { acceptor: TlsAcceptor::from(Arc::new(server)), http1, http2, upstream }
    }
}

async fn accept(listener: TcpListener, ends: Ends, shared: Arc<Shared>) {
    // Dropped with this task: no connection outlives the proxy.
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok((downstream, _)) = listener.accept().await else { continue };
        let (ends, shared) = (ends.clone(), Arc::clone(&shared));
        connections.spawn(async move {
            let mut rules = shared.rules();
            tokio::select! {
                _ = rules.wait_for(|rules| rules.refuses) => {}
                // A connection that fails is closed, which is all that a proxy has to say.
                _ = serve(downstream, ends, &shared) => {}
            }
        });
    }
}

async fn serve(downstream: TcpStream, ends: Ends, shared: &Arc<Shared>) -> Result<(), BoxError> {
    // The API server first: where it is away, its client finds nobody either.
    let upstream = TcpStream::connect(ends.upstream).await?;
    for stream in [&downstream, &upstream] {
        stream.set_nodelay(true)?;
    }
    let downstream = ends.acceptor.accept(downstream).await?;
    let is_http2 = downstream.get_ref().1.alpn_protocol() == Some(PROTOCOLS[0]);
    let connector = if is_http2 { &ends.http2 } else { &ends.http1 };
    let upstream = connector.connect(ServerName::from(ends.upstream.ip()), upstream).await?;
    let number = shared.connections.fetch_add(1, Ordering::SeqCst);
    let connection = Connection { number, upstream: ends.upstream, shared: Arc::clone(shared) };
    let (downstream, upstream) = (TokioIo::new(downstream), TokioIo::new(upstream));
    if is_http2 {
        connection.serve_http2(downstream, upstream).await
    } else {
        connection.serve_http1(downstream, upstream).await
    }
}

impl Connection {
    async fn serve_http1(self, downstream: Downstream, upstream: Upstream) -> Result<(), BoxError> {
        let (sender, sending) = hyper::client::conn::http1::handshake(upstream).await?;
        let _upstream = Task::spawn(async move {
            // How it ends, the requests say.
            let _ = sending.await;
        });
        let sender = Arc::new(tokio::sync::Mutex::new(sender));
        let service = service_fn(move |mut request: Request<Incoming>| {
            let (sender, connection) = (Arc::clone(&sender), self.clone());
            async move {
                let stream = connection.stream(&request);
                let host = connection.upstream.to_string().parse().expect("an address is a header's value");
                request.headers_mut().insert(HOST, host);
                let response = sender.lock().await.send_request(request).await?;
                Ok::<_, hyper::Error>(connection.answered(response, stream))
            }
        });
        Ok(hyper::server::conn::http1::Builder::new().serve_connection(downstream, service).await?)
    }

    async fn serve_http2(self, downstream: Downstream, upstream: Upstream) -> Result<(), BoxError> {
        let (sender, sending) = hyper::client::conn::http2::handshake(TokioExecutor::new(), upstream).await?;
        let service = service_fn(move |mut request: Request<Incoming>| {
            let (mut sender, connection) = (sender.clone(), self.clone());
            async move {
                let stream = connection.stream(&request);
                *request.uri_mut() = addressed(request.uri(), connection.upstream);
                let response = sender.send_request(request).await?;
                Ok::<_, hyper::Error>(connection.answered(response, stream))
            }
        });
        let serving =
            hyper::server::conn::http2::Builder::new(TokioExecutor::new()).serve_connection(downstream, service);
        let mut serving = pin!(serving);
        tokio::select! {
            served = &mut serving => return Ok(served?),
            // The client makes a new connection for its next request. Silent watches stay on this one.
            _ = sending => serving.as_mut().graceful_shutdown(),
        }
        Ok(serving.await?)
    }

    fn stream(&self, request: &Request<Incoming>) -> Stream {
        let stream = Stream::new(request, &self.shared.rules().borrow());
        if stream.is_watch {
            self.shared.count(&stream, |counters| {
                counters.connection = self.number;
                counters.version = Some(request.version());
            });
        }
        stream
    }

    fn answered(&self, response: Response<Incoming>, stream: Stream) -> Response<Body> {
        if stream.is_watch && response.status().is_success() {
            return response.map(|body| tap::tap(body, stream, Arc::clone(&self.shared)).boxed());
        }
        self.shared.count(&stream, |counters| counters.requests += 1);
        response.map(|body| body.map_err(BoxError::from).boxed())
    }
}

/// HTTP/2 has the address of a request in its URI.
fn addressed(uri: &Uri, upstream: SocketAddr) -> Uri {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    format!("https://{upstream}{path}").parse().expect("an address and a path are a URI")
}

impl Client {
    /// Who sent a request.
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let agent = request.headers().get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if agent.starts_with("dogwatch/") { Self::Dogwatch } else { Self::Operator }
    }
}
