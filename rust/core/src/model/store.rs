//! Model files on disk: whole or not at all.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::container::{LENGTH, MAX_HEADER, Prepared, data_length, version};
use super::file::{Description, from_bytes, prepare};
use super::header::MAPPED_VERSION;
use super::linear_tree::LinearTreeModel;
use super::mapped::{self, MappedModel};
use super::stored::StoredModel;
use crate::{Error, Result};

/// Links followed before a path counts as a loop, as Linux does.
const MAX_LINKS: usize = 40;

/// How a model lies in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Coded, as small as can be; decoded when it is loaded.
    Coded,
    /// As in memory; used where it lies (see [`StoredModel::Mapped`]).
    Mapped,
}

/// Write a model to exactly `path`; a link's target is replaced, not the link.
///
/// The bytes go to a temporary file beside the target, are synced, and take its
/// name last: whatever goes wrong, a file that was there before stays whole, and
/// whoever has it mapped keeps it. Devices and pipes are written to directly.
///
/// # Errors
/// As [`super::to_bytes`] and [`super::to_mapped_bytes`]; [`Error::Io`] naming `path`.
pub fn save(
    path: &Path,
    model: &LinearTreeModel,
    description: &Description,
    layout: Layout,
) -> Result<()> {
    let prepared = match layout {
        Layout::Coded => prepare(model, description)?,
        Layout::Mapped => mapped::prepare(model, description)?,
    };
    write_whole(path, &prepared).map_err(|e| Error::io(path, e))
}

/// Read a model file, or map it: its layout decides.
///
/// A mapped file must not be changed or cut short while the model lives; replacing
/// it as [`save`] does is fine.
///
/// # Errors
/// [`Error::Io`]; as [`from_bytes`], naming `path`.
pub fn load(path: &Path) -> Result<(StoredModel, Description)> {
    let io = |e| Error::io(path, e);
    let mut file = File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    read_head(&mut file, &mut bytes).map_err(io)?;
    let about = file.metadata().map_err(io)?;
    if about.is_file() && version(&bytes) == Some(MAPPED_VERSION) {
        // SAFETY: the map is only read. What cannot be ruled out is another
        // process that writes to the file in place or cuts it short: documented,
        // and the same with numpy's maps. Cut short, the process ends with
        // SIGBUS. Changed bytes are plain numbers of which every index is checked
        // when it is used, so that they make wrong scores at worst.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        let (model, description) = MappedModel::new(map, Some(path.to_owned()))?;
        return Ok((model.into(), description));
    }
    // Of a file that is no model, or has no end, its head is enough to say so.
    if let Some(length) = data_length(&bytes) {
        if about.is_file() {
            let room = length.min(about.len()) + 1;
            bytes
                .try_reserve_exact(usize::try_from(room).unwrap_or(usize::MAX))
                .map_err(|e| io(e.into()))?;
        }
        // One byte too many is an error too.
        let mut rest = file.take(length.saturating_add(1));
        rest.read_to_end(&mut bytes).map_err(io)?;
    }
    let (model, description) = from_bytes(&bytes).map_err(|e| e.at(path))?;
    Ok((model.into(), description))
}

/// Append as much of the file to `bytes` as its header takes.
fn read_head(file: &mut File, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    file.take(LENGTH as u64).read_to_end(bytes)?;
    if let Ok(length) = <[u8; LENGTH]>::try_from(&bytes[..]) {
        let length = u64::from_le_bytes(length).min(MAX_HEADER);
        file.take(length).read_to_end(bytes)?;
    }
    Ok(())
}

fn write_whole(path: &Path, prepared: &Prepared<'_>) -> std::io::Result<()> {
    let target = follow_links(path);
    let before = fs::metadata(&target).ok();
    if before.as_ref().is_some_and(|m| !m.is_file()) {
        return write_buffered(&mut File::create(&target)?, prepared);
    }
    let folder = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    // The crate hides the system's error number, by which Python picks a class.
    let mut code = None;
    let mut file = tempfile::Builder::new()
        .prefix(".proxtree-")
        .make_in(folder, |name| {
            File::create_new(name).inspect_err(|e| code = e.raw_os_error())
        })
        .map_err(|e| code.map_or(e, std::io::Error::from_raw_os_error))?;
    write_buffered(file.as_file_mut(), prepared)?;
    if let Some(before) = before {
        file.as_file().set_permissions(before.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|e| e.error)?;
    // The new name must reach the disk too; not every system can sync folders.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn write_buffered(file: &mut File, prepared: &Prepared<'_>) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, file);
    prepared.write(&mut out)?;
    out.flush()
}

/// The file behind `path`, which need not exist.
fn follow_links(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            // An absolute link replaces all of it.
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => break,
        }
    }
    target
}
