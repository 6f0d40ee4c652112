//! Parses the command line, calls the command, prints an error once, and ends with the exit code.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use dogwatch::cli::{self, Cli, columns::visible, exit::Exit};

fn main() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, and go to standard output; a broken pipe is nobody's fault.
            let _ = error.print();
            // A probe that was written wrongly must not have the operator restarted for ever.
            let is_usage = error.use_stderr() && !cli::is_probe(std::env::args_os());
            return if is_usage { Exit::Usage.into() } else { Exit::Clean.into() };
        }
    };
    match cli::run(&cli, &program()) {
        Ok(exit) => exit.into(),
        Err(error) => {
            print(&error);
            error.exit().into()
        }
    }
}

/// The error and its causes, each on lines of its own.
fn print(error: &dyn Error) {
    let mut lines = shown("error: ", error);
    let mut cause = error.source();
    while let Some(error) = cause {
        lines.extend(shown("  caused by: ", error));
        cause = error.source();
    }
    // Where standard error is closed as well, the exit code has to say it.
    let _ = std::io::stderr().write_all(lines.concat().as_bytes());
}

fn shown(what: &str, error: &dyn Error) -> Vec<String> {
    error.to_string().lines().map(|line| format!("{what}{}\n", visible(line))).collect()
}

/// How this program was called: `kubectl dogwatch` where kubectl found it as its plugin.
fn program() -> String {
    let called = std::env::args_os().next().map(std::path::PathBuf::from).unwrap_or_default();
    match called.file_stem().and_then(std::ffi::OsStr::to_str) {
        Some("kubectl-dogwatch") => "kubectl dogwatch".to_owned(),
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => "dogwatch".to_owned(),
    }
}
