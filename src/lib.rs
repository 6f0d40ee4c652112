//! dogwatch keeps watch over a Kubernetes operator.
pub mod clock;
pub mod cluster;
pub mod judge;
