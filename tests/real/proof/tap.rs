//! The body of a watch on its way to the client: passed on line by line, swallowed, or broken.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::mpsc;
use tower::BoxError;

use super::proxy::Shared;
use super::rules::Stream;
use crate::task::Task;

/// What the client reads.
pub(super) struct Tap {
    received: mpsc::Receiver<Result<Bytes, BoxError>>,
    _task: Task,
}

/// Leads a watch's body through the rules.
pub(super) fn tap(body: Incoming, stream: Stream, shared: Arc<Shared>) -> Tap {
    let (sender, received) = mpsc::channel(16);
    let open = Open::new(stream, shared);
    Tap { received, _task: Task::spawn(pump(body, open, sender)) }
}

impl Body for Tap {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.received.poll_recv(context).map(|received| received.map(|part| part.map(Frame::data)))
    }
}

/// A watch that is counted as open for as long as this lives.
struct Open {
    stream: Stream,
    shared: Arc<Shared>,
}

impl Open {
    fn new(stream: Stream, shared: Arc<Shared>) -> Self {
        shared.count(&stream, |counters| {
            counters.watches += 1;
            counters.open += 1;
        });
        Self { stream, shared }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.shared.count(&self.stream, |counters| counters.open -= 1);
    }
}

async fn pump(mut body: Incoming, open: Open, sender: mpsc::Sender<Result<Bytes, BoxError>>) {
    let mut rules = open.shared.rules();
    let (mut lines, mut end) = (Lines::default(), None);
    loop {
        let (is_muted, is_broken) = {
            let rules = rules.borrow_and_update();
            (rules.mutes(&open.stream), rules.breaks(&open.stream))
        };
        if is_broken {
            end = Some(Err("the proxy broke this watch".into()));
        }
        if let Some(end) = end.take_if(|_| is_broken || !is_muted) {
            if let Err(error) = end {
                let _ = sender.send(Err(error)).await;
            }
            return;
        }
        let part = tokio::select! {
            () = sender.closed() => return,
            changed = rules.changed() => {
                if changed.is_err() {
                    return;
                }
                continue;
            }
            part = body.frame(), if end.is_none() => part,
        };
        match part {
            Some(Ok(frame)) => {
                let passed = lines.pass(&frame.into_data().unwrap_or_default(), is_muted);
                open.shared.count(&open.stream, |counters| {
                    counters.passed += passed.lines;
                    counters.swallowed += passed.swallowed;
                });
                if !passed.bytes.is_empty() && sender.send(Ok(passed.bytes)).await.is_err() {
                    return;
                }
            }
            Some(Err(error)) => end = Some(Err(BoxError::from(error))),
            None => end = Some(Ok(())),
        }
    }
}

/// Cuts at the ends of lines: a client must never see half an event.
#[derive(Default)]
struct Lines {
    /// Whether the line that has begun is swallowed; `None` between two lines.
    swallows: Option<bool>,
}

struct Passed {
    bytes: Bytes,
    lines: u64,
    swallowed: u64,
}

impl Lines {
    fn pass(&mut self, bytes: &[u8], is_muted: bool) -> Passed {
        let mut out = BytesMut::new();
        let (mut lines, mut swallowed) = (0, 0);
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let swallows = *self.swallows.get_or_insert(is_muted);
            if !swallows {
                out.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                self.swallows = None;
                *if swallows { &mut swallowed } else { &mut lines } += 1;
            }
        }
        Passed { bytes: out.freeze(), lines, swallowed }
    }
}
