//! Plain files, memory-mapped.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use super::Reader;
use super::reader::window_bytes;
use crate::parallel::Control;
use crate::{Error, Result};

impl Reader {
    /// Parse all lines of a regular file.
    ///
    /// The file must not be written to meanwhile. Pages already parsed are given
    /// back to the system, so resident memory holds a window of the file only.
    ///
    /// # Errors
    /// [`Error::Io`] where the file cannot be opened or mapped, else as
    /// [`Reader::push`] with the file's name.
    pub fn push_file(&mut self, path: &Path, control: &Control) -> Result<()> {
        let file = File::open(path).map_err(|e| Error::io(path, e))?;
        // SAFETY: the map is private to this call and only read. What cannot be
        // ruled out is another process that cuts the file short meanwhile, which
        // ends this one with SIGBUS, or that changes its bytes; the parser reads
        // each byte as plain data and checks every index it computes.
        let map = unsafe { Mmap::map(&file) }.map_err(|e| Error::io(path, e))?;
        let mut start = 0;
        for window in map.chunks(window_bytes()) {
            self.push(window, control).map_err(|e| e.at(path))?;
            release(&map, start, window.len());
            start += window.len();
        }
        Ok(())
    }
}

#[cfg(unix)]
fn release(map: &Mmap, start: usize, length: usize) {
    // SAFETY: pages of a shared map of a file are read again from the file when
    // touched again, so no byte is lost.
    let released =
        unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, length) };
    // A system that does not take the advice only keeps the pages longer.
    drop(released);
}

#[cfg(not(unix))]
fn release(_: &Mmap, _: usize, _: usize) {}
