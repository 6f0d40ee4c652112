//! Reads single objects again: a list finds, a GET confirms.
//!
//! A GET goes to storage, where lists may come from the API server's cache since Kubernetes 1.34.

use http::Request;
use http::header::{ACCEPT, HeaderValue};

use super::discover::Resource;
use super::list::is_name;
use super::request::{self, Client, Reason, ServerTime};

/// What a GET found.
#[derive(Debug)]
pub enum Found {
    /// The object's JSON, and the API server's clock.
    Object(Vec<u8>, Option<ServerTime>),
    /// The API server says that there is no object of that name.
    Nothing,
}

/// Why an object could not be read. None of them says that it is not there.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No usable answer.
    #[error("cannot read {resource} {object}")]
    Request {
        /// `plural.group`.
        resource: String,
        /// `namespace/name`, or the name.
        object: String,
        /// Why.
        #[source]
        source: request::Error,
    },
    /// What was given as a name cannot be one.
    #[error("{object:?} is not the name of an object")]
    Name {
        /// As given.
        object: String,
    },
}

impl Error {
    /// The word for it in reports.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Request { source, .. } => source.reason(),
            Self::Name { .. } => Reason::Other,
        }
    }

    /// What it tells of the API server; nothing where nothing was sent.
    pub const fn request(&self) -> Option<&request::Error> {
        match self {
            Self::Request { source, .. } => Some(source),
            Self::Name { .. } => None,
        }
    }
}

/// Reads one object of at most `limit` bytes, within the client's time for a request.
///
/// # Errors
/// When there is no usable answer. A 404 that does not name the object comes from an API server that does not serve the
/// resource (yet), and is an error as well.
pub async fn read(
    client: &Client,
    resource: &Resource,
    namespace: Option<&str>,
    name: &str,
    limit: usize,
) -> Result<Found, Error> {
    let namespace = namespace.filter(|_| resource.namespaced);
    let object = namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
    if !is_name(name) || namespace.is_some_and(|namespace| !is_name(namespace)) {
        return Err(Error::Name { object });
    }
    let mut request = Request::new(Vec::new());
    *request.uri_mut() =
        format!("{}/{name}", resource.path(namespace)).parse().map_err(|_| Error::Name { object: object.clone() })?;
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
    let deadline = client.deadline();
    let answer = match client.send_patiently(request, deadline).await {
        Ok(answer) => answer,
        Err(request::Error::NotFound { message }) if message.contains(&format!("{name:?}")) => {
            return Ok(Found::Nothing);
        }
        Err(source) => return Err(Error::Request { resource: resource.name(), object, source }),
    };
    let server = answer.server;
    match answer.body.collect(limit).await {
        Ok(json) => Ok(Found::Object(json, server)),
        Err(source) => Err(Error::Request { resource: resource.name(), object, source }),
    }
}

/// More bytes of `/version` are not read; it has a few hundred.
const MAX_VERSION_BYTES: usize = 64 * 1024;

/// Asks for `/version`, which every authenticated user may read: whether the API server answers at all, and its clock.
///
/// # Errors
/// When there is no usable answer.
pub async fn ping(client: &Client) -> Result<Option<ServerTime>, request::Error> {
    let mut request = Request::new(Vec::new());
    *request.uri_mut() = http::Uri::from_static("/version");
    let answer = client.send(request, client.deadline()).await?;
    let server = answer.server;
    answer.body.collect(MAX_VERSION_BYTES).await.map(|_| server)
}

#[cfg(test)]
mod tests {
    use super::super::script::{Reply, client};
    use super::*;

    fn widgets() -> Resource {
        Resource {
            group: "example.com".to_owned(),
            version: "v1".to_owned(),
            kind: "Widget".to_owned(),
            plural: "widgets".to_owned(),
            singular: "widget".to_owned(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: true,
            verbs: Vec::new(),
            has_status: true,
        }
    }

    async fn reading(reply: Reply) -> (Result<Found, Error>, Vec<String>) {
        let (client, asked) = client([reply]).await;
        (read(&client, &widgets(), Some("prod"), "a", 1000).await, asked.targets())
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_is_read_at_its_path() {
        let (found, asked) = reading(Reply::ok(r#"{"kind":"Widget"}"#)).await;
        assert!(matches!(found, Ok(Found::Object(json, _)) if json == br#"{"kind":"Widget"}"#));
        assert_eq!(asked, ["/apis/example.com/v1/namespaces/prod/widgets/a"]);
    }

    #[tokio::test(start_paused = true)]
    async fn only_an_answer_that_names_the_object_says_that_it_is_gone() {
        let gone = Reply::status(404, "NotFound", r#"widgets.example.com "a" not found"#);
        assert!(matches!(reading(gone).await.0, Ok(Found::Nothing)));
        let unserved = Reply::status(404, "NotFound", "the server could not find the requested resource");
        assert!(matches!(reading(unserved).await.0, Err(Error::Request { .. })));
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_that_means_another_path_is_not_sent() {
        let (client, asked) = client([]).await;
        for name in ["", "..", "a/b", "a?b"] {
            assert!(matches!(read(&client, &widgets(), Some("prod"), name, 1).await, Err(Error::Name { .. })));
        }
        assert!(asked.targets().is_empty());
    }
}
