//! What both versions of the format can be read as: integers and floats.

use super::numbers::Decoder;
use super::varint::Reader;
use crate::{Error, Result};

/// A stream of integers being read.
pub(super) trait Integers {
    fn take(&mut self, context: usize) -> Result<u64>;
    /// No more than this many can follow.
    fn n_left(&self) -> u64;
    fn error(&self, what: &str) -> Error;
    fn finish(&self) -> Result<()>;

    fn take_count(&mut self, context: usize) -> Result<usize> {
        let count = self.take(context)?;
        if count > self.n_left() {
            return Err(self.error("ends before all it announces"));
        }
        Ok(count as usize)
    }

    /// The next of sorted ids; `next` is 1 + the last one.
    #[inline]
    fn take_sorted(&mut self, context: usize, next: &mut u64) -> Result<u32> {
        let id = self
            .take(context)?
            .checked_add(*next)
            .and_then(|id| u32::try_from(id).ok())
            .ok_or_else(|| self.error("holds an id of 2^32 or more"))?;
        *next = u64::from(id) + 1;
        Ok(id)
    }
}

impl Integers for Decoder<'_> {
    #[inline]
    fn take(&mut self, context: usize) -> Result<u64> {
        self.take(context)
    }

    fn n_left(&self) -> u64 {
        self.n_left()
    }

    fn error(&self, what: &str) -> Error {
        self.error(what)
    }

    fn finish(&self) -> Result<()> {
        self.finish()
    }
}

impl Integers for Reader<'_> {
    fn take(&mut self, _: usize) -> Result<u64> {
        self.take()
    }

    fn n_left(&self) -> u64 {
        self.n_left()
    }

    fn error(&self, what: &str) -> Error {
        self.error(what)
    }

    fn finish(&self) -> Result<()> {
        self.finish()
    }
}

/// A stream of floats being read.
pub(super) trait Floats {
    fn take(&mut self) -> Result<f32>;
    fn finish(&self) -> Result<()>;
}

impl Floats for Decoder<'_> {
    #[inline]
    fn take(&mut self) -> Result<f32> {
        self.take_float()
    }

    fn finish(&self) -> Result<()> {
        self.finish()
    }
}

/// Floats as they are: those of version 1.
pub(super) struct Plain<'a> {
    name: &'a str,
    bytes: &'a [u8],
}

impl<'a> Plain<'a> {
    pub(super) fn new(name: &'a str, bytes: &'a [u8]) -> Self {
        Self { name, bytes }
    }
}

impl Floats for Plain<'_> {
    fn take(&mut self) -> Result<f32> {
        let (first, rest) = self
            .bytes
            .split_first_chunk()
            .ok_or_else(|| Error::format(format!("section {}: ends too early", self.name)))?;
        self.bytes = rest;
        Ok(f32::from_le_bytes(*first))
    }

    fn finish(&self) -> Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let text = format!("section {}: goes on after its end", self.name);
        Err(Error::format(text))
    }
}
