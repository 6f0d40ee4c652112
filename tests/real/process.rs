//! A program that a test started, and nothing else of that name.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A running program; killed and waited for when dropped, also when the test panics.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `program` with both outputs in a file of `folder`.
    pub(crate) fn start(program: &Path, arguments: &[String], folder: &Path) -> Self {
        let name = program.file_name().expect("a program").to_string_lossy().into_owned();
        let log = folder.join(format!("{name}.log"));
        let output = File::create(&log).expect("a log file can be made");
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a second handle"))
            .stderr(output)
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", program.display()));
        Self { name, child, log }
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child of this process").is_some()
    }

    /// Its name and the end of what it printed.
    pub(crate) fn last_words(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        format!("{}:\n{}", self.name, lines[lines.len().saturating_sub(15)..].join("\n"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both calls fail only for a child that was waited for already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
