//! Views made by hand, for tests.

use std::time::Duration;

use jiff::Timestamp;

use super::{
    Config, Connections, Container, Counts, Decision, Diagnosis, Evidence, Explanation, Gate, Histogram, Leadership,
    List, Mode, Moment, Offender, Operator, Pod, Probe, Restarts, RuleFrom, Stream, Task, Tick, Transition, Verdict,
    View, line,
};
use crate::judge::connection::{self, Phase, Socket};
use crate::judge::decision::Headline;
use crate::judge::tally::States;

/// How long the machine had been up at [`at`]`("07:06:30")`.
const UP: Duration = Duration::from_secs(100_000);

/// The moment of a time of 2026-03-04.
pub(crate) fn at(time: &str) -> Moment {
    let wall: Timestamp = format!("2026-03-04T{time}Z").parse().unwrap();
    let reference: Timestamp = "2026-03-04T07:06:30Z".parse().unwrap();
    let distance = wall.duration_since(reference).as_secs();
    Moment { wall, elapsed: Duration::from_secs(UP.as_secs().strict_add_signed(distance)) }
}

pub(crate) fn tick(time: &str) -> Tick {
    at(time).tick()
}

/// A stream of which three objects are overdue since 06:50 and the last acknowledgement was seen at 06:58.
pub(crate) fn an_explanation(stream: &str, diagnosis: Diagnosis) -> Explanation {
    Explanation {
        stream: stream.to_owned(),
        diagnosis,
        states: States::default(),
        pending: 4,
        overdue: 3,
        offenders: Vec::new(),
        left_out: 0,
        oldest_pending: Some(tick("06:50:00")),
        candidates: 2,
        enough: 1,
        excused: Vec::new(),
        oldest: Vec::new(),
        silent_since: Some(tick("07:06:00")),
        asleep_after: Duration::from_mins(15),
        last_ack: Some(tick("06:58:00")),
        holds: Vec::new(),
        held_until: None,
        is_proven: true,
        may_restart: true,
        listed_from: Some(tick("07:06:00")),
        in_flight_until: None,
        fruitless: 0,
        released: 0,
        habits: Vec::new(),
        changes_at: None,
    }
}

pub(crate) fn a_healthy_explanation(stream: &str) -> Explanation {
    Explanation {
        pending: 0,
        overdue: 0,
        oldest_pending: None,
        candidates: 0,
        silent_since: None,
        ..an_explanation(stream, Diagnosis::Healthy)
    }
}

/// A stream that was listed at 07:06.
pub(crate) fn a_stream(explanation: Explanation) -> Stream {
    Stream {
        resource: explanation.stream.clone(),
        namespace: None,
        rule: Some("kopf"),
        rule_from: Some(RuleFrom::Objects),
        explanation,
        diagnosis_since: tick("07:00:00"),
        overdue_after: Duration::from_mins(10),
        evidence: Evidence::default(),
        shown_ack: None,
        offenders: Vec::new(),
        list: List {
            is_ready: true,
            last_success: Some(tick("07:06:01")),
            duration: Some(Duration::from_millis(250)),
            bytes: 4096,
            results: Counts::default(),
            problem: None,
            interval: Duration::from_secs(30),
        },
        watch: None,
        stale: None,
        regression: None,
        time_to_ack: Histogram::default(),
        canary: None,
    }
}

pub(crate) fn an_offender(name: &str, since: &str) -> Offender {
    Offender { namespace: Some("prod".to_owned()), name: name.to_owned(), since: tick(since) }
}

pub(crate) fn a_headline(decision: Decision, by: Option<Transition>, about: Option<Explanation>) -> Headline {
    Headline { decision, at: at("07:06:10"), by, about }
}

pub(crate) fn a_verdict(headline: &Headline) -> Verdict {
    Verdict {
        decision: headline.decision,
        since: headline.at.tick(),
        at: headline.at,
        by: headline.by,
        subject: headline.about.as_ref().map(|about| about.stream.clone()),
        is_failing: headline.decision == Decision::Restarting,
        line: line::write(headline, Some("prod/orders-7")),
        holds: Vec::new(),
        budget_remaining: 3,
        changes_at: None,
    }
}

/// An operator in a Pod, with one stream per explanation.
pub(crate) fn an_operator(headline: &Headline, explanations: Vec<Explanation>) -> Operator {
    Operator {
        name: "orders-operator".to_owned(),
        verdict: a_verdict(headline),
        streams: explanations.into_iter().map(a_stream).collect(),
        lease: None,
        mode: Mode::Enforce,
        leadership: Leadership::NotNeeded,
        pod: Pod::Read {
            container: Some(Container { id: "c1".to_owned(), is_running: true, started: tick("06:00:00") }),
            is_terminating: false,
        },
        probe: Some(Probe::default()),
        own_check: None,
        peering: None,
        metrics: None,
        nudges: None,
        restarts: Restarts::default(),
        connections: Connections::default(),
        events: Counts::default(),
    }
}

/// A view made at 07:06:30 by a loop that turns every ten seconds.
pub(crate) fn a_view(operator: Operator) -> View {
    View {
        made: at("07:06:30"),
        period: Duration::from_secs(10),
        started: at("05:00:00"),
        gate: Gate::Open,
        config: Config { loaded: Some(at("05:00:01").wall), ..Config::default() },
        tasks: vec![Task { name: "lists".to_owned(), ended: None }, Task { name: "pod".to_owned(), ended: None }],
        operators: vec![operator],
    }
}

/// Two connections of the operator: one received its last byte at 07:05:30, and one has a dead path since 07:06.
pub(crate) fn some_connections() -> Connections {
    let api = "10.96.0.1:443".parse().unwrap();
    let socket = |port, silent_for| Socket {
        local: ([10, 0, 0, 7], port).into(),
        peer: api,
        phase: Phase::Established,
        inode: u64::from(port),
        is_own: false,
        silent_for: Some(Duration::from_secs(silent_for)),
        receive_queue: 0,
        send_queue: 0,
        retransmits: 0,
    };
    let mut known = connection::Connections::default();
    for (time, silent_for) in [("07:06:00", 30), ("07:06:20", 50)] {
        let own = Socket { is_own: true, ..socket(40_000, 1) };
        let dead = Socket { send_queue: 120, retransmits: 6, ..socket(40_002, silent_for + 60) };
        known.observe(&[own, socket(40_001, silent_for), dead], tick(time));
    }
    Connections::of(&known)
}

/// Watching, everything served.
pub(crate) fn a_quiet_view() -> View {
    let headline = a_headline(Decision::Watching, Some(Transition::Begin), None);
    a_view(an_operator(&headline, vec![a_healthy_explanation(DATABASES)]))
}

/// The stream of most tests.
pub(crate) const DATABASES: &str = "databases.db.example.com";

/// A restart is requested for [`DATABASES`].
pub(crate) fn a_restarting_view() -> View {
    let about = an_explanation(DATABASES, Diagnosis::Asleep);
    let headline = a_headline(Decision::Restarting, Some(Transition::Restart), Some(about.clone()));
    let mut operator = an_operator(&headline, vec![about, a_healthy_explanation("backups.db.example.com")]);
    operator.streams[0].offenders = vec![an_offender("orders-7", "06:50:00"), an_offender("orders-8", "06:51:00")];
    a_view(operator)
}
