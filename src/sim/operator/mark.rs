//! What an operator writes into objects: that it has served them, works on them, or fails to.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{Options, Report};
use crate::clock::Clock;

/// kopf's mark: what the object was when it was last handled.
const KOPF_MARK: &str = "kopf.zalando.org/last-handled-configuration";
const KOPF: &str = "kopf.zalando.org/";

/// What is written at the end of an attempt.
pub(super) struct Mark {
    /// Of `metadata` and `status` what is to be merged into the object.
    pub(super) change: Value,
    /// Whether the operator goes on with the object only when it sees the event of this write.
    pub(super) waits_for_event: bool,
}

/// Whether the object says already that it was served as it is.
pub(super) fn is_current(options: &Options, object: &Value) -> bool {
    if let Report::Kopf { .. } = options.report {
        let mark = object["metadata"]["annotations"][KOPF_MARK].as_str();
        return mark.and_then(|mark| serde_json::from_str::<Value>(mark).ok()).as_ref() == Some(&essence(object));
    }
    let observed = object["status"]["observedGeneration"].as_i64().unwrap_or_default();
    observed >= generation(object)
}

/// An attempt has succeeded.
pub(super) fn success(options: &Options, object: &Value) -> Mark {
    let mut waits_for_event = false;
    let change = match options.report {
        Report::Nothing => json!({}),
        Report::Phase => json!({"status": {"phase": "Ready"}}),
        Report::Generation | Report::GenerationAtEnd => {
            let mut status = json!({"observedGeneration": generation(object), "phase": "Ready"});
            // What it said while it worked must not stay.
            if options.progress.is_some() || object["status"].get("conditions").is_some() {
                status["conditions"] = json!([condition(options, object, "True", "Succeeded")]);
            }
            json!({"status": status})
        }
        Report::Kopf { handlers } => {
            let done = records(object).count();
            waits_for_event = done + 1 < usize::try_from(handlers).unwrap_or(usize::MAX);
            if waits_for_event {
                let record = record(options, 0, None, purpose(object));
                json!({"metadata": {"annotations": {format!("{KOPF}step-{done}"): record}}})
            } else {
                let mut annotations: Map<String, Value> =
                    records(object).map(|name| (name.to_owned(), Value::Null)).collect();
                annotations.insert(KOPF_MARK.to_owned(), format!("{}\n", essence(object)).into());
                json!({"metadata": {"annotations": annotations}})
            }
        }
    };
    Mark { change, waits_for_event }
}

/// An attempt has failed; the next one begins after `retry`.
pub(super) fn failure(options: &Options, object: &Value, retry: Duration) -> Value {
    let attempts = object["status"]["attempts"].as_u64().unwrap_or_default() + 1;
    match options.report {
        Report::Nothing => json!({}),
        Report::Phase => json!({"status": {"phase": "Failed", "attempts": attempts}}),
        Report::GenerationAtEnd => json!({"status": {"attempts": attempts}}),
        Report::Generation => {
            let mut status = json!({"attempts": attempts});
            if object["metadata"].get("deletionTimestamp").is_none() {
                status["observedGeneration"] = generation(object).into();
                status["conditions"] = json!([condition(options, object, "False", "ReconcileFailed")]);
            }
            json!({"status": status})
        }
        Report::Kopf { .. } => {
            let name = format!("{KOPF}handler");
            let old = object["metadata"]["annotations"][&name].as_str();
            let old: Value = old.and_then(|old| serde_json::from_str(old).ok()).unwrap_or_default();
            let retries = old["retries"].as_u64().unwrap_or_default() + 1;
            let record = record(options, retries, Some(retry), purpose(object));
            json!({"metadata": {"annotations": {name: record}}})
        }
    }
}

/// An attempt goes on.
pub(super) fn progress(options: &Options, object: &Value, step: u32) -> Value {
    let mut status = json!({"progress": step});
    if options.report == Report::Generation {
        status["conditions"] = json!([condition(options, object, "False", "Progressing")]);
    }
    json!({"status": status})
}

/// Something that changes with every write and says nothing about any desired state.
pub(super) fn beat(clock: Clock) -> Value {
    json!({"status": {"tickedAt": clock.wall().to_string()}})
}

fn generation(object: &Value) -> i64 {
    object["metadata"]["generation"].as_i64().unwrap_or_default()
}

/// `Ready`, which keeps the time of its last transition as long as its status stays.
fn condition(options: &Options, object: &Value, status: &str, reason: &str) -> Value {
    let old = object["status"]["conditions"].as_array().and_then(|conditions| conditions.first());
    let kept = old.filter(|old| old["status"] == status).map(|old| old["lastTransitionTime"].clone());
    let second = |time: Timestamp| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    json!({
        "type": "Ready", "status": status, "reason": reason, "observedGeneration": generation(object),
        "lastTransitionTime": kept.unwrap_or_else(|| second(options.clock.wall()).into()),
    })
}

/// A record of one handler, as text.
fn record(options: &Options, retries: u64, retry: Option<Duration>, purpose: &str) -> String {
    let now = options.clock.wall();
    let time = |time: Timestamp| time.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string();
    let delayed = retry.map(|retry| time(now.saturating_add(retry).unwrap_or(now)));
    json!({
        "started": time(now), "stopped": retry.is_none().then(|| time(now)), "delayed": delayed, "purpose": purpose,
        "retries": retries, "success": retry.is_none(), "failure": false,
    })
    .to_string()
}

fn purpose(object: &Value) -> &'static str {
    let metadata = &object["metadata"];
    match (metadata.get("deletionTimestamp"), metadata["annotations"].get(KOPF_MARK)) {
        (Some(_), _) => "delete",
        (None, Some(_)) => "update",
        (None, None) => "create",
    }
}

fn records(object: &Value) -> impl Iterator<Item = &str> {
    let annotations = object["metadata"]["annotations"].as_object();
    let names = annotations.into_iter().flat_map(Map::keys).map(String::as_str);
    names.filter(|name| name.starts_with(KOPF) && *name != KOPF_MARK)
}

/// What kopf takes for the desired state: everything but the status and the metadata, of which labels and the
/// annotations of others count.
fn essence(object: &Value) -> Value {
    let mut essence = object.clone();
    let metadata = essence.as_object_mut().and_then(|essence| {
        for field in ["apiVersion", "kind", "status"] {
            essence.remove(field);
        }
        essence.remove("metadata")
    });
    let Some(Value::Object(mut metadata)) = metadata else { return essence };
    metadata.retain(|field, _| field == "labels" || field == "annotations");
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations
            .retain(|name, _| !name.starts_with(KOPF) && name != "kubectl.kubernetes.io/last-applied-configuration");
    }
    metadata.retain(|_, part| part.as_object().is_some_and(|part| !part.is_empty()));
    if !metadata.is_empty() {
        essence["metadata"] = Value::Object(metadata);
    }
    essence
}
