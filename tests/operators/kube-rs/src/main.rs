//! The kube-rs operator of the proof: small, real, and broken where its control port says so. Its environment is that
//! of every operator here: see ../README.md.

mod faults;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use faults::Faults;
use futures::{StreamExt, TryStreamExt, stream};
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::controller::{Action, Config};
use kube::runtime::{Controller, WatchStreamExt, reflector, watcher};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Reconciliations of each kind at the same time.
const WORKERS: u16 = 2;
/// Until a failed one is tried again.
const RETRY: Duration = Duration::from_secs(1);

struct Context {
    api: Api<DynamicObject>,
    plural: String,
    duration: Duration,
    faults: Arc<Faults>,
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let client = Client::try_default().await?;
    let faults = Arc::new(Faults::default());
    let health = Router::new().route("/healthz", get(|| async { "ok" }));
    let mut tasks = JoinSet::new();
    tasks.spawn(serve(port("OPERATOR_PORT")?, health));
    tasks.spawn(serve(port("OPERATOR_CONTROL_PORT")?, faults::control(Arc::clone(&faults))));
    for kind in std::env::var("OPERATOR_KINDS")?.split(',') {
        tasks.spawn(control(client.clone(), kind.to_owned(), Arc::clone(&faults)));
    }
    let mut terminated = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        _ = terminated.recv() => Ok(()),
        () = orphaned() => Err("the parent has ended".into()),
        Some(ended) = tasks.join_next() => ended?,
    }
}

/// Runs the controller of one kind. Its watch is a task of its own that feeds it through a channel.
async fn control(client: Client, kind: String, faults: Arc<Faults>) -> Result<(), BoxError> {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(&std::env::var("OPERATOR_GROUP")?, "v1", &kind));
    let api = Api::<DynamicObject>::namespaced_with(client, &std::env::var("OPERATOR_NAMESPACE")?, &kind);
    let duration = std::env::var("OPERATOR_DURATION").ok().map_or(Ok(0.0), |text| text.parse())?;
    let context = Context {
        api: api.clone(),
        plural: kind.plural.clone(),
        duration: Duration::from_secs_f64(duration),
        faults: Arc::clone(&faults),
    };

    let writer = reflector::store::Writer::<DynamicObject>::new(kind.clone());
    let (reader, (sender, receiver)) = (writer.as_reader(), mpsc::channel(16));
    let events = watcher(api, watcher::Config::default()).default_backoff().reflect(writer).applied_objects();
    let feeder = sender.clone();
    let watch = tokio::spawn(events.map(Ok).try_for_each(move |event| {
        let feeder = feeder.clone();
        async move { feeder.send(event).await }
    }));
    // The sender that is kept keeps the channel open when the watch is dead: the controller waits for ever.
    faults.add(&kind.plural, watch.abort_handle(), sender);

    let received =
        stream::unfold(receiver, |mut receiver| async { receiver.recv().await.map(|event| (event, receiver)) });
    Controller::for_stream_with(received, reader, kind)
        .with_config(Config::default().concurrency(WORKERS))
        .run(reconcile, |_, _, _| Action::requeue(RETRY), Arc::new(context))
        .for_each(|done| async move {
            if let Err(error) = done {
                eprintln!("{error}");
            }
        })
        .await;
    Err("a controller has ended".into())
}

/// Writes to the object's status which generation has been seen.
async fn reconcile(object: Arc<DynamicObject>, context: Arc<Context>) -> Result<Action, kube::Error> {
    let name = object.name_any();
    context.faults.pass_or_block(&context.plural, &name).await;
    let generation = object.metadata.generation;
    if object.data["status"]["observedGeneration"].as_i64() == generation {
        return Ok(Action::await_change());
    }
    tokio::time::sleep(context.duration).await;
    let status = json!({"status": {"observedGeneration": generation}});
    match context.api.patch_status(&name, &PatchParams::default(), &Patch::Merge(status)).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Action::await_change()),
        result => result.map(|_| Action::await_change()),
    }
}

async fn serve(port: u16, router: Router) -> Result<(), BoxError> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    Ok(axum::serve(listener, router).await?)
}

fn port(variable: &str) -> Result<u16, BoxError> {
    Ok(std::env::var(variable)?.parse()?)
}

/// Ends with the parent: a test that is killed cannot end its children.
async fn orphaned() {
    let parent = std::os::unix::process::parent_id();
    while std::os::unix::process::parent_id() == parent {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
