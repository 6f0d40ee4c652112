//! What the simulated API server knows: objects, resources, rights and faults in force.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::access::Access;
use super::call::Place;
use super::failure::Failure;
use super::fault::Faults;
use super::resource::{self, CRD_GROUP, CRD_PLURAL, Resource};
use super::store::{Key, Store, within};
use crate::clock::Clock;

/// The server's state. One lock guards it all, so that a list and the revision that it reports fit together.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) clock: Clock,
    pub(super) store: Store,
    pub(super) access: Access,
    pub(super) faults: Faults,
    resources: Vec<Arc<Resource>>,
    /// How many unique names and uids were given out.
    drawn: u64,
    /// Tells the uids of one simulation from those of another.
    seed: u64,
    /// Orders the opening of streams and the beginning of faults.
    sequence: u64,
}

/// What a path names, found to be served.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) resource: Arc<Resource>,
    pub(super) version: String,
    /// Absent for a cluster-scoped resource and for all namespaces.
    pub(super) namespace: Option<String>,
    pub(super) name: Option<String>,
    pub(super) subresource: Option<String>,
}

/// How many changes the history holds unless told otherwise.
const HISTORY: usize = 10_000;

impl Server {
    pub(super) fn new(clock: Clock) -> Self {
        let seed = u64::try_from(clock.wall().as_millisecond()).unwrap_or_default();
        let mut server = Self {
            clock,
            store: Store::new(HISTORY),
            access: Access::default(),
            faults: Faults::default(),
            resources: Vec::new(),
            drawn: 0,
            seed,
            sequence: 0,
        };
        server.find_resources();
        server
    }

    /// Now, on the clock by which streams, bookmarks and delays go.
    pub(super) fn boot(&self) -> Duration {
        self.clock.boot()
    }

    /// Now, as objects carry it: RFC 3339 in whole seconds.
    pub(super) fn stamp(&self) -> String {
        self.clock.wall().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// Now, as the `Date` header carries it.
    pub(super) fn date(&self) -> String {
        http_date(self.clock.wall())
    }

    /// The newest revision of some time ago.
    pub(super) fn late_revision(&self, late: Duration) -> u64 {
        self.store.revision_at(self.boot().saturating_sub(late))
    }

    pub(super) fn resources(&self) -> &[Arc<Resource>] {
        &self.resources
    }

    /// Reads again which resources there are, after a change of a CRD.
    pub(super) fn find_resources(&mut self) {
        let crds = within(self.store.objects(), CRD_GROUP, CRD_PLURAL, None);
        let custom = crds.filter_map(|(_, crd)| Resource::of_crd(crd).ok());
        self.resources = resource::native().into_iter().chain(custom).map(Arc::new).collect();
    }

    /// What a place names, if it is served.
    pub(super) fn target(&self, place: &Place) -> Result<Target, Failure> {
        let resource = self
            .resources
            .iter()
            .find(|resource| resource.group == place.group && resource.plural == place.plural)
            .filter(|resource| resource.versions.contains(&place.version))
            .filter(|resource| resource.namespaced || place.namespace.is_none())
            .ok_or_else(Failure::no_such_path)?;
        let serves = |name: &str| name == "status" && resource.status;
        if !place.subresource.as_deref().is_none_or(serves) {
            return Err(Failure::no_such_path());
        }
        Ok(Target {
            resource: Arc::clone(resource),
            version: place.version.clone(),
            namespace: place.namespace.clone(),
            name: place.name.clone(),
            subresource: place.subresource.clone(),
        })
    }

    /// The target that an object's own `apiVersion`, `kind` and metadata name.
    pub(super) fn target_of(&self, object: &Value) -> Result<Target, Failure> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str);
        let api_version = text("/apiVersion").unwrap_or_default();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = self
            .resources
            .iter()
            .find(|resource| resource.group == group && Some(resource.kind.as_str()) == text("/kind"))
            .ok_or_else(Failure::no_such_path)?;
        let namespace = resource.namespaced.then(|| text("/metadata/namespace").unwrap_or("default").to_owned());
        Ok(Target {
            resource: Arc::clone(resource),
            version: version.to_owned(),
            namespace,
            name: text("/metadata/name").map(str::to_owned),
            subresource: None,
        })
    }

    /// The target for a resource by its name `plural.group`, in its preferred version.
    pub(super) fn target_named(&self, resource: &str, namespace: Option<&str>, name: &str) -> Result<Target, Failure> {
        let resource =
            self.resources.iter().find(|found| found.name() == resource).ok_or_else(Failure::no_such_path)?;
        Ok(Target {
            resource: Arc::clone(resource),
            version: resource.stored_version().to_owned(),
            namespace: namespace.filter(|_| resource.namespaced).map(str::to_owned),
            name: Some(name.to_owned()),
            subresource: None,
        })
    }

    pub(super) fn draw_uid(&mut self) -> String {
        self.drawn += 1;
        format!("{:08x}-{:04x}-4000-8000-{:012x}", self.seed >> 16, self.seed & 0xffff, self.drawn)
    }

    /// The end of a generated name: five letters, as the real server draws them, but each different.
    pub(super) fn draw_suffix(&mut self) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        self.drawn += 1;
        let mut rest = self.drawn;
        let mut letter = || {
            let index = usize::try_from(rest % LETTERS.len() as u64).unwrap_or_default();
            rest /= LETTERS.len() as u64;
            char::from(LETTERS.get(index).copied().unwrap_or(b'x'))
        };
        let mut suffix: Vec<char> = (0..5).map(|_| letter()).collect();
        suffix.reverse();
        suffix.into_iter().collect()
    }

    pub(super) const fn draw_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }
}

impl Target {
    /// Where the object stands that the target names.
    pub(super) fn key(&self) -> Key {
        self.key_named(self.name.clone().unwrap_or_default())
    }

    pub(super) fn key_named(&self, name: String) -> Key {
        Key {
            group: self.resource.group.clone(),
            plural: self.resource.plural.clone(),
            namespace: self.namespace.clone().unwrap_or_default(),
            name,
        }
    }

    pub(super) fn api_version(&self) -> String {
        self.resource.api_version(&self.version)
    }

    /// The object in the version that was asked for. Conversion is by name alone, as with the strategy `None`.
    pub(super) fn presented(&self, object: &Arc<Value>) -> Arc<Value> {
        let api_version = self.api_version();
        if object["apiVersion"] == api_version.as_str() {
            return Arc::clone(object);
        }
        let mut object = (**object).clone();
        object["apiVersion"] = api_version.into();
        Arc::new(object)
    }
}

fn http_date(time: Timestamp) -> String {
    time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}
