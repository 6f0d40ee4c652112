//! The state file: budget, first-seen and restarts across dogwatch's own.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cluster::chain;
use crate::judge::decision::snapshot::{self, Snapshot};

/// Larger files are no state of ours: 10 000 objects a stream have about 3 MB.
const LIMIT: u64 = 256 * 1024 * 1024;

/// Where the state is kept.
#[derive(Debug, Clone)]
pub(super) struct StateFile {
    path: PathBuf,
}

/// Why a state file could not be used. It is left out as a whole.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("cannot read the state file {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot use the state file {}", path.display())]
    Unusable {
        path: PathBuf,
        #[source]
        source: snapshot::Error,
    },
    #[error("cannot write the state file {}; no restart is requested until it can be written", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl StateFile {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// What was written last; nothing where there is no file yet.
    pub(super) fn load(&self) -> Result<Option<Snapshot>, Error> {
        let read = |source| Error::Read { path: self.path.clone(), source };
        let json = match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(read(error)),
            Ok(metadata) if metadata.len() > LIMIT => {
                return Err(read(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large to be one of dogwatch")));
            }
            Ok(_) => std::fs::read(&self.path).map_err(read)?,
        };
        Snapshot::parse(&json).map(Some).map_err(|source| Error::Unusable { path: self.path.clone(), source })
    }

    /// What is wrong with a snapshot that was read.
    pub(super) fn unusable(&self, source: snapshot::Error) -> Error {
        Error::Unusable { path: self.path.clone(), source }
    }

    /// Writes all of it or nothing: beside the file, to the disk, and then in its place.
    pub(super) fn save(&self, snapshot: &Snapshot) -> Result<(), Error> {
        self.write(snapshot).map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    fn write(&self, snapshot: &Snapshot) -> io::Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        let mut writer = io::BufWriter::new(file.as_file_mut());
        serde_json::to_writer(&mut writer, snapshot)?;
        writer.flush()?;
        drop(writer);
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        // The name is on the disk only once the folder is.
        std::fs::File::open(folder)?.sync_all()
    }
}

/// Which boot of the machine this is; different in every process where the machine does not tell.
pub(super) fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map_or_else(|_| format!("unknown-{:016x}", fastrand::u64(..)), |id| id.trim().to_owned())
}

/// In one line.
pub(super) fn say(error: &Error) -> String {
    chain(error)
}
