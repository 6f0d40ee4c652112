//! From the kernel's words to ours.

use std::net::SocketAddr;
use std::time::Duration;

use netlink_packet_sock_diag::constants::{TCP_CLOSE_WAIT, TCP_ESTABLISHED, TCP_LISTEN, TCP_SYN_SENT};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{InetResponse, Timer};

use crate::judge::connection::{Phase, Socket};

/// Where `tcpi_last_data_recv` stands in the kernel's `struct tcp_info`, in milliseconds and native byte order. Kernels
/// add fields at its end only, and older ones send less of it.
const LAST_DATA_RECEIVED: std::ops::Range<usize> = 52..56;

/// One socket; absent where its state is none of ours, or nobody holds it any more.
pub(super) fn socket(response: &InetResponse) -> Option<Socket> {
    let header = &response.header;
    let phase = match header.state {
        TCP_ESTABLISHED => Phase::Established,
        TCP_CLOSE_WAIT => Phase::CloseWait,
        TCP_SYN_SENT => Phase::SynSent,
        TCP_LISTEN => Phase::Listen,
        _ => return None,
    };
    let id = &header.socket_id;
    Some(Socket {
        // A client that opens every socket for IPv6 reaches an IPv4 address under a mapped one.
        local: SocketAddr::new(id.source_address.to_canonical(), id.source_port),
        peer: SocketAddr::new(id.destination_address.to_canonical(), id.destination_port),
        phase,
        inode: Some(u64::from(header.inode)).filter(|inode| *inode != 0)?,
        is_own: false,
        silent_for: response.nlas.iter().find_map(silent_for),
        receive_queue: header.recv_queue,
        send_queue: header.send_queue,
        retransmits: match header.timer {
            Some(Timer::Retransmit(_, times)) => times,
            _ => 0,
        },
    })
}

fn silent_for(attribute: &Nla) -> Option<Duration> {
    let Nla::TcpInfo(info) = attribute else { return None };
    let bytes = info.get(LAST_DATA_RECEIVED)?.try_into().ok()?;
    Some(Duration::from_millis(u64::from(u32::from_ne_bytes(bytes))))
}

#[cfg(test)]
mod tests {
    use netlink_packet_sock_diag::constants::{AF_INET6, TCP_TIME_WAIT};
    use netlink_packet_sock_diag::inet::{InetResponseHeader, SocketId};

    use super::*;

    fn response(state: u8, inode: u32, info: Option<Vec<u8>>) -> InetResponse {
        let mut socket_id = SocketId::new_v6();
        socket_id.source_address = "::ffff:10.0.0.7".parse().unwrap();
        socket_id.destination_address = "fd00::1".parse().unwrap();
        (socket_id.source_port, socket_id.destination_port) = (40_000, 6443);
        let timer = Some(Timer::Retransmit(Duration::from_millis(10), 4));
        InetResponse {
            header: InetResponseHeader {
                family: AF_INET6,
                state,
                timer,
                socket_id,
                recv_queue: 7,
                send_queue: 8,
                uid: 0,
                inode,
            },
            nlas: info.into_iter().map(Nla::TcpInfo).collect(),
        }
    }

    fn info(length: usize) -> Vec<u8> {
        let mut info = vec![0xff; 300];
        info[LAST_DATA_RECEIVED].copy_from_slice(&1500_u32.to_ne_bytes());
        info.truncate(length);
        info
    }

    #[test]
    fn an_answer_of_any_length_is_read_as_far_as_it_goes() {
        let silent_for = |info| socket(&response(TCP_ESTABLISHED, 5, info)).unwrap().silent_for;
        for length in [56, 104, 232, 300] {
            assert_eq!(silent_for(Some(info(length))), Some(Duration::from_millis(1500)), "{length} bytes");
        }
        for length in [0, 1, 52, 55] {
            assert_eq!(silent_for(Some(info(length))), None, "{length} bytes");
        }
        assert_eq!(silent_for(None), None);
    }

    #[test]
    fn addresses_queues_and_retransmissions_are_taken_over() {
        let socket = socket(&response(TCP_ESTABLISHED, 5, None)).unwrap();
        assert_eq!(
            (socket.local.to_string(), socket.peer.to_string()),
            ("10.0.0.7:40000".into(), "[fd00::1]:6443".into())
        );
        assert_eq!((socket.receive_queue, socket.send_queue, socket.retransmits, socket.inode), (7, 8, 4, 5));
    }

    #[test]
    fn what_nobody_holds_any_more_is_left_out() {
        assert_eq!(socket(&response(TCP_ESTABLISHED, 0, None)), None);
        assert_eq!(socket(&response(TCP_TIME_WAIT, 5, None)), None);
    }
}
