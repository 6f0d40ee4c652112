//! Puts this program where the operator's container can run it: `run --install-probe`.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file's name in the folder.
const NAME: &str = "dogwatch";

/// Why the probe could not be put in place.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The own file is not to be found.
    #[error("cannot read this program's own file")]
    Own(#[source] io::Error),
    /// The copy could not be written.
    #[error("cannot copy this program to {}; mount a writable emptyDir there", to.display())]
    Copy {
        /// The copy.
        to: PathBuf,
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
}

/// Copies this program into `folder` under the name `dogwatch` and returns the path of the copy.
///
/// Whoever looks finds the whole file or the one before, never a part: the copy is written under another name, flushed
/// and renamed. The folder must exist; one made here would hide that no volume is mounted there.
///
/// # Errors
/// [`Error`].
pub fn install(folder: &Path) -> Result<PathBuf, Error> {
    let own = std::env::current_exe().map_err(Error::Own)?;
    let own = File::open(own).map_err(Error::Own)?;
    let to = folder.join(NAME);
    match copy(own, folder, &to) {
        Ok(()) => Ok(to),
        Err(source) => Err(Error::Copy { to, source }),
    }
}

fn copy(mut own: File, folder: &Path, to: &Path) -> io::Result<()> {
    let mut copy = tempfile::Builder::new().prefix(".dogwatch-").tempfile_in(folder)?;
    io::copy(&mut own, copy.as_file_mut())?;
    // The operator's container runs as another user.
    copy.as_file().set_permissions(Permissions::from_mode(0o755))?;
    copy.as_file().sync_all()?;
    copy.persist(to)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_is_whole_and_everybody_may_run_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(NAME), "an older one").unwrap();
        let copy = install(folder.path()).unwrap();
        assert_eq!(copy, folder.path().join("dogwatch"));
        let own = std::fs::metadata(std::env::current_exe().unwrap()).unwrap();
        let metadata = std::fs::metadata(&copy).unwrap();
        assert_eq!((metadata.len(), metadata.permissions().mode() & 0o777), (own.len(), 0o755));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn a_folder_that_is_not_mounted_is_named_and_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let error = install(&missing).unwrap_err();
        assert!(matches!(&error, Error::Copy { to, .. } if to.starts_with(&missing)));
        assert!(!missing.exists());
    }
}
