use super::super::decision::Container;
use super::*;

const SETTINGS: Settings = Settings { failure_threshold: 3, initial_delay: Duration::from_secs(30) };

fn moment(second: i64) -> Moment {
    let wall = Timestamp::from_second(1_700_000_000 + second).expect("a time");
    Moment { wall, elapsed: Duration::from_secs(u64::try_from(1000 + second).expect("after the boot")) }
}

fn at(second: i64) -> Tick {
    moment(second).tick()
}

fn pod(id: &str, started: i64) -> Pod {
    let container = Container { id: id.to_owned(), is_running: true, started: at(started) };
    Pod::Read { container: Some(container), is_terminating: false }
}

/// A check whose container started at second 0.
fn check() -> OwnCheck {
    let mut check = OwnCheck::new(SETTINGS, at(0));
    check.see(&pod("a", 0), None, at(0));
    check
}

/// Asks every 10 s from one second to another, and gives the second at which it counted as failed.
fn fail(check: &mut OwnCheck, from: i64, to: i64) -> Option<i64> {
    for second in (from..=to).step_by(10) {
        check.note(false, at(second), moment(second));
        if check.failed().is_some() {
            return Some(second);
        }
    }
    None
}

#[test]
fn it_fails_after_the_threshold_in_a_row_and_one_success_resets() {
    let mut check = check();
    assert_eq!(fail(&mut check, 30, 40), None);
    check.note(true, at(50), moment(50));
    assert_eq!((check.in_a_row(), check.failures()), (0, 2));
    assert_eq!(fail(&mut check, 60, 100), Some(80));
    assert_eq!(check.failed(), Some(moment(80).wall));
    check.note(false, at(90), moment(90));
    assert_eq!((check.failed(), check.in_a_row()), (Some(moment(80).wall), 4), "since when does not move");
    check.note(true, at(100), moment(100));
    assert_eq!((check.failed(), check.failures()), (None, 6));
}

#[test]
fn nothing_counts_before_the_initial_delay() {
    let mut check = check();
    assert_eq!(check.asks_from(), Some(at(30)));
    check.note(false, at(29), moment(31));
    assert_eq!((check.in_a_row(), check.failures()), (0, 0));
}

#[test]
fn a_new_life_of_the_container_begins_anew() {
    let mut check = check();
    fail(&mut check, 30, 50);
    check.see(&pod("b", 60), None, at(60));
    assert_eq!((check.failed(), check.in_a_row(), check.asks_from()), (None, 0, Some(at(90))));
    check.note(false, at(59), moment(61));
    assert_eq!(check.in_a_row(), 0, "asked of the old one");
    assert_eq!(check.failures(), 3, "the count goes on");
}

#[test]
fn nobody_is_asked_while_the_container_is_down_or_the_pod_goes() {
    let down = Container { id: "a".to_owned(), is_running: false, started: at(0) };
    for over in [
        Pod::Read { container: None, is_terminating: false },
        Pod::Read { container: Some(down), is_terminating: false },
        Pod::Read {
            container: Some(Container { id: "a".to_owned(), is_running: true, started: at(0) }),
            is_terminating: true,
        },
    ] {
        let mut check = check();
        fail(&mut check, 30, 50);
        check.see(&over, None, at(60));
        assert_eq!((check.failed(), check.asks_from()), (None, None), "{over:?}");
        assert_eq!(fail(&mut check, 60, 100), None);
    }
}

#[test]
fn where_the_pod_cannot_be_seen_a_restart_is_assumed_once_the_kubelet_must_have_acted() {
    let mut check = OwnCheck::new(SETTINGS, at(0));
    let probe = Some(Probe::default());
    check.see(&Pod::Unread, probe, at(20));
    assert_eq!(check.asks_from(), Some(at(30)), "dogwatch's start stands for the container's");
    assert_eq!(fail(&mut check, 30, 100), Some(50));
    check.see(&Pod::Unread, probe, at(89));
    assert!(check.failed().is_some());
    check.see(&Pod::Unread, probe, at(90));
    assert_eq!((check.failed(), check.asks_from()), (None, Some(at(120))));
}
