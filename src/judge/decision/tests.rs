//! The decision in a small simulated world: see `world.rs`.

mod deletions;
mod habits;
mod later_timelines;
mod lease;
mod property;
mod resume;
mod rows;
mod timelines;
mod withheld;
mod world;
