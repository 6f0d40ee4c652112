//! The command `audit`.
pub mod dump;
