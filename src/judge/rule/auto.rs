//! The choice `auto`: which rule fits a resource.
//!
//! Marks that only kopf leaves come first, whoever's the group is. Then comes what is known of the group and kind; then
//! marks of frameworks whose users are many projects; and then the one convention that most operators follow.

use std::time::Duration;

use memchr::memmem;

use super::generation::Generation;
use super::kopf::{self, Kopf};
use super::table::{self, Table};
use super::{COMMON_DURATIONS, Rule, RuleFrom};

/// What is known of a resource when its rule is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Evidence<'r> {
    /// The API group; empty for the core group.
    pub group: &'r str,
    /// The kind; empty where nothing tells it.
    pub kind: &'r str,
    /// The strongest mark that some object shows; see [`Signs`].
    pub mark: Option<Mark>,
    /// Whether the resource has the status subresource; absent where nobody could tell, as in a dump.
    pub status_subresource: Option<bool>,
}

/// What objects show of the framework that their operator was built with, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// A release that the Helm operator keeps, or its finalizer.
    Helm,
    /// The result of a playbook.
    Ansible,
    /// Annotations, finalizers or labels of kopf.
    Kopf,
}

/// The rules of the table that are chosen by a mark.
pub const FRAMEWORKS: [(Mark, &str); 2] = [(Mark::Ansible, "ansible-operator"), (Mark::Helm, "helm-operator")];

/// Chooses the rule and says why. `max_attempt` takes the place of the rule's own.
pub fn choose(evidence: Evidence<'_>, max_attempt: Option<Duration>) -> (Rule, RuleFrom) {
    let known = table::of_resource(evidence.group, evidence.kind);
    let framework = |mark| {
        let (_, name) = FRAMEWORKS.into_iter().find(|(own, _)| *own == mark)?;
        table::named(name).map(Table::new)
    };
    let (chosen, from) = match (evidence.mark, known) {
        (Some(Mark::Kopf), _) => {
            let defaults = kopf::Options::default();
            let max_attempt = max_attempt.unwrap_or(defaults.max_attempt);
            return (Rule::Kopf(Kopf::new(kopf::Options { max_attempt, ..defaults })), RuleFrom::Objects);
        }
        (_, Some(known)) => (Some(known), RuleFrom::Group),
        (Some(mark), None) => (framework(mark), RuleFrom::Objects),
        (None, None) => (None, RuleFrom::Objects),
    };
    let has_status = evidence.status_subresource != Some(false);
    if let Some(table) = chosen {
        let table = table.with_max_attempt(max_attempt);
        return (Rule::Table(if has_status { table } else { table.without_status_subresource() }), from);
    }
    let generation = Generation::new(max_attempt.unwrap_or(COMMON_DURATIONS.max_attempt));
    if has_status {
        (Rule::Generation(generation), from)
    } else {
        (Rule::Generation(generation.without_status_subresource()), RuleFrom::Schema)
    }
}

/// The texts by which marks are known that would change the choice for one resource.
///
/// The quotes are those of a key or of the beginning of a text, so that prose does not count. What is found may be
/// wrong, and only towards more.
#[derive(Debug)]
pub struct Signs(Vec<(Mark, memmem::Finder<'static>)>);

const SIGNS: [(Mark, &[u8]); 7] = [
    (Mark::Kopf, b"\"kopf.zalando.org/"),
    (Mark::Kopf, b"/kopf-managed\""),
    (Mark::Kopf, b"last-handled-configuration\""),
    (Mark::Ansible, b"\"ansibleResult\""),
    (Mark::Helm, b"\"helm.sdk.operatorframework.io/uninstall-release\""),
    (Mark::Helm, b"\"uninstall-helm-release\""),
    (Mark::Helm, b"\"deployedRelease\""),
];

impl Signs {
    /// The signs that could still change what `evidence` leads to, made ready for many objects.
    pub fn new(evidence: Evidence<'_>) -> Self {
        let is_known = table::of_resource(evidence.group, evidence.kind).is_some();
        let matters = |mark| Some(mark) > evidence.mark && (mark == Mark::Kopf || !is_known);
        let signs = SIGNS.into_iter().filter(|(mark, _)| matters(*mark));
        Self(signs.map(|(mark, sign)| (mark, memmem::Finder::new(sign))).collect())
    }

    /// The strongest mark that an object's text shows.
    pub fn find(&self, json: &[u8]) -> Option<Mark> {
        // The strongest come first.
        self.0.iter().find(|(_, sign)| sign.find(json).is_some()).map(|(mark, _)| *mark)
    }
}

#[cfg(test)]
mod tests {
    use super::{Evidence, Mark, Signs, choose};
    use crate::judge::rule::RuleFrom;

    const CERTIFICATES: Evidence<'static> =
        Evidence { group: "cert-manager.io", kind: "Certificate", mark: None, status_subresource: None };

    fn chosen(evidence: Evidence<'_>) -> (&'static str, RuleFrom) {
        let (rule, from) = choose(evidence, None);
        (rule.name(), from)
    }

    #[test]
    fn marks_of_kopf_come_first_then_the_group_then_other_marks_then_the_schema() {
        let widgets = |mark, status_subresource| Evidence { mark, status_subresource, ..Evidence::default() };
        assert_eq!(chosen(widgets(Some(Mark::Kopf), Some(false))), ("kopf", RuleFrom::Objects));
        assert_eq!(chosen(widgets(Some(Mark::Ansible), None)), ("ansible-operator", RuleFrom::Objects));
        assert_eq!(chosen(widgets(Some(Mark::Helm), None)), ("helm-operator", RuleFrom::Objects));
        assert_eq!(chosen(widgets(None, Some(true))), ("generation", RuleFrom::Objects));
        assert_eq!(chosen(widgets(None, Some(false))), ("generation", RuleFrom::Schema));
        assert_eq!(chosen(widgets(None, None)), ("generation", RuleFrom::Objects));
        assert_eq!(chosen(CERTIFICATES), ("cert-manager", RuleFrom::Group));
        assert_eq!(chosen(Evidence { mark: Some(Mark::Helm), ..CERTIFICATES }), ("cert-manager", RuleFrom::Group));
        assert_eq!(chosen(Evidence { mark: Some(Mark::Kopf), ..CERTIFICATES }), ("kopf", RuleFrom::Objects));
    }

    #[test]
    fn only_signs_that_would_change_the_choice_are_looked_for() {
        let release = br#"{"status":{"deployedRelease":{"name":"a"}}}"#;
        let playbook = br#"{"status":{"conditions":[{"ansibleResult":{}}],"deployedRelease":{}}}"#;
        let open = Signs::new(Evidence::default());
        assert_eq!(open.find(release), Some(Mark::Helm));
        assert_eq!(open.find(playbook), Some(Mark::Ansible));
        assert_eq!(
            open.find(br#"{"metadata":{"annotations":{"kopf.zalando.org/x":""}},"deployedRelease":1}"#),
            Some(Mark::Kopf)
        );
        assert_eq!(open.find(br#"{"status":{"message":"the deployedRelease, by kopf.zalando.org/"}}"#), None);
        assert_eq!(Signs::new(CERTIFICATES).find(playbook), None);
        let helm = Evidence { mark: Some(Mark::Helm), ..Evidence::default() };
        assert_eq!(Signs::new(helm).find(release), None);
        assert_eq!(Signs::new(helm).find(playbook), Some(Mark::Ansible));
    }

    #[test]
    fn a_known_kind_without_the_status_subresource_has_no_use_for_its_generation() {
        let evidence = Evidence { status_subresource: Some(false), ..CERTIFICATES };
        let reader = super::super::Reader::new(choose(evidence, None).0, Vec::new());
        let json = br#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":1}]}}"#;
        let now = crate::judge::object::parse_time("2026-03-01T12:00:00Z").expect("a time");
        let state = reader.judge(json, now, |_, judgement| judgement.state);
        assert_eq!(state, crate::judge::state::State::Unknown);
    }
}
