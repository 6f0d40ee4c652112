//! The pure half: facts of objects, a rule and a moment in; states, diagnoses and decisions out.
//!
//! Nothing in here is asynchronous, reads a clock, draws a random number, does I/O or logs. What must happen as a
//! consequence leaves as a value, and so does the next moment at which an answer can change by itself.

pub mod canary;
pub mod connection;
pub mod cut;
pub mod decision;
pub mod diagnosis;
pub mod ledger;
pub mod nudge;
pub mod object;
pub mod operator_metrics;
pub mod own_check;
pub mod peering;
pub mod rule;
mod scan;
pub mod state;
pub mod tally;
pub mod tick;

#[cfg(test)]
mod tests;
