//! What the demo prints: three views side by side, a line for every change.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};

use crate::cli::columns::visible;
use crate::clock;

/// What the three views show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Views {
    /// The operator's own `/healthz`.
    pub(super) operator: String,
    /// Objects whose latest desired state the operator has not served, and all.
    pub(super) unserved: (usize, usize),
    /// dogwatch's diagnosis.
    pub(super) diagnosis: String,
    /// Whether dogwatch's probe passes.
    pub(super) is_ok: bool,
    /// What it prints.
    pub(super) probe: String,
}

/// Prints.
pub(super) struct Show {
    begun: Duration,
    last: Option<Views>,
    width: usize,
}

const OPERATOR: usize = 18;
const UNSERVED: usize = 10;
const DIAGNOSIS: usize = 20;
const TIME: usize = 5;

impl Show {
    /// Prints the headings. The time counts from now.
    pub(super) fn new() -> Self {
        let terminal = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
        let width = terminal.map_or(usize::MAX, |(width, _)| usize::from(width.0));
        let show = Self { begun: clock::elapsed(), last: None, width };
        show.print(
            &format!(
                "{:>TIME$}  {:<OPERATOR$}{:<UNSERVED$}{:<DIAGNOSIS$}DOGWATCH /healthz",
                "TIME", "OPERATOR /healthz", "UNSERVED", "DIAGNOSIS"
            ),
            Style::new(),
        );
        show
    }

    /// How long the demo has been going on.
    pub(super) fn elapsed(&self) -> Duration {
        clock::elapsed().saturating_sub(self.begun)
    }

    /// What the story says.
    pub(super) fn tell(&self, text: &str) {
        self.print(&format!("{:>TIME$}  -- {text}", self.time()), Style::new().bold());
    }

    /// The views, if something in them has changed.
    pub(super) fn views(&mut self, views: Views) {
        if self.last.as_ref() == Some(&views) {
            return;
        }
        let (unserved, all) = views.unserved;
        let served = format!("{unserved} of {all}");
        let code = if views.is_ok { "200" } else { "500" };
        let line = format!(
            "{:>TIME$}  {:<OPERATOR$}{served:<UNSERVED$}{:<DIAGNOSIS$}{code} {}",
            self.time(),
            views.operator,
            views.diagnosis,
            visible(&views.probe)
        );
        let colour = if views.is_ok { AnsiColor::Green } else { AnsiColor::Red };
        let is_quiet = unserved > 0 && views.is_ok;
        self.print(&line, Style::new().fg_color(Some(if is_quiet { AnsiColor::Yellow } else { colour }.into())));
        self.last = Some(views);
    }

    /// A line of its own.
    pub(super) fn line(&self, text: &str) {
        self.print(text, Style::new());
    }

    fn time(&self) -> String {
        format!("{}s", self.elapsed().as_secs())
    }

    fn print(&self, line: &str, style: Style) {
        let line: String = line.chars().take(self.width).collect();
        // A person who has closed the pipe has seen enough, and the demo ends with it.
        let _ = writeln!(anstream::stdout(), "{style}{}{style:#}", line.trim_end());
    }
}
