//! dogwatch keeps watch over a Kubernetes operator.
pub mod cli;
pub mod judge;
