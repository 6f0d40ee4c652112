//! What a write must fit before anything is changed.

use serde_json::Value;

use super::{finalizers, is_deleted};
use crate::sim::failure::Failure;
use crate::sim::resource::{Resource, Role};
use crate::sim::server::Target;

/// The body with the stored version, if it is an object of the target's kind, name and namespace.
pub(super) fn checked(target: &Target, mut body: Value) -> Result<Value, Failure> {
    let resource = &target.resource;
    if !body["metadata"].is_object() {
        return Err(Failure::bad_request("metadata: Required value"));
    }
    if resource.role == Role::Native {
        // Of a type that the server knows, kopf and others leave out what the path says already.
        for (field, text) in [("kind", resource.kind.clone()), ("apiVersion", target.api_version())] {
            if body.get(field).is_none_or(|own| own == "") {
                body[field] = text.into();
            }
        }
    }
    if body["kind"] != resource.kind.as_str() || body["apiVersion"] != target.api_version().as_str() {
        let wanted = format!("{}, Kind={}", target.api_version(), resource.kind);
        return Err(Failure::bad_request(format!("the object provided is not a {wanted}")));
    }
    let metadata = &mut body["metadata"];
    if let Some(namespace) = &target.namespace {
        if metadata.get("namespace").is_some_and(|own| own != "" && own != namespace.as_str()) {
            let message = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(Failure::bad_request(message));
        }
        metadata["namespace"] = namespace.as_str().into();
    }
    if let Some(name) = &target.name
        && metadata["name"] != name.as_str()
    {
        return Err(Failure::bad_request("the name of the object does not match the name on the URL"));
    }
    body["apiVersion"] = resource.api_version(resource.stored_version()).into();
    Ok(body)
}

/// Refuses where `metadata` names another uid or an older resourceVersion than the object has.
pub(super) fn check_preconditions(
    resource: &Resource,
    name: &str,
    object: &Value,
    wanted: &Value,
) -> Result<(), Failure> {
    let differs = |field: &str| {
        wanted
            .get(field)
            .is_some_and(|wanted| *wanted != "" && !wanted.is_null() && *wanted != object["metadata"][field])
    };
    if differs("uid") || differs("resourceVersion") { Err(Failure::conflict(resource, name)) } else { Ok(()) }
}

pub(super) fn check_finalizers(resource: &Resource, name: &str, old: &Value, new: &Value) -> Result<(), Failure> {
    let added = finalizers(new).iter().any(|finalizer| !finalizers(old).contains(finalizer));
    if is_deleted(old) && added {
        let problem = "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted";
        return Err(Failure::invalid(resource, name, problem));
    }
    Ok(())
}
