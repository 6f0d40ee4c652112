use super::*;

const API: &str = "10.96.0.1:443";

fn at(second: u64) -> Tick {
    Tick::from_millis(second.cast_signed() * 1000)
}

fn socket(inode: u64, peer: &str, silent_for: u64) -> Socket {
    Socket {
        local: format!("10.0.0.7:{}", 40_000 + inode).parse().unwrap(),
        peer: peer.parse().unwrap(),
        phase: Phase::Established,
        inode,
        is_own: false,
        silent_for: Some(Duration::from_secs(silent_for)),
        receive_queue: 0,
        send_queue: 0,
        retransmits: 0,
    }
}

fn own(peer: &str) -> Socket {
    Socket { is_own: true, ..socket(1, peer, 1) }
}

/// Looks every five seconds from second 100 on; what is seen comes from `sockets`, by the second.
fn watched(until: u64, sockets: impl Fn(u64) -> Vec<Socket>) -> Connections {
    let mut connections = Connections::default();
    for second in (100..=until).step_by(5) {
        connections.observe(&sockets(second), at(second));
    }
    connections
}

/// Whether an event at `second` was missed.
fn misses(connections: &Connections, second: u64) -> bool {
    connections.reception().misses(at(second))
}

#[test]
fn silence_since_before_an_event_is_found_and_a_byte_after_it_ends_it() {
    let silent = watched(300, |second| vec![own(API), socket(2, API, second - 90)]);
    assert!(misses(&silent, 200));
    assert!(misses(&silent, 100), "as soon as anything was looked at");
    assert!(!misses(&silent, 99), "before the first look");
    let received = watched(300, |second| vec![own(API), socket(2, API, if second < 250 { 5 } else { second - 250 })]);
    assert!(!misses(&received, 200));
    assert!(!misses(&received, 254), "too near");
    assert!(misses(&received, 255));
}

#[test]
fn any_connection_of_the_operator_that_receives_hides_silence() {
    let pinged = watched(300, |second| vec![own(API), socket(2, API, second), socket(3, API, second % 30)]);
    assert!(!misses(&pinged, 200));
    assert_eq!(pinged.open().len(), 2);
    assert_ne!(pinged.open()[0].received, pinged.open()[1].received, "told apart");
}

#[test]
fn a_connection_opened_after_the_event_proves_nothing_even_in_its_first_look() {
    let reopened = |until| {
        watched(until, |second| {
            let mut sockets = vec![own(API), socket(2, API, second)];
            sockets.extend((second >= 250).then(|| socket(3, API, second - 248)));
            sockets
        })
    };
    assert!(misses(&reopened(245), 200));
    assert!(!misses(&reopened(250), 200));
    assert!(!misses(&reopened(300), 200));
    // And what it received counts when it is closed again.
    let closed = watched(300, |second| {
        let mut sockets = vec![own(API), socket(2, API, second)];
        sockets.extend((250..270).contains(&second).then(|| socket(3, API, second - 248)));
        sockets
    });
    assert!(!misses(&closed, 200));
}

#[test]
fn a_socket_in_one_look_only_leaves_nothing_behind() {
    let glimpsed = watched(300, |second| {
        let mut sockets = vec![own(API), socket(2, API, second)];
        sockets.extend((second == 250).then(|| socket(3, API, 0)));
        sockets
    });
    assert!(misses(&glimpsed, 200), "it may have been dogwatch's own");
}

#[test]
fn without_a_connection_or_without_the_api_servers_address_nothing_is_said() {
    let none = watched(300, |_| vec![own(API)]);
    assert!(!misses(&none, 200));
    let unattributed = watched(300, |second| vec![socket(2, API, second)]);
    assert!(!misses(&unattributed, 200) && !unattributed.knows_peers() && unattributed.open().is_empty());
    let elsewhere = watched(300, |second| vec![own(API), socket(2, "10.1.1.1:5432", second)]);
    assert!(!misses(&elsewhere, 200) && elsewhere.open().is_empty(), "a database is no API server");
    let closing = watched(300, |second| vec![own(API), Socket { phase: Phase::CloseWait, ..socket(2, API, second) }]);
    assert!(!misses(&closing, 200), "none that could receive");
    let old_kernel = watched(300, |_| vec![own(API), Socket { silent_for: None, ..socket(2, API, 0) }]);
    assert!(!misses(&old_kernel, 200));
}

#[test]
fn every_address_under_which_dogwatch_reached_the_api_server_counts_for_a_day() {
    let (one, other) = ("172.18.0.2:6443", "[fd00::2]:6443");
    let looks =
        |second: u64| vec![own(if second < 200 { one } else { other }), socket(2, one, second), socket(3, other, 3)];
    assert_eq!(watched(300, looks).open().len(), 2);
    let day = 24 * 3600;
    let mut connections = watched(300, looks);
    for second in (330..day + 300).step_by(60) {
        connections.observe(&looks(second), at(second));
    }
    assert_eq!(connections.open().len(), 1, "the first one is forgotten");
}

#[test]
fn who_asks_dogwatch_is_no_api_server() {
    let probe = "10.0.0.1:51000";
    let listener = Socket { phase: Phase::Listen, local: "[::]:11850".parse().unwrap(), ..own("[::]:0") };
    let asked = Socket { local: "10.0.0.7:11850".parse().unwrap(), inode: 9, ..own(probe) };
    let looked = watched(200, |second| vec![listener, asked, own(API), socket(2, probe, 0), socket(3, API, second)]);
    assert_eq!(looked.open().iter().map(|open| open.peer.to_string()).collect::<Vec<_>>(), [API]);
}

#[test]
fn a_time_without_looks_takes_back_what_was_known() {
    let looks = |second: u64| vec![own(API), socket(2, API, second)];
    let mut lost = watched(300, looks);
    lost.lost();
    assert!(!misses(&lost, 200) && lost.knows_peers());
    lost.observe(&looks(310), at(310));
    assert!(!misses(&lost, 305) && misses(&lost, 310));
    let mut asleep = watched(300, looks);
    asleep.observe(&looks(391), at(391));
    assert!(!misses(&asleep, 300) && misses(&asleep, 391), "the machine slept");
}

#[test]
fn receiving_ends_with_the_first_long_pause() {
    let since = |until: u64, silent_for: fn(u64) -> u64| {
        let connections = watched(until, |second| vec![own(API), socket(2, API, silent_for(second))]);
        let reception = connections.reception();
        (100..until).find(|second| reception.is_receiving_since(at(*second)))
    };
    assert_eq!(since(300, |_| 2), Some(103), "from the first byte that two looks agree on");
    assert_eq!(since(300, |second| if second < 200 { 2 } else { second - 200 }), None);
    assert_eq!(since(400, |second| if (200..240).contains(&second) { second - 198 } else { 1 }), Some(239));
}

#[test]
fn faults_are_named_once_they_last() {
    let fault = |until: u64, change: fn(u64, &mut Socket)| {
        let connections = watched(until, |second| {
            let mut changed = socket(2, API, 0);
            change(second, &mut changed);
            vec![own(API), changed]
        });
        connections.faults()
    };
    let grows: fn(u64, &mut Socket) = |second, it| it.receive_queue = 10 * u32::try_from(second).unwrap();
    assert_eq!(fault(125, grows), []);
    assert_eq!(fault(130, grows), [Fault::NotReading]);
    assert_eq!(
        fault(300, |second, it| it.receive_queue = if second < 110 { 10 } else { 900 }),
        [Fault::NotReading],
        "full"
    );
    assert_eq!(fault(300, |_, it| it.receive_queue = 24), [], "what an idle pool leaves unread does not grow");
    assert_eq!(fault(300, |second, it| it.receive_queue = u32::try_from(second % 20).unwrap()), [], "it reads slowly");
    let resends: fn(u64, &mut Socket) = |_, it| (it.send_queue, it.retransmits) = (100, 3);
    assert_eq!(fault(105, resends), []);
    assert_eq!(fault(110, resends), [Fault::PathDead]);
    assert_eq!(fault(300, |_, it| (it.send_queue, it.retransmits) = (100, 2)), [], "one lost packet");
    assert_eq!(fault(300, |_, it| (it.send_queue, it.retransmits) = (0, 5)), []);
    assert_eq!(fault(300, |second, it| it.retransmits = u8::from(second % 10 == 0) * 5), []);
}
