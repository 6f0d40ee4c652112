//! `probe` ends with 0 or 1 whatever happens: any other code, too, has the kubelet restart the operator.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use crate::run::{dogwatch, dogwatch_with};

/// Answers one request.
fn answer_once(answer: &'static str) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let _ = stream.read(&mut [0; 2048]).expect("a request");
        stream.write_all(answer.as_bytes()).expect("sent");
    });
    (address, server)
}

#[test]
fn a_500_by_dogwatch_is_exit_1_and_its_line_is_all_that_is_printed() {
    let (address, server) = answer_once(
        "HTTP/1.1 500 Internal Server Error\r\nDogwatch: 1\r\nContent-Length: 25\r\n\r\nasleep a.b since 07:06Z:\n",
    );
    let run = dogwatch(&["probe", "--address", &address]);
    assert_eq!((run.code, &*run.stdout, &*run.stderr), (1, "asleep a.b since 07:06Z:\n", ""));
    server.join().expect("answered");
}

#[test]
fn nobody_there_is_exit_0() {
    let run = dogwatch(&["probe", "--address", "127.0.0.1:1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.starts_with("ok: no answer from dogwatch, which does not count against the operator: "));
}

#[test]
fn a_wrong_command_line_prints_and_is_exit_0() {
    for arguments in [
        &["probe", "--adress", "127.0.0.1:1"][..],
        &["probe", "--address", "nonsense"],
        &["probe", "--also", "not a url"],
        &["probe", "surplus"],
        &["--verbose", "probe"],
    ] {
        let run = dogwatch(arguments);
        assert_eq!(run.code, 0, "{arguments:?}");
        assert!(run.stderr.starts_with("error: "), "{arguments:?}: {}", run.stderr);
    }
    let run = dogwatch_with(&["probe"], &[("DOGWATCH_ADDRESS", "nonsense")], "");
    assert_eq!(run.code, 0);
    assert_eq!(dogwatch(&["audit", "--adress"]).code, 2, "of every other command it is 2");
}
