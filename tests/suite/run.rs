//! Runs the real binary, with nothing of this machine's configuration around it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a command ended.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `dogwatch` with these arguments in the folder of the fixtures.
pub(crate) fn dogwatch(arguments: &[&str]) -> Run {
    dogwatch_with(arguments, &[], "")
}

/// The same with environment variables and text on standard input.
pub(crate) fn dogwatch_with(arguments: &[&str], environment: &[(&str, &str)], input: &str) -> Run {
    dogwatch_in(&root().join("tests/fixtures"), arguments, environment, input)
}

/// The same in another folder.
pub(crate) fn dogwatch_in(folder: &Path, arguments: &[&str], environment: &[(&str, &str)], input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dogwatch"))
        .args(arguments)
        .env_clear()
        .env("HOME", "/nowhere")
        .envs(environment.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("ended");
    Run {
        code: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// The folder of the project.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Exit code, standard output and standard error in one text, for a snapshot.
pub(crate) fn shown(run: &Run) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("exit {}\n{}{}", run.code, run.stdout, run.stderr).replace(version, "VERSION")
}
