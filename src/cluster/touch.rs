//! Writes single objects of the operator: the canary, and nothing that a person has not asked for in the configuration.

use http::Request;
use http::header::{CONTENT_TYPE, HeaderValue};
use serde_json::Value;

use super::discover::Resource;
use super::list::is_name;
use super::request::{self, Client};

/// Under which name `managedFields` records the canary's changes.
pub const CANARY_MANAGER: &str = "dogwatch";

/// How an object is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    /// RFC 7386, `application/merge-patch+json`.
    Patch,
    Create,
}

/// Why an object could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An admission webhook or policy refuses it, or the webhook itself fails.
    #[error("{by} refuses the change of {object}")]
    Admission {
        /// What kind of thing refuses it, with its name.
        by: String,
        /// `namespace/name`, or the name.
        object: String,
    },
    /// The request itself is refused, as by the schema: 400, 409 or 422. The API server's words may hold values of the
    /// object and are left out.
    #[error(
        "the API server refuses the change of {object} (HTTP {status}); its schema or validation does not allow it"
    )]
    Invalid {
        /// The HTTP status code.
        status: u16,
        /// `namespace/name`, or the name.
        object: String,
    },
    /// No usable answer.
    #[error("cannot write {object}")]
    Request {
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

/// An object to write.
#[derive(Debug, Clone, Copy)]
pub struct Object<'o> {
    /// Its resource.
    pub resource: &'o Resource,
    /// Its namespace; not used for objects of the whole cluster.
    pub namespace: Option<&'o str>,
    /// Its name.
    pub name: &'o str,
}

impl Object<'_> {
    /// `namespace/name`, or the name.
    pub fn shown(&self) -> String {
        let namespace = self.namespace.filter(|_| self.resource.namespaced);
        namespace.map_or_else(|| self.name.to_owned(), |namespace| format!("{namespace}/{}", self.name))
    }

    /// Changes the object by a merge patch, in the name of `manager`. Returns its JSON, of at most `limit` bytes, as the
    /// API server then has it.
    ///
    /// # Errors
    /// When the API server does not take it, or does not answer. In the latter case it may have been written.
    pub async fn patch(&self, client: &Client, patch: &Value, manager: &str, limit: usize) -> Result<Vec<u8>, Error> {
        self.write(client, Verb::Patch, patch, manager, limit).await
    }

    /// Creates the object; `body` is the whole of it.
    ///
    /// # Errors
    /// As [`Object::patch`].
    pub async fn create(&self, client: &Client, body: &Value, manager: &str, limit: usize) -> Result<Vec<u8>, Error> {
        self.write(client, Verb::Create, body, manager, limit).await
    }

    async fn write(
        &self,
        client: &Client,
        verb: Verb,
        body: &Value,
        manager: &str,
        limit: usize,
    ) -> Result<Vec<u8>, Error> {
        let object = self.shown();
        let namespace = self.namespace.filter(|_| self.resource.namespaced);
        if !is_name(self.name) || namespace.is_some_and(|namespace| !is_name(namespace)) {
            return Err(Error::Name { object });
        }
        let path = self.resource.path(namespace);
        let (request, form) = match verb {
            Verb::Patch => {
                let name = self.name;
                (Request::patch(format!("{path}/{name}?fieldManager={manager}")), "application/merge-patch+json")
            }
            Verb::Create => (Request::post(format!("{path}?fieldManager={manager}")), "application/json"),
        };
        let mut request =
            request.body(body.to_string().into_bytes()).map_err(|_| Error::Name { object: object.clone() })?;
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(form));
        let written = match client.send_patiently(request, client.deadline()).await {
            Ok(answer) => answer.body.collect(limit).await,
            Err(error) => Err(error),
        };
        written.map_err(|source| sort(source, object))
    }
}

/// Tells a refusal by admission from one by rights: both are 403, and only their words differ.
fn sort(error: request::Error, object: String) -> Error {
    let message = match &error {
        request::Error::Forbidden { message }
        | request::Error::Refused { message, .. }
        | request::Error::Server { message, .. } => message.as_str(),
        _ => "",
    };
    match (admission(message), &error) {
        (Some(by), _) => Error::Admission { by, object },
        (None, request::Error::Refused { status, .. }) => Error::Invalid { status: *status, object },
        (None, _) => Error::Request { object, source: error },
    }
}

/// Who refused, by the words of the API server: `admission webhook "NAME" denied the request`, `failed calling webhook
/// "NAME"`, `ValidatingAdmissionPolicy 'NAME' with binding ...`.
fn admission(message: &str) -> Option<String> {
    const SIGNS: [(&str, char, &str); 3] = [
        ("admission webhook \"", '"', "the admission webhook"),
        ("failed calling webhook \"", '"', "the failing admission webhook"),
        ("ValidatingAdmissionPolicy '", '\'', "the admission policy"),
    ];
    SIGNS.iter().find_map(|(sign, end, what)| {
        let (_, rest) = message.split_once(sign)?;
        Some(format!("{what} {}", rest.split(*end).next()?))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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

    async fn patching(reply: Reply) -> (Result<Vec<u8>, Error>, Vec<String>) {
        let (client, asked) = client([reply]).await;
        let resource = widgets();
        let object = Object { resource: &resource, namespace: Some("prod"), name: "canary" };
        (object.patch(&client, &json!({"spec": {}}), CANARY_MANAGER, 1000).await, asked.targets())
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_is_made_in_the_name_of_dogwatch() {
        let (written, asked) = patching(Reply::ok(r#"{"kind":"Widget"}"#)).await;
        assert_eq!(written.expect("written"), br#"{"kind":"Widget"}"#);
        assert_eq!(asked, ["/apis/example.com/v1/namespaces/prod/widgets/canary?fieldManager=dogwatch"]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_refuses_is_named_and_its_words_are_not_repeated() {
        let webhook = "admission webhook \"guard.example.com\" denied the request: size 7 is secret";
        let policy = "widgets.example.com \"c\" is forbidden: ValidatingAdmissionPolicy 'lock' with binding 'b' denied request: 7";
        let failing = "Internal error occurred: failed calling webhook \"guard.example.com\": no endpoints";
        for (status, reason, message, by) in [
            (403, "Forbidden", webhook, "the admission webhook guard.example.com"),
            (422, "Invalid", policy, "the admission policy lock"),
            (500, "InternalError", failing, "the failing admission webhook guard.example.com"),
        ] {
            let (written, _) = patching(Reply::status(status, reason, message)).await;
            let said = written.expect_err("refused").to_string();
            assert_eq!(said, format!("{by} refuses the change of prod/canary"));
        }
        let (written, _) = patching(Reply::status(422, "Invalid", "spec.size: Invalid value: 7")).await;
        let said = written.expect_err("refused").to_string();
        assert!(said.contains("HTTP 422") && !said.contains('7'), "{said}");
        let rights = "widgets.example.com \"canary\" is forbidden: User \"x\" cannot patch resource \"widgets\"";
        let (written, _) = patching(Reply::status(403, "Forbidden", rights)).await;
        assert!(matches!(written, Err(Error::Request { source: request::Error::Forbidden { .. }, .. })));
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_that_means_another_path_is_not_sent() {
        let (client, asked) = client([]).await;
        let resource = widgets();
        for name in ["", "..", "a/b", "a?b"] {
            let object = Object { resource: &resource, namespace: Some("prod"), name };
            let written = object.create(&client, &json!({}), CANARY_MANAGER, 1).await;
            assert!(matches!(written, Err(Error::Name { .. })));
        }
        assert!(asked.targets().is_empty());
    }
}
