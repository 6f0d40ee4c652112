//! Evidence: what speaks for or against the operator beside its objects. It never restarts anything by itself, and that
//! there is none excuses nobody.

use crate::judge::ledger::Uid;
use crate::judge::tick::Tick;

/// What others than the objects themselves say of one stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Evidence {
    /// dogwatch saw changes of the stream and no connection of the operator has received a byte since before them.
    /// Written by [`super::Stream::diagnose`].
    pub silent_connection: bool,
    /// A GET shows what lists and new watches of the API server do not.
    pub server_stale: bool,
    /// The canary, which is no candidate like any other object.
    pub canary: Option<Uid>,
    /// The canary's change that is not acknowledged, and that counts once it is older than `overdueAfter`.
    pub canary_missed: Option<Tick>,
}

impl Evidence {
    /// What is evidence now, in the words of reports; that nothing is says nothing.
    pub fn words(&self) -> Vec<&'static str> {
        let found = [
            (self.silent_connection, "silent-connection"),
            (self.server_stale, "server-stale"),
            (self.canary_missed.is_some(), "canary-missed"),
        ];
        found.into_iter().filter_map(|(is_there, word)| is_there.then_some(word)).collect()
    }
}
