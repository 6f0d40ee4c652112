//! What a RESOURCE word means: as kubectl reads it, but an ambiguous word is refused instead of guessed.

use super::super::list::is_name;
use super::{Discovery, Resource};

/// What a command is to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The resource, in the version that was named or else preferred.
    pub resource: Resource,
    /// Only objects of these names; `None` for all.
    pub names: Option<Vec<String>>,
}

/// Why a word means nothing, or too much.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// Several resources are called that.
    #[error("{word:?} is ambiguous: name one of {}", candidates.join(", "))]
    Ambiguous {
        /// As given.
        word: String,
        /// `plural.group` of each.
        candidates: Vec<String>,
    },
    /// The API server serves nothing of that name.
    #[error("the API server serves no resource {word:?}; {}", hint(nearest.as_deref()))]
    Unknown {
        /// As given.
        word: String,
        /// `plural.group` of the resource whose name is most like it.
        nearest: Option<String>,
    },
    /// Nothing that answered is called that, but not everything answered.
    #[error("cannot tell whether there is a resource {word:?}, as {} did not answer; {}", groups.join(", "), hint(nearest.as_deref()))]
    Unanswered {
        /// As given.
        word: String,
        /// `group/version` of each API that did not answer.
        groups: Vec<String>,
        /// `plural.group` of the resource whose name is most like it, of those that answered.
        nearest: Option<String>,
    },
    /// Not of the form RESOURCE or TYPE/NAME.
    #[error("{word:?} is neither RESOURCE nor TYPE/NAME")]
    Malformed {
        /// As given.
        word: String,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(
        || "`kubectl api-resources` lists what it serves".to_owned(),
        |nearest| format!("did you mean {nearest}?"),
    )
}

/// Groups that come with every API server. A custom resource may stand in a subgroup of one, never in one of these.
pub(super) fn is_built_in(group: &str) -> bool {
    const WITHOUT_SUFFIX: [&str; 5] = ["", "apps", "autoscaling", "batch", "policy"];
    const BEFORE_K8S_IO: [&str; 17] = [
        "admissionregistration",
        "apiextensions",
        "apiregistration",
        "authentication",
        "authorization",
        "certificates",
        "coordination",
        "discovery",
        "events",
        "flowcontrol.apiserver",
        "internal.apiserver",
        "networking",
        "node",
        "rbac.authorization",
        "resource",
        "scheduling",
        "storage",
    ];
    WITHOUT_SUFFIX.contains(&group)
        || group == "extensions"
        || group == "storagemigration.k8s.io"
        || group.strip_suffix(".k8s.io").is_some_and(|before| BEFORE_K8S_IO.contains(&before))
}

impl Discovery {
    /// What the words mean together, each a comma list of plural, singular, kind, short name or category, with `.group`
    /// or `.version.group` behind it, or of TYPE/NAME. A resource that is named twice is selected once.
    ///
    /// # Errors
    /// The first word that names no resource or several.
    pub fn resolve<S: AsRef<str>>(&self, words: &[S]) -> Result<Vec<Selection>, Unresolved> {
        let mut selections: Vec<Selection> = Vec::new();
        for word in words.iter().flat_map(|word| word.as_ref().split(',')) {
            let malformed = || Unresolved::Malformed { word: word.to_owned() };
            let (what, name) = match word.split_once('/') {
                Some((what, name)) if is_name(name) => (what, Some(name)),
                Some(_) => return Err(malformed()),
                None => (word, None),
            };
            if !is_name(what) {
                return Err(malformed());
            }
            let resources = self.word(what)?;
            if let (Some(_), [_, _, ..]) = (name, resources.as_slice()) {
                return Err(ambiguous(word, &resources));
            }
            for resource in resources {
                select(&mut selections, resource, name);
            }
        }
        Ok(selections)
    }

    /// What one word means: one resource, or all those of a category.
    fn word(&self, word: &str) -> Result<Vec<&Resource>, Unresolved> {
        let of_category: Vec<_> =
            self.preferred().filter(|resource| resource.categories.iter().any(|category| category == word)).collect();
        if !of_category.is_empty() {
            return Ok(of_category);
        }
        let (name, group) = word.split_once('.').map_or((word, None), |(name, group)| (name, Some(group)));
        let found = match group {
            None => named(&self.preferred().collect::<Vec<_>>(), name),
            Some(group) => self.in_version(name, group).or_else(|| self.in_group(name, group)),
        };
        match found {
            Some(found) => one(word, &found).map(|resource| vec![resource]),
            None => Err(self.unresolved(word, group)),
        }
    }

    /// `version.group`.
    fn in_version(&self, name: &str, group: &str) -> Option<Vec<&Resource>> {
        let (version, group) = group.split_once('.')?;
        let versions: Vec<_> = self.resources.iter().filter(|r| r.version == version && r.group == group).collect();
        named(&versions, name)
    }

    /// A group, or else the beginning of one.
    fn in_group(&self, name: &str, group: &str) -> Option<Vec<&Resource>> {
        let fits = |test: &dyn Fn(&str) -> bool| {
            named(&self.preferred().filter(|resource| test(&resource.group)).collect::<Vec<_>>(), name)
        };
        fits(&|of| of == group).or_else(|| fits(&|of| of.starts_with(group)))
    }

    fn unresolved(&self, word: &str, group: Option<&str>) -> Unresolved {
        let word = word.to_owned();
        // A group that was named and answered settles the question.
        let has_answered = |group: &str| self.resources.iter().any(|r| r.group == group) && !self.is_unanswered(group);
        let is_settled = group.is_some_and(|group| {
            has_answered(group) || group.split_once('.').is_some_and(|(_, behind_version)| has_answered(behind_version))
        });
        let nearest = self.nearest(&word);
        if !self.unanswered.is_empty() && !is_settled {
            return Unresolved::Unanswered { word, groups: self.unanswered.clone(), nearest };
        }
        Unresolved::Unknown { word, nearest }
    }

    /// The resource one of whose names is most like `word`, if any is alike.
    fn nearest(&self, word: &str) -> Option<String> {
        const ALIKE: f64 = 0.8;
        let word = word.to_lowercase();
        let likeness = |resource: &Resource| {
            [&resource.plural, &resource.singular, &resource.kind, &resource.name()]
                .into_iter()
                .map(|name| strsim::jaro_winkler(&word, &name.to_lowercase()))
                .fold(0.0, f64::max)
        };
        self.preferred()
            .map(|resource| (likeness(resource), resource))
            .filter(|(likeness, _)| *likeness >= ALIKE)
            .max_by(|(one, _), (other, _)| one.total_cmp(other))
            .map(|(_, resource)| resource.name())
    }
}

/// Those of `resources` that are called `name`. A plural goes before a short name, a singular and a kind, in this order,
/// as in kubectl; case does not matter.
fn named<'a>(resources: &[&'a Resource], name: &str) -> Option<Vec<&'a Resource>> {
    let is = |text: &str| text.eq_ignore_ascii_case(name);
    let tests: [&dyn Fn(&Resource) -> bool; 4] = [
        &|resource| is(&resource.plural),
        &|resource| resource.short_names.iter().any(|short| is(short)),
        &|resource| is(&resource.singular),
        &|resource| is(&resource.kind),
    ];
    tests.iter().find_map(|test| {
        let found: Vec<_> = resources.iter().copied().filter(|resource| test(resource)).collect();
        (!found.is_empty()).then_some(found)
    })
}

/// The only one; of several built-in ones the first, which is the same object under its newer name (`events`).
fn one<'a>(word: &str, found: &[&'a Resource]) -> Result<&'a Resource, Unresolved> {
    match found {
        [only] => Ok(only),
        [first, ..] if found.iter().all(|resource| is_built_in(&resource.group)) => Ok(first),
        _ => Err(ambiguous(word, found)),
    }
}

fn ambiguous(word: &str, candidates: &[&Resource]) -> Unresolved {
    let candidates = candidates.iter().map(|resource| resource.name()).collect();
    Unresolved::Ambiguous { word: word.to_owned(), candidates }
}

fn select(selections: &mut Vec<Selection>, resource: &Resource, name: Option<&str>) {
    let known = selections.iter_mut().find(|selection| {
        let other = &selection.resource;
        (&other.group, &other.version, &other.plural) == (&resource.group, &resource.version, &resource.plural)
    });
    let Some(Selection { names, .. }) = known else {
        let names = name.map(|name| vec![name.to_owned()]);
        return selections.push(Selection { resource: resource.clone(), names });
    };
    match (names.as_mut(), name) {
        (_, None) => *names = None,
        (Some(names), Some(name)) if !names.iter().any(|known| known == name) => names.push(name.to_owned()),
        _ => {}
    }
}
