//! From a request to its answer: faults first, then rights, then the API itself.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, Request, header};
use serde_json::{Value, json};

use super::Shared;
use super::call::{Call, Path, Place, Verb};
use super::discovery;
use super::failure::{Failure, answer, answer_bytes};
use super::fault::{self, Fault};
use super::list;
use super::resource::Role;
use super::selector::Selector;
use super::server::{Server, Target};
use super::watch;
use super::write::{Deleted, PatchForm, Writer};

/// The largest body of a request, as with the real server.
const MAX_BODY: usize = 3 << 20;

/// Everything that is served. Both doors lead here.
pub(super) fn router(shared: Arc<Shared>) -> Router {
    fault::routes().fallback(handle).with_state(shared)
}

async fn handle(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let call = Call { number: shared.lock().draw_sequence(), ..Call::of(&parts) };
    shared.note(&call);
    let delay = shared.lock().faults.delay(&call);
    if !delay.is_zero() {
        crate::clock::sleep(delay).await;
    }
    let refusal = refusal(&shared.lock(), &call);
    let mut response = match refusal {
        Some(Refusal::Answer(response)) => response,
        Some(Refusal::Never) => std::future::pending().await,
        None => serve(&shared, call, body).await.unwrap_or_else(IntoResponse::into_response),
    };
    if let Ok(date) = HeaderValue::try_from(shared.lock().date()) {
        response.headers_mut().insert(header::DATE, date);
    }
    response
}

/// How a fault keeps a request from being served.
enum Refusal {
    Answer(Response),
    Never,
}

fn refusal(server: &Server, call: &Call) -> Option<Refusal> {
    server.faults.concerning(call).find_map(|active| {
        let failure = match active.fault {
            Fault::HeadersNever | Fault::Blackhole => return Some(Refusal::Never),
            Fault::ServerStopped if call.is_odd() => return Some(Refusal::Never),
            Fault::Html => {
                let page = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body></body></html>\n";
                return Some(Refusal::Answer(answer_bytes(200, "text/html; charset=utf-8", page)));
            }
            Fault::ApiDown => Failure::new(503, "ServiceUnavailable", "the server is currently unable to answer"),
            Fault::Throttle { retry_after } => Failure::too_many_requests(retry_after),
            Fault::TokenExpired => Failure::unauthorized(),
            Fault::ApiReadonly => Failure::new(500, "InternalError", "Internal error occurred: the store is read-only"),
            Fault::WebhookDenies { ref webhook } => Failure::new(
                403,
                "Forbidden",
                format!("admission webhook \"{webhook}\" denied the request: not allowed"),
            ),
            Fault::Forbidden => forbidden(server, call)?,
            Fault::ConflictForever => {
                let place = call.place()?;
                let target = server.target(place).ok()?;
                Failure::conflict(&target.resource, place.name.as_deref().unwrap_or_default())
            }
            Fault::RvFuture { new_revisions } => {
                let asked = list::number(call, "resourceVersion").ok()??;
                let concerns = asked > 0 && (new_revisions || asked <= active.frozen.revision);
                concerns.then(|| Failure::from_the_future(asked, server.store.revision().min(asked - 1)))?
            }
            _ => return None,
        };
        Some(Refusal::Answer(failure.into_response()))
    })
}

fn forbidden(server: &Server, call: &Call) -> Option<Failure> {
    let (place, verb) = (call.place()?, call.verb?.as_str());
    let target = server.target(place).ok()?;
    let problem = format!("User cannot {verb} resource \"{}\" in API group \"{}\"", place.plural, place.group);
    Some(Failure::forbidden(&target.resource, place.name.as_deref(), &problem))
}

async fn serve(shared: &Arc<Shared>, call: Call, body: Body) -> Result<Response, Failure> {
    let body = to_bytes(body, MAX_BODY)
        .await
        .map_err(|error| Failure::new(413, "RequestEntityTooLarge", format!("the body cannot be read: {error}")))?;
    let place = {
        let server = shared.lock();
        server.access.user(&call.sender)?;
        let resources = server.resources();
        match &call.path {
            Path::CoreVersions => return Ok(discovery::core(resources, &call.sender)),
            Path::Groups => return Ok(discovery::groups(resources, &call.sender)),
            Path::Group(name) => return discovery::group(resources, name),
            Path::Version(group, version) => return discovery::group_version(resources, group, version),
            Path::Other(path) => return other(path),
            Path::Object(place) => place.clone(),
        }
    };
    let is_write = call.verb.is_some_and(Verb::is_write);
    let response = object(shared, call, &place, &body);
    if is_write {
        shared.turn();
    }
    response
}

fn other(path: &str) -> Result<Response, Failure> {
    match path {
        "/version" => Ok(discovery::version()),
        "/healthz" | "/livez" | "/readyz" => Ok(answer_bytes(200, "text/plain; charset=utf-8", "ok")),
        _ => Err(Failure::no_such_path()),
    }
}

fn object(shared: &Arc<Shared>, call: Call, place: &Place, body: &[u8]) -> Result<Response, Failure> {
    let mut server = shared.lock();
    let server = &mut *server;
    let target = server.target(place)?;
    server.access.check(&call, place, &target.resource)?;
    let verb = call.verb.ok_or_else(Failure::method_not_allowed)?;
    if matches!(verb, Verb::Create | Verb::Update) && !is_json(&call) {
        return Err(unknown_format("application/json"));
    }
    if target.resource.role == Role::Review {
        let review = if verb == Verb::Create { decoded(body)? } else { return Err(Failure::method_not_allowed()) };
        return Ok(answer(201, &server.access.review(&call.sender, review)?));
    }
    let show = |code: u16, object: &Arc<Value>| answer(code, &target.presented(object));
    match verb {
        Verb::Get => Ok(show(200, &server.read(&target)?)),
        Verb::List => list::answer(server, &target, &call),
        Verb::Watch => watch::open(shared, server, target, call),
        Verb::Delete => Ok(deleted(&target, &server.delete(&target, &delete_options(&call, body)?)?)),
        Verb::DeleteCollection => {
            let (label, field) = (call.parameter("labelSelector"), call.parameter("fieldSelector"));
            let selector = Selector::parse(label, field, &target.resource)?;
            let items = server.delete_collection(&target, &selector);
            let metadata = json!({"resourceVersion": server.store.revision().to_string()});
            let kind = format!("{}List", target.resource.kind);
            let items: Vec<&Value> = items.iter().map(AsRef::as_ref).collect();
            let version = target.api_version();
            Ok(answer(200, &json!({"apiVersion": version, "kind": kind, "metadata": metadata, "items": items})))
        }
        Verb::Create | Verb::Update | Verb::Patch => {
            let writer = Writer { manager: call.manager().to_owned(), dry_run: call.parameter("dryRun").is_some() };
            match verb {
                Verb::Create => Ok(show(201, &server.create(&target, decoded(body)?, &writer)?)),
                Verb::Update => Ok(show(200, &server.update(&target, decoded(body)?, &writer)?)),
                _ => Ok(show(200, &server.patch(&target, patch_form(&call)?, decoded(body)?, &writer)?)),
            }
        }
    }
}

fn decoded(body: &[u8]) -> Result<Value, Failure> {
    serde_json::from_slice(body).map_err(|error| Failure::bad_request(format!("the body is no JSON: {error}")))
}

fn patch_form(call: &Call) -> Result<PatchForm, Failure> {
    match call.sender.content_type.split(';').next().unwrap_or_default().trim() {
        "application/merge-patch+json" => Ok(PatchForm::Merge),
        "application/json-patch+json" => Ok(PatchForm::Json),
        _ => Err(unknown_format("application/json-patch+json, application/merge-patch+json")),
    }
}

/// Protobuf and YAML are not understood: typed Go clients send the former unless told otherwise.
fn is_json(call: &Call) -> bool {
    let content_type = call.sender.content_type.split(';').next().unwrap_or_default().trim();
    content_type.is_empty() || content_type == "application/json"
}

fn unknown_format(accepted: &str) -> Failure {
    let message =
        format!("the body of the request was in an unknown format - accepted media types include: {accepted}");
    Failure::new(415, "UnsupportedMediaType", message)
}

fn delete_options(call: &Call, body: &[u8]) -> Result<Value, Failure> {
    let mut options = if body.is_empty() { json!({}) } else { decoded(body)? };
    if let Some(stage) = call.parameter("dryRun") {
        options["dryRun"] = json!([stage]);
    }
    Ok(options)
}

/// A `Status` for an object that is gone, the object itself for one that waits for its finalizers.
fn deleted(target: &Target, outcome: &Deleted) -> Response {
    match outcome {
        Deleted::Held(object) => answer(200, &target.presented(object)),
        Deleted::Gone(object) => {
            let (resource, metadata) = (&target.resource, &object["metadata"]);
            let details = json!({
                "name": metadata["name"], "group": resource.group, "kind": resource.plural, "uid": metadata["uid"],
            });
            let status = json!({
                "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Success", "details": details,
            });
            answer(200, &status)
        }
    }
}
