use super::*;

fn at(second: u64) -> Tick {
    Tick::from_millis(0).after(Duration::from_secs(second))
}

/// What controller-runtime shows of one controller.
fn scrape(reconciles: u64, depth: u64, longest: &str) -> Scrape {
    let text = format!(
        "# HELP controller_runtime_reconcile_total Total number of reconciliations per controller\n\
         controller_runtime_reconcile_total{{controller=\"widget\",result=\"error\"}} 2\n\
         controller_runtime_reconcile_total{{controller=\"widget\",result=\"success\"}} {reconciles}\n\
         controller_runtime_reconcile_errors_total{{controller=\"widget\"}} 99\n\
         workqueue_depth{{controller=\"widget\",name=\"widget\",priority=\"0\"}} {depth}\n\
         workqueue_longest_running_processor_seconds{{controller=\"widget\",name=\"widget\"}} {longest}\n\
         workqueue_unfinished_work_seconds{{controller=\"widget\",name=\"widget\"}} {longest}\n\
         go_goroutines 40\n"
    );
    let mut scrape = Scrape::default();
    text.lines().for_each(|line| scrape.line(line.as_bytes()));
    scrape
}

fn still(metrics: &mut OperatorMetrics, second: u64, reconciles: u64, depth: u64) -> Vec<(String, Tick)> {
    metrics.note(scrape(reconciles, depth, "0"), Some("c1"), at(second)).expect("the families are there").still
}

#[test]
fn counters_that_stand_still_while_work_waits_are_evidence() {
    let mut metrics = OperatorMetrics::default();
    let stuck = |since| vec![("widget".to_owned(), at(since))];
    assert_eq!(still(&mut metrics, 0, 10, 3), [], "one reading shows no movement");
    assert_eq!(still(&mut metrics, 30, 10, 4), stuck(0));
    assert_eq!(still(&mut metrics, 60, 10, 5), stuck(0), "since the first reading of the row");
    assert_eq!(still(&mut metrics, 90, 11, 5), [], "it moved");
    assert_eq!(still(&mut metrics, 120, 11, 5), stuck(90));
}

#[test]
fn an_idle_operator_stands_still_and_is_none() {
    let mut metrics = OperatorMetrics::default();
    assert_eq!(still(&mut metrics, 0, 10, 0), []);
    assert_eq!(still(&mut metrics, 30, 10, 0), []);
    assert_eq!(still(&mut metrics, 60, 10, 1), [], "what has come since may be taken up in a moment");
}

#[test]
fn another_life_or_a_gap_begins_anew() {
    let mut metrics = OperatorMetrics::default();
    still(&mut metrics, 0, 10, 3);
    let other = metrics.note(scrape(10, 3, "0"), Some("c2"), at(30)).expect("there");
    assert_eq!(other.still, []);
    still(&mut metrics, 60, 10, 3);
    metrics.lost();
    assert_eq!(still(&mut metrics, 90, 10, 3), []);
    assert_eq!(still(&mut metrics, 120, 1, 3), [], "a counter that falls is another process");
}

#[test]
fn the_longest_running_worker_is_named() {
    let mut metrics = OperatorMetrics::default();
    let evidence = metrics.note(scrape(10, 0, "312.5"), None, at(0)).expect("there");
    assert_eq!(evidence.longest, Some(("widget".to_owned(), Duration::from_millis(312_500))));
    assert_eq!(evidence.unfinished, evidence.longest);
    assert!(evidence.missing.is_empty());
    assert_eq!(metrics.note(scrape(10, 0, "0"), None, at(30)).expect("there").longest, None, "nobody works");
}

#[test]
fn what_is_renamed_is_said_and_not_taken_for_rest() {
    let mut renamed = Scrape::default();
    renamed.line(b"my_controller_reconcile_total{controller=\"a\"} 3");
    renamed.line(b"go_goroutines 3");
    let missing = OperatorMetrics::default().note(renamed, None, at(0)).expect_err("nothing known");
    assert_eq!(missing[0], "controller_runtime_reconcile_total");

    let mut partly = Scrape::default();
    partly.line(b"controller_runtime_reconcile_total{controller=\"a\",result=\"success\"} 3");
    let evidence = OperatorMetrics::default().note(partly, None, at(0)).expect("something known");
    assert_eq!(evidence.missing, ["workqueue_depth", "workqueue_longest_running_processor_seconds"]);
}

#[test]
fn the_names_of_the_java_operator_sdk_are_known() {
    let read = || {
        let mut scrape = Scrape::default();
        scrape.line(b"reconciliations_started_total{controller_name=\"webpage\",namespace=\"a\"} 3.0");
        scrape.line(b"reconciliations_started_total{controller_name=\"webpage\",namespace=\"b\"} 4.0");
        scrape.line(b"reconciliations_queue{controller_name=\"webpage\",} 2.0");
        scrape
    };
    let mut metrics = OperatorMetrics::default();
    drop(metrics.note(read(), None, at(0)));
    assert_eq!(metrics.note(read(), None, at(30)).expect("known").still, [("webpage".to_owned(), at(0))]);
}

#[test]
fn memory_is_bounded_however_many_controllers_there_are() {
    let mut scrape = Scrape::default();
    for index in 0..1000 {
        scrape.line(format!("workqueue_depth{{name=\"c{index}\"}} 1").as_bytes());
    }
    assert_eq!(scrape.controllers.len(), MOST_CONTROLLERS);
}
