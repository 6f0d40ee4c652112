//! The command line: one file per command, the writers of reports, and exit codes.

pub mod age;
pub mod audit;
pub mod columns;
pub mod exit;
pub mod report;
