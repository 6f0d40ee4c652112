//! Which resources an API server serves, and what a RESOURCE word means.

mod custom;
mod document;
mod resolve;

use std::collections::HashSet;

use http::Request;
use http::header::{ACCEPT, HeaderValue};
use tokio::task::JoinSet;

use super::page::{self, Item, Page};
use super::request::{self, Client, Reach, Reason, ServerTime};
use crate::judge::rule::auto::{Evidence, Mark};

pub use custom::{CustomResources, Warning, custom_resources};
pub use resolve::{Selection, Unresolved};

/// Both forms of the aggregated document, then the old one: an API server answers with the first that it knows.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                          application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// A group with thousands of kinds has a few MiB.
const MAX_DOCUMENT_BYTES: usize = 32 * 1024 * 1024;

/// How many documents of the old form are asked for at a time.
const AT_A_TIME: usize = 8;

/// One resource in one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// API group; empty for the core group.
    pub group: String,
    /// Version within the group.
    pub version: String,
    /// Kind of its objects.
    pub kind: String,
    /// Plural name, which stands in paths.
    pub plural: String,
    /// Singular name; may be empty.
    pub singular: String,
    /// Short names.
    pub short_names: Vec<String>,
    /// Categories, such as `all`.
    pub categories: Vec<String>,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// What can be done with it.
    pub verbs: Vec<String>,
    /// Whether it has a `status` subresource: then, and only then, `metadata.generation` counts changes of the desired
    /// state alone.
    pub has_status: bool,
}

impl Resource {
    /// `plural.group`, or the plural alone in the core group: the name that reports print.
    pub fn name(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// `group/version`, or the version alone in the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// What its rule is chosen by. `mark`: the strongest one that its objects have shown so far.
    pub fn evidence(&self, mark: Option<Mark>) -> Evidence<'_> {
        Evidence { group: &self.group, kind: &self.kind, mark, status_subresource: Some(self.has_status) }
    }

    /// Whether its objects can be listed.
    pub fn is_listable(&self) -> bool {
        self.verbs.iter().any(|verb| verb == "list")
    }

    /// The path of its objects, of all namespaces or one.
    pub fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.group.is_empty() { "/api" } else { "/apis" };
        let namespace = namespace.map(|name| format!("/namespaces/{name}")).unwrap_or_default();
        format!("{root}/{}{namespace}/{}", self.api_version(), self.plural)
    }
}

/// What an API server serves.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// Every resource in every version, groups and versions in the API server's order of preference.
    pub resources: Vec<Resource>,
    /// `group/version` of aggregated APIs that did not answer: what they serve is not known.
    pub unanswered: Vec<String>,
    /// The API server's clock.
    pub server: Option<ServerTime>,
}

impl Discovery {
    /// Each resource once, in the version that the API server prefers among those that serve it, as kubectl picks it.
    pub fn preferred(&self) -> impl Iterator<Item = &Resource> {
        let mut seen = HashSet::new();
        self.resources.iter().filter(move |resource| seen.insert((&resource.group, &resource.plural)))
    }

    /// Whether a version of this group did not answer.
    fn is_unanswered(&self, group: &str) -> bool {
        self.unanswered.iter().any(|version| version.split('/').next() == Some(group))
    }
}

/// Why it is not known what the API server serves.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The document did not come.
    #[error("cannot ask the API server what it serves ({path})")]
    Request {
        /// The document's path.
        path: String,
        /// Why.
        #[source]
        source: request::Error,
    },
    /// The document cannot be read.
    #[error("cannot read what the API server says it serves ({path})")]
    Page {
        /// The document's path.
        path: String,
        /// Why.
        #[source]
        source: page::Error,
    },
    /// A part of the document is not what it should be.
    #[error("cannot understand what the API server says it serves ({path})")]
    Document {
        /// The document's path.
        path: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The names of the CRDs could not be listed.
    #[error("cannot find out which resources are custom ones")]
    Crds {
        /// Why.
        #[source]
        source: Box<super::list::Error>,
    },
}

impl Error {
    /// What it tells of the API server.
    pub const fn reach(&self) -> Reach {
        match self {
            Self::Request { source, .. } => source.reach(),
            Self::Page { source, .. } => source.reach(),
            Self::Document { .. } => Reach::Fails,
            Self::Crds { source } => source.reach(),
        }
    }

    /// The word for it in reports.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Request { source, .. } => source.reason(),
            Self::Page { source, .. } => source.reason(),
            Self::Document { .. } => Reason::Decode,
            Self::Crds { source } => source.reason(),
        }
    }
}

/// Asks what the API server serves: two requests since Kubernetes 1.26, one for each group and version before.
///
/// # Errors
/// When `/api` or `/apis` cannot be read. A group that does not answer is no error, see [`Discovery::unanswered`].
pub async fn discover(client: &Client) -> Result<Discovery, Error> {
    let mut discovery = Discovery::default();
    let mut versions = Vec::new();
    for path in ["/api", "/apis"] {
        let (server, root) = fetch(client, path, &mut discovery).await?;
        discovery.server = server.or(discovery.server);
        if let Some(document) = root {
            versions.extend(document::group_versions(&document).map_err(|source| document_error(path, source))?);
        }
    }
    for some in versions.chunks(AT_A_TIME) {
        old_form(client, some, &mut discovery).await?;
    }
    Ok(discovery)
}

/// Reads one document. An aggregated one goes into `discovery` group by group; another one is returned.
async fn fetch(
    client: &Client,
    path: &str,
    discovery: &mut Discovery,
) -> Result<(Option<ServerTime>, Option<Vec<u8>>), Error> {
    let mut request = Request::new(Vec::new());
    *request.uri_mut() = path.parse().map_err(|_| Error::Request {
        path: path.to_owned(),
        source: request::Error::Refused { status: 400, message: "the path is no path".to_owned() },
    })?;
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static(AGGREGATED));
    let answer = client
        .send_patiently(request, client.deadline())
        .await
        .map_err(|source| Error::Request { path: path.to_owned(), source })?;
    let mut broken = None;
    let mut each = |item: Item<'_>| {
        if let Item::Bytes(bytes) = item {
            match document::group(bytes) {
                Ok(group) => group.add_to(discovery),
                Err(error) => broken = Some(error),
            }
        }
    };
    let page = page::read(answer.body, MAX_DOCUMENT_BYTES, &mut 0, &mut each)
        .await
        .map_err(|source| Error::Page { path: path.to_owned(), source })?;
    if let Some(source) = broken {
        return Err(document_error(path, source));
    }
    match page {
        Page::List(_) => Ok((answer.server, None)),
        Page::Document(document) => Ok((answer.server, Some(document))),
    }
}

/// Asks for some groups and versions one by one, at the same time. Keeps the order in which they are named.
async fn old_form(client: &Client, versions: &[String], discovery: &mut Discovery) -> Result<(), Error> {
    let mut tasks = JoinSet::new();
    for (index, version) in versions.iter().enumerate() {
        let (client, version) = (client.clone(), version.clone());
        tasks.spawn(async move {
            let path = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
            let mut own = Discovery::default();
            let document = fetch(&client, &path, &mut own).await.map(|(_, document)| document.unwrap_or_default());
            (index, path, document)
        });
    }
    let mut documents = Vec::with_capacity(versions.len());
    while let Some(Ok(document)) = tasks.join_next().await {
        documents.push(document);
    }
    documents.sort_by_key(|(index, ..)| *index);
    for (index, path, document) in documents {
        match document {
            Ok(document) => document::old_resources(&versions[index], &document, discovery)
                .map_err(|source| document_error(&path, source))?,
            // The group's own server is at fault, or it went away between the two questions.
            Err(_) => discovery.unanswered.push(versions[index].clone()),
        }
    }
    Ok(())
}

fn document_error(path: &str, source: serde_json::Error) -> Error {
    Error::Document { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
