//! Sections of a mapped file whose bytes are checked where they are touched.

use std::marker::PhantomData;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Pod;
use crc32fast::Hasher;
use memmap2::Mmap;

use crate::{Error, Result};

/// Bytes under one checksum: about a page, so that a check reads little that the
/// fault did not bring in anyway.
const BLOCK: usize = 4096;

/// A mapped file and the name that errors give it.
#[derive(Debug)]
pub(super) struct MappedFile {
    pub(super) map: Mmap,
    pub(super) path: Option<PathBuf>,
}

impl MappedFile {
    /// A format error that names the file, if it has a name.
    pub(super) fn error(&self, message: String) -> Error {
        let error = Error::format(message);
        match &self.path {
            Some(path) => error.at(path),
            None => error,
        }
    }
}

/// Numbers in a mapped file, in blocks of [`BLOCK`] bytes each of which is checked
/// once, before anything of it is used.
#[derive(Debug)]
pub(super) struct Checked<T> {
    file: Arc<MappedFile>,
    name: String,
    /// Where its bytes are in the file.
    bytes: Range<usize>,
    /// Where the checksums of its blocks are.
    sums: Range<usize>,
    /// A bit per block: whether it has been found sound.
    sound: Vec<AtomicU64>,
    of: PhantomData<T>,
}

/// The part of a section that belongs to one node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a, T> {
    section: &'a Checked<T>,
    values: &'a [T],
    start: usize,
    node: usize,
}

/// The checksums of the blocks of these bytes, in pieces of any length.
pub(super) fn checksums<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u32> {
    let mut sums = Vec::new();
    let mut hasher = Hasher::new();
    let mut room = BLOCK;
    for mut piece in pieces {
        while !piece.is_empty() {
            let (own, rest) = piece.split_at(room.min(piece.len()));
            hasher.update(own);
            room -= own.len();
            piece = rest;
            if room == 0 {
                sums.push(std::mem::take(&mut hasher).finalize());
                room = BLOCK;
            }
        }
    }
    if room < BLOCK {
        sums.push(hasher.finalize());
    }
    sums
}

impl<T: Pod> Checked<T> {
    /// Take a section in without looking at its values.
    ///
    /// # Errors
    /// [`Error::Format`] where it lies so that it cannot be used in place, or
    /// without a checksum for each block.
    pub(super) fn new(
        file: &Arc<MappedFile>,
        name: String,
        bytes: Range<usize>,
        sums: Range<usize>,
    ) -> Result<Self> {
        let (all, own) = (&file.map[bytes.clone()], &file.map[sums.clone()]);
        let n_blocks = all.len().div_ceil(BLOCK);
        if bytemuck::try_cast_slice::<_, T>(all).is_err() {
            return Err(Error::format(format!("section {name} is not aligned")));
        }
        if bytemuck::try_cast_slice::<_, u32>(own).map(<[u32]>::len) != Ok(n_blocks) {
            let text = format!("section {name} has no checksum for each of its blocks");
            return Err(Error::format(text));
        }
        Ok(Self {
            file: file.clone(),
            name,
            bytes,
            sums,
            sound: (0..n_blocks.div_ceil(64))
                .map(|_| AtomicU64::new(0))
                .collect(),
            of: PhantomData,
        })
    }

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / size_of::<T>()
    }

    /// The values `range`, which are those of `node`.
    ///
    /// # Panics
    /// If the range is outside the section: ranges are checked at load.
    pub(super) fn part(&self, range: Range<usize>, node: usize) -> Part<'_, T> {
        let all: &[T] = bytemuck::cast_slice(&self.file.map[self.bytes.clone()]);
        Part {
            section: self,
            values: &all[range.clone()],
            start: range.start,
            node,
        }
    }

    /// Whether a block is sound, which is remembered.
    #[cold]
    fn is_sound(&self, block: usize) -> bool {
        let all = &self.file.map[self.bytes.clone()];
        let bytes = &all[block * BLOCK..all.len().min((block + 1) * BLOCK)];
        let sums: &[u32] = bytemuck::cast_slice(&self.file.map[self.sums.clone()]);
        let is_sound = crc32fast::hash(bytes) == sums[block];
        // Whoever sees the bit sees the same bytes: nothing is published by it.
        self.sound[block / 64].fetch_or(u64::from(is_sound) << (block % 64), Ordering::Relaxed);
        is_sound
    }
}

impl<'a, T: Pod> Part<'a, T> {
    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// All values, checked.
    ///
    /// # Errors
    /// As [`Self::get`].
    #[inline]
    pub(super) fn all(&self) -> Result<&'a [T]> {
        self.get(0..self.len())
    }

    /// The values `range` of the node's, checked.
    ///
    /// # Errors
    /// [`Error::Format`] where the range is outside the node's, or the bytes are
    /// not those that were saved.
    #[inline]
    pub(super) fn get(&self, range: Range<usize>) -> Result<&'a [T]> {
        let Some(values) = self.values.get(range.clone()) else {
            return Err(self.error("is too short"));
        };
        if values.is_empty() {
            return Ok(values);
        }
        const { assert!(BLOCK.is_multiple_of(size_of::<T>())) };
        let per_block = BLOCK / size_of::<T>();
        let first = (self.start + range.start) / per_block;
        let last = (self.start + range.end - 1) / per_block;
        for block in first..=last {
            let known = self.section.sound[block / 64].load(Ordering::Relaxed);
            if known >> (block % 64) & 1 == 0 && !self.section.is_sound(block) {
                return Err(self.error("is damaged"));
            }
        }
        Ok(values)
    }

    /// An error that names file, section and node.
    #[cold]
    pub(super) fn error(&self, what: &str) -> Error {
        let (name, node) = (&self.section.name, self.node);
        let text = format!("section {name} {what} (node {node})");
        self.section.file.error(text)
    }
}
