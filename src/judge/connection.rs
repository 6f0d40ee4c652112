//! What TCP connections tell: whether the operator can have heard of a change at all, and why it may not have.
//!
//! # How the shell drives this
//!
//! One [`Connections`] for the network namespace that dogwatch shares with the operator. Each look at the kernel's table
//! goes to [`Connections::observe`], each failure to look to [`Connections::lost`]; [`Connections::reception`] is an
//! input of the decision.
//!
//! # What counts
//!
//! * The peers of dogwatch's own connections are the API server as it looks from here: the service's address, or that of
//!   a backend where the network translates when a socket connects. Connections of others to these peers are the
//!   operator's. Those of another container in the Pod count as well, since nothing tells them apart: they can hide
//!   silence, and never feign it.
//! * Bytes of any kind count as received: bookmarks, pings and answers about a lease hide silence. Silence that is
//!   hidden is no evidence; it is not the opposite either.
//! * No connection at all is no evidence: a standby has none by design, and one that leads through a proxy is not seen.
//! * A connection that was opened after a change has received its handshake since, so that it proves nothing.

mod open;
#[cfg(test)]
mod tests;

// `core` and not `std`: an address is a value, and no I/O.
use core::net::SocketAddr;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::judge::state::words;
use crate::judge::tick::Tick;
pub use open::Open;

words! {
    /// The state of a socket, of those that are of use.
    Phase {
        /// Bytes can flow both ways.
        Established = "established",
        /// The peer has closed it, and the process has not yet.
        CloseWait = "close-wait",
        /// It is being opened.
        SynSent = "syn-sent",
        /// It waits for others to connect.
        Listen = "listen",
    }
}

words! {
    /// What is wrong with one connection.
    Fault {
        /// Bytes have arrived and the process reads none of them.
        NotReading = "not-reading",
        /// What the process sends is sent again and again without an answer.
        PathDead = "path-dead",
    }
}

/// One TCP socket as the kernel shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Socket {
    /// This side.
    pub local: SocketAddr,
    /// The other side.
    pub peer: SocketAddr,
    /// Its state.
    pub phase: Phase,
    /// The kernel's number of it.
    pub inode: u64,
    /// Whether it is dogwatch's own.
    pub is_own: bool,
    /// Time since the last bytes arrived, or since it was opened; absent where the kernel does not tell.
    pub silent_for: Option<Duration>,
    /// Bytes that have arrived and were not read.
    pub receive_queue: u32,
    /// Bytes that were written and not acknowledged by the peer.
    pub send_queue: u32,
    /// How often in a row the oldest of them were sent again.
    pub retransmits: u8,
}

/// What is remembered of the connections of one network namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Connections {
    /// The API server's addresses, with the last time that dogwatch itself was connected to each.
    peers: BTreeMap<SocketAddr, Tick>,
    open: Vec<Open>,
    /// The newest byte that any connection was seen to have received, closed ones included.
    newest: Option<Tick>,
    receiving_since: Option<Tick>,
    /// Since when every look has succeeded.
    since: Option<Tick>,
    looked: Option<Tick>,
}

/// What the connections tell at one moment; nothing by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reception {
    /// No connection of the operator has received a byte later than this; absent where that is not known.
    quiet: Option<Tick>,
    /// Since when nothing was overlooked.
    seen: Option<Tick>,
    /// Since when the operator receives without a long pause; absent while it does not.
    receiving: Option<Tick>,
}

/// Between the same event on two connections, and between two clocks of which one shows whole seconds.
const MARGIN: Duration = Duration::from_secs(5);
/// Who receives nothing for so long does not read a long answer.
const PAUSE: Duration = Duration::from_secs(30);
/// From one look to the next at most; what happens within can be overlooked.
const LONGEST_GAP: Duration = Duration::from_secs(90);
/// An address to which dogwatch was not connected for so long is the API server's no more.
const PEER_LASTS: Duration = Duration::from_hours(24);

impl Connections {
    /// Takes in the whole table of sockets. `now` is when it had been read.
    pub fn observe(&mut self, sockets: &[Socket], now: Tick) {
        if self.looked.is_some_and(|looked| now.since(looked) > LONGEST_GAP) {
            self.lost();
        }
        self.looked = Some(now);
        self.learn_peers(sockets, now);
        if self.peers.is_empty() {
            return;
        }
        self.since = self.since.or(Some(now));
        let theirs = sockets.iter().filter(|socket| self.is_operators(socket));
        let open = theirs.map(|socket| Open::seen(socket, self.open.iter().find(|open| open.is(socket)), now));
        self.open = open.collect();
        // One that was seen only once may be dogwatch's own, closed while the table was read.
        let newest = self.open.iter().filter(|open| open.is_confirmed()).filter_map(|open| open.received).max();
        self.newest = self.newest.max(newest);
        let receives = self.newest.filter(|newest| now.since(*newest) < PAUSE);
        self.receiving_since = receives.map(|newest| self.receiving_since.unwrap_or(newest));
    }

    /// Notes that the table could not be read: what happened meanwhile is not known.
    pub fn lost(&mut self) {
        *self = Self { peers: std::mem::take(&mut self.peers), ..Self::default() };
    }

    /// What they tell of the operator now.
    pub fn reception(&self) -> Reception {
        let is_connected = self.open.iter().any(|open| open.phase == Phase::Established);
        let received: Option<Vec<Tick>> = self.open.iter().map(|open| open.received).collect();
        let newest = received.and_then(|received| received.into_iter().max()).max(self.newest);
        let is_known = is_connected && self.open.iter().all(|open| open.received.is_some());
        Reception { quiet: newest.filter(|_| is_known), seen: self.since, receiving: self.receiving_since }
    }

    /// The operator's connections to the API server, in the kernel's order.
    pub fn open(&self) -> &[Open] {
        &self.open
    }

    /// When the operator last received a byte from the API server, as far as dogwatch has seen.
    pub fn newest(&self) -> Option<Tick> {
        self.newest
    }

    /// Whether an address of the API server is known, without which no connection can be attributed.
    pub fn knows_peers(&self) -> bool {
        !self.peers.is_empty()
    }

    /// What is wrong with any of them, each word once.
    pub fn faults(&self) -> Vec<Fault> {
        let faults: BTreeSet<Fault> = self.open.iter().filter_map(Open::fault).collect();
        faults.into_iter().collect()
    }

    /// Who asks dogwatch is no API server: it came to a port on which dogwatch listens.
    fn learn_peers(&mut self, sockets: &[Socket], now: Tick) {
        let own = || sockets.iter().filter(|socket| socket.is_own);
        let listens: BTreeSet<u16> =
            own().filter(|socket| socket.phase == Phase::Listen).map(|socket| socket.local.port()).collect();
        let connected = own().filter(|it| it.phase == Phase::Established && !listens.contains(&it.local.port()));
        self.peers.extend(connected.map(|socket| (socket.peer, now)));
        self.peers.retain(|_, last| now.since(*last) < PEER_LASTS);
    }

    fn is_operators(&self, socket: &Socket) -> bool {
        !socket.is_own && socket.phase != Phase::Listen && self.peers.contains_key(&socket.peer)
    }
}

impl Reception {
    /// Whether no connection of the operator has received a byte since before `event`, so that it cannot have heard of
    /// it. False where that is not known.
    pub fn misses(self, event: Tick) -> bool {
        self.seen.is_some_and(|since| since <= event) && self.quiet.is_some_and(|quiet| quiet.after(MARGIN) <= event)
    }

    /// Whether the operator has received without a long pause since before `by`, as one does that reads its first lists.
    pub(in crate::judge) fn is_receiving_since(self, by: Tick) -> bool {
        self.receiving.is_some_and(|since| since <= by)
    }

    /// One that receives since `since`, for tests.
    #[cfg(test)]
    pub(in crate::judge) fn receiving(since: Tick) -> Self {
        Self { receiving: Some(since), ..Self::default() }
    }

    /// One of a silent operator, for tests.
    #[cfg(test)]
    pub(in crate::judge) fn quiet(since: Tick) -> Self {
        Self { quiet: Some(since), seen: Some(since), receiving: None }
    }
}
