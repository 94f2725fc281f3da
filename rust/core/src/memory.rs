//! Room for large arrays, asked for before work begins.

use crate::{Error, Result};

/// From here on the free memory of the machine is looked up too: systems promise
/// more than they have and end the process once it is used.
const LARGE: u64 = 1 << 30;

/// Whether the system gives `bytes` at once and, for a gigabyte and more, has
/// them free; they go back to it.
///
/// A failed allocation later would end the whole process. Arrays whose size is
/// that of the data (features above all, of which hashing makes billions) are
/// therefore asked for here first, all that live together in one sum.
///
/// # Errors
/// [`Error::Memory`] naming `what`.
pub fn check_room(what: impl Into<String>, bytes: u64) -> Result<()> {
    let mut room = Vec::<u8>::new();
    let is_free = bytes < LARGE || available_bytes().is_none_or(|free| bytes <= free);
    match usize::try_from(bytes).map(|n| room.try_reserve_exact(n)) {
        Ok(Ok(())) if is_free => Ok(()),
        _ => Err(Error::Memory {
            what: what.into(),
            bytes,
        }),
    }
}

/// Memory that the machine can give, swap included, where it can be known.
fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let entry = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    Some(1024 * (entry("MemAvailable:")? + entry("SwapFree:").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_little_and_none_for_everything() {
        check_room("a page", 4096).unwrap();
        for bytes in [1 << 60, u64::MAX] {
            let error = check_room("all", bytes).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("no memory for all ({bytes} bytes)")
            );
        }
    }
}
