//! The flags that say which cluster to ask, and as whom.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cluster::connect::Options;
use crate::config::duration;

/// Which cluster to ask, and as whom. The flags are kubectl's.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub struct Connection {
    /// The kubeconfig [default: $KUBECONFIG, ~/.kube/config, or the Pod's own service account]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// The kubeconfig's context
    #[arg(long)]
    pub context: Option<String>,

    /// How long one request may take
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "30s")]
    pub request_timeout: Duration,

    /// Impersonate this user
    #[arg(long = "as", value_name = "USER")]
    pub as_user: Option<String>,

    /// Impersonate this group, repeatable
    #[arg(long, value_name = "GROUP", requires = "as_user")]
    pub as_group: Vec<String>,

    /// Kubeconfigs to merge.
    #[arg(long, env = "KUBECONFIG", hide = true)]
    pub kubeconfig_list: Option<OsString>,

    /// Hosts for which no proxy is used.
    #[arg(long, env = "NO_PROXY", hide = true)]
    pub no_proxy: Option<String>,
}

impl Connection {
    /// The same in the cluster's words.
    pub fn options(&self) -> Options {
        Options {
            kubeconfig: self.kubeconfig.clone(),
            kubeconfig_list: self.kubeconfig_list.clone(),
            context: self.context.clone(),
            impersonate: self.as_user.clone(),
            impersonate_groups: self.as_group.clone(),
            request_timeout: self.request_timeout,
            no_proxy: self.no_proxy.clone(),
        }
    }
}
