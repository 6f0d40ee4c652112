//! What is logged, and in which form.

mod form;

use std::fmt;
use std::str::FromStr;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use form::Lines;

/// The form of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// `time=... level=info msg="..." key=value`, which logfmt readers take.
    #[default]
    Text,
    /// One JSON object a line, with the same keys.
    Json,
}

impl Format {
    /// Every value with its spelling.
    pub const WORDS: [(&str, Self); 2] = [("text", Self::Text), ("json", Self::Json)];
}

impl FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = Self::WORDS.iter().find(|(known, _)| *known == word);
        known.map(|(_, format)| *format).ok_or_else(|| "neither text nor json".to_owned())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::WORDS.iter().find(|(_, format)| format == self).map_or("text", |(word, _)| *word);
        f.write_str(word)
    }
}

/// Logs to standard error from now on: dogwatch's own lines from `level` on, warnings of the libraries below.
///
/// # Errors
/// When something logs already.
pub fn begin(format: Format, level: LevelFilter) -> Result<(), TryInitError> {
    let targets = Targets::new().with_target("dogwatch", level).with_default(level.min(LevelFilter::WARN));
    tracing_subscriber::registry().with(targets).with(Lines::new(format, std::io::stderr)).try_init()
}
