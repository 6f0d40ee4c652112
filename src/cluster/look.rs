//! Lists one resource and judges every object as its bytes arrive.
//!
//! While the rule is still open (`auto`), an object that shows another rule's marks ends the look: what was judged under
//! the wrong rule is of no use, and the rest would be read in vain.

use jiff::Timestamp;
use tokio::sync::oneshot;

use super::list::{self, Listing, Query, Seen};
use super::request::Client;
use crate::judge::object::Identity;
use crate::judge::rule::Reader;
use crate::judge::rule::auto::{Evidence, Mark, Signs};
use crate::judge::state::{Judgement, Reason};

/// How to judge.
#[derive(Debug, Clone, Copy)]
pub struct Eye<'r> {
    /// Judges.
    pub reader: &'r Reader,
    /// What the rule was chosen by, where marks on an object would change it.
    pub open: Option<Evidence<'r>>,
}

/// What a look hands out.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all of them are objects, and none is kept")]
pub enum Judged<'a> {
    /// An object. Of one that is too large, nothing is known but that it is there.
    Object(Identity<'a>, Judgement),
    /// A page has ended.
    Page,
    /// The list begins again: what was handed out before will come once more and must be forgotten.
    Restarted,
}

/// How a look ended.
#[derive(Debug)]
pub enum End {
    /// The list ended; see [`Listing::error`] for how.
    Read(Listing),
    /// The objects show the mark of another rule than the one in use: what was handed out is of no use.
    ShowsMark(Mark),
}

/// Lists what `query` names, judges each object at `now`, and hands the answers to `each`.
pub async fn look(
    client: &Client,
    query: &Query<'_>,
    eye: Eye<'_>,
    now: &impl Fn() -> Timestamp,
    each: &mut impl FnMut(Judged<'_>),
) -> End {
    let signs = eye.open.map(Signs::new);
    let (found, mut mark_found) = oneshot::channel();
    let mut found = Some(found);
    let end = {
        let mut see = |seen: Seen<'_>| match mark(&seen, signs.as_ref()) {
            Some(mark) => {
                // Only the first one has a listener.
                let _ = found.take().map(|found| found.send(mark));
            }
            None if found.is_none() => {}
            None => eye.judge(&seen, query.max_object_bytes, now, each),
        };
        tokio::select! {
            biased;
            Ok(mark) = &mut mark_found => End::ShowsMark(mark),
            listing = list::list(client, query, &mut see) => End::Read(listing),
        }
    };
    // The mark may have come with the last piece of the list.
    mark_found.try_recv().map_or(end, End::ShowsMark)
}

/// The mark that an object shows of another rule than the one in use.
fn mark(seen: &Seen<'_>, signs: Option<&Signs>) -> Option<Mark> {
    match seen {
        Seen::Object(json) => signs?.find(json),
        _ => None,
    }
}

impl Eye<'_> {
    /// Judges one piece of a list.
    fn judge(&self, seen: &Seen<'_>, limit: usize, now: &impl Fn() -> Timestamp, each: &mut impl FnMut(Judged<'_>)) {
        match seen {
            Seen::Object(json) => {
                self.reader.judge(json, now(), |identity, judgement| each(Judged::Object(identity, judgement)));
            }
            Seen::TooLarge { bytes } => {
                let message =
                    format!("the object has {bytes} bytes, more than the {limit} that are read of one object");
                each(Judged::Object(Identity::default(), Judgement::unknown(Reason::Undecodable, message)));
            }
            Seen::Restarted => each(Judged::Restarted),
            Seen::Page { .. } => each(Judged::Page),
        }
    }
}

/// Two selectors, both of which have to fit.
pub fn both(one: Option<&str>, other: Option<&str>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one},{other}")),
        (one, other) => one.or(other).map(str::to_owned),
    }
}
