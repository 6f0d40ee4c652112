//! Which watches the proxy keeps silent, and which it breaks.

use http::Request;

/// Who asks, by the `User-Agent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Client {
    /// kopf, or whatever else is no dogwatch.
    Operator,
    /// dogwatch.
    Dogwatch,
}

/// Which of the watches of one resource are to be silent.
#[derive(Debug, Clone)]
pub(crate) struct Mute {
    pub(crate) client: Client,
    /// The resource's plural: the last part of a watch's path.
    pub(crate) plural: String,
    pub(crate) which: Which,
}

/// Watches that are open when a mute begins, or that begin later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Only those that are open: a new watch hears again. What a restart cures.
    Open,
    /// Only those that begin later.
    New,
    /// Both: a restart helps nobody.
    All,
}

/// Everything that is in force.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    /// Counts changes, so that what was open before one is told from what came later.
    age: u64,
    mutes: Vec<(u64, Mute)>,
    broken: Vec<(u64, Client, String)>,
    /// No connection is served.
    pub(super) refuses: bool,
}

/// A request, as the rules see it.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) client: Client,
    /// The last part of the path.
    pub(super) plural: String,
    pub(super) is_watch: bool,
    /// The age of the rules when it began.
    begun: u64,
}

impl Rules {
    pub(super) fn mute(&mut self, mute: Mute) {
        self.age += 1;
        self.mutes.push((self.age, mute));
    }

    pub(super) fn unmute(&mut self) {
        self.mutes.clear();
    }

    pub(super) fn drop_watches(&mut self, client: Client, plural: &str) {
        self.age += 1;
        self.broken.push((self.age, client, plural.to_owned()));
    }

    /// Whether the client is to hear nothing of a stream.
    pub(super) fn mutes(&self, stream: &Stream) -> bool {
        self.mutes.iter().any(|(age, mute)| {
            let is_open = stream.begun < *age;
            let fits = match mute.which {
                Which::Open => is_open,
                Which::New => !is_open,
                Which::All => true,
            };
            fits && mute.client == stream.client && mute.plural == stream.plural
        })
    }

    /// Whether a stream is to be broken.
    pub(super) fn breaks(&self, stream: &Stream) -> bool {
        self.broken
            .iter()
            .any(|(age, client, plural)| stream.begun < *age && *client == stream.client && *plural == stream.plural)
    }
}

impl Stream {
    pub(super) fn new<B>(request: &Request<B>, rules: &Rules) -> Self {
        let query = request.uri().query().unwrap_or_default();
        Self {
            client: Client::of(request),
            plural: request.uri().path().rsplit('/').next().unwrap_or_default().to_owned(),
            is_watch: query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1")),
            begun: rules.age,
        }
    }
}
