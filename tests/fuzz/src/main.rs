//! Feeds arbitrary bytes as the body of a list, in arbitrary chunks: cut into objects, judged by every rule, counted by a
//! tally, remembered by a ledger and kept in a snapshot.
//!
//! Findings are: a panic, an answer that depends on where the chunks end or on how often the same list comes, a snapshot
//! that does not survive its file, and memory beyond what the size of the input explains.

#![no_main]

#[allow(dead_code, unused_imports)] // the whole judge, of which a list needs a part
mod judge;
mod memory;

use std::sync::LazyLock;
use std::time::Duration;

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;

use judge::cut::{Cutter, Error, Piece};
use judge::ledger::snapshot::Rebase;
use judge::ledger::{Ledger, ListEnd, Source};
use judge::rule::auto::{Evidence, Signs};
use judge::rule::cel::expression::{Expression, Wanted, compile};
use judge::rule::cel::{self, Cel};
use judge::rule::generation::Generation;
use judge::rule::kopf::{Kopf, Options};
use judge::rule::table::{self, Table};
use judge::rule::{Reader, Rule};
use judge::state::{Moment, Reason, State};
use judge::tally::{Keep, Tally};

/// The largest object.
const LIMIT: usize = 1 << 16;
/// What one input may allocate at once: so much, and so many bytes for each byte of input.
const ALLOWANCE: (usize, usize) = (2 << 20, 96);

const PROCESSED: &str = "has(self.status) && has(self.status.observedGeneration) \
                         && self.status.observedGeneration >= self.metadata.generation";
const IN_PROGRESS: &str = "has(self.status) && has(self.status.conditions) \
                           && self.status.conditions.all(c, c.status != 'True')";
const FAILING: &str = "has(self.status) && has(self.status.conditions) \
                       && self.status.conditions.exists(c, c.type == 'Ready' && c.reason.matches('^(Fail|Err)+'))";

/// Expressions that reach into lists, texts and times of whatever they find.
static EXPRESSIONS: LazyLock<cel::Options> = LazyLock::new(|| {
    let expression = |source, wanted| -> Expression { compile(source, wanted).expect("an expression") };
    let truth = |source| Some(expression(source, Wanted::Condition));
    cel::Options {
        processed: expression(PROCESSED, Wanted::Condition),
        in_progress: truth(IN_PROGRESS),
        failing: truth(FAILING),
        paused: truth("has(self.spec) && has(self.spec.suspend) && self.spec.suspend"),
        pending: None,
        since: Some(expression("timestamp(self.metadata.creationTimestamp)", Wanted::Time)),
    }
});

/// A piece as it was cut.
#[derive(Debug, PartialEq, Eq)]
enum Cut {
    Item(Vec<u8>),
    Envelope(Vec<u8>),
    Document(Vec<u8>),
    TooLarge(u64),
}

fuzz_target!(|input: &[u8]| check(input));

fn check(input: &[u8]) {
    LazyLock::force(&EXPRESSIONS);
    memory::begin();
    if let Some((head, body)) = input.split_at_checked(8) {
        look(head, body);
    }
    let most = memory::most();
    let allowed = ALLOWANCE.0 + ALLOWANCE.1 * input.len();
    assert!(most <= allowed, "{most} bytes allocated at once for {} bytes of input", input.len());
}

/// `head` chooses the chunks and a few options.
fn look(head: &[u8], body: &[u8]) {
    let whole = cut(body, &[body.len()]);
    let sizes: Vec<usize> = head[..4].iter().map(|size| usize::from(*size)).collect();
    assert_eq!(cut(body, &sizes), whole, "the pieces depend on the chunks");
    assert_eq!(cut(body, &[1]), whole, "the pieces depend on the chunks");
    for rule in rules(head[4]) {
        judge(Reader::new(rule, vec!["example.com/own".to_owned()]), head, &whole.0);
    }
}

/// Every kind of rule, with its options, and one of the table, chosen by one byte.
fn rules(options: u8) -> [Rule; 5] {
    let max_attempt = Duration::from_secs(u64::from(options) * 60);
    let generation = Generation::new(max_attempt);
    [
        Rule::Kopf(Kopf::new(Options { max_attempt, ..Options::default() })),
        Rule::Generation(generation.clone()),
        Rule::Generation(generation.without_status_subresource()),
        Rule::Table(Table::new(table::ALL[usize::from(options) % table::ALL.len()])),
        Rule::Cel(Box::new(Cel::new(EXPRESSIONS.clone(), Some(max_attempt)))),
    ]
}

/// Cuts `body` into chunks of the sizes given, over and over; a size of 0 is one byte.
fn cut(body: &[u8], sizes: &[usize]) -> (Vec<Cut>, Result<(), Error>) {
    let mut pieces = Vec::new();
    let mut keep = |piece: Piece<'_>| {
        pieces.push(match piece {
            Piece::Item(bytes) => Cut::Item(bytes.to_vec()),
            Piece::Envelope(bytes) => Cut::Envelope(bytes.to_vec()),
            Piece::Document(bytes) => Cut::Document(bytes.to_vec()),
            Piece::TooLarge { bytes } => Cut::TooLarge(bytes),
        });
    };
    let mut cutter = Cutter::new(LIMIT);
    let mut rest = body;
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, behind) = rest.split_at((*size).clamp(1, rest.len()));
        if let Err(error) = cutter.feed(chunk, &mut keep) {
            return (pieces, Err(error));
        }
        rest = behind;
    }
    let end = cutter.finish();
    (pieces, end)
}

/// A wall clock that anything can be before or after, by two bytes.
fn moment(head: &[u8], second: u64) -> Moment {
    let days = i64::from(head[5]) * 256 + i64::from(head[6]);
    let wall = Timestamp::from_second(days * 86_400 + second.cast_signed()).unwrap_or(Timestamp::UNIX_EPOCH);
    Moment { wall, elapsed: Duration::from_secs(1_000_000 + second) }
}

fn judge(reader: Reader, head: &[u8], pieces: &[Cut]) {
    let signs = Signs::new(Evidence { group: "", kind: "", mark: None, status_subresource: None });
    let minutes = Duration::from_secs(u64::from(head[7]) * 60);
    let keep = Keep { states: State::ALL.to_vec(), limit: Some(4) };
    let mut tally = Tally::new(moment(head, 0).wall, minutes, minutes, keep);
    let mut ledger = Ledger::new();
    let mut objects = 0;
    // Twice the same list: what did not change was not acknowledged.
    for second in [0, 30] {
        let now = moment(head, second);
        ledger.begin_list(minutes, now);
        for piece in pieces {
            let (Cut::Item(json) | Cut::Document(json)) = piece else { continue };
            let _ = signs.find(json);
            reader.judge(json, now.wall, |identity, judgement| {
                if second == 0 {
                    objects += 1;
                    tally.add(identity, &judgement);
                }
                assert!(judgement.reason.is_some() || judgement.state == State::Processed, "a reason is given");
                assert!(judgement.message.len() < 1000, "a message is one short line");
                ledger.apply(Source::List, identity, &judgement, now);
            });
        }
        ledger.end_list(ListEnd::Complete { version: Some("1000") }, now, |signal| reader.rule().signal_exists(signal));
    }
    let summary = tally.finish(reader.rule(), true);
    assert_eq!(summary.states.total(), objects, "every object is counted once");
    assert_eq!(summary.unknown.iter().map(|(_, count)| count).sum::<u64>(), summary.states.of(State::Unknown));
    assert!(summary.unknown.iter().all(|(reason, _)| Reason::ALL.contains(reason)));
    survives(&ledger, moment(head, 60));
}

fn survives(ledger: &Ledger, now: Moment) {
    let saved = ledger.snapshot();
    let json = serde_json::to_vec(&saved).expect("a snapshot is JSON");
    let read = serde_json::from_slice(&json).expect("a snapshot is read again");
    let rebase = Rebase::new(true, now.wall, now.tick(), now);
    assert_eq!(Ledger::restored(read, &rebase).snapshot(), saved, "a snapshot survives its file");
}
