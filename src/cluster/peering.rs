//! A kopf peering object, read by name.

use super::access::{self, Found};
use super::discover::Resource;
use super::request::{Client, Reason, ServerTime};
use crate::judge::peering::{CLUSTER_KIND, GROUPS, KIND, Peers};

/// A record has about a hundred bytes, and dead ones are cleaned up.
const MAX_BYTES: usize = 1024 * 1024;

/// Why there is no peering to judge by.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be read.
    #[error(transparent)]
    Access(#[from] access::Error),
    /// What was read is no peering object.
    #[error("the answer for the peering {name} is no peering object")]
    Decode {
        /// `namespace/name`, or the name.
        name: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// It is not there. Whoever configured it expects it.
    #[error("there is no {kind} {name}; create it, or leave operator.peering out")]
    Missing {
        /// The kind that was looked for.
        kind: &'static str,
        /// `namespace/name`, or the name.
        name: String,
    },
}

/// Reads the `KopfPeering` of a namespace or, without one, the `ClusterKopfPeering` of that name: of the group that kopf
/// uses since 1.29, else of the one before.
///
/// # Errors
/// When it cannot be read or is not there, which says nothing about who waits.
pub async fn read(client: &Client, namespace: Option<&str>, name: &str) -> Result<(Peers, Option<ServerTime>), Error> {
    let shown = || namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
    let mut refused = None;
    for group in GROUPS {
        match access::read(client, &resource(group, namespace.is_some()), namespace, name, MAX_BYTES).await {
            Ok(Found::Object(json, server)) => {
                let peers = Peers::read(&json).map_err(|source| Error::Decode { name: shown(), source })?;
                return Ok((peers, server));
            }
            Ok(Found::Nothing) => {}
            Err(error) if error.reason() == Reason::NotFound => {}
            // Rights may have been given for the other group alone.
            Err(error) if error.reason() == Reason::Forbidden => drop(refused.get_or_insert(error)),
            Err(error) => return Err(error.into()),
        }
    }
    let kind = if namespace.is_some() { KIND } else { CLUSTER_KIND };
    Err(refused.map_or_else(|| Error::Missing { kind, name: shown() }, Error::Access))
}

fn resource(group: &str, namespaced: bool) -> Resource {
    let kind = if namespaced { KIND } else { CLUSTER_KIND };
    Resource {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        plural: format!("{}s", kind.to_lowercase()),
        singular: kind.to_lowercase(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced,
        verbs: Vec::new(),
        has_status: false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Reply, client};
    use super::*;

    const UNSERVED: &str = "the server could not find the requested resource";

    async fn reading(namespace: Option<&str>, replies: Vec<Reply>) -> (Result<usize, String>, Vec<String>) {
        let (client, asked) = client(replies).await;
        let now = "2026-03-01T12:00:00Z".parse().expect("a time");
        let read = read(&client, namespace, "default").await;
        (read.map(|(peers, _)| peers.live(now)).map_err(|error| error.to_string()), asked.targets())
    }

    #[tokio::test(start_paused = true)]
    async fn the_new_group_is_asked_before_the_old_one() {
        let object = r#"{"status":{"a":{"priority":0}}}"#;
        let (read, asked) = reading(None, vec![Reply::ok(object)]).await;
        assert_eq!((read, asked), (Ok(1), vec!["/apis/kopf.dev/v1/clusterkopfpeerings/default".to_owned()]));
        let replies = vec![Reply::status(404, "NotFound", UNSERVED), Reply::ok(object)];
        let (read, asked) = reading(Some("prod"), replies).await;
        assert_eq!(read, Ok(1));
        assert_eq!(asked[1], "/apis/zalando.org/v1/namespaces/prod/kopfpeerings/default");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_there_or_not_allowed_is_said() {
        let gone = || Reply::status(404, "NotFound", r#"clusterkopfpeerings.kopf.dev "default" not found"#);
        let unserved = || Reply::status(404, "NotFound", UNSERVED);
        let forbidden = || Reply::status(403, "Forbidden", "no");
        let (read, _) = reading(None, vec![gone(), unserved()]).await;
        assert!(read.expect_err("missing").starts_with("there is no ClusterKopfPeering default"));
        let (read, _) = reading(None, vec![forbidden(), unserved()]).await;
        assert!(read.expect_err("forbidden").starts_with("cannot read clusterkopfpeerings.kopf.dev default"));
        let (read, asked) = reading(None, vec![Reply::status(500, "InternalError", "no")]).await;
        assert!(read.is_err() && asked.len() == 1, "an API server that fails is not asked further");
        assert!(reading(None, vec![Reply::ok("[1]")]).await.0.is_err());
    }
}
