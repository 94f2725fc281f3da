//! Model files on disk: whole or not at all.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::file::{Description, from_bytes, to_bytes};
use super::linear_tree::LinearTreeModel;
use crate::{Error, Result};

/// Links followed before a path counts as a loop, as Linux does.
const MAX_LINKS: usize = 40;

/// Write a model to exactly `path`; a link's target is replaced, not the link.
///
/// The bytes go to a temporary file beside the target, are synced, and take its
/// name last: whatever goes wrong, a file that was there before stays whole.
/// Devices and pipes are written to directly.
///
/// # Errors
/// As [`to_bytes`]; [`Error::Io`] naming `path`.
pub fn save(path: &Path, model: &LinearTreeModel, description: &Description) -> Result<()> {
    let bytes = to_bytes(model, description)?;
    write_whole(path, &bytes).map_err(|e| Error::io(path, e))
}

/// Read a model file.
///
/// # Errors
/// [`Error::Io`]; as [`from_bytes`], naming `path`.
pub fn load(path: &Path) -> Result<(LinearTreeModel, Description)> {
    let bytes = fs::read(path).map_err(|e| Error::io(path, e))?;
    from_bytes(&bytes).map_err(|e| e.at(path))
}

fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let target = follow_links(path);
    let before = fs::metadata(&target).ok();
    if before.as_ref().is_some_and(|m| !m.is_file()) {
        return fs::write(&target, bytes);
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
    file.as_file_mut().write_all(bytes)?;
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
