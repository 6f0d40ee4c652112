//! The samples of one metric.

use std::time::Duration;

use jiff::Timestamp;
use prometheus::proto::{Bucket, Counter, Gauge, LabelPair, MetricFamily, MetricType};

use super::{Kind, Metric};
use crate::view::Histogram;

/// Collects the samples of one metric.
#[derive(Debug)]
pub struct Sample {
    family: MetricFamily,
    kind: Kind,
    label: Option<&'static str>,
    base: Vec<LabelPair>,
    metrics: Vec<prometheus::proto::Metric>,
}

impl Sample {
    pub(super) fn new(metric: &Metric) -> Self {
        let mut family = MetricFamily::default();
        family.set_name(metric.full_name());
        family.set_help(metric.help.to_owned());
        family.set_field_type(match metric.kind {
            Kind::Counter => MetricType::COUNTER,
            Kind::Gauge => MetricType::GAUGE,
            Kind::Histogram => MetricType::HISTOGRAM,
        });
        Self { family, kind: metric.kind, label: metric.label, base: Vec::new(), metrics: Vec::new() }
    }

    /// What the following samples are of. A label without value is left out.
    pub(super) fn set_base(&mut self, labels: &[(&str, Option<&str>)]) {
        self.base = labels.iter().filter_map(|(name, value)| Some(pair(name, (*value)?))).collect();
    }

    /// A number.
    #[expect(clippy::cast_precision_loss, reason = "Prometheus has no other numbers")]
    pub fn count(&mut self, value: u64) {
        self.add(self.base.clone(), value as f64);
    }

    /// A number with a value of the metric's own label.
    #[expect(clippy::cast_precision_loss, reason = "Prometheus has no other numbers")]
    pub fn count_of(&mut self, word: &str, value: u64) {
        let own = self.label.map(|name| pair(name, word));
        self.add(self.base.iter().cloned().chain(own).collect(), value as f64);
    }

    /// 1 or 0.
    pub fn flag(&mut self, value: bool) {
        self.count(u64::from(value));
    }

    /// A duration in seconds.
    pub fn seconds(&mut self, value: Duration) {
        self.add(self.base.clone(), value.as_secs_f64());
    }

    /// A time in seconds since 1970; absent times have no sample.
    #[expect(clippy::cast_precision_loss, reason = "Prometheus has no other numbers")]
    pub fn time(&mut self, at: Option<Timestamp>) {
        if let Some(at) = at {
            self.add(self.base.clone(), at.as_millisecond() as f64 / 1000.0);
        }
    }

    /// A histogram.
    pub fn histogram(&mut self, histogram: &Histogram) {
        let mut metric = prometheus::proto::Metric::from_label(self.base.clone());
        let mut own = prometheus::proto::Histogram::default();
        own.set_sample_count(histogram.count());
        own.set_sample_sum(histogram.sum().as_secs_f64());
        #[expect(clippy::cast_precision_loss, reason = "Prometheus has no other numbers")]
        let bucket = |(bound, count): (u64, u64)| {
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(bound as f64);
            bucket.set_cumulative_count(count);
            bucket
        };
        own.set_bucket(histogram.cumulated().map(bucket).collect());
        metric.set_histogram(own);
        self.metrics.push(metric);
    }

    fn add(&mut self, labels: Vec<LabelPair>, value: f64) {
        let mut metric = prometheus::proto::Metric::from_label(labels);
        if self.kind == Kind::Counter {
            let mut counter = Counter::default();
            counter.set_value(value);
            metric.set_counter(counter);
        } else {
            let mut gauge = Gauge::default();
            gauge.set_value(value);
            metric.set_gauge(gauge);
        }
        self.metrics.push(metric);
    }

    /// The family; absent without samples.
    pub(super) fn into_family(mut self) -> Option<MetricFamily> {
        if self.metrics.is_empty() {
            return None;
        }
        self.family.set_metric(self.metrics);
        Some(self.family)
    }
}

fn pair(name: &str, value: &str) -> LabelPair {
    let mut pair = LabelPair::default();
    pair.set_name(name.to_owned());
    pair.set_value(value.to_owned());
    pair
}
