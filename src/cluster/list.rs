//! Lists one resource page by page and hands out every object as its bytes arrive.
//!
//! Without `resourceVersion`, so that the answer is as new as the API server can make it, unless the cache itself is what
//! is asked about ([`Query::cached`]); and always with the same `limit`, since a continue token may only be used with otherwise identical parameters.

mod query;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::page::{self, Item, ListMeta};
use super::request::{self, Client, Reach, Reason, ServerTime};

pub(super) use query::is_name;
pub use query::{MAX_OBJECT_BYTES, PAGE_SIZE, Query};

/// Filters may leave pages empty, but a list that goes on for this long without an object goes on for ever.
const MAX_EMPTY_PAGES: u32 = 1000;

/// What a list hands out while it is read.
#[derive(Debug)]
pub enum Seen<'a> {
    /// One object's JSON, valid until the callback returns.
    Object(&'a [u8]),
    /// An object with more bytes than allowed; nothing else is known of it.
    TooLarge {
        /// How many.
        bytes: u64,
    },
    /// A page has ended.
    Page {
        /// How many objects are still to come, where the API server says so. It does not with a selector.
        remaining: Option<u64>,
    },
    /// The list begins again: what was handed out before will come once more and must be forgotten.
    Restarted,
}

/// How a list went.
#[derive(Debug, Default)]
pub struct Listing {
    /// Why it ended early. What was handed out until then holds; absence may be concluded from nothing.
    pub error: Option<Error>,
    /// Objects handed out, those too large included, since the last [`Seen::Restarted`].
    pub objects: u64,
    /// Of those, how many were too large.
    pub too_large: u64,
    /// Pages read since the last [`Seen::Restarted`].
    pub pages: u32,
    /// Bytes received in all.
    pub bytes: u64,
    /// How often the API server had forgotten the list's state and the list went on from a newer one. No object comes
    /// twice and none that existed throughout is missing, but the pages show different moments.
    pub resumed: u32,
    /// The list's `metadata.resourceVersion`, as its first page gave it: a watch from here misses nothing.
    pub resource_version: Option<String>,
    /// The API server's clock as the newest page showed it.
    pub server: Option<ServerTime>,
}

impl Listing {
    /// Whether every object was seen.
    pub const fn is_complete(&self) -> bool {
        self.error.is_none() && self.too_large == 0
    }
}

/// Why a list ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server's answer was not a page.
    #[error("cannot list {resource}")]
    Request {
        /// `plural.group`.
        resource: String,
        /// Why.
        #[source]
        source: request::Error,
    },
    /// A page could not be read to its end.
    #[error("cannot list {resource}: page {page} cannot be read")]
    Page {
        /// `plural.group`.
        resource: String,
        /// Counted from 1.
        page: u32,
        /// Why.
        #[source]
        source: page::Error,
    },
    /// The API server sends the reader in a circle.
    #[error("cannot list {resource}: page {page} names a continue token that was used before")]
    TokenRepeated {
        /// `plural.group`.
        resource: String,
        /// Counted from 1.
        page: u32,
    },
    /// Page after page without an object.
    #[error("cannot list {resource}: {MAX_EMPTY_PAGES} pages in a row were empty and the API server promises more")]
    NeverEnds {
        /// `plural.group`.
        resource: String,
    },
    /// The resource has no `list` verb.
    #[error("cannot list {resource}: the API server offers no `list` for it")]
    NotListable {
        /// `plural.group`.
        resource: String,
    },
    /// What was given as a namespace cannot be one.
    #[error("{namespace:?} is not the name of a namespace")]
    Namespace {
        /// As given.
        namespace: String,
    },
    /// The request could not be built.
    #[error("cannot build the request that lists {resource}")]
    Build {
        /// `plural.group`.
        resource: String,
        /// Why.
        #[source]
        source: Box<kube::core::request::Error>,
    },
}

impl Error {
    /// What it tells of the API server.
    pub const fn reach(&self) -> Reach {
        match self {
            Self::Request { source, .. } => source.reach(),
            Self::Page { source, .. } => source.reach(),
            Self::TokenRepeated { .. } | Self::NeverEnds { .. } => Reach::Fails,
            Self::NotListable { .. } | Self::Namespace { .. } | Self::Build { .. } => Reach::Neither,
        }
    }

    /// The word for it in reports.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Request { source, .. } => source.reason(),
            Self::Page { source, .. } => source.reason(),
            Self::TokenRepeated { .. } | Self::NeverEnds { .. } => Reason::Decode,
            Self::NotListable { .. } | Self::Namespace { .. } | Self::Build { .. } => Reason::Other,
        }
    }
}

/// Lists what `query` names and hands everything to `each` as it arrives.
///
/// Each page has the client's time for a request, waits that the API server asks for included. When the API server has
/// forgotten the list's state, the list goes on with the fresh token that it offers, or else begins again, once.
pub async fn list(client: &Client, query: &Query<'_>, each: &mut impl FnMut(Seen<'_>)) -> Listing {
    let mut listing = Listing::default();
    listing.error = walk(client, query, &mut listing, each).await.err();
    listing
}

/// Reads the first page of what `query` names and drops it: whether the API server answers at all, and its clock.
///
/// # Errors
/// As [`list`].
pub async fn peek(client: &Client, query: &Query<'_>) -> Result<Option<ServerTime>, Error> {
    let failed = |source| Error::Request { resource: query.resource.name(), source };
    let answer = client.send_patiently(query.request(None)?, client.deadline()).await.map_err(failed)?;
    let server = answer.server;
    page(query, &mut Listing::default(), &mut |_| {}, answer.body).await?;
    Ok(server)
}

async fn walk(
    client: &Client,
    query: &Query<'_>,
    listing: &mut Listing,
    each: &mut impl FnMut(Seen<'_>),
) -> Result<(), Error> {
    let mut course = Course::default();
    loop {
        let request = query.request(course.token.as_deref())?;
        match client.send_patiently(request, client.deadline()).await {
            Ok(answer) => {
                listing.server = answer.server.or(listing.server);
                let meta = page(query, listing, each, answer.body).await?;
                each(Seen::Page { remaining: meta.remaining_item_count });
                course.may_resume = true;
                let Some(next) = meta.r#continue.filter(|token| !token.is_empty()) else { return Ok(()) };
                course.advance(next, query, listing)?;
            }
            Err(request::Error::Expired { message, fresh }) if course.token.is_some() => match fresh {
                Some(fresh) if course.may_resume => {
                    course.may_resume = false;
                    listing.resumed += 1;
                    course.advance(fresh, query, listing)?;
                }
                None if !course.is_restarted => {
                    course = Course { is_restarted: true, ..Course::default() };
                    let Listing { bytes, server, .. } = *listing;
                    *listing = Listing { bytes, server, ..Listing::default() };
                    each(Seen::Restarted);
                }
                fresh => {
                    let source = request::Error::Expired { message, fresh };
                    return Err(Error::Request { resource: query.resource.name(), source });
                }
            },
            Err(source) => return Err(Error::Request { resource: query.resource.name(), source }),
        }
    }
}

/// Where a list is.
#[derive(Debug, Default)]
struct Course {
    token: Option<String>,
    /// Fingerprints of all tokens of this list.
    tokens: HashSet<u64>,
    /// A page was read since the last expiry.
    may_resume: bool,
    is_restarted: bool,
    /// Pages without an object, in a row.
    empty_pages: u32,
    objects: u64,
}

impl Course {
    fn advance(&mut self, next: String, query: &Query<'_>, listing: &Listing) -> Result<(), Error> {
        let resource = || query.resource.name();
        self.empty_pages = if listing.objects == self.objects { self.empty_pages + 1 } else { 0 };
        self.objects = listing.objects;
        if self.empty_pages >= MAX_EMPTY_PAGES {
            return Err(Error::NeverEnds { resource: resource() });
        }
        let mut hasher = DefaultHasher::new();
        next.hash(&mut hasher);
        if !self.tokens.insert(hasher.finish()) {
            return Err(Error::TokenRepeated { resource: resource(), page: listing.pages });
        }
        self.token = Some(next);
        Ok(())
    }
}

async fn page(
    query: &Query<'_>,
    listing: &mut Listing,
    each: &mut impl FnMut(Seen<'_>),
    body: request::Body,
) -> Result<ListMeta, Error> {
    listing.pages += 1;
    let Listing { pages, objects, too_large, bytes, .. } = listing;
    let mut hand_out = |item: Item<'_>| {
        *objects += 1;
        match item {
            Item::Bytes(object) => each(Seen::Object(object)),
            Item::TooLarge { bytes } => {
                *too_large += 1;
                each(Seen::TooLarge { bytes });
            }
        }
    };
    let (api_version, kind) = query.expected();
    let envelope = page::read(body, query.max_object_bytes, bytes, &mut hand_out)
        .await
        .and_then(|page| page.expect_list(&api_version, kind))
        .map_err(|source| Error::Page { resource: query.resource.name(), page: *pages, source })?;
    if listing.resource_version.is_none() {
        listing.resource_version.clone_from(&envelope.metadata.resource_version);
    }
    Ok(envelope.metadata)
}

#[cfg(test)]
mod tests;
