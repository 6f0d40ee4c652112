//! Everything that needs nothing but Rust: the shape of the source, the real binary on small files, the documents.

#[path = "suite/architecture.rs"]
mod architecture;
#[path = "suite/audit.rs"]
mod audit;
#[path = "suite/documents.rs"]
mod documents;
#[path = "suite/probe.rs"]
mod probe;
#[path = "suite/run.rs"]
mod run;
