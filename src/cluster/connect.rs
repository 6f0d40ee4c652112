//! Finds the API server and the credentials for it, as kubectl does.

mod proxy;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use jiff::Timestamp;
use kube::Config;
use kube::config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use tokio::sync::Mutex;
use tower::BoxError;

use super::request::{self, Client};
use crate::clock;

/// What the flags say about the connection.
#[derive(Debug, Clone)]
pub struct Options {
    /// `--kubeconfig`; otherwise `$KUBECONFIG`, `~/.kube/config`, or the Pod's own service account.
    pub kubeconfig: Option<PathBuf>,
    /// `$KUBECONFIG`: files that are merged; those that do not exist are passed over, as in kubectl.
    pub kubeconfig_list: Option<OsString>,
    /// `--context`; otherwise the kubeconfig's current one.
    pub context: Option<String>,
    /// `--as`.
    pub impersonate: Option<String>,
    /// `--as-group`, repeatable.
    pub impersonate_groups: Vec<String>,
    /// `--request-timeout`: the time for one request, its body included. Not zero: every request has a deadline.
    pub request_timeout: Duration,
    /// `$NO_PROXY`, for a proxy that `$HTTPS_PROXY` names.
    pub no_proxy: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kubeconfig: None,
            kubeconfig_list: None,
            context: None,
            impersonate: None,
            impersonate_groups: Vec::new(),
            request_timeout: Duration::from_secs(30),
            no_proxy: None,
        }
    }
}

/// A cluster that can be asked.
pub struct Cluster {
    source: Source,
    context: Option<String>,
    namespace: String,
    request_timeout: Duration,
}

enum Source {
    Config(Box<Config>),
    /// The credentials come from a command, which every new client would run again: one client is shared until its
    /// certificate, if the command gave one, expires.
    Command(Box<Config>, Mutex<Option<(Client, Option<Timestamp>)>>),
    Service(Box<dyn Fn() -> Client + Send + Sync>),
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster")
            .field("context", &self.context)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

/// Why no cluster could be found in the configuration. Never holds what stands in a kubeconfig beside names and paths.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither a kubeconfig nor a Pod's service account.
    #[error("no kubeconfig ({kubeconfig}), and not in a Pod ({in_cluster}); name one with --kubeconfig or KUBECONFIG")]
    Nowhere {
        /// Where one was looked for.
        kubeconfig: String,
        /// What a Pod would have.
        in_cluster: String,
    },
    /// In a Pod, but without what a service account needs.
    #[error(
        "this Pod has no usable service account ({problem}); see automountServiceAccountToken and serviceAccountName"
    )]
    ServiceAccount {
        /// What is missing.
        problem: String,
    },
    /// The kubeconfig cannot be read or does not fit together.
    #[error("kubeconfig {path}: {problem}")]
    Kubeconfig {
        /// The file, or where it is looked for.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// The context does not exist, or none is named.
    #[error("kubeconfig {path}: {}; it has {}", context.as_ref().map_or_else(|| "no current context".to_owned(), |name| format!("no context {name:?}")), if contexts.is_empty() { "none".to_owned() } else { format!("{}: choose with --context", contexts.join(", ")) })]
    Context {
        /// The file, or where it is looked for.
        path: String,
        /// The name that was asked for.
        context: Option<String>,
        /// Those that exist.
        contexts: Vec<String>,
    },
    /// `--as-group` without `--as`.
    #[error("--as-group needs --as: a group alone cannot be impersonated")]
    GroupWithoutUser,
}

/// Finds the cluster that the flags, the environment and the kubeconfig name. Sends nothing.
///
/// # Errors
/// See [`Error`]. A kubeconfig that exists and is broken is an error even in a Pod.
pub async fn connect(options: &Options) -> Result<Cluster, Error> {
    if options.impersonate.is_none() && !options.impersonate_groups.is_empty() {
        return Err(Error::GroupWithoutUser);
    }
    let (mut config, context) = match kubeconfig(options)? {
        Found::Kubeconfig(kubeconfig) => from_kubeconfig(*kubeconfig, options).await?,
        Found::Nothing { looked_for } => (in_cluster(looked_for)?, None),
    };
    config.default_retry = false;
    config.connect_timeout = Some(options.request_timeout);
    if let Some(user) = &options.impersonate {
        config.auth_info.impersonate = Some(user.clone());
        config.auth_info.impersonate_groups = Some(options.impersonate_groups.clone());
    }
    let namespace = config.default_namespace.clone();
    let has_command = config.auth_info.exec.is_some() || config.auth_info.auth_provider.is_some();
    let config = Box::new(config);
    let source = if has_command { Source::Command(config, Mutex::new(None)) } else { Source::Config(config) };
    Ok(Cluster { source, context, namespace, request_timeout: options.request_timeout })
}

/// A cluster in this process: every request goes to `service`. For the simulated API server and for tests.
pub fn from_service<S, B>(service: S, request_timeout: Duration) -> Cluster
where
    S: tower::Service<Request<kube::client::Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let make = move || Client::from_service(service.clone(), request_timeout);
    Cluster { source: Source::Service(Box::new(make)), context: None, namespace: "default".to_owned(), request_timeout }
}

impl Cluster {
    /// The kubeconfig's context, by which reports name the cluster; `None` in a Pod.
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// The namespace of the context or of the Pod, for words that name an object without one.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Whether requests stay within this process and use no sockets.
    pub const fn is_in_process(&self) -> bool {
        matches!(self.source, Source::Service(_))
    }

    /// A client with connections of its own, which costs microseconds: a scan makes one and drops it, so that it never
    /// waits on a connection that has died since the last one. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// [`request::Error::Credentials`], also when the kubeconfig's credential command takes longer than a request may,
    /// and [`request::Error::Setup`].
    pub async fn client(&self) -> Result<Client, request::Error> {
        let timeout = self.request_timeout;
        match &self.source {
            Source::Service(make) => Ok(make()),
            Source::Config(config) => Ok(Client::from_config((**config).clone(), timeout)?.0),
            Source::Command(config, shared) => {
                let mut shared = shared.lock().await;
                if let Some((client, valid_until)) = &*shared
                    && valid_until.is_none_or(|until| clock::wall() < until)
                {
                    return Ok(client.clone());
                }
                let config = (**config).clone();
                let make = tokio::task::spawn_blocking(move || Client::from_config(config, timeout));
                let ended = tokio::time::timeout(timeout, make).await.map_err(|_| credentials("timed out"))?;
                let (client, valid_until) = ended.map_err(|_| credentials("was interrupted"))??;
                *shared = Some((client.clone(), valid_until));
                Ok(client)
            }
        }
    }
}

fn credentials(what: &str) -> request::Error {
    request::Error::Credentials { problem: format!("the kubeconfig's credential command {what}") }
}

enum Found {
    Kubeconfig(Box<Kubeconfig>),
    Nothing { looked_for: String },
}

fn kubeconfig(options: &Options) -> Result<Found, Error> {
    let read = match (&options.kubeconfig, &options.kubeconfig_list) {
        (Some(path), _) => Kubeconfig::read_from(path),
        (None, Some(list)) if !list.is_empty() => std::env::split_paths(list)
            .filter(|path| path.exists())
            .try_fold(Kubeconfig::default(), |merged, path| merged.merge(Kubeconfig::read_from(path)?)),
        (None, _) => Kubeconfig::read(),
    };
    let is_named = options.kubeconfig.is_some() || options.context.is_some();
    match read {
        Ok(kubeconfig) if is_named || !kubeconfig.contexts.is_empty() => Ok(Found::Kubeconfig(Box::new(kubeconfig))),
        Ok(_) => Ok(Found::Nothing { looked_for: "it names no context".to_owned() }),
        Err(KubeconfigError::FindPath) if !is_named => {
            Ok(Found::Nothing { looked_for: "there is no home folder".to_owned() })
        }
        Err(KubeconfigError::ReadConfig(error, path)) if !is_named && error.kind() == std::io::ErrorKind::NotFound => {
            Ok(Found::Nothing { looked_for: format!("{} does not exist", path.display()) })
        }
        Err(error) => Err(Error::Kubeconfig { path: path_name(options), problem: kubeconfig_problem(&error) }),
    }
}

async fn from_kubeconfig(kubeconfig: Kubeconfig, options: &Options) -> Result<(Config, Option<String>), Error> {
    let context = options.context.clone().or_else(|| kubeconfig.current_context.clone());
    let contexts: Vec<_> = kubeconfig.contexts.iter().map(|context| context.name.clone()).collect();
    let Some(name) = context.clone().filter(|name| contexts.contains(name)) else {
        return Err(Error::Context { path: path_name(options), context, contexts });
    };
    let has_own_proxy = proxy::is_configured(&kubeconfig, &name);
    let chosen = KubeConfigOptions { context: Some(name), ..KubeConfigOptions::default() };
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &chosen)
        .await
        .map_err(|error| Error::Kubeconfig { path: path_name(options), problem: kubeconfig_problem(&error) })?;
    // kube compares NO_PROXY with the proxy's address and not with the API server's.
    if !has_own_proxy && proxy::is_bypassed(&config.cluster_url, options.no_proxy.as_deref()) {
        config.proxy_url = None;
    }
    Ok((config, context))
}

fn in_cluster(looked_for: String) -> Result<Config, Error> {
    Config::incluster().map_err(|error| match error {
        InClusterError::ReadEnvironmentVariable(_) => {
            Error::Nowhere { kubeconfig: looked_for, in_cluster: "KUBERNETES_SERVICE_HOST is not set".to_owned() }
        }
        error => Error::ServiceAccount { problem: error.to_string() },
    })
}

fn path_name(options: &Options) -> String {
    options
        .kubeconfig
        .as_ref()
        .map_or_else(|| "(KUBECONFIG or ~/.kube/config)".to_owned(), |path| path.display().to_string())
}

/// kube's text of a broken file quotes its lines, in which tokens stand.
fn kubeconfig_problem(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::Parse(error) => match error.location() {
            Some(at) => format!("not a kubeconfig: see line {} column {}", at.line(), at.column()),
            None => "not a kubeconfig".to_owned(),
        },
        KubeconfigError::ReadConfig(error, path) => format!("cannot read {}: {error}", path.display()),
        KubeconfigError::ParseProxyUrl(_) => "the proxy's address is no URL".to_owned(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
