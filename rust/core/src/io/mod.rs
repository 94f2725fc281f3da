//! Text files to matrices and back: the XMC repository format and svmlight.
//!
//! An XMC file starts with `n_samples n_features n_labels`; each further line is
//! a row, `label,label feature:value feature:value`. A row without labels starts
//! with a blank or with its first feature. svmlight files are the same without a
//! header, with comments from `#` on and an optional `qid:` which is ignored.
//!
//! What the formats leave open is settled so:
//!
//! * Blanks and tabs separate, any number of them. Lines end in LF or CRLF; a
//!   carriage return anywhere else is an error. A byte order mark is skipped.
//! * A line that holds nothing but blanks is a row without labels and features.
//!   A line that holds nothing at all is one only where the header's row count
//!   needs it, else an error; at the end of the file such lines are ignored.
//! * Ids are digits only. They are never shifted by a guess: [`Options`] says
//!   whether they count from zero. Unsorted ids are sorted; a feature twice in a
//!   row is an error, a label twice counts once.
//! * Values are decimal, rounded correctly to `f32`. One that is not finite as
//!   `f32` is an error; one that is zero, or rounds to it, is not stored.
//! * A header that contradicts the rows, or an id beyond it, is an error.
//!
//! Memory grows with the text that was read, never with what a header claims.

mod file;
mod number;
mod reader;
mod row;
mod writer;

pub use reader::Reader;
pub use writer::{format_rows, write_xmc};

use crate::Result;
use crate::parallel::Control;
use crate::sparse::{CsrMatrix, Pattern};

/// The kinds of text that [`Reader`] understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// XMC repository text with its header.
    #[default]
    Xmc,
    /// XMC repository text whose first line is a row already.
    XmcWithoutHeader,
    /// Multi-label svmlight text.
    Svmlight,
}

/// How to read a text file.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The kind of text.
    pub format: Format,
    /// Width of `X`. `None`: the header's, else the largest id + 1.
    pub n_features: Option<u64>,
    /// Width of `Y`. `None`: the header's, else the largest id + 1.
    pub n_labels: Option<u64>,
    /// Whether feature ids count from 0 (else from 1).
    pub zero_based: bool,
    /// Whether label ids count from 0 (else from 1).
    pub zero_based_labels: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: Format::Xmc,
            n_features: None,
            n_labels: None,
            zero_based: true,
            zero_based_labels: true,
        }
    }
}

/// Read text that is in memory: `X` (`n_samples`, `n_features`) and the 0/1
/// matrix `Y` (`n_samples`, `n_labels`).
///
/// Cost: one pass; memory beyond the result is one window of the text.
/// Parallel in the current rayon pool; the result does not depend on its size.
///
/// ```
/// use proxtree_core::{io, parallel::Control};
/// let text = b"2 3 2\n0,1 0:1 2:0.5\n 1:2\n";
/// let (x, y) = io::parse_xmc(text, &io::Options::default(), &Control::default())?;
/// assert_eq!(x.view().row(0), (&[0, 2][..], &[1.0, 0.5][..]));
/// assert_eq!(y.view().row(1), [0u32; 0]);
/// # Ok::<(), proxtree_core::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::Format`] with the line and the token for text that breaks the
/// rules above; [`crate::Error::Data`] for impossible options;
/// [`crate::Error::Cancelled`].
pub fn parse_xmc(
    text: &[u8],
    options: &Options,
    control: &Control,
) -> Result<(CsrMatrix, Pattern)> {
    let mut reader = Reader::new(*options)?;
    for window in text.chunks(reader::window_bytes()) {
        reader.push(window, control)?;
    }
    reader.finish(control)
}
