//! dogwatch keeps watch over a Kubernetes operator.
pub mod clock;
pub mod judge;
#[cfg(feature = "demo")]
pub mod sim;
