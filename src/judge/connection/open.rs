//! One connection over several looks.

use core::net::SocketAddr;
use std::time::Duration;

use super::{Fault, Phase, Socket};
use crate::judge::tick::Tick;

/// Bytes must lie unread for so long: an event loop may well be busy for some seconds.
const UNREAD_FOR: Duration = Duration::from_secs(30);
/// So many retransmissions in a row take at least a second and a half; a single lost packet needs one or two.
const MANY_RETRANSMITS: u8 = 3;
/// For so long nothing may have come through.
const DEAD_FOR: Duration = Duration::from_secs(10);

/// A connection of the operator to the API server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// This side.
    pub local: SocketAddr,
    /// The API server's side.
    pub peer: SocketAddr,
    /// Its state.
    pub phase: Phase,
    /// When its last bytes arrived, or when it was opened; absent where the kernel does not tell.
    pub received: Option<Tick>,
    /// Bytes that have arrived and were not read.
    pub receive_queue: u32,
    /// Bytes that were written and not acknowledged.
    pub send_queue: u32,
    /// How often in a row they were sent again.
    pub retransmits: u8,
    inode: u64,
    looks: u32,
    /// Since when nothing is read of what arrives, and whether more has arrived since.
    unread: Option<(Tick, bool)>,
    /// Since when nothing that is sent comes through.
    dead: Option<Tick>,
    looked: Tick,
}

impl Open {
    /// A socket as seen at `now`, with what was `known` of it from the look before.
    pub(super) fn seen(socket: &Socket, known: Option<&Self>, now: Tick) -> Self {
        let is_established = socket.phase == Phase::Established;
        let is_unread = is_established && socket.receive_queue > 0;
        let unread = known
            .and_then(|known| {
                let (since, grew) = known.unread?;
                let is_less = socket.receive_queue < known.receive_queue;
                (!is_less).then_some((since, grew || socket.receive_queue > known.receive_queue))
            })
            .or(Some((now, false)))
            .filter(|_| is_unread);
        let is_dead = is_established && socket.send_queue > 0 && socket.retransmits >= MANY_RETRANSMITS;
        let dead = known.and_then(|known| known.dead).or(Some(now)).filter(|_| is_dead);
        Self {
            local: socket.local,
            peer: socket.peer,
            phase: socket.phase,
            received: socket.silent_for.map(|silent_for| now.before(silent_for)),
            receive_queue: socket.receive_queue,
            send_queue: socket.send_queue,
            retransmits: socket.retransmits,
            inode: socket.inode,
            looks: known.map_or(1, |known| known.looks.saturating_add(1)),
            unread,
            dead,
            looked: now,
        }
    }

    /// Whether a socket is this connection.
    pub(super) fn is(&self, socket: &Socket) -> bool {
        (self.inode, self.local, self.peer) == (socket.inode, socket.local, socket.peer)
    }

    /// Whether it was there in two looks.
    pub(super) const fn is_confirmed(&self) -> bool {
        self.looks > 1
    }

    /// What is wrong with it.
    pub fn fault(&self) -> Option<Fault> {
        let lasts = |since: Tick, long: Duration| self.looked.since(since) >= long;
        if self.dead.is_some_and(|since| lasts(since, DEAD_FOR)) {
            return Some(Fault::PathDead);
        }
        self.unread.filter(|(since, grew)| *grew && lasts(*since, UNREAD_FOR)).map(|_| Fault::NotReading)
    }
}
