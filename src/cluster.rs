//! The half that asks an API server: how to reach it, which resources it serves, and their objects.
//!
//! Everything goes through [`request`], which bounds each request in time and sorts what can come back into a closed
//! set. "Could not ask" is never turned into "is not there".

pub mod connect;
pub mod discover;
pub mod list;
mod page;
pub mod request;

#[cfg(test)]
mod script;
