//! The audit of a dump: no cluster, no discovery; what a resource is called comes from `apiVersion` and `kind`.

use std::collections::HashMap;

use jiff::Timestamp;

use super::dump::DumpFile;
use super::peering::Waiting;
use super::settings::{self, Plan, Settings};
use super::survey::{Key, Place, Survey, version};
use super::word::Word;
use crate::cli::report::Resource;
use crate::config::resource::Chosen;
use crate::judge::cut::Piece;
use crate::judge::object::{Identity, identity_mask, identity_of};
use crate::judge::peering::is_peering;
use crate::judge::state::{Judgement, Reason};
use crate::judge::tally::{Keep, Tally};

/// Which objects of a dump are judged, and how.
#[derive(Debug)]
pub struct Request<'r> {
    /// How each resource is judged.
    pub plan: &'r Plan,
    /// The resources asked for; empty: all.
    pub words: &'r [Word],
    /// The namespaces asked for; empty: all.
    pub namespaces: &'r [String],
    /// The moment to judge at.
    pub now: Timestamp,
    /// Which objects to keep by name.
    pub keep: Keep,
    /// Larger objects are not read.
    pub max_object_bytes: usize,
    /// Which kopf operators wait for a peer.
    pub waiting: &'r Waiting,
}

/// One resource while it is being judged.
struct Entry {
    version: String,
    settings: Settings,
    chosen: Chosen,
    tally: Tally,
}

struct Judge<'r> {
    survey: &'r Survey,
    request: &'r Request<'r>,
    order: Vec<Key>,
    /// `None` for what the plan leaves out.
    entries: HashMap<Key, Option<Entry>>,
    unused: Vec<&'r Word>,
}

/// What a dump came to.
#[derive(Debug)]
pub struct Judged<'r> {
    /// The resources, in the order in which they were met.
    pub resources: Vec<Resource>,
    /// The words that no object fits.
    pub unused: Vec<&'r Word>,
}

/// Judges every object of `files`. Faults of files were found by `survey` and are not reported again.
pub fn judge<'r>(files: &[DumpFile], survey: &'r Survey, request: &'r Request<'r>) -> Judged<'r> {
    let unused = request.words.iter().collect();
    let mut judge = Judge { survey, request, order: Vec::new(), entries: HashMap::new(), unused };
    let mask = identity_mask();
    for (file, dump_file) in files.iter().enumerate() {
        let mut place = Place { file, list: 0 };
        let end = dump_file.pieces(request.max_object_bytes, &mut |piece| match piece {
            Piece::Envelope(_) => place.list += 1,
            Piece::Item(bytes) => identity_of(bytes, &mask, |identity| judge.object(bytes, place, true, identity)),
            Piece::Document(bytes) => identity_of(bytes, &mask, |identity| judge.object(bytes, place, false, identity)),
            Piece::TooLarge { bytes } => judge.too_large(bytes, place),
        });
        // The survey has the fault already, and the report says of these resources that they are incomplete.
        drop(end);
    }
    judge.finish()
}

impl<'r> Judge<'r> {
    fn object(&mut self, bytes: &[u8], place: Place, is_item: bool, identity: Identity<'_>) {
        let key = self.survey.key(place, is_item, identity);
        let request = self.request;
        let is_meant = |word: &Word| word.means(key.shown(identity)) && word.names(identity.name);
        let is_context = is_peering(&key.group, &key.kind) && request.plan.listed().is_empty();
        let is_asked = request.words.iter().any(is_meant) || (request.words.is_empty() && !is_context);
        self.unused.retain(|word| !is_meant(word));
        let is_in_namespace = request.namespaces.is_empty()
            || identity.namespace.is_some_and(|namespace| request.namespaces.iter().any(|asked| asked == namespace));
        if !is_asked || !is_in_namespace {
            return;
        }
        if let Some(entry) = self.entry(&key, identity) {
            let Entry { settings, chosen, tally, .. } = entry;
            if settings.resource.means(identity) {
                chosen.reader.judge(bytes, request.now, |identity, judgement| {
                    let judgement = request.waiting.apply(chosen.rule(), identity.namespace, judgement);
                    tally.add(identity, &judgement);
                });
            }
        }
    }

    fn too_large(&mut self, bytes: u64, place: Place) {
        let limit = self.request.max_object_bytes;
        let message = format!("the object has {bytes} bytes, more than the {limit} that are read of one object");
        let judgement = Judgement::unknown(Reason::Undecodable, message);
        let key = self.survey.key(place, true, Identity::default());
        if let Some(entry) = self.entry(&key, Identity::default()) {
            entry.tally.add(Identity::default(), &judgement);
        }
    }

    fn entry(&mut self, key: &Key, identity: Identity<'_>) -> Option<&mut Entry> {
        let Self { survey, request, order, entries, .. } = self;
        let entry = entries.entry(key.clone()).or_insert_with(|| {
            order.push(key.clone());
            let settings = request.plan.settings(&key.resource())?;
            let chosen = settings.choose(survey.evidence(key));
            let tally = settings::tally(&chosen, request.now, request.keep.clone());
            Some(Entry { version: version(identity).to_owned(), settings, chosen, tally })
        });
        entry.as_mut()
    }

    fn finish(mut self) -> Judged<'r> {
        let is_complete = self.survey.faults.is_empty();
        let order = std::mem::take(&mut self.order);
        let mut resources = Vec::new();
        for key in order {
            let Some(Some(entry)) = self.entries.remove(&key) else { continue };
            let Entry { version, settings, chosen, tally } = entry;
            resources.push(Resource {
                operator: settings::counted_under(settings.operator.as_deref(), chosen.rule(), &key.group),
                resource: key.resource(),
                version,
                kind: key.kind,
                rule: chosen.rule().name(),
                rule_from: chosen.rule_from,
                overdue_after: chosen.durations.overdue_after,
                summary: tally.finish(chosen.rule(), is_complete),
                error: None,
                is_named: !self.request.words.is_empty(),
                is_static: chosen.rule().is_static(),
            });
        }
        Judged { resources, unused: self.unused }
    }
}
