//! The resources that the simulated API server serves: built in, or defined by a `CustomResourceDefinition` object.

use serde_json::{Value, json};

/// One served resource, in every version it is served in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The API group; empty for the core group.
    pub group: String,
    /// The served versions, preferred first.
    pub versions: Vec<String>,
    /// The name in paths, such as `widgets`.
    pub plural: String,
    /// The singular name, such as `widget`.
    pub singular: String,
    /// The kind, such as `Widget`.
    pub kind: String,
    /// What kubectl accepts in place of the name.
    pub short_names: Vec<String>,
    /// The groups of resources, such as `all`, that kubectl accepts as well.
    pub categories: Vec<String>,
    /// Whether its objects stand in namespaces.
    pub namespaced: bool,
    /// Whether `/status` is an endpoint of its own. Then status writes do not raise the generation.
    pub status: bool,
    /// Whether objects carry `metadata.generation`.
    pub generation: bool,
    /// What the server does with it.
    pub(super) role: Role,
}

/// What the server does with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Stores objects of a type that the server knows.
    Native,
    /// Stores objects that a CRD defines.
    Custom,
    /// Answers a review of rights and stores nothing.
    Review,
}

/// The group of `CustomResourceDefinition`.
pub(super) const CRD_GROUP: &str = "apiextensions.k8s.io";
/// The plural of `CustomResourceDefinition`.
pub(super) const CRD_PLURAL: &str = "customresourcedefinitions";

impl Resource {
    /// A custom resource as most are: namespaced, with a status subresource, the plural an `s` behind the kind.
    pub fn custom(group: &str, version: &str, kind: &str) -> Self {
        let singular = kind.to_lowercase();
        Self {
            group: group.to_owned(),
            versions: vec![version.to_owned()],
            plural: format!("{singular}s"),
            singular,
            kind: kind.to_owned(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: true,
            status: true,
            generation: true,
            role: Role::Custom,
        }
    }

    fn native(group: &str, version: &str, kind: &str, short_names: &[&str]) -> Self {
        let short_names = short_names.iter().map(|&name| name.to_owned()).collect();
        Self { short_names, status: false, generation: false, role: Role::Native, ..Self::custom(group, version, kind) }
    }

    /// `plural.group`, or the plural alone in the core group.
    pub fn name(&self) -> String {
        qualified(&self.plural, &self.group)
    }

    /// `Kind.group`, as messages about invalid objects name it.
    pub(super) fn kind_name(&self) -> String {
        qualified(&self.kind, &self.group)
    }

    /// `group/version`, or the version alone in the core group: what objects carry as `apiVersion`.
    pub(super) fn api_version(&self, version: &str) -> String {
        if self.group.is_empty() { version.to_owned() } else { format!("{}/{version}", self.group) }
    }

    /// The version in which objects are kept.
    pub(super) fn stored_version(&self) -> &str {
        self.versions.first().map_or("", String::as_str)
    }

    /// Whether it is the resource of the CRD objects themselves.
    pub(super) fn is_crd(&self) -> bool {
        self.group == CRD_GROUP && self.plural == CRD_PLURAL
    }

    /// Whether it is the resource of the namespaces themselves.
    pub(super) fn is_namespace(&self) -> bool {
        self.group.is_empty() && self.plural == "namespaces"
    }

    /// The CRD object that defines it.
    pub(super) fn to_crd(&self) -> Value {
        let version = |(index, version): (usize, &String)| {
            let mut entry = json!({
                "name": version, "served": true, "storage": index == 0,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            });
            if self.status {
                entry["subresources"] = json!({"status": {}});
            }
            entry
        };
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": self.name()},
            "spec": {
                "group": self.group, "scope": if self.namespaced { "Namespaced" } else { "Cluster" },
                "names": {
                    "plural": self.plural, "singular": self.singular, "kind": self.kind,
                    "listKind": format!("{}List", self.kind),
                    "shortNames": self.short_names, "categories": self.categories,
                },
                "versions": self.versions.iter().enumerate().map(version).collect::<Vec<_>>(),
            },
        })
    }

    /// What a CRD object defines, or the problem with it.
    pub(super) fn of_crd(crd: &Value) -> Result<Self, &'static str> {
        let text = |path: &str| crd.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let kind = text("/spec/names/kind").ok_or("spec.names.kind: Required value")?;
        let plural = text("/spec/names/plural").ok_or("spec.names.plural: Required value")?;
        let group = text("/spec/group").ok_or("spec.group: Required value")?;
        if text("/metadata/name") != Some(format!("{plural}.{group}")) {
            return Err("metadata.name: Invalid value: must be spec.names.plural+\".\"+spec.group");
        }
        let listed = crd.pointer("/spec/versions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let served: Vec<&Value> = listed.iter().filter(|version| version["served"] == true).collect();
        let mut versions: Vec<String> = served.iter().filter_map(|v| v["name"].as_str().map(str::to_owned)).collect();
        if !listed.iter().any(|version| version["storage"] == true) {
            return Err("spec.versions: Invalid value: must have exactly one version marked as storage version");
        }
        // The real server prefers stable over beta over alpha, then the higher number.
        versions.sort_by_key(|version| std::cmp::Reverse(precedence(version)));
        Ok(Self {
            singular: text("/spec/names/singular").unwrap_or_else(|| kind.to_lowercase()),
            short_names: strings(crd.pointer("/spec/names/shortNames")),
            categories: strings(crd.pointer("/spec/names/categories")),
            namespaced: text("/spec/scope").as_deref() != Some("Cluster"),
            status: served.iter().any(|version| version.pointer("/subresources/status").is_some()),
            plural,
            versions,
            ..Self::custom(&group, "", &kind)
        })
    }
}

/// The resources that exist before any CRD.
pub(super) fn native() -> Vec<Resource> {
    let with_status = |resource: Resource| Resource { status: true, ..resource };
    let cluster_wide = |resource: Resource| Resource { namespaced: false, ..resource };
    let with_generation = |resource: Resource| Resource { generation: true, status: true, ..resource };
    let review = |kind: &str| Resource {
        role: Role::Review,
        ..cluster_wide(Resource::native("authorization.k8s.io", "v1", kind, &[]))
    };
    vec![
        with_status(cluster_wide(Resource::native("", "v1", "Namespace", &["ns"]))),
        with_generation(Resource::native("", "v1", "Pod", &["po"])),
        Resource::native("", "v1", "Event", &["ev"]),
        Resource::native("", "v1", "ConfigMap", &["cm"]),
        Resource::native("", "v1", "Secret", &[]),
        Resource::native("", "v1", "ServiceAccount", &["sa"]),
        with_generation(Resource::native("apps", "v1", "Deployment", &["deploy"])),
        with_generation(Resource::native("apps", "v1", "ReplicaSet", &["rs"])),
        with_generation(Resource::native("apps", "v1", "StatefulSet", &["sts"])),
        Resource::native("events.k8s.io", "v1", "Event", &["ev"]),
        Resource::native("coordination.k8s.io", "v1", "Lease", &[]),
        cluster_wide(with_generation(Resource::native(CRD_GROUP, "v1", "CustomResourceDefinition", &["crd", "crds"]))),
        review("SelfSubjectAccessReview"),
        review("SubjectAccessReview"),
    ]
}

fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// The order of versions among each other: `v2`, `v1`, `v1beta1`, `v1alpha2`, then anything else.
fn precedence(version: &str) -> (u8, u32, u32) {
    let number = |text: &str| text.parse::<u32>().ok();
    let Some(rest) = version.strip_prefix('v') else { return (0, 0, 0) };
    if let Some(major) = number(rest) {
        return (3, major, 0);
    }
    for (stability, word) in [(2, "beta"), (1, "alpha")] {
        if let Some((major, minor)) = rest.split_once(word)
            && let (Some(major), Some(minor)) = (number(major), number(minor))
        {
            return (stability, major, minor);
        }
    }
    (0, 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crd_and_back_is_the_same_resource() {
        let mut widget = Resource::custom("example.com", "v2", "Widget");
        widget.versions.push("v1beta1".to_owned());
        widget.short_names.push("wd".to_owned());
        assert_eq!(Resource::of_crd(&widget.to_crd()), Ok(widget));
    }

    #[test]
    fn a_stable_version_is_preferred_over_later_beta_and_alpha_ones() {
        let mut versions = ["v1alpha1", "v3beta1", "v1", "v10", "v3beta2", "foo"];
        versions.sort_by_key(|version| std::cmp::Reverse(precedence(version)));
        assert_eq!(versions, ["v10", "v1", "v3beta2", "v3beta1", "v1alpha1", "foo"]);
    }

    #[test]
    fn a_crd_whose_name_does_not_fit_is_refused() {
        let mut crd = Resource::custom("example.com", "v1", "Widget").to_crd();
        crd["metadata"]["name"] = "other.example.com".into();
        assert!(Resource::of_crd(&crd).is_err());
    }
}
