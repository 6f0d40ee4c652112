//! Exit codes, the same for every command but `probe`.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing to report.
    Clean,
    /// There are findings.
    Findings,
    /// Wrong usage, configuration or input.
    Usage,
    /// The answer could not be determined.
    Undetermined,
    /// Anything else: a full disk, a port that is taken, an internal fault.
    Failure,
}

impl Exit {
    /// The process's exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Undetermined => 3,
            Self::Failure => 4,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
