//! Sends Events on the own Pod.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::own_pod::Place;
use super::shared::Shared;
use crate::cluster::chain;
use crate::cluster::connect::Cluster;
use crate::cluster::event::{Event, Recorder, Sent};
use crate::cluster::request::{self, Reach, Reason};
use crate::view::EventResult;

/// More letters are not kept: while the API server does not answer, the newest say most.
const LIMIT: usize = 32;

/// What failed is tried again so often while somebody asks whether anything can be written.
const RETRY: Duration = Duration::from_mins(1);

/// An Event and its operator.
type Letter = (String, Event);

/// Events that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct Letters {
    waiting: VecDeque<Letter>,
    /// The newest Event, if the API server failed to take it, and since when on the boot clock.
    failed: Option<(Letter, Duration)>,
}

impl Letters {
    /// Posts an Event.
    pub(super) fn post(&mut self, operator: &str, event: Event) {
        if self.waiting.len() >= LIMIT {
            self.waiting.pop_front();
        }
        self.waiting.push_back((operator.to_owned(), event));
    }

    /// Whether the API server takes what is written, as far as the Events tell: where nothing can be written, no
    /// operator can serve, and no restart helps. A refusal for want of rights tells nothing. What failed is sent again
    /// when its time has come, by [`keep`], which is then to be woken: the second value.
    pub(super) fn are_taken(&mut self, now: Duration) -> (bool, bool) {
        let Some((letter, since)) = &mut self.failed else { return (true, false) };
        let is_due = now.saturating_sub(*since) >= RETRY && self.waiting.is_empty();
        if is_due {
            *since = now;
            self.waiting.push_back(letter.clone());
        }
        (false, is_due)
    }

    /// Forgets all of them, where there is no Pod to write them on.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Sends what is posted, for ever.
pub(super) async fn keep(shared: Arc<Shared>, cluster: Arc<Cluster>, place: Place) {
    let mut recorder = Recorder::new(shared.with(|known| known.random.u64(..)));
    loop {
        while let Some((operator, event)) = shared.with(|known| known.letters.waiting.pop_front()) {
            let sent = send(&shared, &cluster, &place, &mut recorder, event.clone()).await;
            let now = shared.now().elapsed;
            shared.with(|known| {
                match &sent {
                    Ok(Sent::Taken) => known.letters.failed = None,
                    Err(error) if error.reach() == Reach::Fails => {
                        known.letters.failed = Some(((operator.clone(), event), now));
                    }
                    Ok(Sent::Limited) | Err(_) => {}
                }
                if let Some(operator) = known.operator(&operator) {
                    operator.events.add(result(&sent));
                }
            });
        }
        shared.posted.notified().await;
    }
}

async fn send(
    shared: &Shared,
    cluster: &Cluster,
    place: &Place,
    recorder: &mut Recorder,
    event: Event,
) -> Result<Sent, request::Error> {
    let about = place.about(shared.with(|known| known.pod.uid()));
    let reason = event.reason;
    let now = shared.now();
    let sent = match cluster.client().await {
        Ok(client) => recorder.send(&client, &about, event, now.wall, now.elapsed).await,
        Err(error) => Err(error),
    };
    if let Err(error) = &sent {
        tracing::warn!(reason, problem = chain(error), "the Event was not sent");
    }
    sent
}

fn result(sent: &Result<Sent, request::Error>) -> EventResult {
    match sent {
        Ok(Sent::Taken) => EventResult::Sent,
        Err(error) if error.reason() == Reason::Forbidden => EventResult::Forbidden,
        Ok(Sent::Limited) | Err(_) => EventResult::Failed,
    }
}
