//! Dumps: files, folders and standard input, read as a stream of JSON pieces.
//!
//! Every file is read twice, first to choose rules and to find the newest time in it, then to judge. Standard input is
//! kept in a temporary file for that.

mod yaml;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::de::IgnoredAny;

use crate::judge::cut::{Cutter, Piece};

/// The path that stands for standard input.
const STDIN: &str = "-";
const CHUNK: usize = 64 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The files of a dump.
#[derive(Debug)]
pub struct Dump {
    files: Vec<DumpFile>,
}

/// One file of a dump.
#[derive(Debug)]
pub struct DumpFile {
    name: String,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Path(PathBuf),
    /// What standard input gave.
    Kept(File),
}

/// Why a dump, or one file of it, could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file or folder cannot be read at all.
    #[error("cannot read {name}")]
    Read {
        /// The path, or `standard input`.
        name: String,
        /// The system's word.
        source: io::Error,
    },
    /// The file is neither JSON nor YAML. What stood before the fault was read.
    #[error("{name}:{line}:{column}: {message}")]
    Parse {
        /// The path, or `standard input`.
        name: String,
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// A folder without any file to read.
    #[error("{name} holds no .json, .yaml or .yml file")]
    Empty {
        /// The folder.
        name: String,
    },
    /// Standard input could not be kept for a second reading.
    #[error("cannot keep standard input in a temporary file")]
    Keep(#[source] io::Error),
}

impl Dump {
    /// Finds the files that `paths` name: a file, a folder with all that lies below it, or `-`.
    ///
    /// # Errors
    /// When a path cannot be read, or a folder holds no file that could be read.
    pub fn open(paths: &[PathBuf]) -> Result<Self, Error> {
        let mut files = Vec::new();
        for path in paths {
            if path.as_os_str() == STDIN {
                files.push(DumpFile { name: "standard input".to_owned(), place: Place::Kept(keep_stdin()?) });
                continue;
            }
            let before = files.len();
            let read = |source| Error::Read { name: path.display().to_string(), source };
            if std::fs::metadata(path).map_err(read)?.is_dir() {
                walk(path, &mut files)?;
                if files.len() == before {
                    return Err(Error::Empty { name: path.display().to_string() });
                }
            } else {
                files.push(DumpFile { name: path.display().to_string(), place: Place::Path(path.clone()) });
            }
        }
        Ok(Self { files })
    }

    /// The files.
    pub fn files(&self) -> &[DumpFile] {
        &self.files
    }
}

/// Adds the files below `folder`, in the order of their names. Links to folders are not followed, so that a loop of
/// them cannot be entered.
fn walk(folder: &Path, files: &mut Vec<DumpFile>) -> Result<(), Error> {
    let read = |source| Error::Read { name: folder.display().to_string(), source };
    let mut entries = std::fs::read_dir(folder).map_err(read)?.collect::<Result<Vec<_>, _>>().map_err(read)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().map_err(read)?.is_dir() {
            walk(&path, files)?;
        } else if path.is_file() && has_known_ending(&path) {
            files.push(DumpFile { name: path.display().to_string(), place: Place::Path(path) });
        }
    }
    Ok(())
}

fn has_known_ending(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ["json", "yaml", "yml"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

fn keep_stdin() -> Result<File, Error> {
    let mut file = tempfile::tempfile().map_err(Error::Keep)?;
    let mut stdin = io::stdin().lock();
    loop {
        let bytes = match stdin.fill_buf() {
            Ok([]) => break,
            Ok(bytes) => bytes,
            Err(source) if source.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(Error::Read { name: "standard input".to_owned(), source }),
        };
        file.write_all(bytes).map_err(Error::Keep)?;
        let used = bytes.len();
        stdin.consume(used);
    }
    Ok(file)
}

impl DumpFile {
    /// The path as given, or `standard input`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When the file was last written; `None` for standard input.
    pub fn modified_at(&self) -> Option<Timestamp> {
        match &self.place {
            Place::Path(path) => Timestamp::try_from(std::fs::metadata(path).ok()?.modified().ok()?).ok(),
            Place::Kept(_) => None,
        }
    }

    fn open(&self) -> io::Result<File> {
        let mut file = match &self.place {
            Place::Path(path) => File::open(path)?,
            Place::Kept(file) => file.try_clone()?,
        };
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    }

    /// Hands every object of the file to `each`; objects of more than `limit` bytes are dropped.
    ///
    /// # Errors
    /// When the file cannot be read to its end. What stood before the fault was handed out.
    pub fn pieces(&self, limit: usize, each: &mut impl FnMut(Piece<'_>)) -> Result<(), Error> {
        let read = |source| Error::Read { name: self.name.clone(), source };
        let mut reader = BufReader::with_capacity(CHUNK, self.open().map_err(read)?);
        let start = reader.fill_buf().map_err(read)?;
        let mark = if start.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let is_json = matches!(start[mark..].trim_ascii_start().first(), Some(b'{' | b'['));
        reader.consume(mark);
        if is_json {
            return self.json_pieces(reader, limit, each);
        }
        yaml::pieces(reader, &self.open().map_err(read)?, limit, each).map_err(|error| match error {
            yaml::Error::Read(source) => read(source),
            yaml::Error::Parse { line, column, message } => {
                Error::Parse { name: self.name.clone(), line, column, message }
            }
        })
    }

    fn json_pieces(
        &self,
        mut reader: BufReader<File>,
        limit: usize,
        each: &mut impl FnMut(Piece<'_>),
    ) -> Result<(), Error> {
        let read = |source| Error::Read { name: self.name.clone(), source };
        let mut cutter = Cutter::new(limit);
        let mut is_valid = true;
        loop {
            let chunk = reader.fill_buf().map_err(read)?;
            if chunk.is_empty() {
                break;
            }
            let used = chunk.len();
            is_valid &= cutter.feed(chunk, &mut |piece| is_valid &= hand_out(piece, each)).is_ok();
            reader.consume(used);
            if !is_valid {
                break;
            }
        }
        if is_valid && cutter.finish().is_ok() { Ok(()) } else { Err(self.json_fault(limit)) }
    }

    /// Where the file stops being JSON; found by reading it once more, since that is rare.
    fn json_fault(&self, limit: usize) -> Error {
        let fault = |line, column, message: &str| Error::Parse {
            name: self.name.clone(),
            line,
            column,
            message: message.to_owned(),
        };
        let file = match self.open() {
            Ok(file) => file,
            Err(source) => return Error::Read { name: self.name.clone(), source },
        };
        let documents = serde_json::Deserializer::from_reader(BufReader::new(file)).into_iter::<IgnoredAny>();
        for document in documents {
            match document {
                Ok(_) => {}
                Err(error) if error.is_eof() => return fault(error.line(), error.column(), "the JSON ends too early"),
                Err(error) => return fault(error.line(), error.column(), "not JSON"),
            }
        }
        fault(1, 1, &format!("not a list of Kubernetes objects, or its envelope has more than {limit} bytes"))
    }
}

/// Hands a piece on. False when it is a whole document that is not JSON: the file as a whole cannot be read then, while
/// a broken item of a list is only that item's fault.
fn hand_out(piece: Piece<'_>, each: &mut impl FnMut(Piece<'_>)) -> bool {
    if let Piece::Document(bytes) | Piece::Envelope(bytes) = piece
        && serde_json::from_slice::<IgnoredAny>(bytes).is_err()
    {
        return false;
    }
    each(piece);
    true
}

#[cfg(test)]
mod tests;
