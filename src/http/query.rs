//! What may stand behind the question mark of a check, as with the API server's own checks.

use std::collections::BTreeSet;

/// `?verbose&exclude=NAME&exclude=NAME`; anything else is ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Query {
    /// Whether every check is to be listed.
    pub(super) is_verbose: bool,
    /// Checks that do not count.
    pub(super) exclude: BTreeSet<String>,
}

impl Query {
    pub(super) fn parse(query: Option<&str>) -> Self {
        let mut parsed = Self::default();
        for (key, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match &*key {
                "verbose" => parsed.is_verbose = true,
                "exclude" => {
                    parsed.exclude.insert(value.into_owned());
                }
                _ => {}
            }
        }
        parsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_as_the_api_server_reads_it() {
        let query = Query::parse(Some("verbose&exclude=stream%2Fa.b&exclude=operator&timeout=5s"));
        assert!(query.is_verbose);
        assert_eq!(query.exclude, BTreeSet::from(["operator".to_owned(), "stream/a.b".to_owned()]));
        assert_eq!(Query::parse(None), Query::default());
    }
}
