//! What real sockets tell, in a network namespace of their own in which the network can be broken.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use dogwatch::judge::connection::{Connections, Fault, Open};
use dogwatch::judge::tick::Tick;

/// Tells the tests below that they may break the network they are in.
const INSIDE: &str = "DOGWATCH_NETWORK_MAY_BREAK";
const INNER: [&str; 3] = [
    "sockets::silence_since_before_an_event_shows_over_both_families",
    "sockets::a_process_that_does_not_read_is_told_from_one_that_does",
    "sockets::a_dead_path_is_told_from_a_quiet_one",
];

/// Each of [`INNER`] in a network namespace of its own. Who may not make one skips them and says so; root may.
#[test]
#[expect(clippy::disallowed_macros, reason = "a skipped test says why")]
fn what_real_sockets_tell() {
    let unshare =
        |arguments: &[&str]| Command::new("unshare").arg("--map-root-user").arg("--net").args(arguments).output();
    let probe = unshare(&["ip", "link", "set", "lo", "up"]);
    if !probe.as_ref().is_ok_and(|output| output.status.success()) {
        let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
        assert!(!is_root, "no network namespace as root: {probe:?}");
        println!("skipped: this user may not make network namespaces: {probe:?}");
        return;
    }
    let own = std::env::current_exe().expect("this test's file");
    for name in INNER {
        let script = format!("ip link set lo up && exec {} --exact {name} --ignored --nocapture", own.display());
        let output = Command::new("unshare")
            .args(["--map-root-user", "--net", "sh", "-c", &script])
            .env(INSIDE, "1")
            .output()
            .expect("unshare");
        let text = String::from_utf8_lossy(&output.stdout);
        let ran = output.status.success() && text.contains("1 passed");
        assert!(ran, "{name}\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn inside() {
    assert!(std::env::var_os(INSIDE).is_some(), "run by what_real_sockets_tell alone");
}

/// An API server to which dogwatch, which is this process, has a connection.
struct Stage {
    listener: TcpListener,
    dogwatch: TcpStream,
    to_dogwatch: TcpStream,
    connections: Connections,
    began: Instant,
    /// So much faster than the clock goes what only counts looks.
    pace: u32,
}

impl Stage {
    fn new(address: &str, pace: u32) -> Self {
        let listener = TcpListener::bind(address).expect("loopback");
        let dogwatch = TcpStream::connect(listener.local_addr().expect("bound")).expect("a connection");
        let (to_dogwatch, _) = listener.accept().expect("a connection");
        Self { listener, dogwatch, to_dogwatch, connections: Connections::default(), began: Instant::now(), pace }
    }

    /// An operator: a process that connects and then does what the script says with descriptor 3.
    fn operator(&self, script: &str) -> Operator {
        let at = self.listener.local_addr().expect("bound");
        let script = format!("exec 3<>/dev/tcp/{}/{}; {script}", at.ip(), at.port());
        let child = Command::new("bash").args(["-c", &script]).stdout(Stdio::null()).spawn().expect("bash");
        let (server, address) = self.listener.accept().expect("a connection");
        Operator { child, server, address }
    }

    fn now(&self) -> Tick {
        let elapsed = (self.began.elapsed() + Duration::from_secs(1000)) * self.pace;
        Tick::from_millis(i64::try_from(elapsed.as_millis()).expect("short"))
    }

    fn look(&mut self) {
        let sockets = dogwatch::sockets::read().expect("the kernel tells");
        let now = self.now();
        self.connections.observe(&sockets, now);
    }

    /// Looks twice a second.
    fn look_for(&mut self, duration: Duration) {
        let until = Instant::now() + duration;
        while Instant::now() < until {
            self.look();
            sleep(Duration::from_millis(500));
        }
        self.look();
    }

    /// An event on the connection of dogwatch, and when it saw it.
    fn event(&mut self) -> Tick {
        self.to_dogwatch.write_all(b"event").expect("open");
        self.dogwatch.read_exact(&mut [0; 5]).expect("open");
        self.now()
    }

    fn misses(&self, event: Tick) -> bool {
        self.connections.reception().misses(event)
    }
}

struct Operator {
    child: Child,
    server: TcpStream,
    address: SocketAddr,
}

impl Operator {
    fn hear(&mut self) {
        self.server.write_all(b"event").expect("open");
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

const READS: &str = "exec cat <&3";

#[test]
#[ignore = "run by what_real_sockets_tell"]
fn silence_since_before_an_event_shows_over_both_families() {
    inside();
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let mut stage = Stage::new(address, 1);
        let mut lists = stage.operator(READS);
        let mut watches = stage.operator(READS);
        for operator in [&mut lists, &mut watches] {
            operator.hear();
        }
        stage.look_for(Duration::from_millis(5500));
        let mut locals: Vec<_> = stage.connections.open().iter().map(|open| open.local).collect();
        let mut expected = [lists.address, watches.address];
        locals.sort();
        expected.sort();
        assert_eq!(locals, expected, "the operator's two, and none of dogwatch's own");
        // Half-open from here: what is sent to dogwatch is not sent to the operator.
        let event = stage.event();
        stage.look_for(Duration::from_secs(1));
        assert!(stage.misses(event), "{address}");
        lists.hear();
        stage.look();
        assert!(!stage.misses(event), "{address}: any byte on any connection");
        let newest = stage.connections.newest().expect("received");
        assert!(newest > event && newest <= stage.now());
        let received =
            |address| stage.connections.open().iter().find(|open| open.local == address).and_then(|open| open.received);
        assert!(received(lists.address) > received(watches.address), "told apart");
    }
    // One that connects only after the event.
    let mut stage = Stage::new("127.0.0.1:0", 1);
    let _silent = stage.operator(READS);
    stage.look_for(Duration::from_millis(5500));
    let event = stage.event();
    assert!(stage.misses(event));
    let _late = stage.operator(READS);
    stage.look();
    assert!(!stage.misses(event), "it may have listed");
}

#[test]
#[ignore = "run by what_real_sockets_tell"]
fn a_process_that_does_not_read_is_told_from_one_that_does() {
    inside();
    let mut stage = Stage::new("127.0.0.1:0", 20);
    let (mut reads, mut hangs) = (stage.operator(READS), stage.operator("exec sleep 60"));
    for _ in 0..6 {
        reads.hear();
        hangs.hear();
        stage.look_for(Duration::from_millis(400));
    }
    assert_eq!(stage.connections.faults(), [Fault::NotReading]);
    for open in stage.connections.open() {
        let expected = (open.local == hangs.address).then_some(Fault::NotReading);
        assert_eq!(open.fault(), expected, "{open:?}");
    }
}

#[test]
#[ignore = "run by what_real_sockets_tell"]
fn a_dead_path_is_told_from_a_quiet_one() {
    inside();
    let mut stage = Stage::new("127.0.0.1:0", 10);
    let (quiet, writes) = (stage.operator(READS), stage.operator("while :; do echo x >&3; sleep 0.1; done"));
    stage.look_for(Duration::from_secs(2));
    assert_eq!(stage.connections.faults(), []);
    let down = Command::new("ip").args(["link", "set", "lo", "down"]).status().expect("ip");
    assert!(down.success());
    stage.look_for(Duration::from_secs(5));
    let fault = |address| stage.connections.open().iter().find(|open| open.local == address).and_then(Open::fault);
    assert_eq!((fault(writes.address), fault(quiet.address)), (Some(Fault::PathDead), None));
    drop((quiet, writes));
}
