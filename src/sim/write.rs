//! Creating, changing and deleting objects by the rules of the real server.

mod check;
mod delete;

pub(super) use delete::Deleted;

use std::sync::Arc;

use serde_json::{Value, json};

use super::failure::Failure;
use super::managed::{self, Author};
use super::resource::{Resource, Role};
use super::server::{Server, Target};
use super::store::Key;
use check::{check_finalizers, check_preconditions, checked};

/// Who writes, and whether for real.
#[derive(Debug, Clone, Default)]
pub(super) struct Writer {
    pub(super) manager: String,
    pub(super) dry_run: bool,
}

/// How a patch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatchForm {
    /// RFC 7386.
    Merge,
    /// RFC 6902.
    Json,
}

/// Metadata that only the server sets.
const SYSTEM_FIELDS: [&str; 7] = [
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "resourceVersion",
];

impl Server {
    pub(super) fn read(&self, target: &Target) -> Result<Arc<Value>, Failure> {
        let key = target.key();
        self.store.read(&key).cloned().ok_or_else(|| Failure::not_found(&target.resource, &key.name))
    }

    pub(super) fn create(&mut self, target: &Target, body: Value, writer: &Writer) -> Result<Arc<Value>, Failure> {
        let mut object = checked(target, body)?;
        if object["metadata"].get("resourceVersion").is_some_and(|version| version != "") {
            return Err(Failure::bad_request("resourceVersion should not be set on objects to be created"));
        }
        let key = target.key_named(self.name_for(&mut object, target)?);
        if self.store.read(&key).is_some() {
            return Err(Failure::already_exists(&target.resource, &key.name));
        }
        self.check_namespace(target, &key)?;
        self.begin_life(&mut object, target)?;
        self.record_author(None, &mut object, target, writer);
        if writer.dry_run {
            return Ok(Arc::new(object));
        }
        let boot = self.boot();
        let object = self.store.put(key, object, boot);
        self.after_write(target);
        Ok(object)
    }

    /// Replaces an object, or its status.
    pub(super) fn update(&mut self, target: &Target, body: Value, writer: &Writer) -> Result<Arc<Value>, Failure> {
        let old = self.read(target)?;
        let new = checked(target, body)?;
        let version = new["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        if version.is_empty() && target.resource.role == Role::Custom {
            let problem = "metadata.resourceVersion: Invalid value: 0: must be specified for an update";
            return Err(Failure::invalid(&target.resource, &target.key().name, problem));
        }
        self.change(target, &old, new, writer)
    }

    /// Changes an object, or its status, by a patch of the object.
    pub(super) fn patch(
        &mut self,
        target: &Target,
        form: PatchForm,
        patch: Value,
        writer: &Writer,
    ) -> Result<Arc<Value>, Failure> {
        let old = self.read(target)?;
        let mut new = (*target.presented(&old)).clone();
        match form {
            PatchForm::Merge => json_patch::merge(&mut new, &patch),
            PatchForm::Json => {
                let patch: json_patch::Patch = serde_json::from_value(patch)
                    .map_err(|error| Failure::bad_request(format!("error decoding patch: {error}")))?;
                // A `test` that fails is answered in the same words as a path that is not there.
                json_patch::patch(&mut new, &patch).map_err(|_| {
                    Failure::new(422, "Invalid", "the server rejected our request due to an error in our request")
                })?;
            }
        }
        let new = checked(target, new)?;
        self.change(target, &old, new, writer)
    }

    /// Writes `new` over `old`, as far as the endpoint lets through what changed.
    fn change(
        &mut self,
        target: &Target,
        old: &Arc<Value>,
        new: Value,
        writer: &Writer,
    ) -> Result<Arc<Value>, Failure> {
        let (resource, key) = (&target.resource, target.key());
        check_preconditions(resource, &key.name, old, &new["metadata"])?;
        let mut new = if target.subresource.is_some() { with_status_of(old, &new) } else { kept(resource, old, new) };
        check_finalizers(resource, &key.name, old, &new)?;
        if **old == new {
            return Ok(Arc::clone(old));
        }
        if resource.is_crd() {
            Resource::of_crd(&new).map_err(|problem| Failure::invalid(resource, &key.name, problem))?;
        }
        if resource.generation && target.subresource.is_none() && desired_differs(resource, old, &new) {
            raise_generation(&mut new);
        }
        self.record_author(Some(old), &mut new, target, writer);
        if writer.dry_run {
            return Ok(Arc::new(new));
        }
        let boot = self.boot();
        let object = if is_deleted(&new) && !is_held(&new) {
            self.store.remove(&key, new, boot)
        } else {
            self.store.put(key, new, boot)
        };
        self.after_write(target);
        Ok(object)
    }

    fn after_write(&mut self, target: &Target) {
        if target.resource.is_crd() {
            self.find_resources();
        }
        self.sweep();
    }

    fn name_for(&mut self, object: &mut Value, target: &Target) -> Result<String, Failure> {
        let metadata = &object["metadata"];
        if let Some(name) = metadata["name"].as_str().filter(|name| !name.is_empty()) {
            return Ok(name.to_owned());
        }
        let Some(prefix) = metadata["generateName"].as_str().map(str::to_owned) else {
            return Err(Failure::invalid(&target.resource, "", "metadata.name: Required value: name or generateName"));
        };
        let name = prefix + &self.draw_suffix();
        object["metadata"]["name"] = name.as_str().into();
        Ok(name)
    }

    fn check_namespace(&self, target: &Target, key: &Key) -> Result<(), Failure> {
        if !target.resource.namespaced {
            return Ok(());
        }
        if key.namespace.is_empty() {
            return Err(Failure::bad_request("an empty namespace may not be set during creation"));
        }
        let namespaces = self.target_named("namespaces", None, &key.namespace)?;
        if is_deleted(&*self.read(&namespaces)?) {
            let namespace = &key.namespace;
            let problem =
                format!("unable to create new content in namespace {namespace} because it is being terminated");
            return Err(Failure::forbidden(&target.resource, Some(&key.name), &problem));
        }
        Ok(())
    }

    fn begin_life(&mut self, object: &mut Value, target: &Target) -> Result<(), Failure> {
        let resource = &target.resource;
        let (uid, now) = (self.draw_uid(), self.stamp());
        let metadata = &mut object["metadata"];
        for field in SYSTEM_FIELDS {
            metadata.as_object_mut().map(|metadata| metadata.remove(field));
        }
        metadata["uid"] = uid.into();
        metadata["creationTimestamp"] = now.as_str().into();
        if resource.generation {
            metadata["generation"] = 1.into();
        }
        if resource.status {
            object.as_object_mut().map(|object| object.remove("status"));
        }
        if resource.is_namespace() {
            object["metadata"]["labels"]["kubernetes.io/metadata.name"] = object["metadata"]["name"].clone();
            object["status"] = json!({"phase": "Active"});
        }
        if resource.is_crd() {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            Resource::of_crd(object).map_err(|problem| Failure::invalid(resource, name, problem))?;
            object["status"] = crd_status(object, &now);
        }
        Ok(())
    }

    fn record_author(&self, old: Option<&Value>, new: &mut Value, target: &Target, writer: &Writer) {
        let author = Author {
            manager: &writer.manager,
            api_version: &target.api_version(),
            subresource: target.subresource.as_deref(),
            time: &self.stamp(),
        };
        managed::update(old, new, author);
    }
}

/// What the main endpoint lets through: everything but system fields and, with a status subresource, the status.
fn kept(resource: &Resource, old: &Value, mut new: Value) -> Value {
    for field in SYSTEM_FIELDS {
        copy(&old["metadata"], &mut new["metadata"], field);
    }
    if resource.status {
        copy(old, &mut new, "status");
    }
    new
}

/// What the status endpoint lets through.
fn with_status_of(old: &Value, new: &Value) -> Value {
    let mut object = old.clone();
    copy(new, &mut object, "status");
    object
}

fn copy(from: &Value, to: &mut Value, field: &str) {
    match from.get(field) {
        Some(value) => to[field] = value.clone(),
        None => drop(to.as_object_mut().map(|to| to.remove(field))),
    }
}

/// Whether anything differs outside of metadata and of a status that has its own endpoint.
fn desired_differs(resource: &Resource, old: &Value, new: &Value) -> bool {
    let counts = |field: &str| field != "metadata" && !(field == "status" && resource.status);
    let fields = |object: &Value| -> Vec<String> {
        object.as_object().into_iter().flatten().map(|(field, _)| field.clone()).filter(|field| counts(field)).collect()
    };
    fields(old).iter().chain(&fields(new)).any(|field| old.get(field) != new.get(field))
}

fn raise_generation(object: &mut Value) {
    let generation = object["metadata"]["generation"].as_i64().unwrap_or_default();
    object["metadata"]["generation"] = (generation + 1).into();
}

fn is_deleted(object: &Value) -> bool {
    object["metadata"].get("deletionTimestamp").is_some()
}

fn is_held(object: &Value) -> bool {
    !finalizers(object).is_empty()
}

fn finalizers(object: &Value) -> &[Value] {
    object["metadata"]["finalizers"].as_array().map_or(&[], Vec::as_slice)
}

fn crd_status(crd: &Value, now: &str) -> Value {
    let condition = |kind: &str, reason: &str| json!({"type": kind, "status": "True", "reason": reason, "message": "", "lastTransitionTime": now});
    let versions = crd["spec"]["versions"].as_array().map_or(&[][..], Vec::as_slice);
    let stored: Vec<&Value> =
        versions.iter().filter(|version| version["storage"] == true).map(|v| &v["name"]).collect();
    json!({
        "acceptedNames": crd["spec"]["names"], "storedVersions": stored,
        "conditions": [condition("NamesAccepted", "NoConflicts"), condition("Established", "InitialNamesAccepted")],
    })
}
