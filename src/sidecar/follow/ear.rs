//! Takes in what one watch hands out: judges it as a list's objects are judged, and tells the loop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use super::{Basis, Follower};
use crate::clock;
use crate::cluster::watch::Event;
use crate::judge::object::Identity;
use crate::judge::rule::auto::Signs;
use crate::judge::state::{Judgement, Moment, State};
use crate::sidecar::operator::Operator;
use crate::view::WatchType;

/// Events are told to the loop together, so that a burst of them is one step: detection is due within 2 s.
const NUDGE_AFTER: Duration = Duration::from_millis(250);
/// From one list to the next that events ask for: so many times as long as a list takes, and no less than this.
const LIST_COST: u32 = 20;
const LIST_PAUSE: Duration = Duration::from_secs(30);

/// Takes in what one watch hands out.
pub(super) struct Ear<'f> {
    pub(super) follower: &'f Follower,
    pub(super) basis: &'f Basis,
    pub(super) namespace: Option<&'f str>,
    /// Something was heard that may decide.
    dirty: Notify,
    is_begun: AtomicBool,
    /// Somebody was told that there is no watch.
    is_told: AtomicBool,
}

impl<'f> Ear<'f> {
    pub(super) fn new(follower: &'f Follower, basis: &'f Basis, namespace: Option<&'f str>, is_told: bool) -> Self {
        let (is_begun, is_told) = (AtomicBool::new(false), AtomicBool::new(is_told));
        Self { follower, basis, namespace, dirty: Notify::new(), is_begun, is_told }
    }

    /// Whether somebody was told that there is no watch, and not yet that there is one.
    pub(super) fn is_told(&self) -> bool {
        self.is_told.load(Ordering::Relaxed)
    }

    /// Whether the API server accepted the watch.
    pub(super) fn is_begun(&self) -> bool {
        self.is_begun.load(Ordering::Relaxed)
    }

    /// Tells the loop, a moment after something was heard, for ever.
    pub(super) async fn nudge(&self) {
        loop {
            self.dirty.notified().await;
            clock::sleep(NUDGE_AFTER).await;
            self.follower.shared.changed.notify_one();
        }
    }

    /// Takes in one event.
    pub(super) fn hear(&self, event: Event<'_>, signs: Option<&Signs>) {
        let kind = match event {
            Event::Begun => return self.begun(),
            Event::Added(_) => WatchType::Added,
            Event::Modified(_) => WatchType::Modified,
            Event::Deleted(_) => WatchType::Deleted,
            Event::Bookmark => WatchType::Bookmark,
            Event::TooLarge => WatchType::TooLarge,
            Event::Failed => WatchType::Error,
        };
        let now = self.follower.shared.now();
        self.follower.note(|watch| {
            watch.events.add(kind);
            watch.last_event = Some(now.tick());
        });
        match event {
            Event::Added(json) | Event::Modified(json) => match signs.and_then(|signs| signs.find(json)) {
                // Another rule is due: it is chosen before the next list, and this watch ends with it.
                Some(mark) => {
                    self.follower.with(|_, watched| {
                        watched.mark = watched.mark.max(Some(mark));
                        watched.wake.notify_one();
                    });
                }
                None => self.judge(json, false),
            },
            Event::Deleted(json) => self.judge(json, true),
            Event::Begun | Event::Bookmark | Event::TooLarge | Event::Failed => {}
        }
    }

    fn begun(&self) {
        self.is_begun.store(true, Ordering::Relaxed);
        self.follower.with(|_, watched| {
            let watch = watched.watch.get_or_insert_default();
            watch.open += 1;
            let own = |problem: &String| self.namespace.is_none_or(|own| problem.starts_with(&format!("{own}: ")));
            watch.problem.take_if(|problem| own(problem));
        });
        if self.is_told.swap(false, Ordering::Relaxed) {
            tracing::info!(operator = %self.follower.operator, resource = %self.follower.resource, "own watch again");
        }
        self.dirty.notify_one();
    }

    fn judge(&self, json: &[u8], is_deleted: bool) {
        let now = self.follower.shared.now();
        self.basis.rule.reader.judge(json, now.wall, |identity, judgement| {
            if self.basis.entry.means(identity) {
                self.take(identity, (!is_deleted).then_some(&judgement));
            }
        });
    }

    fn take(&self, identity: Identity<'_>, judgement: Option<&Judgement>) {
        let Follower { shared, resource, .. } = self.follower;
        let now = shared.now();
        let is_news = shared.with(|known| {
            let Some(operator) = known.operator(&self.follower.operator) else { return false };
            let heard = operator.hear(resource, &self.basis.rule.fingerprint, identity, judgement, now);
            if heard.is_none() && judgement.is_some_and(|it| it.state == State::Pending) {
                list_first(operator, resource, now);
            }
            heard.is_some_and(|noted| judgement.is_none() || noted.ack || noted.tracked.is_some())
        });
        if is_news {
            self.dirty.notify_one();
        }
    }
}

/// Asks for a list, as long as that does not make listing a burden.
fn list_first(operator: &Operator, resource: &str, now: Moment) {
    let Some(watched) = operator.watched(resource) else { return };
    let least = watched.list.duration.unwrap_or_default().saturating_mul(LIST_COST).max(LIST_PAUSE);
    if watched.list.last_success.is_none_or(|last| now.tick() >= last.after(least)) {
        watched.wake.notify_one();
    }
}
