use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::*;
use crate::view::board::{Agent, Path};
use crate::view::example::{
    DATABASES, a_headline, a_quiet_view, a_restarting_view, a_view, an_explanation, an_offender, an_operator, at,
    some_connections, tick,
};
use crate::view::{
    Decision, Diagnosis, EventResult, Histogram, Leadership, ListResult, Outcome, OwnCheck, SeenCanary, SeenNudges,
    Transition, Watch, WatchType, Withheld,
};

const NOW: &str = "07:06:35";

fn exposed(view: &View) -> String {
    encode(view, &Probes::default(), tick(NOW)).unwrap()
}

/// The value of the one series that starts with `series` and a space.
fn value(text: &str, series: &str) -> Option<f64> {
    let found: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(series)?.strip_prefix(' ')).collect();
    assert!(found.len() < 2, "{series} stands there {} times", found.len());
    found.first().map(|value| value.parse().unwrap())
}

fn a_canary() -> SeenCanary {
    SeenCanary {
        object: "prod/canary".to_owned(),
        acks: 3,
        is_proven: true,
        outstanding: None,
        last_round_trip: None,
        problem: None,
        round_trip: Histogram::default(),
    }
}

/// A view in which everything there is to say is said.
fn a_full_view() -> (View, Probes) {
    let mut view = a_restarting_view();
    let operator = &mut view.operators[0];
    operator.leadership = Leadership::Ours { renewal: 1, duration: Duration::from_secs(15) };
    operator.own_check = Some(OwnCheck { failures: 2, ..OwnCheck::default() });
    operator.restarts.requested = 4;
    operator.restarts.outcomes.add_many(Outcome::Cured, 3);
    operator.restarts.withheld.add(Withheld::NoProof);
    operator.restarts.last = Some(at("07:06:10").wall);
    operator.events.add(EventResult::Sent);
    operator.nudges = Some(SeenNudges::default());
    let stream = &mut operator.streams[0];
    stream.time_to_ack.observe(Duration::from_millis(1500));
    stream.list.results.add_many(ListResult::Complete, 7);
    let mut watch = Watch { last_event: Some(tick("07:06:20")), ..Watch::default() };
    watch.events.add_many(WatchType::Modified, 12);
    stream.watch = Some(watch);
    stream.canary = Some(a_canary());
    view.operators[0].connections = some_connections();
    let mut probes = Probes::default();
    probes.last.insert((Path::Healthz, Agent::Kubelet), tick("07:06:31"));
    (view, probes)
}

#[test]
fn the_table_and_what_is_exposed_agree() {
    let (view, probes) = a_full_view();
    let text = encode(&view, &probes, tick(NOW)).unwrap();
    let mut labels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let series = line.rsplit_once(' ').unwrap().0;
        let (name, pairs) = series.split_once('{').map_or((series, ""), |(name, pairs)| (name, pairs));
        let name = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let pairs = pairs.trim_end_matches('}').split(',').filter_map(|pair| pair.split_once('='));
        labels.entry(name).or_default().extend(pairs.map(|(label, _)| label).filter(|label| *label != "le"));
    }
    let in_table: BTreeSet<String> = TABLE.iter().map(Metric::full_name).collect();
    let is_exposed: BTreeSet<String> = labels.keys().map(|name| (*name).to_owned()).collect();
    assert_eq!(in_table, is_exposed);
    for metric in TABLE {
        let allowed: BTreeSet<&str> = metric.labels().into_iter().collect();
        let found = &labels[metric.full_name().as_str()];
        assert!(found.is_subset(&allowed), "{}: {found:?} beyond {allowed:?}", metric.name);
        let missing: Vec<_> = allowed.difference(found).filter(|label| **label != "object_namespace").collect();
        assert!(missing.is_empty(), "{}: {missing:?} missing", metric.name);
    }
}

#[test]
fn names_say_what_promtool_wants_them_to_say() {
    let mut names = BTreeSet::new();
    for metric in TABLE {
        let Metric { name, help, kind, .. } = *metric;
        assert!(names.insert(name), "{name} stands there twice");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
        assert_eq!(name.ends_with("_total"), kind == Kind::Counter, "{name}: counters, and only they, end in _total");
        assert!(help.ends_with('.') && help.len() < 200, "{name}: help is a sentence");
        assert!(!["_sum", "_count", "_bucket", "_info_total"].iter().any(|end| name.ends_with(end)), "{name}");
        for unit in ["millis", "minutes", "hours", "_ms"] {
            assert!(!name.contains(unit), "{name}: base units only");
        }
        for label in metric.labels() {
            assert!(!["le", "quantile", "job", "instance", "namespace", "pod", "container"].contains(&label), "{name}");
        }
    }
}

#[test]
fn every_duration_and_time_is_in_seconds_and_a_time_is_a_timestamp() {
    let (view, probes) = a_full_view();
    let text = encode(&view, &probes, tick(NOW)).unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#') && line.contains("timestamp")) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        assert!(series.split('{').next().unwrap().ends_with("_timestamp_seconds"), "{line}");
        let seconds: f64 = value.parse().unwrap();
        let day = at("00:00:00").wall.as_second();
        #[expect(clippy::cast_possible_truncation)]
        let whole = seconds as i64;
        assert!((day..day + 86_400).contains(&whole), "{line}");
    }
}

#[test]
fn what_does_not_apply_is_absent_and_never_zero() {
    let mut view = a_quiet_view();
    let stream = &mut view.operators[0].streams[0];
    stream.explanation.last_ack = None;
    stream.explanation.listed_from = None;
    stream.list = crate::view::List::default();
    view.config.loaded = None;
    let text = exposed(&view);
    for name in [
        "oldest_pending_timestamp_seconds",
        "last_ack_timestamp_seconds",
        "last_restart_timestamp_seconds",
        "list_last_success_timestamp_seconds",
        "list_duration_seconds",
        "watch_last_event_timestamp_seconds",
        "watch_events_total",
        "operator_connection_last_receive_timestamp_seconds",
        "probe_last_request_timestamp_seconds",
        "config_last_reload_success_timestamp_seconds",
        "leader",
        "operator_check_failures_total",
        "objects",
        "overdue_objects",
        "overdue_object_since_timestamp_seconds",
    ] {
        let (bare, labelled) = (format!("{PREFIX}{name} "), format!("{PREFIX}{name}{{"));
        assert!(!text.lines().any(|line| line.starts_with(&bare) || line.starts_with(&labelled)), "{name}");
        assert!(!text.contains(&format!("# HELP {PREFIX}{name} ")), "{name} without a series");
    }
}

#[test]
fn features_that_do_not_exist_have_no_metric() {
    assert!(!TABLE.iter().any(|metric| metric.name.contains("page")));
}

#[test]
fn a_stream_says_whose_it_is_and_where() {
    let mut view = a_restarting_view();
    view.operators[0].streams[1].namespace = Some("prod".to_owned());
    let text = exposed(&view);
    let whole = format!("{{operator=\"orders-operator\",resource=\"{DATABASES}\"}}");
    assert_eq!(value(&text, &format!("dogwatch_overdue_objects{whole}")), Some(3.0));
    let part = "{operator=\"orders-operator\",resource=\"backups.db.example.com\",object_namespace=\"prod\"}";
    assert_eq!(value(&text, &format!("dogwatch_overdue_objects{part}")), Some(0.0));
}

#[test]
fn exactly_one_diagnosis_and_one_decision_is_in_force() {
    let text = exposed(&a_restarting_view());
    let ones = |name: &str, rest: &str| {
        let of: Vec<&str> = text.lines().filter(|line| line.starts_with(name) && line.contains(rest)).collect();
        (of.len(), of.iter().filter(|line| line.ends_with(" 1")).map(|line| (*line).to_owned()).collect::<Vec<_>>())
    };
    let (all, ones_of) = ones("dogwatch_diagnosis{", DATABASES);
    assert_eq!((all, ones_of.len()), (Diagnosis::ALL.len(), 1));
    assert!(ones_of[0].contains("diagnosis=\"asleep\""));
    let (all, ones_of) = ones("dogwatch_decision{", "");
    assert_eq!((all, ones_of.len()), (Decision::ALL.len(), 1));
    assert!(ones_of[0].contains("decision=\"restarting\""));
    assert_eq!(value(&text, "dogwatch_liveness_failed{operator=\"orders-operator\"}"), Some(1.0));
}

#[test]
fn a_stale_view_is_blind_and_knows_nothing() {
    let view = a_restarting_view();
    let later = Tick::from_millis(view.stale_at().as_millis() + 1);
    let text = encode(&view, &Probes::default(), later).unwrap();
    let operator = "operator=\"orders-operator\"";
    assert_eq!(value(&text, &format!("dogwatch_decision{{{operator},decision=\"blind\"}}")), Some(1.0));
    assert_eq!(value(&text, &format!("dogwatch_decision{{{operator},decision=\"restarting\"}}")), Some(0.0));
    assert_eq!(value(&text, &format!("dogwatch_liveness_failed{{{operator}}}")), Some(0.0));
    let unknown = format!("dogwatch_diagnosis{{{operator},resource=\"{DATABASES}\",diagnosis=\"unknown\"}}");
    assert_eq!(value(&text, &unknown), Some(1.0));
}

#[test]
fn names_are_capped_oldest_first_over_all_streams_and_the_rest_is_counted() {
    let about = an_explanation(DATABASES, Diagnosis::Partial);
    let other = an_explanation("backups.db.example.com", Diagnosis::Partial);
    let headline = a_headline(Decision::Watching, Some(Transition::Begin), None);
    let mut operator = an_operator(&headline, vec![about, other]);
    for (position, stream) in operator.streams.iter_mut().enumerate() {
        stream.explanation.overdue = 60;
        stream.offenders =
            (0..50).map(|n| an_offender(&format!("{position}-{n}"), &format!("06:{n:02}:0{position}"))).collect();
    }
    let text = exposed(&a_view(operator));
    let named: Vec<&str> =
        text.lines().filter(|line| line.starts_with("dogwatch_overdue_object_since_timestamp_seconds{")).collect();
    assert_eq!(named.len(), 50);
    assert!(named.iter().all(|line| !line.contains("-25\"")), "the 25 oldest of each");
    for resource in [DATABASES, "backups.db.example.com"] {
        let series =
            format!("dogwatch_overdue_objects_truncated{{operator=\"orders-operator\",resource=\"{resource}\"}}");
        assert_eq!(value(&text, &series), Some(35.0));
    }
}

#[test]
fn a_name_cannot_forge_a_series() {
    let mut view = a_restarting_view();
    view.operators[0].name = "a\"} 1\ndogwatch_liveness_failed{operator=\"b\\".to_owned();
    let text = exposed(&view);
    let lines = text.lines().filter(|line| line.starts_with("dogwatch_liveness_failed")).count();
    assert_eq!(lines, 1);
}

#[test]
fn before_the_first_view_of_an_operator_the_process_still_answers() {
    let view = View::starting(at("07:06:30"), Duration::from_secs(10));
    let text = exposed(&view);
    assert_eq!(value(&text, "dogwatch_api_gate_open"), Some(0.0));
    assert!(text.contains("dogwatch_build_info{version="));
}

#[test]
fn a_histogram_is_cumulated() {
    let (view, probes) = a_full_view();
    let text = encode(&view, &probes, tick(NOW)).unwrap();
    let labels = format!("operator=\"orders-operator\",resource=\"{DATABASES}\"");
    let bucket = |bound: &str| format!("dogwatch_time_to_ack_seconds_bucket{{{labels},le=\"{bound}\"}}");
    assert_eq!(value(&text, &bucket("1")), Some(0.0));
    assert_eq!(value(&text, &bucket("2")), Some(1.0));
    assert_eq!(value(&text, &bucket("+Inf")), Some(1.0));
    assert_eq!(value(&text, &format!("dogwatch_time_to_ack_seconds_sum{{{labels}}}")), Some(1.5));
}
