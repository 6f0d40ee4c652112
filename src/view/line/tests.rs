use super::super::example::{DATABASES, a_headline, a_quiet_view, an_explanation, at};
use super::*;
use crate::view::{Config, Diagnosis};

const BLIND: &[Blindness] = Blindness::ALL;

/// Every row, with whether it is about a stream.
fn rows() -> Vec<(Transition, bool)> {
    use Transition as Row;
    let mut rows: Vec<(Row, bool)> = [Row::Begin, Row::StandBy, Row::Return].map(|row| (row, false)).into();
    rows.extend(BLIND.iter().map(|blindness| (Row::GoBlind(*blindness), false)));
    rows.extend(
        [
            Row::Resume,
            Row::Suspect,
            Row::Dismiss,
            Row::Restart,
            Row::Exhaust,
            Row::Cancel,
            Row::HandOver,
            Row::NotSeen,
            Row::Cure,
            Row::Fail,
            Row::Relax,
            Row::Retry,
        ]
        .map(|row| (row, true)),
    );
    rows
}

fn asleep(stream: &str) -> Explanation {
    an_explanation(stream, Diagnosis::Asleep)
}

#[test]
fn a_requested_restart_reads_as_the_contract_shows_it() {
    let headline = a_headline(Decision::Restarting, Some(Transition::Restart), Some(asleep(DATABASES)));
    assert_eq!(
        write(&headline, Some("prod/orders-7")),
        "asleep databases.db.example.com since 2026-03-04T07:06Z: 3 overdue, last ack 06:58Z, oldest prod/orders-7"
    );
}

#[test]
fn an_ack_of_another_day_has_its_date_and_one_never_seen_says_so() {
    let mut about = asleep(DATABASES);
    about.last_ack = Some(at("07:06:00").tick().before(std::time::Duration::from_hours(24)));
    let headline = a_headline(Decision::Suspect, Some(Transition::Suspect), Some(about.clone()));
    assert_eq!(
        write(&headline, None),
        "ok suspect: asleep databases.db.example.com since 2026-03-04T07:06Z: 3 overdue, last ack 2026-03-03T07:06Z"
    );
    about.last_ack = None;
    let headline = a_headline(Decision::Suspect, Some(Transition::Suspect), Some(about));
    assert!(write(&headline, None).ends_with(": 3 overdue, no ack seen"));
}

#[test]
fn what_is_over_names_the_stream_and_what_came_of_it() {
    let headline = a_headline(Decision::Watching, Some(Transition::Cure), Some(asleep(DATABASES)));
    assert_eq!(
        write(&headline, None),
        "ok watching: since 2026-03-04T07:06Z; databases.db.example.com: the restart cured it"
    );
    let headline = a_headline(Decision::Blind, Some(Transition::GoBlind(Blindness::GateClosed)), None);
    assert_eq!(write(&headline, None), "ok blind: since 2026-03-04T07:06Z; the API server does not answer reliably");
}

#[test]
fn a_lease_is_not_renewed_rather_than_overdue() {
    let headline = a_headline(Decision::Restarting, Some(Transition::Restart), Some(asleep(LEASE)));
    assert_eq!(write(&headline, None), "asleep lease since 2026-03-04T07:06Z: not renewed, last seen renewed 06:58Z");
}

#[test]
fn however_long_the_names_the_head_holds_what_matters_and_the_line_ends() {
    let long = format!("{}.{}", "p".repeat(63), "g".repeat(253));
    let oldest = format!("{}/{}", "n".repeat(63), "o".repeat(253));
    for (row, is_about_stream) in rows() {
        for diagnosis in Diagnosis::ALL {
            let about = is_about_stream.then(|| an_explanation(&long, *diagnosis));
            let line = write(&a_headline(row.to(), Some(row), about), Some(&oldest));
            let head: String = line.chars().take(HEAD).collect();
            assert!(line.chars().count() <= LONGEST, "{row:?}: {line}");
            assert!(head.contains("since 2026-03-04T07:06Z"), "{row:?}: {head}");
            assert!(!is_about_stream || head.contains("ppppppp"), "{row:?}: {head}");
            assert_eq!(line.starts_with("ok "), row.to() != Decision::Restarting, "{row:?}: {line}");
        }
    }
}

#[test]
fn names_cannot_break_the_line() {
    let headline = a_headline(Decision::Restarting, Some(Transition::Restart), Some(asleep("a\nb")));
    assert!(!write(&headline, Some("x\r\ny")).contains(['\n', '\r']));
}

#[test]
fn without_an_operator_the_configuration_is_blamed_only_if_it_is_to_blame() {
    let mut view = a_quiet_view();
    view.operators.clear();
    assert_eq!(without_operator(&view), "ok starting: since 2026-03-04T05:00Z; not everything was seen yet");
    view.config = Config { problem: Some("config.yaml:3: unknown key".to_owned()), ..Config::default() };
    assert_eq!(
        without_operator(&view),
        "ok starting: since 2026-03-04T05:00Z; the configuration cannot be used, see /readyz"
    );
}
