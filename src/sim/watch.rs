//! Watches: a stream of changes, bookmarks, and the faults that make it silent.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::watch::Receiver;

use super::Shared;
use super::call::Call;
use super::failure::{Failure, answer_bytes};
use super::fault::{Fault, Frozen};
use super::list::number;
use super::selector::Selector;
use super::server::{Server, Target};
use super::store::{Change, within};
use crate::clock;

/// How often bookmarks come.
const BOOKMARKS: Duration = Duration::from_mins(1);
/// When a watch ends that names no `timeoutSeconds`. The real server draws 30 to 60 minutes.
const LIFETIME: Duration = Duration::from_mins(45);
/// How long before its end a watch gets a last bookmark.
const FAREWELL: Duration = Duration::from_secs(2);

/// An open watch.
struct Stream {
    shared: Arc<Shared>,
    turn: Receiver<u64>,
    call: Call,
    target: Target,
    selector: Selector,
    /// Its place among the openings of streams and the beginnings of faults.
    sequence: u64,
    /// The newest revision that was looked at.
    cursor: u64,
    queue: VecDeque<Bytes>,
    opened: Duration,
    lifetime: Duration,
    /// Absent if the client wants none.
    next_bookmark: Option<Duration>,
    last_sent: Duration,
    /// How many object events there were, sent or lost.
    events: u64,
    /// Nothing will ever go through again.
    is_dead: bool,
}

/// What a stream does next.
enum Step {
    Send(Bytes),
    /// Nothing before this time on the boot clock, unless something changes.
    Wait(Duration),
    Close,
    /// The connection breaks off.
    Break,
    Hang,
}

/// What the faults in force do to a stream at the moment.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent faults, not a state")]
struct Trouble {
    mute: bool,
    without_bookmarks: bool,
    without_initial_end: bool,
    breaks: bool,
    /// No later change is visible.
    frozen: Option<Frozen>,
    late: Option<Duration>,
    dies: bool,
    dies_after: Option<Duration>,
    lifetime: Option<Duration>,
    loses_every: Option<u64>,
}

/// Opens a watch.
pub(super) fn open(shared: &Arc<Shared>, server: &mut Server, target: Target, call: Call) -> Result<Response, Failure> {
    let (label, field) = (call.parameter("labelSelector"), call.parameter("fieldSelector"));
    let selector = Selector::parse(label, field, &target.resource)?;
    let asked: u64 = number(&call, "resourceVersion")?.unwrap_or(0);
    let lifetime = number(&call, "timeoutSeconds")?.map_or(LIFETIME, Duration::from_secs);
    let oldest = server.store.oldest();
    let always_gone = server.faults.concerning(&call).any(|active| matches!(active.fault, Fault::GoneLoop { .. }));
    if always_gone || (asked > 0 && asked < oldest) {
        return Ok(refused(&Failure::watch_expired(asked, oldest)));
    }
    let now = server.boot();
    let bookmarks = call.is_set("allowWatchBookmarks");
    let mut watch = Stream {
        shared: Arc::clone(shared),
        turn: shared.turns(),
        selector,
        sequence: server.draw_sequence(),
        cursor: asked,
        queue: VecDeque::new(),
        opened: now,
        lifetime,
        next_bookmark: bookmarks.then(|| now + BOOKMARKS.min(lifetime.saturating_sub(FAREWELL))),
        last_sent: now,
        events: 0,
        is_dead: false,
        call,
        target,
    };
    if asked == 0 {
        watch.begin_with_what_is_there(server);
    }
    let chunks = stream::unfold(watch, |mut watch| async move { watch.next().await.map(|chunk| (chunk, watch)) });
    Ok(answer_bytes(200, "application/json", Body::from_stream(chunks)))
}

/// A watch that is too old: HTTP 200 with one `ERROR` event.
fn refused(failure: &Failure) -> Response {
    answer_bytes(200, "application/json", line("ERROR", &failure.to_status()))
}

fn line(kind: &str, object: &Value) -> Bytes {
    Bytes::from(format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n"))
}

impl Trouble {
    /// The newest revision that the stream's side of the server knows.
    fn visible(&self, server: &Server) -> u64 {
        match (&self.frozen, self.late) {
            (Some(frozen), _) => frozen.revision,
            (None, Some(late)) => server.late_revision(late),
            (None, None) => server.store.revision(),
        }
    }
}

impl Stream {
    /// Without a `resourceVersion`, or with 0, a watch begins with an `ADDED` event for each object.
    fn begin_with_what_is_there(&mut self, server: &Server) {
        let trouble = self.trouble(server);
        let revision = trouble.visible(server);
        let objects = match &trouble.frozen {
            Some(frozen) => (*frozen.objects).clone(),
            None => server.store.as_of(revision).unwrap_or_else(|| server.store.objects().clone()),
        };
        let resource = &self.target.resource;
        let all = within(&objects, &resource.group, &resource.plural, self.target.namespace.as_deref());
        let chosen = all.filter(|(_, object)| self.selector.fits(object));
        let lines = chosen.map(|(_, object)| line("ADDED", &self.target.presented(object)));
        self.queue = lines.collect();
        if call_wants_initial_end(&self.call) && !trouble.without_initial_end {
            self.queue.push_back(self.bookmark(revision, true));
        }
        self.cursor = revision;
    }

    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            let step = {
                let shared = Arc::clone(&self.shared);
                let server = shared.lock();
                self.turn.mark_unchanged();
                self.step(&server)
            };
            match step {
                Step::Send(bytes) => return Some(Ok(bytes)),
                Step::Close => return None,
                Step::Break => return Some(Err(io::ErrorKind::ConnectionReset.into())),
                Step::Hang => std::future::pending().await,
                Step::Wait(until) => {
                    let wait = until.saturating_sub(self.shared.lock().boot());
                    tokio::select! {
                        _ = self.turn.changed() => {}
                        () = clock::sleep(wait) => {}
                    }
                }
            }
        }
    }

    fn step(&mut self, server: &Server) -> Step {
        let now = server.boot();
        let trouble = self.trouble(server);
        let dies_at = trouble.dies_after.map(|after| self.last_sent + after);
        self.is_dead |= trouble.dies || dies_at.is_some_and(|at| now >= at);
        if self.is_dead {
            return Step::Hang;
        }
        if trouble.breaks {
            return Step::Break;
        }
        if trouble.mute {
            self.queue.clear();
        }
        if self.cursor < server.store.oldest() {
            // It fell behind the history: as with a slow client of the real server, the next watch learns why.
            return Step::Close;
        }
        let late_until = self.take_changes(server, &trouble, now);
        let ends_at = self.opened + trouble.lifetime.map_or(self.lifetime, |lifetime| lifetime.min(self.lifetime));
        if let Some(bytes) = self.queue.pop_front() {
            self.last_sent = now;
            return Step::Send(bytes);
        }
        if let Some(bookmark) = self.due_bookmark(server, &trouble, now, ends_at) {
            self.last_sent = now;
            return Step::Send(bookmark);
        }
        if now >= ends_at {
            return Step::Close;
        }
        let next = [self.next_bookmark, late_until, dies_at].into_iter().flatten().fold(ends_at, Duration::min);
        Step::Wait(next)
    }

    /// Queues what has become visible, and says when the next late change will.
    fn take_changes(&mut self, server: &Server, trouble: &Trouble, now: Duration) -> Option<Duration> {
        for change in server.store.changes_after(self.cursor) {
            if trouble.frozen.as_ref().is_some_and(|frozen| change.revision > frozen.revision) {
                return None;
            }
            if let Some(visible_at) = trouble.late.map(|late| change.at + late).filter(|at| *at > now) {
                return Some(visible_at);
            }
            self.cursor = change.revision;
            let Some(event) = self.event(change) else { continue };
            self.events += 1;
            let lost = trouble.loses_every.is_some_and(|every| self.events.is_multiple_of(every.max(1)));
            if !trouble.mute && !lost {
                self.queue.push_back(event);
            }
        }
        None
    }

    /// What a change looks like through the selector: an object can come into it or leave it by a change.
    fn event(&self, change: &Change) -> Option<Bytes> {
        let (resource, namespace) = (&self.target.resource, self.target.namespace.as_deref());
        if !change.key.is_in(&resource.group, &resource.plural, namespace) {
            return None;
        }
        let was_in = change.before.as_ref().is_some_and(|before| self.selector.fits(before));
        let is_in = !change.deleted && self.selector.fits(&change.object);
        let kind = match (was_in, is_in) {
            (false, false) => return None,
            (false, true) => "ADDED",
            (true, true) => "MODIFIED",
            (true, false) => "DELETED",
        };
        Some(line(kind, &self.target.presented(&change.object)))
    }

    fn due_bookmark(&mut self, server: &Server, trouble: &Trouble, now: Duration, ends_at: Duration) -> Option<Bytes> {
        if self.next_bookmark? > now {
            return None;
        }
        let farewell = ends_at.saturating_sub(FAREWELL);
        let next = (now + BOOKMARKS).min(if farewell > now { farewell } else { Duration::MAX });
        self.next_bookmark = Some(next);
        let visible = trouble.visible(server);
        // A server that is behind the revision that the client named has no bookmark for it.
        (visible >= self.cursor && !trouble.without_bookmarks).then(|| self.bookmark(visible, false))
    }

    fn bookmark(&self, revision: u64, initial_end: bool) -> Bytes {
        let mut object = json!({
            "apiVersion": self.target.api_version(), "kind": self.target.resource.kind,
            "metadata": {"resourceVersion": revision.to_string()},
        });
        if initial_end {
            object["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        line("BOOKMARK", &object)
    }

    fn trouble(&self, server: &Server) -> Trouble {
        let mut trouble = Trouble::default();
        for active in server.faults.concerning(&self.call) {
            let concerns = |new_streams: bool| new_streams || self.sequence < active.sequence;
            match active.fault {
                Fault::MuteOpen { bookmarks, new_streams } if concerns(new_streams) => {
                    trouble.mute = true;
                    trouble.without_bookmarks |= !bookmarks;
                }
                Fault::IdleHalfopen { after, new_streams } if concerns(new_streams) => {
                    trouble.dies_after = Some(Duration::from_secs(after));
                }
                Fault::ApiDown | Fault::Forbidden | Fault::TokenExpired => trouble.breaks = true,
                Fault::FrozenCache { .. } => trouble.frozen = Some(active.frozen.clone()),
                Fault::LateCache { seconds } => trouble.late = Some(Duration::from_secs(seconds)),
                Fault::WatchChurn { seconds } => trouble.lifetime = Some(Duration::from_secs(seconds)),
                Fault::Blackhole => trouble.dies = true,
                Fault::ServerStopped => trouble.dies |= self.call.is_odd(),
                Fault::NoInitialEventsEnd => trouble.without_initial_end = true,
                Fault::LostEvent { every } => trouble.loses_every = Some(every),
                _ => {}
            }
        }
        trouble
    }
}

/// `sendInitialEvents`: the client lists by watching, and a bookmark tells it where the list ends.
fn call_wants_initial_end(call: &Call) -> bool {
    call.is_set("sendInitialEvents") && call.is_set("allowWatchBookmarks")
}
