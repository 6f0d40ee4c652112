//! dogwatch keeps watch over a Kubernetes operator.
//!
//! ```text
//! API server --list--> facts of one object --rule, moment--> state --> tally --> report
//!                                                              |
//!                                                              +--> ledger --> diagnosis --> decision --> view
//! kernel --sockets--> connections --> evidence -----------------------------^
//!                                                                          view --> /healthz, /metrics, /status
//! ```
//!
//! Two halves. The [`judge`] is pure: facts, a rule and a moment in, answers out. The shell around it fetches and prints.

pub mod cli;
pub mod clock;
pub mod cluster;
pub mod config;
pub mod endpoint;
pub mod http;
pub mod judge;
pub mod log;
pub mod metrics;
pub mod shutdown;
pub mod sidecar;
#[cfg(feature = "demo")]
pub mod sim;
pub mod sockets;
pub mod view;
