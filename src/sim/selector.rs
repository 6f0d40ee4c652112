//! Label and field selectors of lists and watches.

use serde_json::Value;

use super::failure::Failure;
use super::resource::{Resource, Role};

/// Which objects a list or watch asks for.
#[derive(Debug, Clone, Default)]
pub(super) struct Selector {
    labels: Vec<Requirement>,
    fields: Vec<(String, bool, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Requirement {
    In(String, Vec<String>),
    /// An object without the label fits as well, as with kubectl.
    NotIn(String, Vec<String>),
    Exists(String),
    Absent(String),
}

impl Selector {
    /// Reads `labelSelector` and `fieldSelector`. Custom resources have the fields `metadata.name` and
    /// `metadata.namespace` alone; of native ones any field can be named.
    pub(super) fn parse(labels: Option<&str>, fields: Option<&str>, resource: &Resource) -> Result<Self, Failure> {
        let labels = split_outside_brackets(labels.unwrap_or_default()).map(requirement).collect::<Result<_, _>>()?;
        let fields = fields.unwrap_or_default().split(',').filter(|part| !part.is_empty());
        let fields = fields.map(|part| field(part, resource)).collect::<Result<_, _>>()?;
        Ok(Self { labels, fields })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub(super) fn fits(&self, object: &Value) -> bool {
        let label = |key: &str| object["metadata"]["labels"].get(key).and_then(Value::as_str);
        let has = |values: &[String], key: &str| label(key).is_some_and(|value| values.iter().any(|v| v == value));
        let labels = self.labels.iter().all(|requirement| match requirement {
            Requirement::In(key, values) => has(values, key),
            Requirement::NotIn(key, values) => !has(values, key),
            Requirement::Exists(key) => label(key).is_some(),
            Requirement::Absent(key) => label(key).is_none(),
        });
        labels
            && self.fields.iter().all(|(path, equal, wanted)| {
                let value = path.split('.').try_fold(object, |at, name| at.get(name));
                (value.and_then(Value::as_str).unwrap_or_default() == wanted) == *equal
            })
    }
}

/// Splits at the commas that do not stand in the brackets of `in (a,b)`.
fn split_outside_brackets(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |letter| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

fn requirement(text: &str) -> Result<Requirement, Failure> {
    let key = |key: &str| key.trim().to_owned();
    let one = |value: &str| vec![value.trim().to_owned()];
    if let Some(name) = text.strip_prefix('!') {
        return Ok(Requirement::Absent(key(name)));
    }
    if let Some((name, value)) = text.split_once("!=") {
        return Ok(Requirement::NotIn(key(name), one(value)));
    }
    if let Some((name, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return Ok(Requirement::In(key(name), one(value)));
    }
    let set = |text: &str| -> Option<Vec<String>> {
        let inner = text.trim().strip_prefix('(')?.strip_suffix(')')?;
        Some(inner.split(',').map(|value| value.trim().to_owned()).collect())
    };
    if let Some((name, values)) = text.split_once(" notin ") {
        let values = set(values).ok_or_else(|| unreadable(text))?;
        return Ok(Requirement::NotIn(key(name), values));
    }
    if let Some((name, values)) = text.split_once(" in ") {
        let values = set(values).ok_or_else(|| unreadable(text))?;
        return Ok(Requirement::In(key(name), values));
    }
    if text.contains(char::is_whitespace) {
        return Err(unreadable(text));
    }
    Ok(Requirement::Exists(key(text)))
}

fn field(text: &str, resource: &Resource) -> Result<(String, bool, String), Failure> {
    let (path, equal, value) = if let Some((path, value)) = text.split_once("!=") {
        (path, false, value)
    } else {
        let pair = text.split_once("==").or_else(|| text.split_once('='));
        let (path, value) = pair.ok_or_else(|| unreadable(text))?;
        (path, true, value)
    };
    if resource.role == Role::Custom && !matches!(path, "metadata.name" | "metadata.namespace") {
        return Err(Failure::bad_request(format!("field label not supported: {path}")));
    }
    Ok((path.to_owned(), equal, value.to_owned()))
}

fn unreadable(text: &str) -> Failure {
    Failure::bad_request(format!("unable to parse requirement: {text}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fits(labels: &str, fields: &str) -> bool {
        let resource = Resource::custom("example.com", "v1", "Widget");
        let selector = Selector::parse(Some(labels), Some(fields), &resource).expect("readable");
        selector.fits(&json!({"metadata": {"name": "a", "namespace": "ns", "labels": {"team": "x", "tier": "db"}}}))
    }

    #[test]
    fn each_form_of_a_label_requirement_is_understood() {
        for yes in
            ["", "team=x", "team==x,tier=db", "team!=y", "other!=y", "team in (y, x),tier", "!other", "team notin (y)"]
        {
            assert!(fits(yes, ""), "{yes}");
        }
        for no in ["team=y", "team!=x", "team in (y,z)", "!team", "other", "team notin (x,y)", "team=x,tier=web"] {
            assert!(!fits(no, ""), "{no}");
        }
    }

    #[test]
    fn a_name_and_a_namespace_can_be_selected_and_nothing_else_of_a_custom_resource() {
        assert!(fits("", "metadata.name=a,metadata.namespace!=other"));
        assert!(!fits("", "metadata.name=b"));
        let resource = Resource::custom("example.com", "v1", "Widget");
        assert!(Selector::parse(None, Some("spec.size=1"), &resource).is_err());
    }
}
