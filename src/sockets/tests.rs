use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::*;
use crate::judge::connection::Phase;

/// A process that holds a connection until it is dropped.
struct Other(Child);

impl Other {
    fn connect(listener: &TcpListener) -> (Self, TcpStream) {
        let at = listener.local_addr().expect("bound");
        let script = format!("exec 3<>/dev/tcp/{}/{}; exec sleep 60", at.ip(), at.port());
        let child = Command::new("bash").args(["-c", &script]).stdout(Stdio::null()).spawn().expect("bash");
        let (accepted, _) = listener.accept().expect("a connection");
        (Self(child), accepted)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Both families; this one alone where the machine has no IPv6.
fn loopbacks() -> Vec<TcpListener> {
    let all: Vec<_> = ["127.0.0.1:0", "[::1]:0"].iter().filter_map(|address| TcpListener::bind(address).ok()).collect();
    assert!(!all.is_empty(), "no loopback");
    all
}

#[test]
fn own_sockets_are_told_from_those_of_others_over_both_families() {
    for listener in loopbacks() {
        let address = listener.local_addr().unwrap();
        let mine = TcpStream::connect(address).unwrap();
        let _accepted = listener.accept().unwrap();
        let (_other, accepted) = Other::connect(&listener);
        let sockets = read().unwrap();
        let of = |local| sockets.iter().find(|socket| socket.local == local).copied().expect("in the table");
        let (own, listening, others) = (of(mine.local_addr().unwrap()), of(address), of(accepted.peer_addr().unwrap()));
        assert!(own.is_own && listening.is_own && !others.is_own, "{address}");
        assert_eq!((own.peer, others.peer), (address, address));
        assert_eq!((own.phase, listening.phase, others.phase), (Phase::Established, Phase::Listen, Phase::Established));
    }
}

#[test]
fn the_time_of_the_last_byte_and_the_unread_ones_are_seen() {
    for listener in loopbacks() {
        let (_other, mut accepted) = Other::connect(&listener);
        let local = accepted.peer_addr().unwrap();
        let look = || read().unwrap().into_iter().find(|socket| socket.local == local).expect("in the table");
        // Since it was opened, as nothing was sent yet.
        assert!(look().silent_for.unwrap() < Duration::from_secs(10));
        std::thread::park_timeout(Duration::from_millis(400));
        assert!(look().silent_for.unwrap() >= Duration::from_millis(300));
        accepted.write_all(b"twelve bytes").unwrap();
        let socket = look();
        assert_eq!(socket.receive_queue, 12, "nobody reads them");
        assert!(socket.silent_for.unwrap() < Duration::from_millis(300));
    }
}
