//! The whole of `run` but its listener's socket, against the simulated API server, in paused time.

mod input;
mod sockets;
mod timelines;
mod trouble;
mod world;
