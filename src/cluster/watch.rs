//! Watches objects: what changes is handed out as it arrives.
//!
//! A watch is never trusted alone. It may be accepted and never begin, stay open and say nothing, or go on without the
//! objects it is for; so its headers have the time of a request, and a silence longer than `idle_after` ends it.
//! Bookmarks are asked for: the API server sends one about every 60 s, unless nobody writes or lists the resource, when it
//! has nothing newer to tell.

use std::ops::Range;
use std::time::Duration;

use http::Request;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::discover::Resource;
use super::list::is_name;
use super::request::{self, Body, Client};

/// What to watch, and from where.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    /// The resource, in the version that is to be asked for.
    pub resource: &'a Resource,
    /// Only this namespace.
    pub namespace: Option<&'a str>,
    /// Only the object of this name. RBAC rules that name objects apply then.
    pub name: Option<&'a str>,
    /// Label selector, as `kubectl -l` takes it.
    pub labels: Option<&'a str>,
    /// The resourceVersion behind which to go on.
    pub from: &'a str,
    /// How long the API server shall keep the watch open.
    pub lasts: Duration,
    /// The longest silence, bookmarks counted as sound.
    pub idle_after: Duration,
    /// Objects of more bytes are reported and not handed out.
    pub max_object_bytes: usize,
}

/// What a watch hands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The API server accepted the watch; nothing has come yet.
    Begun,
    /// An object appeared; its JSON.
    Added(&'a [u8]),
    /// An object changed; its JSON.
    Modified(&'a [u8]),
    /// An object vanished; its last JSON.
    Deleted(&'a [u8]),
    /// Nothing else happened up to here.
    Bookmark,
    /// An event with more bytes than allowed; nothing else is known of it.
    TooLarge,
    /// The API server ends the watch with an `ERROR` event; [`Watched::end`] says why.
    Failed,
}

/// How a watch ended without a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The API server closed it; go on behind [`Watched::version`].
    Closed,
    /// Nothing came for too long.
    Idle,
}

/// How a watch went.
#[derive(Debug)]
pub struct Watched {
    /// How it ended. [`request::Error::Expired`] means that everything must be read again.
    pub end: Result<End, request::Error>,
    /// The newest resourceVersion that it showed.
    pub version: Option<String>,
}

/// Room for what stands around an object in its event.
const FRAME_BYTES: usize = 1024;

/// Watches what `query` names and hands everything to `each` as it arrives.
pub async fn watch(client: &Client, query: &Query<'_>, each: &mut impl FnMut(Event<'_>)) -> Watched {
    let mut version = None;
    let end = follow(client, query, &mut version, each).await;
    Watched { end, version }
}

async fn follow(
    client: &Client,
    query: &Query<'_>,
    version: &mut Option<String>,
    each: &mut impl FnMut(Event<'_>),
) -> Result<End, request::Error> {
    let request = query.request()?;
    let begins = client.deadline();
    // The body may last for as long as was asked for; a request has time for the headers alone.
    let ends = begins + query.lasts + query.idle_after;
    let answer =
        tokio::time::timeout_at(begins, client.send(request, ends)).await.map_err(|_| client.timed_out())??;
    each(Event::Begun);
    let mut lines = Lines::new(answer.body, query.max_object_bytes + FRAME_BYTES);
    loop {
        let line = match tokio::time::timeout(query.idle_after, lines.next()).await {
            Err(_) => return Ok(End::Idle),
            Ok(line) => line?,
        };
        match line {
            Line::End => return Ok(End::Closed),
            Line::TooLong => each(Event::TooLarge),
            Line::Text(at) => hand_out(lines.text(at), version, each)?,
        }
    }
}

impl Query<'_> {
    fn request(&self) -> Result<Request<Vec<u8>>, request::Error> {
        let refused = |what: &str| request::Error::Refused { status: 400, message: format!("{what} is no name") };
        let namespace = self.namespace.filter(|_| self.resource.namespaced);
        for (what, text) in [("the namespace", namespace), ("the object's name", self.name)] {
            if text.is_some_and(|text| !is_name(text)) {
                return Err(refused(what));
            }
        }
        let parameters = kube::core::params::WatchParams {
            label_selector: self.labels.map(str::to_owned),
            field_selector: self.name.map(|name| format!("metadata.name={name}")),
            timeout: Some(u32::try_from(self.lasts.as_secs().max(1)).unwrap_or(u32::MAX)),
            bookmarks: true,
            send_initial_events: false,
        };
        kube::core::Request::new(self.resource.path(namespace))
            .watch(&parameters, self.from)
            .map_err(|error| request::Error::Refused { status: 400, message: request::one_line(&error.to_string()) })
    }
}

#[derive(Deserialize)]
struct Frame<'a> {
    r#type: &'a str,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Versioned {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    resource_version: Option<String>,
}

fn hand_out(line: &[u8], version: &mut Option<String>, each: &mut impl FnMut(Event<'_>)) -> Result<(), request::Error> {
    let unreadable = |_| request::Error::NotKubernetes { status: 200, content_type: "no watch event".to_owned() };
    let frame: Frame<'_> = serde_json::from_slice(line).map_err(unreadable)?;
    let object = frame.object.get();
    if frame.r#type == "ERROR" {
        each(Event::Failed);
        return Err(request::of_event(object));
    }
    if let Ok(Versioned { metadata: Metadata { resource_version: Some(newest) } }) = serde_json::from_str(object) {
        *version = Some(newest);
    }
    match frame.r#type {
        "ADDED" => each(Event::Added(object.as_bytes())),
        "MODIFIED" => each(Event::Modified(object.as_bytes())),
        "DELETED" => each(Event::Deleted(object.as_bytes())),
        "BOOKMARK" => each(Event::Bookmark),
        // The API may gain types; they say nothing to us.
        _ => {}
    }
    Ok(())
}

/// A body cut into lines, which are read where they were received.
struct Lines {
    body: Body,
    buffer: Vec<u8>,
    /// What stands before this was handed out.
    start: usize,
    limit: usize,
}

enum Line {
    /// Where it stands in the buffer, until the next one is asked for.
    Text(Range<usize>),
    TooLong,
    End,
}

/// A buffer that grew larger for one event is given back.
const KEPT_BYTES: usize = 64 * 1024;

impl Lines {
    const fn new(body: Body, limit: usize) -> Self {
        Self { body, buffer: Vec::new(), start: 0, limit }
    }

    fn text(&self, at: Range<usize>) -> &[u8] {
        self.buffer.get(at).unwrap_or_default()
    }

    /// The next line that is not empty. Dropping the future loses nothing but the rest of a line that is too long.
    async fn next(&mut self) -> Result<Line, request::Error> {
        let mut searched = self.start;
        let mut is_too_long = false;
        loop {
            if let Some(at) = memchr::memchr(b'\n', self.buffer.get(searched..).unwrap_or_default()) {
                let line = self.start..searched + at;
                self.start = line.end + 1;
                searched = self.start;
                if is_too_long || line.len() > self.limit {
                    return Ok(Line::TooLong);
                }
                if !self.text(line.clone()).trim_ascii().is_empty() {
                    return Ok(Line::Text(line));
                }
                continue;
            }
            self.buffer.drain(..std::mem::take(&mut self.start));
            is_too_long |= self.buffer.len() > self.limit;
            if is_too_long {
                self.buffer.clear();
            }
            if self.buffer.is_empty() && self.buffer.capacity() > KEPT_BYTES {
                self.buffer = Vec::new();
            }
            searched = self.buffer.len();
            match self.body.chunk().await? {
                Some(bytes) => self.buffer.extend_from_slice(&bytes),
                None => return Ok(Line::End),
            }
        }
    }
}

#[cfg(test)]
mod tests;
