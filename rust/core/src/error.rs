//! The one error type of the crate.

use std::path::{Path, PathBuf};

/// What can go wrong that a caller can mend.
///
/// Not converging is no error: see [`crate::solver::Status`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A matrix or an argument breaks a stated rule.
    #[error("{0}")]
    Data(String),
    /// A text or model file breaks its format.
    #[error("{}", format_at(.path.as_deref(), *.line, .message))]
    Format {
        /// The file, where there is one.
        path: Option<PathBuf>,
        /// 1-based line, for text files.
        line: Option<u64>,
        /// What was found and what was expected.
        message: String,
    },
    /// The operating system refused.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file concerned.
        path: PathBuf,
        /// The system's own error.
        source: std::io::Error,
    },
    /// There is no room for what the data ask for.
    #[error("no memory for {what} ({bytes} bytes)")]
    Memory {
        /// What the memory is for.
        what: String,
        /// How much.
        bytes: u64,
    },
    /// The operating system starts no more threads.
    #[error("cannot start {n_threads} threads: {reason}")]
    Threads {
        /// How many were asked for.
        n_threads: usize,
        /// The system's own words.
        reason: String,
    },
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// `Result` with the crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A [`Error::Data`] from anything printable.
    pub fn data(message: impl Into<String>) -> Self {
        Self::Data(message.into())
    }

    /// A [`Error::Format`] without file or line, to be placed with [`Error::at`].
    pub fn format(message: impl Into<String>) -> Self {
        Self::Format {
            path: None,
            line: None,
            message: message.into(),
        }
    }

    /// A [`Error::Io`] for `path`.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Io {
            path: path.as_ref().to_owned(),
            source,
        }
    }

    /// Name the file of a format error that has none yet.
    #[must_use]
    pub fn at(mut self, file: &Path) -> Self {
        if let Self::Format { path, .. } = &mut self {
            path.get_or_insert_with(|| file.to_owned());
        }
        self
    }
}

fn format_at(path: Option<&Path>, line: Option<u64>, message: &str) -> String {
    let place = match (path, line) {
        (Some(p), Some(n)) => format!("{}, line {n}: ", p.display()),
        (Some(p), None) => format!("{}: ", p.display()),
        (None, Some(n)) => format!("line {n}: "),
        (None, None) => String::new(),
    };
    format!("{place}{message}")
}
