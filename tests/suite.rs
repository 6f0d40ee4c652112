//! Everything that needs nothing but Rust: the shape of the source, the real binary on small files, the documents.
#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says why and ends")]
#![allow(clippy::disallowed_methods, reason = "the bans are for dogwatch, not for its tests")]

#[path = "suite/architecture.rs"]
mod architecture;
#[path = "suite/audit.rs"]
mod audit;
#[path = "suite/demo.rs"]
mod demo;
#[path = "suite/documents.rs"]
mod documents;
#[path = "suite/probe.rs"]
mod probe;
#[path = "suite/run.rs"]
mod run;
#[path = "suite/scenarios.rs"]
mod scenarios;
#[cfg(target_os = "linux")]
#[path = "suite/sockets.rs"]
mod sockets;
