//! The door for other processes: HTTP/1.1 on a TCP listener.

use std::io;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Serves a router until the listener fails or the future is dropped, which also drops every open connection.
pub(super) async fn serve(listener: TcpListener, router: Router) -> io::Error {
    let mut connections = JoinSet::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => return error,
            },
            // Finished connections are taken out, so that the set does not grow.
            Some(_) = connections.join_next() => continue,
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
        // A client that goes away in the middle is its own matter.
        connections.spawn(async move { drop(connection.await) });
    }
}
