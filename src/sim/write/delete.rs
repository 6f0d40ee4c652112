//! Deletion: finalizers hold an object, and namespaces and CRDs take what they contain with them.

use std::sync::Arc;

use serde_json::Value;

use super::check::check_preconditions;
use super::{is_deleted, is_held, raise_generation};
use crate::sim::failure::Failure;
use crate::sim::resource::{CRD_GROUP, CRD_PLURAL};
use crate::sim::selector::Selector;
use crate::sim::server::{Server, Target};
use crate::sim::store::{Key, within};

/// What became of an object that was to be deleted.
#[derive(Debug, Clone)]
pub(in crate::sim) enum Deleted {
    /// It is gone. This is its last state.
    Gone(Arc<Value>),
    /// It waits for its finalizers, or for what it contains.
    Held(Arc<Value>),
}

impl Server {
    /// Deletes one object. `options` is a `DeleteOptions` object or null; of it the preconditions and `dryRun` count.
    pub(in crate::sim) fn delete(&mut self, target: &Target, options: &Value) -> Result<Deleted, Failure> {
        let object = self.read(target)?;
        let key = target.key();
        check_preconditions(&target.resource, &key.name, &object, &options["preconditions"])?;
        if options["dryRun"].as_array().is_some_and(|stages| !stages.is_empty()) {
            return Ok(Deleted::Gone(object));
        }
        self.doom(&key, &object);
        self.sweep();
        Ok(match self.store.read(&key) {
            Some(object) => Deleted::Held(Arc::clone(object)),
            None => Deleted::Gone(object),
        })
    }

    /// Deletes every object of a resource that the selector lets through, and returns them.
    pub(in crate::sim) fn delete_collection(&mut self, target: &Target, selector: &Selector) -> Vec<Arc<Value>> {
        let resource = &target.resource;
        let all = within(self.store.objects(), &resource.group, &resource.plural, target.namespace.as_deref());
        let chosen = own(all.filter(|(_, object)| selector.fits(object)));
        for (key, object) in &chosen {
            self.doom(key, object);
        }
        self.sweep();
        chosen.into_iter().map(|(_, object)| object).collect()
    }

    /// Removes an object, or marks it as being deleted if something holds it.
    fn doom(&mut self, key: &Key, object: &Arc<Value>) {
        let boot = self.boot();
        if !is_held(object) && !is_container(key) {
            self.store.remove(key, (**object).clone(), boot);
            return;
        }
        if is_deleted(object) {
            return;
        }
        let mut object = (**object).clone();
        object["metadata"]["deletionTimestamp"] = self.stamp().into();
        object["metadata"]["deletionGracePeriodSeconds"] = 0.into();
        if object["metadata"].get("generation").is_some() {
            raise_generation(&mut object);
        }
        if key.plural == "namespaces" {
            object["status"]["phase"] = "Terminating".into();
        }
        self.store.put(key.clone(), object, boot);
    }

    /// Deletes what stands in namespaces and below CRDs that are being deleted, and these once they are empty.
    ///
    /// In a real cluster controllers do that; here it happens at once.
    pub(super) fn sweep(&mut self) {
        let objects = self.store.objects();
        let containers = within(objects, "", "namespaces", None).chain(within(objects, CRD_GROUP, CRD_PLURAL, None));
        for (container, object) in own(containers.filter(|(_, object)| is_deleted(object))) {
            let contents =
                |server: &Self| own(server.store.objects().iter().filter(|(key, _)| is_inside(key, &container)));
            for (key, object) in contents(self) {
                self.doom(&key, &object);
            }
            if contents(self).is_empty() && !is_held(&object) {
                let boot = self.boot();
                self.store.remove(&container, (*object).clone(), boot);
                self.find_resources();
            }
        }
    }
}

fn own<'a>(objects: impl Iterator<Item = (&'a Key, &'a Arc<Value>)>) -> Vec<(Key, Arc<Value>)> {
    objects.map(|(key, object)| (key.clone(), Arc::clone(object))).collect()
}

fn is_crd(key: &Key) -> bool {
    key.is_in(CRD_GROUP, CRD_PLURAL, None)
}

fn is_container(key: &Key) -> bool {
    is_crd(key) || key.is_in("", "namespaces", None)
}

fn is_inside(key: &Key, container: &Key) -> bool {
    if is_crd(container) {
        return container.name.strip_prefix(key.plural.as_str()).and_then(|rest| rest.strip_prefix('.'))
            == Some(key.group.as_str());
    }
    key.namespace == container.name
}
