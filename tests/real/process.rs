//! A program that a test started, and nothing else of that name.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};

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
        let mut command = Command::new(program);
        command.args(arguments);
        let name = program.file_name().expect("a program").to_string_lossy().into_owned();
        Self::spawn(command, &name, folder)
    }

    /// Starts a command with both outputs at the end of the file `<name>.log` of `folder`.
    pub(crate) fn spawn(mut command: Command, name: &str, folder: &Path) -> Self {
        let log = folder.join(format!("{name}.log"));
        let output = File::options().append(true).create(true).open(&log).expect("a log file can be made");
        let child = command
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a second handle"))
            .stderr(output)
            .spawn()
            .unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        Self { name: name.to_owned(), child, log }
    }

    /// How it has ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child of this process")
    }

    /// Asks it to end, as the kubelet does.
    pub(crate) fn terminate(&self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("the id of a process");
        // Fails only for one that has ended already, whose id stays ours until it is waited for.
        let _ = kill_process(pid, Signal::TERM);
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.ended().is_some()
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
