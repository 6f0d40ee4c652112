//! Lists: pages, selectors, and the faults that spoil them.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};

use super::call::Call;
use super::failure::{Failure, answer_bytes};
use super::fault::{ContinueTrouble, Fault};
use super::resource::Role;
use super::selector::Selector;
use super::server::{Server, Target};
use super::store::{Key, Objects, within};

/// The objects that a request sees.
struct View<'a> {
    objects: Cow<'a, Objects>,
    /// The `resourceVersion` that the list reports.
    revision: u64,
}

/// One page.
struct Page {
    items: Vec<Arc<Value>>,
    revision: u64,
    /// The last object of a page that is not the last one.
    last: Option<Key>,
    remaining: usize,
}

/// Where a page begins: behind an object, in the list as it was at a revision.
struct Continuation {
    revision: u64,
    namespace: String,
    name: String,
}

/// Answers a list.
pub(super) fn answer(server: &Server, target: &Target, call: &Call) -> Result<Response, Failure> {
    let (label, field) = (call.parameter("labelSelector"), call.parameter("fieldSelector"));
    let selector = Selector::parse(label, field, &target.resource)?;
    let page = page(server, target, call, &selector)?;
    let token = token(server, call, &page);
    let remaining = (token.is_some() && selector.is_empty()).then_some(page.remaining);
    let body = body(target, &page, token, remaining);
    Ok(send(server, call, body))
}

fn page(server: &Server, target: &Target, call: &Call, selector: &Selector) -> Result<Page, Failure> {
    let continuation = call.parameter("continue").map(Continuation::parse).transpose()?;
    let view = match &continuation {
        Some(continuation) => at_page(server, call, continuation)?,
        None => at_start(server, call)?,
    };
    let from = continuation.as_ref().map(|at| (at.namespace.as_str(), at.name.as_str()));
    let resource = &target.resource;
    let all = within(&view.objects, &resource.group, &resource.plural, target.namespace.as_deref());
    let mut rest = all
        .filter(|(key, _)| from.is_none_or(|from| (key.namespace.as_str(), key.name.as_str()) > from))
        .filter(|(_, object)| selector.fits(object));
    let limit = limit(call)?;
    let mut last = None;
    let mut items = Vec::new();
    for (key, object) in rest.by_ref().take(limit) {
        last = Some(key.clone());
        items.push(target.presented(object));
    }
    let remaining = rest.count();
    Ok(Page { items, revision: view.revision, last: last.filter(|_| remaining > 0), remaining })
}

/// How many objects a page may have. With `resourceVersion=0` the real server ignores the limit.
fn limit(call: &Call) -> Result<usize, Failure> {
    let limit: usize = number(call, "limit")?.unwrap_or(0);
    let ignored = limit == 0 || call.parameter("resourceVersion") == Some("0");
    Ok(if ignored { usize::MAX } else { limit })
}

/// A number among the parameters of a request.
pub(super) fn number<T: std::str::FromStr>(call: &Call, name: &str) -> Result<Option<T>, Failure> {
    let text = call.parameter(name);
    text.map(|text| text.parse().map_err(|_| Failure::bad_request(format!("invalid {name}: {text:?}")))).transpose()
}

/// What a list sees at its first page.
fn at_start<'a>(server: &'a Server, call: &Call) -> Result<View<'a>, Failure> {
    let store = &server.store;
    let asked: Option<u64> = number(call, "resourceVersion")?;
    for active in server.faults.concerning(call) {
        let frozen = &active.frozen;
        match active.fault {
            Fault::FrozenCache { all_lists } if all_lists || asked == Some(0) => {
                return Ok(View { objects: Cow::Owned((*frozen.objects).clone()), revision: frozen.revision });
            }
            Fault::LateCache { seconds } if asked == Some(0) => {
                let revision = server.late_revision(Duration::from_secs(seconds));
                let objects = store.as_of(revision).ok_or_else(|| Failure::expired(None))?;
                return Ok(View { objects: Cow::Owned(objects), revision });
            }
            Fault::GoneLoop { old_objects } => {
                let old = || Cow::Owned((*frozen.objects).clone());
                let objects = if old_objects { old() } else { Cow::Borrowed(store.objects()) };
                return Ok(View { objects, revision: frozen.revision });
            }
            _ => {}
        }
    }
    let current = store.revision();
    match asked {
        Some(asked) if asked > current => Err(Failure::from_the_future(asked, current)),
        Some(asked) if call.parameter("resourceVersionMatch") == Some("Exact") => {
            let objects = store.as_of(asked).ok_or_else(|| Failure::expired(None))?;
            Ok(View { objects: Cow::Owned(objects), revision: asked })
        }
        _ => Ok(View { objects: Cow::Borrowed(store.objects()), revision: current }),
    }
}

/// What a list sees at a later page: the same as at its first, or 410 with a token that goes on with what is there now.
fn at_page<'a>(server: &'a Server, call: &Call, at: &Continuation) -> Result<View<'a>, Failure> {
    let store = &server.store;
    let expires = |fault: &Fault| matches!(fault, Fault::ContinueTrouble { trouble: ContinueTrouble::Expired });
    let objects = store.as_of(at.revision);
    match objects.filter(|_| !server.faults.concerning(call).any(|active| expires(&active.fault))) {
        Some(objects) => Ok(View { objects: Cow::Owned(objects), revision: at.revision }),
        None => Err(Failure::expired(Some(format!("{}/{}/{}", store.revision(), at.namespace, at.name)))),
    }
}

/// The token of the next page, if there is one.
fn token(server: &Server, call: &Call, page: &Page) -> Option<String> {
    let troubles = |wanted: ContinueTrouble| {
        server.faults.concerning(call).any(|active| active.fault == Fault::ContinueTrouble { trouble: wanted })
    };
    match call.parameter("continue") {
        Some(sent) if troubles(ContinueTrouble::SameToken) => Some(sent.to_owned()),
        None if troubles(ContinueTrouble::Empty) => None,
        _ => page.last.as_ref().map(|last| format!("{}/{}/{}", page.revision, last.namespace, last.name)),
    }
}

impl Continuation {
    fn parse(token: &str) -> Result<Self, Failure> {
        let mut parts = token.splitn(3, '/');
        let mut next = || parts.next().ok_or_else(|| Failure::bad_request("continue key is not valid"));
        let revision = next()?.parse().map_err(|_| Failure::bad_request("continue key is not valid"))?;
        Ok(Self { revision, namespace: next()?.to_owned(), name: next()?.to_owned() })
    }
}

/// The list as text. Of custom resources the keys come in alphabetical order; of native ones in the order of the Go
/// struct, and the items do not repeat their kind.
fn body(target: &Target, page: &Page, token: Option<String>, remaining: Option<usize>) -> Vec<u8> {
    let custom = target.resource.role == Role::Custom;
    let mut metadata = json!({"resourceVersion": page.revision.to_string()});
    if let Some(remaining) = remaining {
        metadata["remainingItemCount"] = remaining.into();
    }
    if let Some(token) = token.or_else(|| custom.then(String::new)) {
        metadata["continue"] = token.into();
    }
    let (kind, version) = (format!("{}List", target.resource.kind), target.api_version());
    let items = page.items.iter().map(|item| if custom { item.to_string() } else { without_kind(item) });
    let items = items.collect::<Vec<_>>().join(",");
    let text = if custom {
        format!("{{\"apiVersion\":\"{version}\",\"items\":[{items}],\"kind\":\"{kind}\",\"metadata\":{metadata}}}\n")
    } else {
        format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{version}\",\"metadata\":{metadata},\"items\":[{items}]}}\n")
    };
    text.into_bytes()
}

fn without_kind(item: &Value) -> String {
    let mut item = item.clone();
    if let Some(item) = item.as_object_mut() {
        item.remove("kind");
        item.remove("apiVersion");
    }
    item.to_string()
}

fn send(server: &Server, call: &Call, mut body: Vec<u8>) -> Response {
    let truncated = server.faults.concerning(call).find_map(|active| match active.fault {
        Fault::TruncatedPage { reset } => Some(reset),
        _ => None,
    });
    if truncated.is_some() {
        body.truncate(body.len() / 2);
    }
    if truncated != Some(true) {
        return answer_bytes(200, "application/json", body);
    }
    let broken = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    let chunks = stream::iter([Ok(Bytes::from(body)), Err(broken)]);
    answer_bytes(200, "application/json", axum::body::Body::from_stream(chunks))
}
