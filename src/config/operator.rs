//! The operator beside us, or the operators that are observed from elsewhere.

use std::path::PathBuf;
use std::time::Duration;

use http::Uri;

use super::cursor::{Cursor, Section};
use super::resource::{self, Resource};

/// The operator whose sidecar dogwatch is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Operator {
    /// The label `operator` of every metric. Default: the Pod's owner.
    pub name: Option<String>,
    /// The operator's container. Default: the only other container of the Pod.
    pub container: Option<String>,
    /// The Lease that must be the operator's own before dogwatch judges it. Default: none, it is always judged.
    pub lease: Option<ObjectName>,
    /// The operator's name as holder of the lease and in the peering. Default: the hostname, in a lease also with `_` and
    /// more behind, in a peering also as the host of kopf's `user@host/...`.
    pub identity: Option<String>,
    /// The peering object by which a kopf operator may be paused: with a namespace a `KopfPeering`, without one a
    /// `ClusterKopfPeering`. Default: none.
    pub peering: Option<ObjectName>,
    /// The operator's own check, chained into ours. Default: none.
    pub healthz: Option<Healthz>,
    /// Where the operator's own metrics are read as evidence. Default: nowhere.
    pub metrics: Option<Metrics>,
    /// The liveness probe's numbers. Default: read from the own Pod.
    pub probe: Option<Probe>,
}

/// `NAME` or `NAMESPACE/NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectName {
    /// Absent: the Pod's own namespace, or none for an object of the whole cluster.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

/// The operator's own check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Healthz {
    /// `http`, `https`, `tcp://HOST:PORT` or `grpc://HOST:PORT[/SERVICE]`, without userinfo.
    pub url: Uri,
    /// From one request to the next. Default: 10s.
    pub period: Duration,
    /// Failures in a row before the check counts as failed; at least 1. Default: 3.
    pub failure_threshold: u32,
    /// After the container's start, before the first request counts; may be zero. Default: 30s.
    pub initial_delay: Duration,
}

impl Healthz {
    /// The check at this address with the default numbers.
    pub const fn new(url: Uri) -> Self {
        Self { url, period: Duration::from_secs(10), failure_threshold: 3, initial_delay: Duration::from_secs(30) }
    }
}

/// The operator's metrics endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metrics {
    /// `http` or `https`, without userinfo.
    pub url: Uri,
    /// A file with a bearer token. Default: none is sent.
    pub token_file: Option<PathBuf>,
    /// A file with the certificates to trust. Default: the system's.
    pub ca_file: Option<PathBuf>,
    /// Trusts any certificate. Default: false.
    pub insecure_skip_verify: bool,
}

impl Metrics {
    /// The endpoint at this address, with no token and the system's certificates.
    pub const fn new(url: Uri) -> Self {
        Self { url, token_file: None, ca_file: None, insecure_skip_verify: false }
    }
}

/// The numbers of the operator's liveness probe; the defaults are those of Kubernetes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// `periodSeconds`. Default: 10s.
    pub period: Duration,
    /// `failureThreshold`; at least 1. Default: 3.
    pub failure_threshold: u32,
    /// `terminationGracePeriodSeconds`; may be zero. Default: 30s.
    pub termination_grace: Duration,
}

impl Default for Probe {
    fn default() -> Self {
        Self { period: Duration::from_secs(10), failure_threshold: 3, termination_grace: Duration::from_secs(30) }
    }
}

/// An operator that is observed from elsewhere.
#[derive(Debug, Clone)]
pub struct Observed {
    /// The label `operator` of every metric.
    pub name: String,
    /// What it serves; at least one.
    pub resources: Vec<Resource>,
}

/// Reads `operator`.
pub(super) fn operator(section: &mut Section<'_>) -> Operator {
    Operator {
        name: text(section, "name"),
        container: section.read("container", |cursor| cursor.parsed(object_name_part)),
        lease: section.read("lease", |cursor| cursor.parsed(object_name)),
        identity: text(section, "identity"),
        peering: section.read("peering", |cursor| cursor.parsed(object_name)),
        healthz: section.read("healthz", healthz),
        metrics: section.read("metrics", metrics),
        probe: section.read("probe", |cursor| cursor.section(probe)),
    }
}

/// Reads `operators`.
pub(super) fn operators(cursor: &Cursor<'_>) -> Option<Vec<Observed>> {
    let mut operators: Vec<Observed> = Vec::new();
    let items = cursor.items()?;
    if items.is_empty() {
        cursor.refuse("is empty; list the operators, or leave the key out");
    }
    for item in &items {
        let observed = item.section(|section| {
            let name = section.required("name", "write the operator's name", Cursor::text);
            let hint = "list what the operator serves, as in [\"*.toolkit.fluxcd.io\"]";
            let resources = section.required("resources", hint, resource::resources);
            Some(Observed { name: name?, resources: resources? })
        });
        let Some(observed) = observed.flatten() else { continue };
        if operators.iter().any(|earlier| earlier.name == observed.name) {
            item.refuse("another operator has the same name; give each its own");
        }
        operators.push(observed);
    }
    Some(operators)
}

fn text(section: &mut Section<'_>, key: &'static str) -> Option<String> {
    section.read(key, Cursor::text)
}

fn healthz(cursor: &Cursor<'_>) -> Option<Healthz> {
    let short = |cursor: &Cursor<'_>| cursor.parsed(check_url).map(Healthz::new);
    let long = |section: &mut Section<'_>| {
        let hint = "write the address of the operator's own check";
        let url = section.required("url", hint, |cursor| cursor.parsed(check_url));
        let period = section.read("period", Cursor::duration);
        let failure_threshold = section.read("failureThreshold", Cursor::count);
        let initial_delay = section.read("initialDelay", Cursor::duration_or_zero);
        let default = Healthz::new(url?);
        Some(Healthz {
            period: period.unwrap_or(default.period),
            failure_threshold: failure_threshold.unwrap_or(default.failure_threshold),
            initial_delay: initial_delay.unwrap_or(default.initial_delay),
            ..default
        })
    };
    cursor.short_or_long(short, long)
}

fn metrics(cursor: &Cursor<'_>) -> Option<Metrics> {
    let short = |cursor: &Cursor<'_>| cursor.parsed(web_url).map(Metrics::new);
    let long = |section: &mut Section<'_>| {
        let url = section.required("url", "write the address of the metrics", |cursor| cursor.parsed(web_url));
        let token_file = text(section, "tokenFile").map(PathBuf::from);
        let ca_file = text(section, "caFile").map(PathBuf::from);
        let insecure_skip_verify = section.read("insecureSkipVerify", Cursor::boolean).unwrap_or(false);
        Some(Metrics { url: url?, token_file, ca_file, insecure_skip_verify })
    };
    cursor.short_or_long(short, long)
}

fn probe(section: &mut Section<'_>) -> Probe {
    let default = Probe::default();
    Probe {
        period: section.read("period", Cursor::duration).unwrap_or(default.period),
        failure_threshold: section.read("failureThreshold", Cursor::count).unwrap_or(default.failure_threshold),
        termination_grace: section
            .read("terminationGrace", Cursor::duration_or_zero)
            .unwrap_or(default.termination_grace),
    }
}

/// Reads the address of a check. The messages never show it, since it may hold a password.
///
/// # Errors
/// What is wrong with it, and how to write it.
pub fn check_url(text: &str) -> Result<Uri, &'static str> {
    const PORT: &str = "has no port, or more than that; write it as tcp://HOST:PORT or grpc://HOST:PORT/SERVICE";
    let url = url(text, &["http", "https", "tcp", "grpc"])?;
    let is_whole = match url.scheme_str() {
        Some("tcp") => url.port_u16().is_some() && url.path_and_query().is_none_or(|path| path == "/"),
        Some("grpc") => url.port_u16().is_some() && url.query().is_none(),
        _ => true,
    };
    if is_whole { Ok(url) } else { Err(PORT) }
}

fn web_url(text: &str) -> Result<Uri, &'static str> {
    url(text, &["http", "https"])
}

fn url(text: &str, schemes: &[&str]) -> Result<Uri, &'static str> {
    const FORM: &str = "is not a URL; write it in full, as in http://127.0.0.1:8081/healthz";
    let url: Uri = text.parse().map_err(|_| FORM)?;
    let authority = url.authority().ok_or(FORM)?;
    if authority.as_str().contains('@') {
        return Err("holds a user name or a password, which would end up in logs and Events; take them out");
    }
    let is_known = url.scheme_str().is_some_and(|scheme| schemes.contains(&scheme));
    if is_known && !authority.host().is_empty() { Ok(url) } else { Err(FORM) }
}

fn object_name(text: &str) -> Result<ObjectName, &'static str> {
    let (namespace, name) = match text.split_once('/') {
        Some((namespace, name)) => (Some(object_name_part(namespace)?), name),
        None => (None, text),
    };
    if name.contains('/') {
        return Err("has too many parts; write NAME or NAMESPACE/NAME");
    }
    Ok(ObjectName { namespace, name: object_name_part(name)? })
}

/// Checks a name against the form of Kubernetes, a DNS subdomain (RFC 1123).
pub(super) fn object_name_part(text: &str) -> Result<String, &'static str> {
    let is_end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_inner = |byte: u8| is_end(Some(byte)) || matches!(byte, b'-' | b'.');
    let (first, last) = (text.bytes().next(), text.bytes().next_back());
    if text.len() <= 253 && is_end(first) && is_end(last) && text.bytes().all(is_inner) {
        Ok(text.to_owned())
    } else {
        Err("is not a Kubernetes name; names have lower-case letters, digits, `-` and `.`")
    }
}
