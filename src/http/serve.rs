//! The loop that accepts connections: one request each, bounded in number and time.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

/// The longest that a connection lives, whatever its client does.
const LONGEST: Duration = Duration::from_secs(10);
/// So many connections at a time; for one more the oldest must go. A new probe is never the one that is refused.
const MOST: usize = 256;
/// A wait after the operating system could not give a connection: out of descriptors, as a rule.
const PAUSE: Duration = Duration::from_millis(100);
/// How long answers under way may take after the shutdown.
const DRAIN: Duration = Duration::from_secs(2);

/// Answers until `shutdown` is ready.
pub(super) async fn serve(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    let mut shutdown = pin!(shutdown);
    let mut connections = Connections::default();
    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(_) = connections.running.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => connections.add(stream, router.clone()),
                Err(_) => tokio::time::sleep_until(Instant::now() + PAUSE).await,
            },
        }
    }
    drop(listener);
    let drained = async { while connections.running.join_next().await.is_some() {} };
    // What is not done by then is cut off when the set is dropped.
    let _ = tokio::time::timeout(DRAIN, drained).await;
}

#[derive(Default)]
struct Connections {
    running: JoinSet<()>,
    oldest_first: VecDeque<AbortHandle>,
}

impl Connections {
    fn add(&mut self, stream: TcpStream, router: Router) {
        if self.oldest_first.len() >= MOST {
            self.oldest_first.retain(|connection| !connection.is_finished());
        }
        if self.oldest_first.len() >= MOST
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            oldest.abort();
        }
        self.oldest_first.push_back(self.running.spawn(answer(stream, router)));
    }
}

/// Kubelets and scrapers connect anew for every request or can; connections that stay open would outlive a shutdown.
async fn answer(stream: TcpStream, router: Router) {
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new()
        .keep_alive(false)
        .half_close(true)
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(stream), service);
    // A client that went away, or was too slow, has nobody to tell.
    let _ = tokio::time::timeout(LONGEST, connection).await;
}
