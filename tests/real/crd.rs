//! Custom resource definitions for tests.

use dogwatch::cluster::discover::Resource;
use serde_json::{Value, json};

/// A definition with one version, `v1`, whose objects may hold anything.
#[derive(Debug, Clone)]
pub(crate) struct Crd {
    group: String,
    kind: String,
    plural: String,
    short_names: Vec<String>,
    categories: Vec<String>,
    is_namespaced: bool,
    has_status: bool,
}

impl Crd {
    /// Namespaced, with a status subresource. The plural is the kind in lower case with an `s`.
    pub(crate) fn new(kind: &str, group: &str) -> Self {
        Self {
            group: group.to_owned(),
            kind: kind.to_owned(),
            plural: format!("{}s", kind.to_lowercase()),
            short_names: Vec::new(),
            categories: Vec::new(),
            is_namespaced: true,
            has_status: true,
        }
    }

    /// Without the status subresource: then a change of the status is a change of the generation.
    pub(crate) fn without_status(mut self) -> Self {
        self.has_status = false;
        self
    }

    /// Without namespaces.
    pub(crate) fn cluster_scoped(mut self) -> Self {
        self.is_namespaced = false;
        self
    }

    /// With one more short name.
    pub(crate) fn short_name(mut self, name: &str) -> Self {
        self.short_names.push(name.to_owned());
        self
    }

    /// In one more category.
    pub(crate) fn category(mut self, name: &str) -> Self {
        self.categories.push(name.to_owned());
        self
    }

    /// The manifest.
    pub(crate) fn manifest(&self) -> Value {
        let subresources = if self.has_status { json!({"status": {}}) } else { json!({}) };
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{}.{}", self.plural, self.group)},
            "spec": {
                "group": self.group,
                "scope": if self.is_namespaced { "Namespaced" } else { "Cluster" },
                "names": {
                    "kind": self.kind,
                    "plural": self.plural,
                    "shortNames": self.short_names,
                    "categories": self.categories,
                },
                "versions": [{
                    "name": "v1",
                    "served": true,
                    "storage": true,
                    "subresources": subresources,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
                }],
            },
        })
    }

    /// What discovery says of it.
    pub(crate) fn resource(&self) -> Resource {
        let verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
        Resource {
            group: self.group.clone(),
            version: "v1".to_owned(),
            kind: self.kind.clone(),
            plural: self.plural.clone(),
            singular: self.kind.to_lowercase(),
            short_names: self.short_names.clone(),
            categories: self.categories.clone(),
            namespaced: self.is_namespaced,
            verbs: verbs.map(str::to_owned).to_vec(),
            has_status: self.has_status,
        }
    }

    /// An object of it, to be filled.
    pub(crate) fn object(&self, name: &str) -> Value {
        json!({
            "apiVersion": format!("{}/v1", self.group),
            "kind": self.kind,
            "metadata": {"name": name},
            "spec": {},
        })
    }
}
