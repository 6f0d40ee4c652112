//! Processes of the demo: this program again, under another command.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::{Child, Command};

use super::Error;

/// A command of this program, silent, that is killed when its handle is dropped.
pub(super) fn command(arguments: &[&OsStr]) -> Result<Command, Error> {
    let program: PathBuf = std::env::current_exe().map_err(Error::machine("find this program"))?;
    let mut command = Command::new(program);
    // What the person has configured for the real thing must not reach the demo.
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("DOGWATCH_")
            || name_text == "KUBECONFIG"
            || name_text.to_uppercase().ends_with("_PROXY")
        {
            command.env_remove(name);
        }
    }
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    Ok(command)
}

/// Starts it.
pub(super) fn start(arguments: &[&OsStr]) -> Result<Child, Error> {
    command(arguments)?.spawn().map_err(Error::machine("start a process"))
}
