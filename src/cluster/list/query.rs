//! What a list asks for, and the request for one page of it.

use http::Request;
use http::header::{ACCEPT, HeaderValue};
use kube::core::params::ListParams;

use super::super::discover::Resource;
use super::Error;

/// Objects a page. Larger pages are not faster and keep an API server busy for longer.
pub const PAGE_SIZE: u32 = 500;

/// etcd's own limit for one object is 1.5 MiB; JSON is larger than what is stored.
pub const MAX_OBJECT_BYTES: usize = 4 * 1024 * 1024;

const METADATA_ONLY: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// What to list.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    /// The resource, in the version that is to be asked for.
    pub resource: &'a Resource,
    /// Only this namespace; has no meaning for a resource without namespaces.
    pub namespace: Option<&'a str>,
    /// Label selector, as `kubectl -l` takes it.
    pub labels: Option<&'a str>,
    /// Field selector, as `kubectl --field-selector` takes it.
    pub fields: Option<&'a str>,
    /// Objects a page.
    pub page_size: u32,
    /// Objects of more bytes are reported and not handed out.
    pub max_object_bytes: usize,
    /// Ask for `PartialObjectMetadata`: a fifth of the size, without `spec` and `status`.
    pub metadata_only: bool,
    /// Ask with `resourceVersion=0` for what the API server's cache shows, however old. `limit` is ignored then, so it
    /// must be one object that is asked for.
    pub cached: bool,
}

impl<'a> Query<'a> {
    /// Every object of a resource, in pages of the usual size.
    pub const fn new(resource: &'a Resource) -> Self {
        Self {
            resource,
            namespace: None,
            labels: None,
            fields: None,
            page_size: PAGE_SIZE,
            max_object_bytes: MAX_OBJECT_BYTES,
            metadata_only: false,
            cached: false,
        }
    }

    pub(super) fn request(&self, token: Option<&str>) -> Result<Request<Vec<u8>>, Error> {
        let resource = self.resource;
        if !resource.is_listable() {
            return Err(Error::NotListable { resource: resource.name() });
        }
        let namespace = self.namespace.filter(|_| resource.namespaced);
        if let Some(namespace) = namespace.filter(|namespace| !is_name(namespace)) {
            return Err(Error::Namespace { namespace: namespace.to_owned() });
        }
        let parameters = ListParams {
            label_selector: self.labels.map(str::to_owned),
            field_selector: self.fields.map(str::to_owned),
            // kube leaves `resourceVersion=0` out where a limit is given.
            limit: (!self.cached).then_some(self.page_size),
            continue_token: token.map(str::to_owned),
            resource_version: self.cached.then(|| "0".to_owned()),
            ..ListParams::default()
        };
        let mut request = kube::core::Request::new(resource.path(namespace))
            .list(&parameters)
            .map_err(|source| Error::Build { resource: resource.name(), source: Box::new(source) })?;
        if self.metadata_only {
            request.headers_mut().insert(ACCEPT, HeaderValue::from_static(METADATA_ONLY));
        }
        Ok(request)
    }

    pub(super) fn expected(&self) -> (String, &str) {
        if self.metadata_only {
            ("meta.k8s.io/v1".to_owned(), "PartialObjectMetadata")
        } else {
            (self.resource.api_version(), &self.resource.kind)
        }
    }
}

/// Whether `text` may stand in a path as the name of an object: no separators, nothing that means another path.
pub(in crate::cluster) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text != "."
        && text != ".."
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"/%?#\\".contains(&byte))
}
