//! The simulated operator: at work, deaf, and restarted.

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;
use crate::sim::operator::flaw::{Aim, Flaw};
use crate::sim::operator::lease::Lease;
use crate::sim::operator::{self, Options, Report, client, run_operator};
use crate::sim::{Fault, Scope};

const RESOURCE: &str = "widgets.example.com";

fn options() -> Options {
    let clock = Clock::of_tokio("2026-03-04T07:00:00Z".parse().expect("a time"));
    Options { clock, ..Options::new(Resource::custom("example.com", "v1", "Widget")) }
}

fn start(simulation: &Simulation, options: Options) -> JoinHandle<()> {
    let client = client::Client::in_memory(simulation.router()).user_agent("simulated/1");
    tokio::spawn(async move { drop(operator::run(client, options).await) })
}

fn observed(simulation: &Simulation, name: &str) -> Option<i64> {
    simulation.read(RESOURCE, Some("prod"), name)?["status"]["observedGeneration"].as_i64()
}

fn change(simulation: &Simulation, name: &str, size: u32) {
    simulation.patch(RESOURCE, Some("prod"), name, json!({"spec": {"size": size}}), "kubectl").expect("patched");
}

async fn a_while() {
    clock::sleep(Duration::from_secs(10)).await;
}

#[tokio::test(start_paused = true)]
async fn an_operator_serves_what_is_there_what_comes_and_what_changes() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let _running = start(&simulation, options());
    a_while().await;
    seed(&simulation, &["b"]);
    change(&simulation, "a", 2);
    a_while().await;
    assert_eq!((observed(&simulation, "a"), observed(&simulation, "b")), (Some(2), Some(1)));
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_is_put_on_and_taken_off_when_the_deletion_was_seen() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let running = start(&simulation, Options { finalizer: Some("example.com/f".to_owned()), ..options() });
    a_while().await;
    running.abort();
    assert!(!simulation.delete(RESOURCE, Some("prod"), "a").expect("there"), "held by the finalizer");
    let _running = start(&simulation, Options { finalizer: Some("example.com/f".to_owned()), ..options() });
    a_while().await;
    assert_eq!(simulation.read(RESOURCE, Some("prod"), "a"), None);
}

#[tokio::test(start_paused = true)]
async fn a_muted_operator_is_deaf_for_ever_and_a_restart_cures_it() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let running = start(&simulation, options());
    a_while().await;
    simulation.begin(Fault::IdleHalfopen { after: 0, new_streams: false }, Scope::user_agent("simulated"));
    change(&simulation, "a", 2);
    clock::sleep(Duration::from_hours(5)).await;
    assert_eq!(observed(&simulation, "a"), Some(1));
    running.abort();
    let _running = start(&simulation, options());
    a_while().await;
    assert_eq!(observed(&simulation, "a"), Some(2));
}

#[tokio::test(start_paused = true)]
async fn an_operator_with_an_inactivity_limit_cures_itself() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let _running = start(&simulation, Options { inactivity: Some(Duration::from_secs(70)), ..options() });
    a_while().await;
    simulation.begin(Fault::IdleHalfopen { after: 0, new_streams: false }, Scope::default());
    change(&simulation, "a", 2);
    clock::sleep(Duration::from_mins(2)).await;
    assert_eq!(observed(&simulation, "a"), Some(2));
}

#[tokio::test(start_paused = true)]
async fn an_operator_comes_back_from_an_outage_and_from_410() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let _running = start(&simulation, options());
    a_while().await;
    let id = simulation.begin(Fault::ApiDown, Scope::default());
    change(&simulation, "a", 2);
    simulation.compact();
    a_while().await;
    assert_eq!(observed(&simulation, "a"), Some(1));
    simulation.end(id);
    a_while().await;
    assert_eq!(observed(&simulation, "a"), Some(2));
}

#[tokio::test]
async fn over_tcp_an_operator_serves_and_its_healthz_answers() {
    let simulation = Simulation::new(Clock::of_machine());
    simulation.define(&Resource::custom("example.com", "v1", "Widget")).expect("new");
    seed(&simulation, &["a"]);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let health = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("bound");
    let options = Options { service_time: Duration::ZERO, healthz: Some(health), ..options() };
    let healthz = client::Client::over_tcp(&format!("http://{health}")).expect("a URL");
    let served = async {
        while observed(&simulation, "a") != Some(1) {
            clock::sleep(Duration::from_millis(5)).await;
        }
        healthz.open(Method::GET, "/healthz", None).await.expect("an answer")
    };
    let response = tokio::select! {
        error = simulation.serve(listener) => panic!("the server stopped: {error}"),
        stopped = run_operator(&url, options) => panic!("the operator stopped: {stopped:?}"),
        response = clock::within(Duration::from_secs(20), served) => response.expect("in time"),
    };
    assert_eq!(response.status(), 200);
}

#[tokio::test(start_paused = true)]
#[allow(clippy::disallowed_types, reason = "shows that kube's own client works through the door in memory")]
async fn the_client_of_kube_works_through_the_door_in_memory() {
    let simulation = cluster();
    let client = kube::Client::new(simulation.router(), "default");
    let request = Request::get(ALL_WIDGETS).body(Vec::new()).expect("a request");
    let list: Value = client.request(request).await.expect("a list");
    assert_eq!(list["kind"], "WidgetList");
}

fn mark(simulation: &Simulation, name: &str) -> Value {
    let object = simulation.read(RESOURCE, Some("prod"), name).expect("there");
    let mark = &object["metadata"]["annotations"]["kopf.zalando.org/last-handled-configuration"];
    mark.as_str().and_then(|mark| serde_json::from_str(mark).ok()).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn flaws_end_with_the_process_unless_they_lie_deeper() {
    let simulation = cluster();
    let options = options();
    let _running = start(&simulation, options.clone());
    options.flaws.begin(Flaw::Skips, Aim::name("a"));
    options.flaws.begin_for_good(Flaw::Skips, Aim::name("b"));
    seed(&simulation, &["a", "b", "c"]);
    a_while().await;
    assert_eq!(["a", "b", "c"].map(|name| observed(&simulation, name)), [None, None, Some(1)]);
    options.flaws.restarted();
    let _again = start(&simulation, options);
    a_while().await;
    assert_eq!(["a", "b", "c"].map(|name| observed(&simulation, name)), [Some(1), None, Some(1)]);
}

#[tokio::test(start_paused = true)]
async fn a_stale_cache_writes_fresh_statuses_from_old_specs() {
    let simulation = cluster();
    let options = options();
    seed(&simulation, &["a"]);
    let _running = start(&simulation, options.clone());
    a_while().await;
    options.flaws.begin(Flaw::StaleCache, Aim::default());
    change(&simulation, "a", 2);
    let before = simulation.revision();
    clock::sleep(Duration::from_mins(2)).await;
    assert_eq!(observed(&simulation, "a"), Some(1));
    assert!(simulation.revision() > before + 3, "it writes all the time");
}

#[tokio::test(start_paused = true)]
async fn a_kopf_operator_of_two_handlers_stops_half_way_where_its_own_write_is_not_heard() {
    let simulation = cluster();
    let options = Options { report: Report::Kopf { handlers: 2 }, ..options() };
    let running = start(&simulation, options);
    a_while().await;
    seed(&simulation, &["a"]);
    a_while().await;
    assert_eq!(mark(&simulation, "a")["spec"], json!({"size": 1}));
    change(&simulation, "a", 2);
    clock::sleep(Duration::from_millis(50)).await;
    simulation.begin(Fault::MuteOpen { bookmarks: true, new_streams: false }, Scope::default());
    a_while().await;
    assert_eq!(mark(&simulation, "a")["spec"], json!({"size": 1}), "frozen between two handlers");
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn who_loses_the_lease_stays_and_does_nothing() {
    let simulation = cluster();
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l", "namespace": "prod"},
        "spec": {"holderIdentity": "", "leaseDurationSeconds": 15},
    });
    simulation.create(lease, "kubectl").expect("created");
    let own = Lease { namespace: "prod".into(), name: "l".into(), identity: "me".into(), for_life: false };
    let running = start(&simulation, Options { lease: Some(own), ..options() });
    seed(&simulation, &["a"]);
    a_while().await;
    assert_eq!(observed(&simulation, "a"), Some(1));
    let readonly = simulation.begin(Fault::ApiReadonly, Scope::resource("leases.coordination.k8s.io"));
    clock::sleep(Duration::from_secs(20)).await;
    simulation.end(readonly);
    change(&simulation, "a", 2);
    a_while().await;
    assert_eq!(observed(&simulation, "a"), Some(1));
    assert!(!running.is_finished());
}

#[tokio::test(start_paused = true)]
async fn who_fails_tries_again_in_its_own_time_and_not_at_its_own_events() {
    let simulation = cluster();
    let options = options();
    options.flaws.begin_for_good(Flaw::Fails { retry: 60 }, Aim::default());
    seed(&simulation, &["a"]);
    let _running = start(&simulation, options);
    clock::sleep(Duration::from_mins(10)).await;
    let status = simulation.read(RESOURCE, Some("prod"), "a").expect("there")["status"].clone();
    assert!((9..=11).contains(&status["attempts"].as_u64().unwrap_or_default()), "{status}");
}
