//! One request to the API: what it wants done, to what, and who sends it.

use std::collections::BTreeMap;

use http::request::Parts;
use http::{HeaderMap, Method, header};
use serde::{Deserialize, Serialize};

/// What a request does, in the words of RBAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Reads one object.
    Get,
    /// Reads many.
    List,
    /// Follows changes.
    Watch,
    /// Makes a new object.
    Create,
    /// Replaces one.
    Update,
    /// Changes parts of one.
    Patch,
    /// Removes one.
    Delete,
    /// Removes many.
    DeleteCollection,
}

impl Verb {
    /// The word, as RBAC rules and messages spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }

    /// Whether it changes anything.
    pub const fn is_write(self) -> bool {
        !matches!(self, Self::Get | Self::List | Self::Watch)
    }
}

/// What the path names, before it is known whether it is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) plural: String,
    pub(super) namespace: Option<String>,
    pub(super) name: Option<String>,
    pub(super) subresource: Option<String>,
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Path {
    /// `/api`.
    CoreVersions,
    /// `/apis`.
    Groups,
    /// `/apis/GROUP`.
    Group(String),
    /// `/api/VERSION` and `/apis/GROUP/VERSION`.
    Version(String, String),
    /// Anything below.
    Object(Place),
    /// `/version`, the health endpoints and whatever else does not concern a resource.
    Other(String),
}

/// Who sends a request, as far as its headers say.
#[derive(Debug, Clone, Default)]
pub(super) struct Sender {
    pub(super) token: Option<String>,
    pub(super) user_agent: String,
    /// `Impersonate-User`.
    pub(super) acts_as: Option<String>,
    pub(super) accept: String,
    pub(super) content_type: String,
}

/// A request without its body.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// Its place among all requests.
    pub(super) number: u64,
    pub(super) path: Path,
    /// Absent for a method that the API does not know.
    pub(super) verb: Option<Verb>,
    pub(super) query: BTreeMap<String, String>,
    pub(super) sender: Sender,
}

impl Call {
    pub(super) fn of(parts: &Parts) -> Self {
        let query = parts.uri.query().unwrap_or_default();
        let query: BTreeMap<String, String> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let path = Path::parse(parts.uri.path());
        let verb = verb(&parts.method, &path, flag(&query, "watch"));
        Self { number: 0, path, verb, query, sender: Sender::of(&parts.headers) }
    }

    /// One half of all requests, mixed so that no rhythm of a client falls in step with it.
    pub(super) const fn is_odd(&self) -> bool {
        self.number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 1
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    pub(super) fn is_set(&self, name: &str) -> bool {
        flag(&self.query, name)
    }

    pub(super) const fn place(&self) -> Option<&Place> {
        if let Path::Object(place) = &self.path { Some(place) } else { None }
    }

    /// Under which name `managedFields` records the writer: `fieldManager`, else the User-Agent up to `/`.
    pub(super) fn manager(&self) -> &str {
        let product = self.sender.user_agent.split('/').next().unwrap_or_default();
        self.parameter("fieldManager").unwrap_or(product)
    }
}

impl Place {
    /// `plural.group`, or the plural alone in the core group.
    pub(super) fn resource(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }
}

impl Path {
    fn parse(path: &str) -> Self {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        match segments.as_slice() {
            ["api"] => Self::CoreVersions,
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group((*group).to_owned()),
            ["api", version] => Self::Version(String::new(), (*version).to_owned()),
            ["apis", group, version] => Self::Version((*group).to_owned(), (*version).to_owned()),
            ["api", version, rest @ ..] => Self::Object(Place::parse("", version, rest)),
            ["apis", group, version, rest @ ..] => Self::Object(Place::parse(group, version, rest)),
            _ => Self::Other(path.to_owned()),
        }
    }
}

impl Place {
    fn parse(group: &str, version: &str, rest: &[&str]) -> Self {
        let (namespace, rest) = match rest {
            // `namespaces/NAME/status` is the namespace itself, `namespaces/NAME/PLURAL` what stands in it.
            ["namespaces", _, "status" | "finalize"] => (None, rest),
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
            _ => (None, rest),
        };
        let segment = |index: usize| rest.get(index).map(|&text| text.to_owned());
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: segment(0).unwrap_or_default(),
            namespace: namespace.map(str::to_owned),
            name: segment(1),
            subresource: segment(2),
        }
    }
}

impl Sender {
    fn of(headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let authorization = text(header::AUTHORIZATION.as_str());
        Self {
            token: authorization.strip_prefix("Bearer ").map(str::to_owned),
            user_agent: text(header::USER_AGENT.as_str()),
            acts_as: Some(text("impersonate-user")).filter(|user| !user.is_empty()),
            accept: text(header::ACCEPT.as_str()),
            content_type: text(header::CONTENT_TYPE.as_str()),
        }
    }
}

fn flag(query: &BTreeMap<String, String>, name: &str) -> bool {
    query.get(name).is_some_and(|value| value.is_empty() || value == "true" || value == "1")
}

fn verb(method: &Method, path: &Path, watch: bool) -> Option<Verb> {
    let one = matches!(path, Path::Object(place) if place.name.is_some());
    Some(match *method {
        Method::GET if one => Verb::Get,
        Method::GET if watch => Verb::Watch,
        Method::GET => Verb::List,
        Method::POST => Verb::Create,
        Method::PUT => Verb::Update,
        Method::PATCH => Verb::Patch,
        Method::DELETE if one => Verb::Delete,
        Method::DELETE => Verb::DeleteCollection,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str) -> Place {
        let Path::Object(place) = Path::parse(path) else { panic!("{path} names no object") };
        place
    }

    #[test]
    fn a_namespace_is_told_from_what_stands_in_it() {
        let inside = place("/api/v1/namespaces/a/pods/p/status");
        assert_eq!((inside.namespace.as_deref(), inside.plural.as_str()), (Some("a"), "pods"));
        assert_eq!((inside.name.as_deref(), inside.subresource.as_deref()), (Some("p"), Some("status")));
        for path in ["/api/v1/namespaces/a", "/api/v1/namespaces/a/status"] {
            let itself = place(path);
            assert_eq!((itself.plural.as_str(), itself.name.as_deref()), ("namespaces", Some("a")), "{path}");
        }
        assert_eq!(place("/api/v1/namespaces").name, None);
    }

    #[test]
    fn a_group_a_version_and_a_resource_are_told_apart() {
        assert_eq!(Path::parse("/apis/example.com"), Path::Group("example.com".to_owned()));
        assert_eq!(Path::parse("/apis/example.com/v1"), Path::Version("example.com".to_owned(), "v1".to_owned()));
        assert_eq!(place("/apis/example.com/v1/widgets").resource(), "widgets.example.com");
        assert_eq!(Path::parse("/version"), Path::Other("/version".to_owned()));
    }

    #[test]
    fn the_manager_is_the_product_of_the_user_agent_unless_named() {
        let call = |uri: &str| {
            let request = http::Request::builder().uri(uri).header("user-agent", "kopf/1.45.2 (x)").body(());
            Call::of(&request.expect("a request").into_parts().0)
        };
        assert_eq!(call("/api/v1/pods").manager(), "kopf");
        assert_eq!(call("/api/v1/pods?fieldManager=me").manager(), "me");
    }
}
