//! Where a report goes: `-o FORMAT[=FILE]`, repeatable.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::report::{Report, json, name, table};

/// The formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For a person.
    Table,
    /// For a person who wants every object and every rule.
    Wide,
    /// For programs.
    Json,
    /// Names for other commands.
    Name,
}

const FORMATS: [(&str, Format); 4] =
    [("table", Format::Table), ("wide", Format::Wide), ("json", Format::Json), ("name", Format::Name)];

/// One `-o`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// How to write.
    pub format: Format,
    /// Where to; standard output where absent.
    pub file: Option<PathBuf>,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, file) = match text.split_once('=') {
            Some((_, "")) => return Err("no file name behind the equals sign".to_owned()),
            Some((word, file)) => (word, Some(PathBuf::from(file))),
            None => (text, None),
        };
        let format = FORMATS.iter().find(|(known, _)| *known == word).map(|(_, format)| *format);
        let format =
            format.ok_or_else(|| format!("{word:?} is none of {}", FORMATS.map(|(known, _)| known).join(", ")))?;
        Ok(Self { format, file })
    }
}

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of `-o FORMAT=FILE`.
    #[error("cannot write the report to {}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// Standard output.
    #[error("cannot write the report to standard output")]
    Stdout(#[source] io::Error),
}

/// What the formats need to know beside the report.
#[derive(Debug, Clone)]
pub struct Options {
    /// At most so many objects by name.
    pub limit: Option<usize>,
    /// Whether `--state` or `--all` says which objects are meant, and not the format.
    pub has_states: bool,
    /// How this program was called.
    pub program: String,
}

/// Writes the report to every target. A reader that has had enough (a broken pipe) is no error.
///
/// # Errors
/// When a target cannot be written to.
pub fn write(report: &Report, targets: &[Target], options: &Options) -> Result<(), Error> {
    for target in targets {
        match &target.file {
            Some(file) => write_file(report, target.format, options, file)
                .map_err(|source| Error::File { file: file.clone(), source })?,
            None => write_stdout(report, target.format, options).map_err(Error::Stdout)?,
        }
    }
    Ok(())
}

fn write_file(report: &Report, format: Format, options: &Options, file: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(anstream::StripStream::new(File::create(file)?));
    write_format(report, format, options, None, &mut out)?;
    out.flush()
}

fn write_stdout(report: &Report, format: Format, options: &Options) -> io::Result<()> {
    let stdout = io::stdout();
    let width = stdout.is_terminal().then(terminal_size::terminal_size).flatten();
    let width = width.map(|(width, _)| usize::from(width.0));
    // Coloured only on a terminal, and not where `NO_COLOR` is set.
    let mut out = BufWriter::new(anstream::AutoStream::auto(stdout));
    let written = write_format(report, format, options, width, &mut out).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

fn write_format(
    report: &Report,
    format: Format,
    options: &Options,
    width: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Options { limit, has_states, program } = options;
    match format {
        Format::Json => json::write(report, *limit, out),
        Format::Name => name::write(report, *limit, *has_states, out),
        Format::Table | Format::Wide => {
            let is_wide = format == Format::Wide;
            table::write(report, &table::Options { width, is_wide, limit: *limit, program: program.clone() }, out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Format, Target};

    #[test]
    fn targets_are_read_as_format_and_file() {
        let target = |text: &str| text.parse::<Target>();
        assert_eq!(target("json"), Ok(Target { format: Format::Json, file: None }));
        assert_eq!(target("wide=a=b"), Ok(Target { format: Format::Wide, file: Some("a=b".into()) }));
        assert!(target("yamll").is_err_and(|error| error.contains("table, wide, json, name")));
        assert!(target("json=").is_err());
    }
}
