//! When a change was sent to whoever watches: what evidence from connections is measured against.

use crate::judge::state::{Judgement, Reason};
use crate::judge::tick::Tick;

/// When the change for which an object turned pending was sent to whoever watches, at the earliest: the object's `own`
/// time, but not later than the first sight of it, and not before it was known `not_yet` to be there. Absent where that
/// is not known, and where no change did it: work that stopped was begun by an event that did arrive.
///
/// The first sight alone would be too late: a list comes long after the event, and what the operator received in between
/// may have been that event.
pub(super) fn sent(judgement: &Judgement, own: Option<Tick>, not_yet: Option<Tick>, first_seen: Tick) -> Option<Tick> {
    if judgement.reason == Some(Reason::ProgressStopped) {
        return None;
    }
    own.map(|own| own.min(first_seen)).max(not_yet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::state::State;

    #[test]
    fn the_earliest_moment_lies_between_what_is_certain() {
        let at = |second: i64| Tick::from_millis(second * 1000);
        let change = Judgement::new(State::Pending, Reason::ChangeNotProcessed, "");
        let sent = |own: Option<i64>, not_yet: Option<i64>| {
            super::sent(&change, own.map(at), not_yet.map(at), at(100)).map(|it| it.as_millis() / 1000)
        };
        let table = [
            (Some(80), Some(70), Some(80)),
            (Some(80), None, Some(80)),
            (Some(60), Some(70), Some(70)),
            (Some(130), Some(70), Some(100)),
            (None, Some(70), Some(70)),
            (None, None, None),
        ];
        for (own, not_yet, expected) in table {
            assert_eq!(sent(own, not_yet), expected, "own {own:?}, not yet {not_yet:?}");
        }
        let stopped = Judgement::new(State::Pending, Reason::ProgressStopped, "");
        assert_eq!(super::sent(&stopped, Some(at(80)), None, at(100)), None);
    }
}
