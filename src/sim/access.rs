//! Who may do what: bearer tokens, simple rules, and the reviews that ask about them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::call::{Call, Place, Sender};
use super::failure::Failure;
use super::resource::Resource;

/// A user with what it may do.
#[derive(Debug, Clone, Default)]
pub struct User {
    /// Such as `system:serviceaccount:prod:dogwatch`.
    pub name: String,
    /// What it may do. Without any it may read discovery and ask about its own rights.
    pub rules: Vec<Rule>,
}

/// One rule: everything that it names, and nothing beyond. `*` stands for anything.
#[derive(Debug, Clone)]
pub struct Rule {
    /// API groups; the core group is the empty string.
    pub groups: Vec<String>,
    /// Plural names, `pods/status` for a subresource.
    pub resources: Vec<String>,
    /// RBAC verbs.
    pub verbs: Vec<String>,
    /// The only namespace; absent for the whole cluster.
    pub namespace: Option<String>,
    /// The only names; empty for all.
    pub names: Vec<String>,
}

impl User {
    /// A user that may do nothing yet.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), rules: Vec::new() }
    }

    /// The same with a rule for the whole cluster.
    #[must_use]
    pub fn allow(mut self, group: &str, resources: &[&str], verbs: &[&str]) -> Self {
        let own = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let (resources, verbs) = (own(resources), own(verbs));
        self.rules.push(Rule { groups: vec![group.to_owned()], resources, verbs, namespace: None, names: Vec::new() });
        self
    }

    /// The same, with the last rule for one namespace alone.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        if let Some(rule) = self.rules.last_mut() {
            rule.namespace = Some(namespace.to_owned());
        }
        self
    }

    fn may(&self, question: &Question) -> bool {
        self.rules.iter().any(|rule| rule.allows(question))
    }
}

impl Rule {
    fn allows(&self, question: &Question) -> bool {
        let has = |list: &[String], word: &str| list.iter().any(|entry| entry == "*" || entry == word);
        has(&self.groups, &question.group)
            && has(&self.resources, &question.resource)
            && has(&self.verbs, &question.verb)
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == question.namespace)
            && (self.names.is_empty() || self.names.contains(&question.name))
    }
}

/// What somebody wants to do. Empty where it does not apply, as in a review.
#[derive(Debug, Default)]
struct Question {
    verb: String,
    group: String,
    /// The plural, with `/` and the subresource if there is one.
    resource: String,
    namespace: String,
    name: String,
}

/// All tokens. Until the first is set, everybody may do everything.
#[derive(Debug, Default)]
pub(super) struct Access {
    enforced: bool,
    users: BTreeMap<String, User>,
}

impl Access {
    pub(super) fn set(&mut self, token: &str, user: User) {
        self.enforced = true;
        self.users.insert(token.to_owned(), user);
    }

    pub(super) fn revoke(&mut self, token: &str) {
        self.users.remove(token);
    }

    /// Who sends the request: nothing where everybody may do everything.
    pub(super) fn user(&self, sender: &Sender) -> Result<Option<&User>, Failure> {
        if !self.enforced {
            return Ok(None);
        }
        let user = sender.token.as_ref().and_then(|token| self.users.get(token)).ok_or_else(Failure::unauthorized)?;
        let Some(other) = &sender.acts_as else { return Ok(Some(user)) };
        let question = Question {
            verb: "impersonate".into(),
            resource: "users".into(),
            name: other.clone(),
            ..Question::default()
        };
        if !user.may(&question) {
            let message = format!(
                "users \"{other}\" is forbidden: User \"{}\" cannot impersonate resource \"users\" in API group \"\" at \
                 the cluster scope",
                user.name
            );
            return Err(Failure::new(403, "Forbidden", message));
        }
        Ok(Some(self.users.values().find(|user| user.name == *other).unwrap_or(&NOBODY)))
    }

    /// Refuses what the sender may not do.
    pub(super) fn check(&self, call: &Call, place: &Place, resource: &Resource) -> Result<(), Failure> {
        let Some(user) = self.user(&call.sender)? else { return Ok(()) };
        let verb = call.verb.ok_or_else(Failure::method_not_allowed)?.as_str();
        let question = Question {
            verb: verb.to_owned(),
            group: place.group.clone(),
            resource: with_subresource(&place.plural, place.subresource.as_deref()),
            namespace: place.namespace.clone().unwrap_or_default(),
            name: place.name.clone().unwrap_or_default(),
        };
        let asks_about_itself = place.plural == "selfsubjectaccessreviews";
        if asks_about_itself || user.may(&question) {
            return Ok(());
        }
        let scope = match &place.namespace {
            Some(namespace) => format!("in the namespace \"{namespace}\""),
            None => "at the cluster scope".to_owned(),
        };
        let problem = format!(
            "User \"{}\" cannot {verb} resource \"{}\" in API group \"{}\" {scope}",
            user.name, question.resource, place.group
        );
        Err(Failure::forbidden(resource, place.name.as_deref(), &problem))
    }

    /// Answers a `SelfSubjectAccessReview` or a `SubjectAccessReview`.
    pub(super) fn review(&self, sender: &Sender, mut review: Value) -> Result<Value, Failure> {
        let text = |path: &str| review.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let subresource = Some(text("/spec/resourceAttributes/subresource")).filter(|name| !name.is_empty());
        let question = Question {
            verb: text("/spec/resourceAttributes/verb"),
            group: text("/spec/resourceAttributes/group"),
            resource: with_subresource(&text("/spec/resourceAttributes/resource"), subresource.as_deref()),
            namespace: text("/spec/resourceAttributes/namespace"),
            name: text("/spec/resourceAttributes/name"),
        };
        let asker = self.user(sender)?;
        let user = if review["kind"] == "SubjectAccessReview" {
            let name = text("/spec/user");
            asker.map(|_| self.users.values().find(|user| user.name == name).unwrap_or(&NOBODY))
        } else {
            asker
        };
        let about_resources = review.pointer("/spec/resourceAttributes").is_some();
        let allowed = user.is_none_or(|user| !about_resources || user.may(&question));
        review["status"] = json!({"allowed": allowed});
        if allowed {
            review["status"]["reason"] = "allowed by the simulated rules".into();
        }
        Ok(review)
    }
}

/// A user without any right.
static NOBODY: User = User { name: String::new(), rules: Vec::new() };

fn with_subresource(plural: &str, subresource: Option<&str>) -> String {
    subresource.map_or_else(|| plural.to_owned(), |subresource| format!("{plural}/{subresource}"))
}
