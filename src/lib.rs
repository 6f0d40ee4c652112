//! dogwatch keeps watch over a Kubernetes operator.
pub mod judge;
