use std::time::Duration;

use jiff::Timestamp;

use super::{FailOn, NowFrom, Report, Resource, ResourceError};
use crate::cli::exit::Exit;
use crate::cluster::request::Reason as ListReason;
use crate::judge::object::Identity;
use crate::judge::rule::generation::Generation;
use crate::judge::rule::{Rule, RuleFrom};
use crate::judge::state::{Judgement, Reason, Since, SinceFrom, State};
use crate::judge::tally::{Diagnosis, Keep, Tally};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn resource(operator: &str, judgements: &[Judgement]) -> Resource {
    let keep = Keep { states: State::ALL.to_vec(), limit: Some(10) };
    let mut tally = Tally::new(NOW, Duration::from_mins(5), Duration::from_mins(15), keep);
    for judgement in judgements {
        tally.add(Identity::default(), judgement);
    }
    let rule = Rule::Generation(Generation::default());
    Resource {
        operator: operator.to_owned(),
        resource: format!("widgets.{operator}"),
        version: "v1".to_owned(),
        kind: "Widget".to_owned(),
        rule: rule.name(),
        rule_from: RuleFrom::Objects,
        overdue_after: Duration::from_mins(5),
        summary: tally.finish(&rule, true),
        error: None,
        is_named: false,
        is_static: false,
    }
}

fn report(resources: Vec<Resource>) -> Report {
    Report {
        generated_at: NOW,
        now: NOW,
        now_from: NowFrom::Flag,
        is_live: true,
        context: None,
        is_cut_short: false,
        resources,
        warnings: Vec::new(),
    }
}

fn pending(minutes: i64) -> Judgement {
    let at = NOW - jiff::SignedDuration::from_mins(minutes);
    Judgement {
        since: Some(Since::new(at, SinceFrom::Creation)),
        ..Judgement::new(State::Pending, Reason::NeverProcessed, "")
    }
}

fn processed() -> Judgement {
    Judgement { signalled: true, acked_at: Some(NOW), ..Judgement::new(State::Processed, None, "") }
}

fn unknown() -> Judgement {
    Judgement::unknown(Reason::NoSignal, "")
}

fn refused() -> Resource {
    let error = ResourceError { reason: ListReason::Forbidden, message: String::new() };
    Resource { error: Some(error), ..resource("refused", &[]) }
}

#[test]
fn a_finding_comes_before_what_could_not_be_determined() {
    let exit = |resources, fail_on: &[FailOn]| report(resources).exit(fail_on, false);
    assert_eq!(exit(vec![resource("a", &[processed()])], &[FailOn::Overdue]), Exit::Clean);
    assert_eq!(exit(vec![resource("a", &[processed()]), refused()], &[FailOn::Overdue]), Exit::Undetermined);
    assert_eq!(exit(vec![resource("a", &[pending(60)]), refused()], &[FailOn::Overdue]), Exit::Findings);
    assert_eq!(exit(vec![resource("a", &[pending(1)])], &[FailOn::Overdue]), Exit::Clean);
    assert_eq!(exit(vec![resource("a", &[pending(1)])], &[FailOn::Asleep, FailOn::Pending]), Exit::Findings);
    assert_eq!(exit(vec![resource("a", &[pending(60)])], &[FailOn::Never]), Exit::Clean);
    assert_eq!(report(vec![refused()]).exit(&[FailOn::Overdue], true), Exit::Clean);
}

#[test]
fn what_was_named_must_be_judged_and_what_was_found_need_not() {
    let found = || vec![resource("a", &[unknown()]), resource("b", &[processed()])];
    assert_eq!(report(found()).exit(&[FailOn::Overdue], false), Exit::Clean);
    let mut named = found();
    named[0].is_named = true;
    assert_eq!(report(named).exit(&[FailOn::Overdue], false), Exit::Undetermined);
    assert_eq!(report(vec![resource("a", &[unknown()])]).exit(&[FailOn::Overdue], false), Exit::Undetermined);
    assert_eq!(report(vec![resource("a", &[])]).exit(&[FailOn::Overdue], false), Exit::Clean);
}

#[test]
fn kinds_on_which_nothing_is_acknowledged_change_no_exit_code_and_no_diagnosis() {
    let settings = || Resource { is_static: true, is_named: true, ..resource("a", &[unknown()]) };
    assert_eq!(report(vec![settings()]).exit(&[FailOn::Unknown], false), Exit::Clean);
    let both = report(vec![settings(), resource("a", &[processed()])]);
    assert_eq!(both.operators()[0].diagnosis, Diagnosis::Healthy);
    assert_eq!(both.operators()[0].objects, 2);
    assert_eq!(report(vec![settings()]).operators()[0].diagnosis, Diagnosis::Unknown);
}

#[test]
fn operators_are_sums_and_the_worst_comes_first() {
    let report = report(vec![
        resource("good", &[processed()]),
        resource("bad", &[processed(), processed()]),
        resource("bad", &[pending(60), pending(30)]),
    ]);
    let operators = report.operators();
    let rows: Vec<_> = operators.iter().map(|it| (it.operator, it.diagnosis, it.objects, it.overdue)).collect();
    assert_eq!(rows, [("bad", Diagnosis::Asleep, 4, 2), ("good", Diagnosis::Healthy, 1, 0)]);
    assert_eq!(operators[0].oldest_pending, Some(NOW - jiff::SignedDuration::from_mins(60)));
}

#[test]
fn a_limit_holds_over_all_resources() {
    let report = report(vec![resource("a", &[pending(10), pending(30)]), resource("b", &[pending(20)])]);
    let (findings, left_out) = report.findings(Some(2));
    let ages: Vec<_> =
        findings.iter().filter_map(|(_, finding)| Some(NOW.duration_since(finding.since?.at).as_mins())).collect();
    assert_eq!((ages, left_out), (vec![30, 20], 1));
    assert_eq!(report.findings(None).0.len(), 3);
}
