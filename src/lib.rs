//! dogwatch keeps watch over a Kubernetes operator.
pub mod config;
pub mod judge;
