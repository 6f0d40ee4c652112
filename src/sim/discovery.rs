//! Discovery: what is served, in the old form (one request a group version) and the aggregated one (two in all).

use std::sync::Arc;

use axum::response::Response;
use serde_json::{Value, json};

use super::call::Sender;
use super::failure::{Failure, answer, answer_bytes};
use super::resource::{Resource, Role};

/// The type of an aggregated answer, as a client asks for it and as it is sent.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/// The Kubernetes version that the simulated server follows.
const MINOR: &str = "36";

/// `/version`.
pub(super) fn version() -> Response {
    let version = json!({
        "major": "1", "minor": MINOR, "gitVersion": format!("v1.{MINOR}.0+dogwatch"), "gitCommit": "simulated",
        "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "none",
        "platform": "simulated",
    });
    answer(200, &version)
}

/// `/api`: the core group.
pub(super) fn core(resources: &[Arc<Resource>], sender: &Sender) -> Response {
    if wants_aggregated(sender) {
        return aggregated(resources, str::is_empty);
    }
    let addresses = json!([{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}]);
    answer(200, &json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}))
}

/// `/apis`: all other groups.
pub(super) fn groups(resources: &[Arc<Resource>], sender: &Sender) -> Response {
    if wants_aggregated(sender) {
        return aggregated(resources, |group| !group.is_empty());
    }
    let names = group_names(resources, |group| !group.is_empty());
    let groups: Vec<Value> = names.iter().map(|name| group_entry(resources, name)).collect();
    answer(200, &json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
}

/// `/apis/GROUP`.
pub(super) fn group(resources: &[Arc<Resource>], name: &str) -> Result<Response, Failure> {
    if versions(resources, name).is_empty() {
        return Err(Failure::no_such_path());
    }
    let mut group = group_entry(resources, name);
    group["kind"] = "APIGroup".into();
    group["apiVersion"] = "v1".into();
    Ok(answer(200, &group))
}

/// `/api/v1` and `/apis/GROUP/VERSION`.
pub(super) fn group_version(resources: &[Arc<Resource>], group: &str, version: &str) -> Result<Response, Failure> {
    let served: Vec<&Arc<Resource>> = in_version(resources, group, version).collect();
    let first = served.first().ok_or_else(Failure::no_such_path)?;
    let list = json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": first.api_version(version),
        "resources": served.iter().flat_map(|resource| listed(resource)).collect::<Vec<_>>(),
    });
    Ok(answer(200, &list))
}

fn wants_aggregated(sender: &Sender) -> bool {
    let squeezed: String = sender.accept.chars().filter(|letter| !letter.is_whitespace()).collect();
    squeezed.split(',').any(|kind| {
        let mut parameters: Vec<&str> = kind.split(';').collect();
        parameters.retain(|parameter| !parameter.starts_with("q=") && !parameter.starts_with("profile="));
        parameters.sort_unstable();
        let mut wanted: Vec<&str> = AGGREGATED.split(';').collect();
        wanted.sort_unstable();
        parameters == wanted
    })
}

fn group_names(resources: &[Arc<Resource>], wanted: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for resource in resources.iter().filter(|resource| wanted(&resource.group)) {
        if !names.contains(&resource.group.as_str()) {
            names.push(&resource.group);
        }
    }
    names
}

fn versions<'a>(resources: &'a [Arc<Resource>], group: &str) -> Vec<&'a str> {
    let mut versions: Vec<&str> = Vec::new();
    for version in resources.iter().filter(|resource| resource.group == group).flat_map(|resource| &resource.versions) {
        if !versions.contains(&version.as_str()) {
            versions.push(version);
        }
    }
    versions
}

fn in_version<'a>(
    resources: &'a [Arc<Resource>],
    group: &str,
    version: &str,
) -> impl Iterator<Item = &'a Arc<Resource>> {
    let is_served =
        move |resource: &&Arc<Resource>| resource.group == group && resource.versions.iter().any(|v| v == version);
    resources.iter().filter(is_served)
}

fn group_entry(resources: &[Arc<Resource>], name: &str) -> Value {
    let entry = |version: &&str| json!({"groupVersion": format!("{name}/{version}"), "version": version});
    let versions: Vec<Value> = versions(resources, name).iter().map(entry).collect();
    json!({"name": name, "preferredVersion": versions.first(), "versions": versions})
}

fn verbs(resource: &Resource) -> &'static [&'static str] {
    match resource.role {
        Role::Review => &["create"],
        Role::Native | Role::Custom => {
            &["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
        }
    }
}

const STATUS_VERBS: [&str; 3] = ["get", "patch", "update"];

/// The entries of a resource and of its status in the old form.
fn listed(resource: &Resource) -> Vec<Value> {
    let mut entry = json!({
        "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
        "kind": resource.kind, "verbs": verbs(resource),
    });
    for (field, words) in [("shortNames", &resource.short_names), ("categories", &resource.categories)] {
        if !words.is_empty() {
            entry[field] = words.as_slice().into();
        }
    }
    let status = resource.status.then(|| {
        json!({
            "name": format!("{}/status", resource.plural), "singularName": "", "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": STATUS_VERBS,
        })
    });
    std::iter::once(entry).chain(status).collect()
}

fn aggregated(resources: &[Arc<Resource>], wanted: impl Fn(&str) -> bool) -> Response {
    let version = |group: &str, version: &str| {
        let resources = in_version(resources, group, version).map(|resource| aggregated_resource(resource, version));
        json!({"version": version, "freshness": "Current", "resources": resources.collect::<Vec<_>>()})
    };
    let group = |name: &&str| {
        let versions: Vec<Value> = versions(resources, name).iter().map(|found| version(name, found)).collect();
        let metadata = if name.is_empty() { json!({}) } else { json!({"name": name}) };
        json!({"metadata": metadata, "versions": versions})
    };
    let groups: Vec<Value> = group_names(resources, wanted).iter().map(group).collect();
    let list = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": groups,
    });
    answer_bytes(200, AGGREGATED, list.to_string())
}

fn aggregated_resource(resource: &Resource, version: &str) -> Value {
    let kind = json!({"group": resource.group, "version": version, "kind": resource.kind});
    let mut entry = json!({
        "resource": resource.plural, "responseKind": kind, "singularResource": resource.singular,
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" }, "verbs": verbs(resource),
    });
    for (field, words) in [("shortNames", &resource.short_names), ("categories", &resource.categories)] {
        if !words.is_empty() {
            entry[field] = words.as_slice().into();
        }
    }
    if resource.status {
        entry["subresources"] = json!([{"subresource": "status", "responseKind": kind, "verbs": STATUS_VERBS}]);
    }
    entry
}
