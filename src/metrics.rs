//! Every metric, in one table, read from the view at the moment of the scrape.
//!
//! There is no registry: what the view no longer knows has no series any more. Times are exported as timestamps and
//! subtracted by the reader; a time that does not apply is absent, never 0.

mod sample;
mod table;

use prometheus::TextEncoder;

use crate::view::board::Probes;
use crate::view::{Offender, Operator, Stream, Tick, View};
pub use sample::Sample;
pub use table::TABLE;

/// The content type of [`encode`].
pub const CONTENT_TYPE: &str = prometheus::TEXT_FORMAT;

/// What every name begins with.
pub const PREFIX: &str = "dogwatch_";

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It only grows, and begins anew with dogwatch.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Durations in buckets.
    Histogram,
}

/// What a metric is of, and with which labels for that.
#[derive(Clone, Copy)]
pub enum Of {
    /// This dogwatch.
    Process(fn(&Scene<'_>, &mut Sample)),
    /// An operator; label `operator`.
    Operator(fn(&Scene<'_>, &Operator, &mut Sample)),
    /// A stream; labels `operator`, `resource` and, when streams are per namespace, `object_namespace`.
    Stream(fn(&Row<'_>, &mut Sample)),
    /// An overdue object; the labels of a stream, `object_namespace` and `object_name`.
    Offender(fn(&Scene<'_>, &Offender, &mut Sample)),
}

/// One metric.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Its name without [`PREFIX`].
    pub name: &'static str,
    /// What it says, for people.
    pub help: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Its label beside those of what it is of.
    pub label: Option<&'static str>,
    /// What it is of, and how it is read.
    pub of: Of,
}

/// What is read.
#[derive(Debug)]
pub struct Scene<'a> {
    /// The newest view.
    pub view: &'a View,
    /// What the listener has seen of probes.
    pub probes: &'a Probes,
    /// Whether the view is too old to say anything.
    pub is_stale: bool,
    /// Of each operator, the objects that are shown by name with the position of their stream.
    named: Vec<Vec<(usize, &'a Offender)>>,
}

/// One stream of what is read.
#[derive(Debug)]
pub struct Row<'a> {
    /// What is read.
    pub scene: &'a Scene<'a>,
    /// The stream.
    pub stream: &'a Stream,
    operator: usize,
    position: usize,
}

impl Row<'_> {
    /// How many of its objects are shown by name.
    pub fn named(&self) -> u64 {
        let named = self.scene.named.get(self.operator).into_iter().flatten();
        named.filter(|(position, _)| *position == self.position).count() as u64
    }
}

impl Metric {
    /// All its labels, in the order in which they are exposed.
    pub fn labels(&self) -> Vec<&'static str> {
        let base: &[&str] = match self.of {
            Of::Process(_) => &[],
            Of::Operator(_) => &["operator"],
            Of::Stream(_) => &["operator", "resource", "object_namespace"],
            Of::Offender(_) => &["operator", "resource", "object_namespace", "object_name"],
        };
        base.iter().copied().chain(self.label).collect()
    }

    /// Its full name.
    pub fn full_name(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }

    fn read(&self, scene: &Scene<'_>) -> Sample {
        let mut sample = Sample::new(self);
        if let Of::Process(read) = self.of {
            read(scene, &mut sample);
        }
        for (index, operator) in scene.view.operators.iter().enumerate() {
            match self.of {
                Of::Process(_) => {}
                Of::Operator(read) => {
                    sample.set_base(&[("operator", Some(&operator.name))]);
                    read(scene, operator, &mut sample);
                }
                Of::Stream(read) => {
                    for (position, stream) in operator.streams.iter().enumerate() {
                        sample.set_base(&[
                            ("operator", Some(&operator.name)),
                            ("resource", Some(&stream.resource)),
                            ("object_namespace", stream.namespace.as_deref()),
                        ]);
                        read(&Row { scene, stream, operator: index, position }, &mut sample);
                    }
                }
                Of::Offender(read) => {
                    for (position, offender) in scene.named.get(index).into_iter().flatten() {
                        let Some(stream) = operator.streams.get(*position) else { continue };
                        sample.set_base(&[
                            ("operator", Some(&operator.name)),
                            ("resource", Some(&stream.resource)),
                            ("object_namespace", offender.namespace.as_deref()),
                            ("object_name", Some(&offender.name)),
                        ]);
                        read(scene, offender, &mut sample);
                    }
                }
            }
        }
        sample
    }
}

/// All metrics in Prometheus's text format, of content type [`CONTENT_TYPE`]. `now` tells how old the view is.
///
/// # Errors
/// When a metric cannot be written, which the tests of the table rule out.
pub fn encode(view: &View, probes: &Probes, now: Tick) -> Result<String, prometheus::Error> {
    let named = view.operators.iter().map(Operator::offenders).collect();
    let scene = Scene { view, probes, is_stale: view.is_stale(now), named };
    let families: Vec<_> = TABLE.iter().filter_map(|metric| metric.read(&scene).into_family()).collect();
    TextEncoder::new().encode_to_string(&families)
}

#[cfg(test)]
mod tests;
