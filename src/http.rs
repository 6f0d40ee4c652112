//! The listener: answers probes, scrapes and questions from the view, and from nothing else.
//!
//! It runs on a thread and a runtime of its own, so that `/healthz` is answered within a millisecond while lists are
//! being read, and it is open before anything else happens: a probe that finds nobody would count against the operator.

mod answer;
mod check;
mod query;
mod router;
mod serve;
mod status;
mod verbose;

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::sync::oneshot;

use crate::clock;
use crate::view::board::Board;
pub use router::router;

/// Connections that wait to be accepted; the kernel may allow fewer.
const BACKLOG: i32 = 128;

/// Why there is no listener.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The port is taken, or the address is not this machine's.
    #[error("cannot listen on {address}; free the port, or choose another address with server.listen")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
    /// No thread or no runtime.
    #[error("cannot start the thread of the listener")]
    Thread(#[source] io::Error),
}

/// An open port that nobody answers at yet; whoever connects waits for [`Listener::serve`].
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Opens the port. `[::]` takes IPv4 as well, whatever the machine's default is, and becomes `0.0.0.0` where IPv6 is
    /// off.
    ///
    /// # Errors
    /// [`Error::Bind`].
    pub fn bind(listen: SocketAddr) -> Result<Self, Error> {
        let (socket, address) = bind_or_fall_back(listen, open)?;
        let address = socket.local_addr().unwrap_or(address);
        Ok(Self { socket, address })
    }

    /// The address that is listened on; the port is the one that was chosen where 0 was asked for.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers from the newest view of `board`, on a thread of its own, until `shutdown` is ready. Answers that are
    /// under way then are still given, within two seconds.
    ///
    /// # Errors
    /// [`Error::Thread`].
    pub fn serve(
        self,
        board: Arc<Board>,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Server, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Thread)?;
        let socket = {
            let _context = runtime.enter();
            tokio::net::TcpListener::from_std(self.socket).map_err(Error::Thread)?
        };
        let (sender, ended) = oneshot::channel();
        let work = move || {
            runtime.block_on(serve::serve(socket, router(board, clock::elapsed), shutdown));
            // Nobody may be waiting for it any more.
            let _ = sender.send(());
        };
        std::thread::Builder::new().name("listener".to_owned()).spawn(work).map_err(Error::Thread)?;
        Ok(Server { ended })
    }
}

/// A listener at work. It goes on when this is dropped.
#[derive(Debug)]
pub struct Server {
    ended: oneshot::Receiver<()>,
}

impl Server {
    /// Waits for the end: after shutdown, or because the thread is no more.
    pub async fn ended(self) {
        // An error says that the thread is gone, which is an end as well.
        let _ = self.ended.await;
    }
}

/// Tries `listen`, and `0.0.0.0` after `[::]` unless the address itself is refused.
fn bind_or_fall_back<S>(
    listen: SocketAddr,
    mut open: impl FnMut(SocketAddr) -> io::Result<S>,
) -> Result<(S, SocketAddr), Error> {
    let bind = |address, source| Error::Bind { address, source };
    let source = match open(listen) {
        Ok(socket) => return Ok((socket, listen)),
        Err(source) => source,
    };
    let is_any = listen.is_ipv6() && listen.ip().is_unspecified();
    if !is_any || matches!(source.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied) {
        return Err(bind(listen, source));
    }
    let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, listen.port()));
    open(any).map(|socket| (socket, any)).map_err(|source| bind(any, source))
}

fn open(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    // Connections of the life before may still be waiting for their last packets.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests;
