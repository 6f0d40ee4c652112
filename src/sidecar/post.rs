//! Sends Events on the own Pod.

use std::collections::VecDeque;
use std::sync::Arc;

use super::own_pod::Place;
use super::shared::Shared;
use crate::cluster::chain;
use crate::cluster::connect::Cluster;
use crate::cluster::event::{Event, Recorder, Sent};
use crate::cluster::request::{self, Reason};
use crate::view::EventResult;

/// More letters are not kept: while the API server does not answer, the newest say most.
const LIMIT: usize = 32;

/// Events that wait to be sent, each with its operator.
#[derive(Debug, Default)]
pub(super) struct Letters(VecDeque<(String, Event)>);

impl Letters {
    /// Posts an Event.
    pub(super) fn post(&mut self, operator: &str, event: Event) {
        if self.0.len() >= LIMIT {
            self.0.pop_front();
        }
        self.0.push_back((operator.to_owned(), event));
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
        while let Some((operator, event)) = shared.with(|known| known.letters.0.pop_front()) {
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
