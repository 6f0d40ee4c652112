//! The whole of `run` but its listener's socket, against the simulated API server, in paused time.

mod beside;
mod input;
mod timelines;
mod trouble;
mod world;
