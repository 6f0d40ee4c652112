//! Sends Events on the own Pod.

use std::collections::VecDeque;
use std::sync::Arc;

use super::own_pod::Place;
use super::shared::Shared;
use super::tell;
use crate::cluster::chain;
use crate::cluster::connect::Cluster;
use crate::cluster::event::{Event, Recorder, Sent};
use crate::cluster::request::{self, Reason};
use crate::judge::decision::Effect;
use crate::view::EventResult;

/// More letters are not kept: while the API server does not answer, the newest say most.
const LIMIT: usize = 32;

/// Events that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct Letters(VecDeque<Letter>);

/// One of them.
#[derive(Debug)]
struct Letter {
    operator: String,
    effect: Effect,
}

impl Letters {
    /// Posts an Event.
    pub(super) fn post(&mut self, operator: &str, effect: Effect) {
        if self.0.len() >= LIMIT {
            self.0.pop_front();
        }
        self.0.push_back(Letter { operator: operator.to_owned(), effect });
    }

    /// Forgets all of them, where there is no Pod to write them on.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Sends what is posted, for ever.
pub(super) async fn keep(shared: Arc<Shared>, cluster: Arc<Cluster>, place: Place) {
    let mut recorder = Recorder::new(shared.with(|known| known.random.u64(..)));
    loop {
        while let Some((operator, event)) = next(&shared) {
            let result = send(&shared, &cluster, &place, &mut recorder, event).await;
            shared.with(|known| {
                if let Some(operator) = known.operator(&operator) {
                    operator.events.add(result);
                }
            });
        }
        shared.posted.notified().await;
    }
}

fn next(shared: &Shared) -> Option<(String, Event)> {
    shared.with(|known| {
        loop {
            let letter = known.letters.0.pop_front()?;
            let Effect::Event { reason, stream } = letter.effect else { continue };
            let Some(operator) = known.operator(&letter.operator) else { continue };
            let message = tell::event_message(operator, reason, stream.as_deref());
            let event = Event { reason: reason.as_str(), is_warning: tell::is_warning(reason), message };
            return Some((letter.operator, event));
        }
    })
}

async fn send(shared: &Shared, cluster: &Cluster, place: &Place, recorder: &mut Recorder, event: Event) -> EventResult {
    let about = place.about(shared.with(|known| known.pod.uid()));
    let reason = event.reason;
    let now = shared.now();
    let sent = match cluster.client().await {
        Ok(client) => recorder.send(&client, &about, event, now.wall, now.elapsed).await,
        Err(error) => Err(error),
    };
    match sent {
        Ok(Sent::Taken) => EventResult::Sent,
        Ok(Sent::Limited) => EventResult::Failed,
        Err(error) => {
            tracing::warn!(reason, problem = chain(&error), "the Event was not sent");
            result(&error)
        }
    }
}

fn result(error: &request::Error) -> EventResult {
    if error.reason() == Reason::Forbidden { EventResult::Forbidden } else { EventResult::Failed }
}
