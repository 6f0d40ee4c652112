//! How far an audit is, for a person at a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// One line on standard error, and nothing where that is no terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
}

/// Short audits end before the line would have been read.
const REFRESH: Duration = Duration::from_millis(200);

impl Progress {
    /// The line for so many resources.
    pub fn new(resources: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(resources as u64), ProgressDrawTarget::stderr_with_hz(5));
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} of {len} resources, {msg}") {
            bar.set_style(style);
        }
        bar.set_message("0 objects");
        bar.enable_steady_tick(REFRESH);
        Self { bar }
    }

    /// So many objects of the resource called `name` were judged.
    pub fn objects(&self, name: &str, objects: u64) {
        self.bar.set_message(format!("{objects} objects of {name}"));
    }

    /// One more resource is done.
    pub fn resource_done(&self) {
        self.bar.inc(1);
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
