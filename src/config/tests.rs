use proptest::prelude::*;

use super::operator::{Healthz, Metrics, ObjectName, Probe};
use super::resource::Streams;
use super::*;
use crate::judge::rule::cel::expression::Expression;
use crate::judge::rule::{Durations, Rule};
use crate::judge::rule::{generation::Generation, kopf::Kopf};

const FULL: &str = include_str!("../../tests/fixtures/config/full.yaml");
const OBSERVER: &str = include_str!("../../tests/fixtures/config/observer.yaml");
const HEAD: &str = "apiVersion: dogwatch/v1\nkind: Config\n";

const fn minutes(count: u64) -> Duration {
    Duration::from_mins(count)
}

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// The problems of a configuration whose first two lines are as they should be.
fn problems(rest: &str) -> String {
    problems_of_all(&format!("{HEAD}{rest}"))
}

fn problems_of_all(text: &str) -> String {
    parse(text, "c").expect_err("the configuration is wrong").to_string()
}

fn parsed(rest: &str) -> Config {
    parse(&format!("{HEAD}{rest}"), "c").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_key_of_the_operator_is_converted() {
    let config = parse(FULL, "full.yaml").unwrap();
    let Role::Sidecar(operator) = config.role else { panic!("not a sidecar") };
    assert_eq!(
        operator,
        Operator {
            name: Some("orders".into()),
            container: Some("manager".into()),
            lease: Some(ObjectName { namespace: Some("leases".into()), name: "orders-lock".into() }),
            identity: Some("orders-0".into()),
            peering: Some(ObjectName { namespace: None, name: "orders-peering".into() }),
            healthz: Some(Healthz {
                url: "http://127.0.0.1:8081/healthz".parse().unwrap(),
                period: seconds(20),
                failure_threshold: 5,
                initial_delay: Duration::ZERO,
            }),
            metrics: Some(Metrics {
                url: "https://127.0.0.1:8443/metrics".parse().unwrap(),
                token_file: Some("/var/run/token".into()),
                ca_file: Some("/var/run/ca.crt".into()),
                insecure_skip_verify: true,
            }),
            probe: Some(Probe { period: seconds(15), failure_threshold: 6, termination_grace: minutes(2) }),
        }
    );
}

#[test]
fn every_key_of_a_resource_is_converted() {
    let config = parse(FULL, "full.yaml").unwrap();
    let names: Vec<_> = config.resources.iter().map(|resource| resource.resource.as_str()).collect();
    let expected = ["orders", "carts", "stores", "shelves"].map(|name| format!("{name}.shop.example.com"));
    assert_eq!(names[..4], expected);
    assert_eq!(names[4], "*.parts.example.com");

    let orders = &config.resources[0];
    assert!(orders.namespaces.contains("team-a") && !orders.namespaces.contains("team-x"));
    assert_eq!(orders.selector.as_deref(), Some("team=x"));
    assert_eq!(orders.streams, Streams::Namespace);
    assert_eq!((orders.overdue_after, orders.asleep_after), (Some(minutes(12)), Some(minutes(25))));
    assert_eq!((orders.min_overdue, orders.restart), (2, false));
    assert_eq!(orders.finalizers, ["shop.example.com/hold"]);
    let Choice::Named(rule @ Rule::Kopf(_)) = &orders.rule else { panic!("{:?}", orders.rule) };
    assert_eq!(rule.durations().max_attempt, minutes(20));

    let carts = &config.resources[1];
    assert_eq!((carts.overdue_after, carts.asleep_after), (None, None));
    let Choice::Named(rule @ Rule::Generation(_)) = &carts.rule else { panic!("{:?}", carts.rule) };
    assert_eq!(rule.durations().max_attempt, minutes(7));
    assert!(matches!(&config.resources[2].rule, Choice::Auto { max_attempt: Some(longest) } if *longest == minutes(8)));
    assert!(matches!(&config.resources[3].rule, Choice::Named(Rule::Kopf(_))));
    assert!(matches!(&config.resources[4].rule, Choice::Auto { max_attempt: None }));
    let crates = &config.resources[5];
    assert_eq!(crates.r#where.as_ref().map(Expression::source), Some("self.spec.class == 'x'"));
    let Choice::Named(Rule::Cel(cel)) = &crates.rule else { panic!("{:?}", crates.rule) };
    let told = format!("{cel:?}");
    for key in ["processed", "in_progress", "failing", "paused", "pending", "since"] {
        let (_, rest) = told.split_once(&format!("{key}: ")).expect("there");
        assert!(!rest.starts_with("None"), "{told}");
    }
}

#[test]
fn every_other_key_is_converted() {
    let config = parse(FULL, "full.yaml").unwrap();
    assert_eq!(config.list, List { interval: Some(seconds(45)), page_size: 200, max_object_bytes: 8 << 20 });
    assert_eq!(config.watch, Watch { idle_after: seconds(90) });
    assert_eq!(
        config.canary,
        Some(Canary {
            resource: "orders.shop.example.com".into(),
            namespace: Some("shop".into()),
            name: "canary".into(),
            interval: seconds(90),
            path: Some(vec!["spec".into(), "canary".into()]),
            create: Some(serde_json::Map::from_iter([("spec".to_owned(), serde_json::json!({"size": 1}))])),
        })
    );
    assert_eq!(
        config.restart,
        Restart {
            mode: Mode::Observe,
            confirm: seconds(40),
            grace: minutes(4),
            budget: Budget { max: 2, window: minutes(720), min_gap: minutes(90) },
            jitter: Duration::ZERO,
            require_proof: false,
        }
    );
    assert_eq!(config.nudge, Nudge { enabled: true });
    assert_eq!(config.state_file, Some("/run/dogwatch/state.json".into()));
    assert_eq!(config.server, Server { listen: ([127, 0, 0, 1], 9000).into() });
}

#[test]
fn operators_are_observed_and_never_restarted() {
    let config = parse(OBSERVER, "observer.yaml").unwrap();
    let Role::Observer(operators) = &config.role else { panic!("not an observer") };
    let names: Vec<_> = operators.iter().map(|operator| operator.name.as_str()).collect();
    assert_eq!(names, ["flux", "shop"]);
    assert!(operators[0].resources[0].resource.matches("helmreleases.helm.toolkit.fluxcd.io"));
    assert!(matches!(operators[1].resources[0].rule, Choice::Named(Rule::Kopf(_))));
    assert_eq!(config.restart.mode, Mode::Observe);
    assert_eq!(config.resources.len(), 1);
}

#[test]
fn what_is_not_written_and_what_is_null_has_the_documented_default() {
    let nulls = "operator:\nresources:\nlist: {interval: null, pageSize: ~}\nwatch: null\ncanary: null\n\
                 restart: {budget: {max: null}}\nnudge:\nstateFile: null\nserver: {listen: null}\n";
    for rest in ["", nulls] {
        let config = parsed(rest);
        assert_eq!(format!("{config:?}"), format!("{:?}", Config::default()));
        assert!(matches!(config.role, Role::Sidecar(operator) if operator == Operator::default()));
        assert_eq!(config.list, List { interval: None, page_size: 500, max_object_bytes: 4_194_304 });
        assert_eq!(config.watch.idle_after, minutes(5));
        let Restart { mode, confirm, grace, budget, jitter, require_proof } = config.restart;
        assert_eq!((mode, confirm, grace, jitter), (Mode::Enforce, seconds(30), minutes(3), seconds(30)));
        assert_eq!(budget, Budget { max: 3, window: minutes(1440), min_gap: minutes(15) });
        assert!(require_proof && !config.nudge.enabled && config.canary.is_none() && config.state_file.is_none());
        assert_eq!(config.server.listen.to_string(), "[::]:11850");
    }
}

#[test]
fn long_forms_with_the_least_that_is_needed_take_the_defaults() {
    let config = parsed(
        "operator: {healthz: {url: \"http://a/\"}, metrics: {url: \"http://b/\"}, probe: {}}\n\
         canary: {resource: a.b, name: c}\nresources: [{resource: a.b}]\n",
    );
    let Role::Sidecar(operator) = config.role else { panic!("not a sidecar") };
    let healthz = operator.healthz.unwrap();
    assert_eq!((healthz.period, healthz.failure_threshold, healthz.initial_delay), (seconds(10), 3, seconds(30)));
    assert_eq!(operator.metrics, Some(Metrics::new("http://b/".parse().unwrap())));
    assert_eq!(
        operator.probe,
        Some(Probe { period: seconds(10), failure_threshold: 3, termination_grace: seconds(30) })
    );
    let canary = config.canary.unwrap();
    assert_eq!((canary.namespace, canary.interval), (None, minutes(1)));
    assert!(canary.path.is_none() && canary.create.is_none());
    let resource = &config.resources[0];
    assert!(resource.namespaces.is_all() && resource.restart);
    assert_eq!((resource.min_overdue, resource.streams), (1, Streams::Resource));
}

#[test]
fn short_forms_take_the_defaults() {
    let config = parsed("operator: {healthz: \"http://a/\", metrics: \"http://b/\"}\nserver: {listen: \":9000\"}\n");
    let Role::Sidecar(operator) = config.role else { panic!("not a sidecar") };
    assert_eq!(operator.healthz, Some(Healthz::new("http://a/".parse().unwrap())));
    assert_eq!(operator.metrics, Some(Metrics::new("http://b/".parse().unwrap())));
    assert_eq!(config.server.listen.to_string(), "[::]:9000");
}

#[test]
fn the_durations_in_force_never_let_an_operator_sleep_before_its_longest_attempt() {
    let kopf =
        Rule::Kopf(Kopf::new(crate::judge::rule::kopf::Options { max_attempt: minutes(20), ..Default::default() }));
    let mut resource = Resource::new(pattern::Pattern::parse("a.b").unwrap());
    let expected = Durations { overdue_after: minutes(10), asleep_after: minutes(20), max_attempt: minutes(20) };
    assert_eq!(resource.durations(&kopf), expected);
    resource.overdue_after = Some(minutes(1));
    resource.asleep_after = Some(minutes(2));
    let expected = Durations { overdue_after: minutes(1), asleep_after: minutes(3), max_attempt: minutes(3) };
    assert_eq!(resource.durations(&Rule::Generation(Generation::new(minutes(3)))), expected);
}

#[test]
fn an_empty_file_says_how_to_begin() {
    for text in ["", "\n\n", "# nothing\n", "{}", "---\n"] {
        let problems = problems_of_all(text);
        let lines: Vec<_> = problems.lines().map(|line| line.split_once(": ").unwrap().1).collect();
        assert_eq!(
            lines,
            ["apiVersion: is missing; write `apiVersion: dogwatch/v1`", "kind: is missing; write `kind: Config`"],
            "{text:?}"
        );
    }
}

#[test]
fn all_problems_are_reported_at_once_in_the_order_of_the_file() {
    let text = "apiVersion: dogwatch/v2\nkind: config\nwatch:\n  idleAfter: 5s\n  idelAfter: 5m\nlist: {pageSize: 0}\nserverr: {}\n";
    insta::assert_snapshot!(problems_of_all(text), @r#"
        c:1:13: apiVersion: unknown value `dogwatch/v2`; did you mean `dogwatch/v1`?
        c:2:7: kind: unknown value `config`; did you mean `Config`?
        c:4:14: watch.idleAfter: must be at least 90s, since a healthy watch carries a bookmark only about every 60s
        c:5:3: watch.idelAfter: unknown key; did you mean `idleAfter`?
        c:6:18: list.pageSize: must be at least 1
        c:7:1: serverr: unknown key; did you mean `server`?
    "#);
}

#[test]
fn unknown_keys_and_words_name_the_nearest_one() {
    insta::assert_snapshot!(problems(
        "operator: {Container: m, termination_grace: 1}\n\
         resources:\n- {resource: a.b, overdue_after: 5m, streams: namespaces, rule: kopff}\n\
         - {resource: a.c, rule: {kopf: {mode: event-olny, storage: everywhere}}}\n\
         - {resource: a.d, rule: {generaton: {}}}\n\
         - {resource: a.e, rule: ready}\n\
         restart: {mode: dry-run}\nfoo: 1\n"
    ), @r#"
        c:3:12: operator.Container: unknown key; did you mean `container`?
        c:3:26: operator.termination_grace: unknown key; known here: `name`, `container`, `lease`, `identity`, `peering`, `healthz`, `metrics`, `probe`
        c:5:19: resources[0].overdue_after: unknown key; did you mean `overdueAfter`?
        c:5:47: resources[0].streams: unknown value `namespaces`; did you mean `namespace`?
        c:5:65: resources[0].rule: unknown rule `kopff`; did you mean `kopf`?
        c:6:39: resources[1].rule.kopf.mode: unknown value `event-olny`; did you mean `event-only`?
        c:6:60: resources[1].rule.kopf.storage: unknown value `everywhere`; known here: `auto`, `annotations`, `status`
        c:7:26: resources[2].rule.generaton: unknown rule; did you mean `generation`?
        c:8:25: resources[3].rule: unknown rule `ready`; `dogwatch rules` lists those that there are
        c:9:17: restart.mode: unknown value `dry-run`; known here: `enforce`, `observe`
        c:10:1: foo: unknown key; known here: `apiVersion`, `kind`, `operator`, `operators`, `resources`, `list`, `watch`, `canary`, `restart`, `nudge`, `stateFile`, `server`
    "#);
}

#[test]
fn values_of_another_type_are_named_by_their_type() {
    insta::assert_snapshot!(problems(
        "operator: [a]\nresources: a.b\nlist: {pageSize: many, maxObjectBytes: true}\nnudge: {enabled: yes}\n\
         stateFile: 5\nserver: {listen: 11850}\nwatch: {idleAfter: 300}\ncanary: {resource: a.b, name: 1.5, interval: []}\n\
         restart: {budget: {max: .inf, window: {}}, requireProof: 1}\n"
    ), @r#"
        c:3:11: operator: expected a mapping, found a list
        c:4:12: resources: expected a list, found text; put it in brackets
        c:5:18: list.pageSize: expected a whole number, found text
        c:5:40: list.maxObjectBytes: expected a size such as 512Ki or 4Mi, found true or false
        c:6:18: nudge.enabled: expected true or false, found text
        c:7:12: stateFile: expected text, found a number; put it in quotes
        c:8:18: server.listen: expected text, found a number; put it in quotes
        c:9:20: watch.idleAfter: expected a duration such as 30s or 1h30m, found 300 without a unit
        c:10:31: canary.name: expected text, found a number that is not whole; put it in quotes
        c:10:46: canary.interval: expected a duration such as 30s or 1h30m, found a list
        c:11:25: restart.budget.max: expected a whole number, found a number that is not whole
        c:11:39: restart.budget.window: expected a duration such as 30s or 1h30m, found a mapping
        c:11:58: restart.requireProof: expected true or false, found a number
    "#);
    insta::assert_snapshot!(problems(
        "resources:\n- 5\n- [a]\n-\n- {resource: [a], namespaces: a, selector: '', rule: [kopf], finalizers: [1]}\n"
    ), @r#"
        c:4:3: resources[0]: expected text or a mapping, found a number
        c:5:3: resources[1]: expected text or a mapping, found a list
        c:6:2: resources[2].resource: is missing; write it as plural.group, as in widgets.example.com
        c:7:14: resources[3].resource: expected text, found a list
        c:7:31: resources[3].namespaces: expected a list, found text; put it in brackets
        c:7:44: resources[3].selector: is empty; write a value or leave the key out
        c:7:54: resources[3].rule: expected text or a mapping, found a list
        c:7:75: resources[3].finalizers[0]: expected text, found a number; put it in quotes
    "#);
    insta::assert_snapshot!(problems_of_all("- a\n"), @r#"c:1:1: expected a mapping, found a list"#);
}

#[test]
fn bad_durations_and_sizes_are_shown_with_what_to_write() {
    insta::assert_snapshot!(problems(
        "resources: [{resource: a.b, overdueAfter: -5m, asleepAfter: atuo}]\nlist: {interval: 0s, maxObjectBytes: 4MB}\n\
         watch: {idleAfter: 89s}\ncanary: {resource: a.b, name: c, interval: 1d}\n\
         restart: {confirm: 5 minutes, grace: PT5M, jitter: -1s, budget: {minGap: 9000h, max: 5000000000}}\n"
    ), @r#"
        c:3:43: resources[0].overdueAfter: `-5m` is negative; write a duration longer than zero
        c:3:61: resources[0].asleepAfter: `atuo` is not `auto` or a duration such as 30s or 1h30m; units are h, m, s and ms
        c:4:18: list.interval: `0s` is zero; write a duration longer than zero
        c:4:38: list.maxObjectBytes: is not a size; write it as 512Ki, 4Mi or a number of bytes
        c:5:20: watch.idleAfter: must be at least 90s, since a healthy watch carries a bookmark only about every 60s
        c:6:44: canary.interval: `1d` is not a duration such as 30s or 1h30m; units are h, m, s and ms
        c:7:20: restart.confirm: `5 minutes` is not a duration such as 30s or 1h30m; units are h, m, s and ms
        c:7:38: restart.grace: `PT5M` is not a duration such as 30s or 1h30m; units are h, m, s and ms
        c:7:52: restart.jitter: `-1s` is negative; write a duration longer than zero
        c:7:74: restart.budget.minGap: `9000h` is too long; the longest is 8760h
        c:7:86: restart.budget.max: must be at most 4294967295
    "#);
}

#[test]
fn asleep_after_below_a_known_max_attempt_is_refused() {
    insta::assert_snapshot!(problems(
        "resources:\n- {resource: a.b, rule: kopf, asleepAfter: 10m}\n\
         - {resource: a.c, rule: {auto: {maxAttempt: 1h30m}}, asleepAfter: 1h}\n"
    ), @r#"
        c:4:44: resources[0].asleepAfter: is below the rule's maxAttempt of 15m; an operator may be silent while it works, so raise this or lower that
        c:5:67: resources[1].asleepAfter: is below the rule's maxAttempt of 1h30m; an operator may be silent while it works, so raise this or lower that
    "#);
    parsed("resources: [{resource: a.b, asleepAfter: 10m}, {resource: a.c, rule: kopf, asleepAfter: 15m}]");
}

#[test]
fn operator_and_operators_exclude_each_other() {
    insta::assert_snapshot!(problems(
        "operator: {name: a}\noperators:\n- {name: b, resources: [a.b]}\nrestart: {mode: enforce}\n"
    ), @r#"
        c:5:3: operators: excludes `operator`; keep `operator` in a sidecar, `operators` in a stand-alone observer
        c:6:17: restart.mode: `operators` are only ever observed; write `observe` or leave the key out
    "#);
    insta::assert_snapshot!(problems(
        "operators:\n- {name: b, resources: []}\n- {name: b, resources: [a.b, a.b]}\n- {resources: ['!a']}\n- {name: c}\n"
    ), @r#"
        c:4:24: operators[0].resources: is empty; list at least one resource, or leave the key out
        c:5:3: operators[1]: another operator has the same name; give each its own
        c:5:30: operators[1].resources[1]: `a.b` is listed before; keep one entry of it
        c:6:3: operators[2].name: is missing; write the operator's name
        c:6:16: operators[2].resources[0]: cannot be excluded here; list the resources that are wanted
        c:7:3: operators[3].resources: is missing; list what the operator serves, as in ["*.toolkit.fluxcd.io"]
    "#);
    insta::assert_snapshot!(problems("operators: []\n"), @r#"c:3:12: operators: is empty; list the operators, or leave the key out"#);
}

#[test]
fn expressions_are_refused_at_their_place() {
    insta::assert_snapshot!(problems(
        "resources:\n- resource: a.b\n  where: self.spec.x.endswith('x')\n\
         - resource: a.c\n  rule: {cel: {processed: self.status.phase == 'x', paused: size('x'), since: nwo}}\n\
         - {resource: a.d, rule: cel}\n- {resource: a.e, rule: {cel: {procesed: 'true', pending: 1}}}\n"
    ), @r#"
        c:5:10: resources[0].where: at `endswith`, character 13: unknown function `endswith`; did you mean `endsWith`?
        c:7:27: resources[1].rule.cel.processed: at `.status`, character 5: is not there on an object that no operator has touched, which is what must be seen; test for it first, as in has(self.status.phase) && self.status.phase == 'Ready'
        c:7:27: resources[1].rule.cel.processed: at `.phase`, character 12: is not there on an object that no operator has touched, which is what must be seen; test for it first, as in has(self.status.phase) && self.status.phase == 'Ready'
        c:7:61: resources[1].rule.cel.paused: at `size`, character 1: the expression comes to a whole number, not to true or false
        c:7:79: resources[1].rule.cel.since: at `nwo`, character 1: unknown variable `nwo`; known here: `self`
        c:8:25: resources[2].rule: has no expressions; write them, as in `rule: {cel: {processed: "has(self.status)"}}`
        c:9:31: resources[3].rule.cel.processed: is missing; write the expression that is true once the operator has served the object
        c:9:32: resources[3].rule.cel.procesed: unknown key; did you mean `processed`?
        c:9:59: resources[3].rule.cel.pending: expected text, found a number; put it in quotes
    "#);
}

#[test]
fn expressions_are_read_and_tell_one_configuration_from_another() {
    let resource = |class: &str, phase: &str| {
        let text = format!(
            "resources:\n- resource: a.b\n  where: self.spec.class == '{class}'\n  \
             rule: {{cel: {{processed: \"has(self.status.phase) && self.status.phase == '{phase}'\", maxAttempt: 3m}}}}\n"
        );
        parsed(&text).resources.remove(0)
    };
    let first = resource("x", "Ready");
    assert_eq!(first.r#where.as_ref().map(|it| it.source().to_owned()).as_deref(), Some("self.spec.class == 'x'"));
    let Choice::Named(rule @ Rule::Cel(_)) = &first.rule else { panic!("{:?}", first.rule) };
    assert_eq!((rule.name(), rule.durations().max_attempt), ("cel", minutes(3)));
    let told = |resource: &Resource| format!("{:?} {:?}", resource.rule, resource.r#where);
    assert_eq!(told(&first), told(&resource("x", "Ready")));
    assert_ne!(told(&first), told(&resource("y", "Ready")), "the fingerprint of what is in force is made of this");
    assert_ne!(told(&first), told(&resource("x", "Done")));
}

#[test]
fn an_expression_that_would_exhaust_the_stack_is_refused() {
    for source in [
        "1".to_owned() + &" + 1".repeat(1000),
        "(".repeat(2000) + &")".repeat(2000),
        "!(".repeat(300) + "true" + &")".repeat(300),
    ] {
        let problem = rule_from_flag(&format!("{{cel: {{processed: '{source}'}}}}")).unwrap_err().to_string();
        assert!(problem.starts_with("--rule:1:"), "{problem}");
    }
}

#[test]
fn a_rule_is_one_rule() {
    insta::assert_snapshot!(problems(
        "resources:\n- {resource: a.b, rule: {kopf: {}, generation: {}}}\n- {resource: a.c, rule: {}}\n"
    ), @r#"
        c:4:25: resources[0].rule: names 2 rules; keep one
        c:5:25: resources[1].rule: names no rule; write one, as in `rule: auto`
    "#);
    parsed("resources: [{resource: a.b, rule: {kopf: null}}]");
}

#[test]
fn names_and_addresses_are_checked() {
    insta::assert_snapshot!(problems(
        "operator:\n  container: Manager\n  lease: a/b/c\n  peering: /a\n  healthz: 127.0.0.1:80\n\
         resources: [a b, \"a.b,c.d\", {resource: a.c, namespaces: [\"!\", \"a/b\"]}, {resource: a.d, namespaces: []}]\n\
         canary: {namespace: -a}\nserver: {listen: \"localhost:80\"}\nstateFile: ' '\n"
    ), @r#"
        c:4:14: operator.container: is not a Kubernetes name; names have lower-case letters, digits, `-` and `.`
        c:5:10: operator.lease: has too many parts; write NAME or NAMESPACE/NAME
        c:6:12: operator.peering: is not a Kubernetes name; names have lower-case letters, digits, `-` and `.`
        c:7:12: operator.healthz: is not a URL; write it in full, as in http://127.0.0.1:8081/healthz
        c:8:13: resources[0]: holds ' ', which no name has; write one name or one pattern with * and ?
        c:8:18: resources[1]: holds ',', which no name has; write one name or one pattern with * and ?
        c:8:58: resources[2].namespaces[0]: is empty; write a name or a pattern such as team-*
        c:8:63: resources[2].namespaces[1]: holds '/', which no name has; write one name or one pattern with * and ?
        c:8:100: resources[3].namespaces: is empty; leave the key out to mean all namespaces
        c:9:9: canary.resource: is missing; write it as plural.group
        c:9:9: canary.name: is missing; write the name of an object made for this purpose
        c:9:21: canary.namespace: is not a Kubernetes name; names have lower-case letters, digits, `-` and `.`
        c:10:18: server.listen: is not an address with a port; write it as "[::]:11850" or 127.0.0.1:11850
        c:11:12: stateFile: is empty; write a value or leave the key out
    "#);
}

#[test]
fn a_key_written_twice_is_refused() {
    insta::assert_snapshot!(problems("list: {pageSize: 1, pageSize: 2}\nwatch: {}\nwatch: {idleAfter: 5s}\n"), @r#"
        c:3:21: list.pageSize: is written twice, first in line 3; keep one of them
        c:5:1: watch: is written twice, first in line 4; keep one of them
    "#);
}

#[test]
fn messages_never_show_addresses_with_passwords() {
    let text = problems(
        "operator:\n  healthz: {url: \"http://me:hunter2@a/healthz\"}\n  metrics: \"http://me:hunter2@a:b:c/\"\n",
    );
    assert!(!text.contains("hunter2"), "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn text_that_is_no_yaml_is_refused_with_line_and_column() {
    for (text, place) in [
        ("kind: [a", "c:1:"),
        ("a: 1\n b: 2\n", "c:2:"),
        ("a: *x\n", "c:1:4: "),
        ("a: \"b\n", "c:"),
        ("kind: !secret a\n", "c:1:"),
        ("kind: Config\n---\nkind: Config\n", "c:"),
    ] {
        let problem = problems_of_all(text);
        assert!(problem.starts_with(place) && problem.contains("cannot be read as YAML: "), "{text:?}: {problem}");
        assert_eq!(problem.lines().count(), 1, "{problem}");
    }
}

#[test]
fn a_bomb_is_refused() {
    let mut text = String::from("a0: &a0 [x]\n");
    for level in 1..40 {
        let _ = writeln!(text, "a{level}: &a{level} [*a{0}, *a{0}, *a{0}, *a{0}]", level - 1);
    }
    assert!(problems_of_all(&text).contains("cannot be read as YAML"));
    assert!(problems_of_all(&"[".repeat(100_000)).contains("cannot be read as YAML"));
    assert!(problems_of_all(&"a: {".repeat(10_000)).contains("cannot be read as YAML"));
}

#[test]
fn aliases_and_merges_are_read() {
    let config = parsed(
        "resources:\n- &a {resource: a.b, minOverdue: 2, restart: false}\n- {<<: *a, resource: a.c, minOverdue: 3}\n",
    );
    let resource = &config.resources[1];
    assert_eq!((resource.resource.as_str(), resource.min_overdue, resource.restart), ("a.c", 3, false));
}

#[test]
fn the_flag_takes_what_the_key_takes() {
    assert!(matches!(rule_from_flag("auto"), Ok(Choice::Auto { max_attempt: None })));
    assert!(matches!(rule_from_flag("{kopf: {mode: event-only}}"), Ok(Choice::Named(Rule::Kopf(_)))));
    assert!(matches!(rule_from_flag("generation: {maxAttempt: 5m}"), Ok(Choice::Named(Rule::Generation(_)))));
    let problem = |text| rule_from_flag(text).unwrap_err().to_string();
    insta::assert_snapshot!(problem("{kopf: {mode: evnt-only}}"), @r#"--rule:1:15: kopf.mode: unknown value `evnt-only`; did you mean `event-only`?"#);
    insta::assert_snapshot!(problem("koph"), @r#"--rule:1:1: unknown rule `koph`; did you mean `kopf`?"#);
    insta::assert_snapshot!(problem(""), @r#"--rule:1:1: names no rule; write one, as in `rule: auto`"#);
    insta::assert_snapshot!(problem("{kopf: "), @r#"--rule:1:1: cannot be read as YAML: unclosed bracket '{'"#);
}

#[test]
fn a_file_is_read_and_named_in_its_problems() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.yaml");
    let missing = read(&path).unwrap_err();
    assert_eq!(missing.to_string(), format!("cannot read the configuration {}", path.display()));
    assert!(std::error::Error::source(&missing).is_some());
    std::fs::write(&path, FULL).unwrap();
    assert_eq!(read(&path).unwrap().resources.len(), 6);
    std::fs::write(&path, b"kind: Config\nx: \xff\n").unwrap();
    let message = format!("{}:2:4: is not UTF-8; save the file in that encoding", path.display());
    assert_eq!(read(&path).unwrap_err().to_string(), message);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse_bytes(&bytes, "c");
    }

    #[test]
    fn a_damaged_file_never_panics_and_is_refused_on_single_lines(
        at in 0..FULL.len(), length in 0..40_usize, with in "[ \n:{}\\[\\]&*!'\"a-z0-9-]{0,8}",
    ) {
        let end = (at + length).min(FULL.len());
        let damaged = format!("{}{with}{}", &FULL[..at], &FULL[end..]);
        if let Err(Error::Invalid { problems, .. }) = parse(&damaged, "c") {
            prop_assert!(!problems.is_empty());
            prop_assert!(problems.is_sorted_by_key(|problem| problem.at));
            prop_assert!(problems.iter().all(|problem| !problem.to_string().contains('\n')));
        }
    }
}

#[test]
fn a_canary_changes_what_is_wanted_and_is_created_with_what_can_be_created() {
    let text =
        |keys: &str| format!("apiVersion: dogwatch/v1\nkind: Config\ncanary: {{resource: a.b, name: c, {keys}}}\n");
    for (keys, problem) in [
        ("path: metadata.annotations.x", "is no desired state"),
        ("path: status.x", "is no desired state"),
        ("path: spec..x", "is not the path of a field"),
        ("path: \"spec.x[0]\"", "is not the path of a field"),
        ("create: 3", "expected keys and values"),
        ("create: {kind: X}", "`kind` is not written by hand"),
        ("create: {metadata: x}", "`metadata` has keys and values"),
        ("create: {spec: {a: 1.5}}", "put it in quotes"),
    ] {
        let said = super::parse(&text(keys), "c").expect_err(keys).to_string();
        assert!(said.contains("c:3:") && said.contains(problem), "{keys}: {said}");
    }
    let canary = super::parse(&text("create: {metadata: {labels: {a: b}}, spec: {on: true, list: [1, null]}}"), "c");
    let create = canary.expect("valid").canary.and_then(|canary| canary.create).expect("given");
    assert_eq!(serde_json::Value::Object(create)["spec"], serde_json::json!({"on": true, "list": [1, null]}));
}
