//! The command `demo`: an operator goes deaf and dogwatch has it restarted, in under a minute and on this machine alone.
//!
//! The API server is simulated and in this process. The operator and dogwatch are processes of their own, so that the
//! restart is one; a small kubelet probes the operator by the real `dogwatch probe` and restarts it.

mod kubelet;
mod process;
mod show;
mod stage;

use std::io;
use std::net::SocketAddr;

use clap::Parser;

use super::exit::Exit;
use crate::sim::Resource;
use crate::sim::operator::{self, Options};

/// See an operator go deaf, and dogwatch have it restarted
#[derive(Debug, Parser)]
pub struct Args {}

/// The simulated operator of the demo. It ends with the demo.
#[derive(Debug, Parser)]
pub struct OperatorArgs {
    /// The API server.
    #[arg(long)]
    pub url: String,

    /// Where the operator answers `/healthz`.
    #[arg(long)]
    pub healthz: SocketAddr,
}

/// Why the demo did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something of this machine's.
    #[error("cannot {what}")]
    Machine {
        /// What was attempted.
        what: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The simulated operator.
    #[error("the simulated operator ended")]
    Operator(#[from] operator::Error),
    /// The simulated API server refused what the demo puts into it.
    #[error("the simulated API server refused {what}")]
    Refused {
        /// What.
        what: &'static str,
        /// Why.
        #[source]
        source: Box<crate::sim::Failure>,
    },
    /// The story did not go on.
    #[error("{waited_for} did not come within {} s; the machine may be too slow for the demo's short times", after.as_secs())]
    Stuck {
        /// What was waited for.
        waited_for: &'static str,
        /// How long.
        after: std::time::Duration,
    },
}

impl Error {
    fn machine(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Machine { what, source }
    }

    /// How the command ends.
    pub const fn exit(&self) -> Exit {
        Exit::Failure
    }
}

/// What the demo's operator serves.
fn boats() -> Resource {
    Resource::custom("demo.example.com", "v1", "Boat")
}

/// Plays the demo. `program` is how this program was called.
///
/// # Errors
/// When it cannot be set up, or the story does not go on.
pub fn run(_: &Args, program: &str) -> Result<Exit, Error> {
    block_on(stage::play(program))?;
    Ok(Exit::Clean)
}

/// Runs the demo's operator until it is killed.
///
/// # Errors
/// When it cannot listen.
pub fn run_operator(args: &OperatorArgs) -> Result<Exit, Error> {
    let options = Options { healthz: Some(args.healthz), ..Options::new(boats()) };
    block_on(async { Ok(operator::run_operator(&args.url, options).await.map(|never| match never {})?) })
}

fn block_on<T>(future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(Error::machine("start the runtime"))?.block_on(future)
}
