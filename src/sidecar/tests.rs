//! The whole of `run` but its listener's socket, against the simulated API server, in paused time.

mod beside;
mod canary;
mod input;
mod nudge;
mod record;
mod scenario;
mod sockets;
mod staleness;
mod timelines;
mod trouble;
mod watching;
mod world;
