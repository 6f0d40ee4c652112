//! Asks the kernel for its table of TCP sockets.

use std::io;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket as Netlink, SocketAddr};

use super::{Error, parse};
use crate::judge::connection::Socket;

/// The kernel fills at most half of this at once; what does not fit into a buffer would be cut off.
const BUFFER: usize = 64 * 1024;

/// All sockets of both families, `is_own` left open.
pub(super) fn dump() -> Result<Vec<Socket>, Error> {
    let failed = |step| move |source: io::Error| Error::Refused { step, source };
    let mut netlink = Netlink::new(NETLINK_SOCK_DIAG).map_err(failed("cannot open a netlink socket"))?;
    netlink.bind_auto().map_err(failed("cannot bind a netlink socket"))?;
    netlink.connect(&SocketAddr::new(0, 0)).map_err(failed("cannot connect a netlink socket"))?;
    // The kernel answers at once or, in a sandbox that only pretends, never.
    netlink.set_non_blocking(true).map_err(failed("cannot prepare a netlink socket"))?;
    let mut sockets = Vec::new();
    let mut buffer = vec![0; BUFFER];
    for (family, id) in [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())] {
        netlink.send(&request(family, id), 0).map_err(failed("cannot send the question"))?;
        loop {
            let length = netlink.recv(&mut &mut buffer[..], 0).map_err(failed("no answer"))?;
            if take(buffer.get(..length).unwrap_or_default(), &mut sockets)? {
                break;
            }
        }
    }
    Ok(sockets)
}

fn request(family: u8, socket_id: SocketId) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let states = StateFlags::ESTABLISHED | StateFlags::CLOSE_WAIT | StateFlags::SYN_SENT | StateFlags::LISTEN;
    let request = InetRequest { family, protocol: IPPROTO_TCP, extensions: ExtensionFlags::INFO, states, socket_id };
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

/// Takes in one part of an answer; true if it was the last.
fn take(mut bytes: &[u8], sockets: &mut Vec<Socket>) -> Result<bool, Error> {
    let unreadable = |problem: String| Error::Answer { problem };
    while !bytes.is_empty() {
        let message = NetlinkMessage::<SockDiagMessage>::deserialize(bytes).map_err(|it| unreadable(it.to_string()))?;
        match message.payload {
            NetlinkPayload::Done(_) => return Ok(true),
            NetlinkPayload::Error(error) if error.code.is_some() => {
                return Err(Error::Refused { step: "the kernel refuses", source: error.to_io() });
            }
            NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                sockets.extend(parse::socket(&response));
            }
            NetlinkPayload::Overrun(_) => return Err(unreadable("a part of it is lost".to_owned())),
            _ => {}
        }
        // Messages begin at multiples of four; what is shorter than its own head ends nothing.
        let length = usize::try_from(message.header.length).unwrap_or(usize::MAX).next_multiple_of(4).max(4);
        bytes = bytes.get(length..).unwrap_or_default();
    }
    Ok(false)
}
