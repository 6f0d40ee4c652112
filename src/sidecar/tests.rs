//! The whole of `run` but its listener's socket, against the simulated API server, in paused time.

mod beside;
mod input;
mod record;
mod scenario;
mod sockets;
mod staleness;
mod timelines;
mod trouble;
mod watching;
mod world;
