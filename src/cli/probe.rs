//! The command `probe`: what an exec livenessProbe runs in the operator's container.
//!
//! It exits with 0 or 1 and nothing else: 1 only when dogwatch itself answered 500, or when the operator's own check
//! failed. A dogwatch that is dead, hangs or was never there must not cost the operator its life.

mod install;

use std::io::Write;
use std::panic::catch_unwind;
use std::time::Duration;

use clap::Parser;
use http::{StatusCode, Uri};

use super::columns::visible;
use super::exit::Exit;
use crate::config::operator::check_url;
use crate::endpoint::{Error, Reply, Target};
pub use install::{Error as InstallError, install};

/// Ask the dogwatch beside us, for an exec livenessProbe
#[derive(Debug, Parser)]
#[command(after_help = "\
Prints the first line of /healthz. Exits with 1 if dogwatch answered 500 or the operator's own check failed, and with 0 \
in every other case: also if dogwatch does not answer, or these flags are wrong.")]
pub struct Args {
    /// The operator's own check: http, https, tcp://HOST:PORT or grpc://HOST:PORT[/SERVICE], taken as the kubelet's own
    /// probes take it. Certificates are not verified, redirects are not followed
    #[arg(long, value_name = "URL", value_parser = check_url)]
    pub also: Option<Uri>,

    /// Where dogwatch listens
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:11850", value_parser = address)]
    pub address: Uri,
}

/// By its beginning the listener knows who asks.
const AGENT: &str = concat!("dogwatch-probe/", env!("CARGO_PKG_VERSION"));

/// How long the probe waits; its livenessProbe has a timeout of 5 s.
#[derive(Debug, Clone, Copy)]
struct Limits {
    request: Duration,
    all: Duration,
}

const LIMITS: Limits = Limits { request: Duration::from_millis(1500), all: Duration::from_secs(4) };

/// Asks, prints, and returns [`Exit::Clean`] or [`Exit::Findings`].
pub fn run(args: &Args) -> Exit {
    let asked = catch_unwind(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        let outcome = runtime.block_on(ask(args, LIMITS));
        // The resolver's thread may still be waiting for a name server.
        runtime.shutdown_background();
        Some(outcome)
    });
    let (exit, text) = asked.ok().flatten().unwrap_or_else(|| {
        (Exit::Clean, "ok: the probe itself failed, which does not count against the operator\n".to_owned())
    });
    // The exit code is the answer, whoever may have closed the pipe.
    let _ = std::io::stdout().write_all(text.as_bytes());
    exit
}

/// The answer and what is printed.
async fn ask(args: &Args, limits: Limits) -> (Exit, String) {
    let dogwatch = Target { uri: args.address.clone(), agent: AGENT };
    let own = args.also.clone().map(|uri| Target { uri, agent: AGENT });
    let both = async {
        tokio::join!(dogwatch.get(limits.request), async {
            match &own {
                Some(own) => Box::pin(own.check(limits.request)).await.err(),
                None => None,
            }
        })
    };
    let Ok((dogwatch_reply, own_failure)) = tokio::time::timeout(limits.all, both).await else {
        let text = "ok: this machine is too slow to ask, which does not count against the operator\n";
        return (Exit::Clean, text.to_owned());
    };
    let (is_failed, line) = read_dogwatch(&dogwatch, dogwatch_reply);
    let own_failure = own_failure.map(|error| format!("operator's own check failed: {}", super::chain(&error)));
    let exit = if is_failed || own_failure.is_some() { Exit::Findings } else { Exit::Clean };
    let lines = std::iter::once(line).chain(own_failure);
    (exit, lines.map(|line| visible(&line) + "\n").collect())
}

/// Whether dogwatch asks for a restart, and what it says.
fn read_dogwatch(target: &Target, reply: Result<Reply, Error>) -> (bool, String) {
    let not_counted = "which does not count against the operator";
    match reply {
        Ok(Reply { is_dogwatch: true, status, line }) => (status == StatusCode::INTERNAL_SERVER_ERROR, line),
        Ok(Reply { is_dogwatch: false, status, .. }) => {
            (false, format!("ok: {target} is not dogwatch (HTTP {}), {not_counted}", status.as_u16()))
        }
        Err(error) => (false, format!("ok: no answer from dogwatch, {not_counted}: {}", super::chain(&error))),
    }
}

fn address(text: &str) -> Result<Uri, &'static str> {
    const FORM: &str = "not HOST:PORT, as in 127.0.0.1:11850";
    let authority: http::uri::Authority = text.parse().map_err(|_| FORM)?;
    if authority.host().is_empty() || authority.port_u16().is_none() || text.contains('@') {
        return Err(FORM);
    }
    format!("http://{authority}/healthz").parse().map_err(|_| FORM)
}

#[cfg(test)]
mod tests;
