//! The decision in a small simulated world: see `world.rs`.

mod habits;
mod property;
mod resume;
mod rows;
mod timelines;
mod world;
