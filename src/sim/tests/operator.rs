//! The simulated operator: at work, deaf, and restarted.

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;
use crate::sim::operator::{self, Options, client, run_operator};
use crate::sim::{Fault, Scope};

const RESOURCE: &str = "widgets.example.com";

fn options() -> Options {
    Options::new(Resource::custom("example.com", "v1", "Widget"))
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
