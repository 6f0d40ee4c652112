//! The flags of `audit`. They follow kubectl where kubectl has them.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use jiff::Timestamp;

use super::settings::Plan;
use crate::cli::connection::Connection;
use crate::cli::output::{self, Format, Target};
use crate::cli::report::FailOn;
use crate::config;
use crate::judge::object::parse_time;
use crate::judge::state::State;

/// List once, judge, report
#[derive(Debug, Parser)]
pub struct Args {
    /// What to audit: anything kubectl resolves, comma lists, TYPE/NAME. None: every custom resource served by a CRD
    #[arg(value_name = "RESOURCE")]
    pub resources: Vec<String>,

    /// Judge dumps instead of a cluster: a file, a folder, or - for standard input
    #[arg(short, long, value_name = "FILE")]
    pub filename: Vec<PathBuf>,

    /// Only these namespaces
    #[arg(short, long, value_delimiter = ',')]
    pub namespace: Vec<String>,

    /// All namespaces, which is the default
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    pub all_namespaces: bool,

    /// Only objects with these labels, as in kubectl
    #[arg(short = 'l', long, value_name = "SELECTOR", conflicts_with = "filename")]
    pub selector: Option<String>,

    /// Only objects with these fields, as in kubectl
    #[arg(long, value_name = "SELECTOR", conflicts_with = "filename")]
    pub field_selector: Option<String>,

    /// How to read whether an object was processed: a name, or as in '{kopf: {mode: event-only}}' [default: auto]
    #[arg(long)]
    pub rule: Option<String>,

    /// The configuration file: resources, rules, deadlines
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Report format, repeatable: table, wide, json, name
    #[arg(short, long, value_name = "FORMAT[=FILE]")]
    pub output: Vec<Target>,

    /// How long an object may stay pending before it is overdue [default: the rule's own]
    #[arg(long, value_name = "DURATION", value_parser = config::duration::parse)]
    pub overdue_after: Option<Duration>,

    /// What makes the command exit with 1
    #[arg(long, value_enum, value_delimiter = ',', default_value = "overdue")]
    pub fail_on: Vec<FailOn>,

    /// List the objects in these states [default: pending,failing,in-progress,paused]
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = state)]
    pub state: Vec<State>,

    /// List the objects in every state
    #[arg(long, conflicts_with = "state")]
    pub all: bool,

    /// List at most so many objects, the oldest first; 0: all, in the order of the list. Everything is always counted
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub limit: usize,

    /// The moment to judge at, in place of the cluster's clock or the dump's time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub now: Option<Timestamp>,

    /// Exit with 0 in place of 3 when not everything could be read
    #[arg(long)]
    pub allow_partial: bool,

    /// Which cluster.
    #[command(flatten)]
    pub connection: Connection,
}

impl Args {
    /// How every resource is to be judged.
    ///
    /// # Errors
    /// When `--rule` or the configuration is not valid.
    pub fn plan(&self) -> Result<Plan, config::Error> {
        Ok(Plan {
            rule: self.rule.as_deref().map(config::rule_from_flag).transpose()?,
            overdue_after: self.overdue_after,
            config: self.config.as_deref().map(config::read).transpose()?,
        })
    }

    /// How many objects to list.
    pub fn limit(&self) -> Option<usize> {
        Some(self.limit).filter(|limit| *limit > 0)
    }

    /// Where the report goes.
    pub fn targets(&self) -> Vec<Target> {
        if self.output.is_empty() {
            return vec![Target { format: Format::Table, file: None }];
        }
        self.output.clone()
    }

    /// What the formats need to know.
    pub fn output_options(&self, program: &str) -> output::Options {
        output::Options {
            limit: self.limit(),
            has_states: self.all || !self.state.is_empty(),
            program: program.to_owned(),
        }
    }
}

fn state(word: &str) -> Result<State, String> {
    word.parse()
        .map_err(|()| format!("none of {}", State::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ")))
}

fn time(text: &str) -> Result<Timestamp, String> {
    parse_time(text).ok_or_else(|| "not a time such as 2026-03-01T12:00:00Z".to_owned())
}
