//! Room for large arrays, asked for before work begins.

use std::path::Path;

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

/// How much more memory this process may use, where it can be known.
///
/// The least of what the machine has free, swap included, of what the process's
/// limit on its address space leaves (`ulimit -v`), and of what its memory cgroups
/// leave, file cache that would be dropped counted as free.
pub fn available_bytes() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let swap = kilobytes(&text, "SwapFree:").unwrap_or(0);
            Some(kilobytes(&text, "MemAvailable:")? + swap)
        });
    let cgroup = std::fs::read_to_string("/proc/self/cgroup")
        .ok()
        .and_then(|text| cgroup_room(Path::new("/sys/fs/cgroup"), &text));
    [machine, address_space_room(), cgroup]
        .into_iter()
        .flatten()
        .min()
}

/// The value of a line such as `VmSize:  123 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

/// What `RLIMIT_AS` leaves.
#[cfg(target_os = "linux")]
fn address_space_room() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer is to a live rlimit of our own.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    if failed != 0 || limit.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(
        limit
            .rlim_cur
            .saturating_sub(kilobytes(&status, "VmSize:")?),
    )
}

/// Elsewhere it is not enforced, or the size in use cannot be read.
#[cfg(not(target_os = "linux"))]
fn address_space_room() -> Option<u64> {
    None
}

/// What the memory cgroups leave that `membership`, the text of
/// `/proc/self/cgroup`, names below `mount`: version 2 (`0::PATH`) and version 1
/// (`N:memory:PATH`), each with all its ancestors.
///
/// In a container the path may be that of the host; what of it does not exist here
/// is skipped, and the mount itself is then the container's own group.
fn cgroup_room(mount: &Path, membership: &str) -> Option<u64> {
    let mut room = None;
    for line in membership.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let path = path.trim_start_matches('/');
        let files = if controllers.is_empty() {
            ["memory.max", "memory.current", "inactive_file"]
        } else if controllers.split(',').any(|name| name == "memory") {
            [
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            ]
        } else {
            continue;
        };
        // Version 2 is mounted here or, beside version 1, below.
        let roots = if controllers.is_empty() {
            [mount.to_owned(), mount.join("unified")]
        } else {
            [mount.join("memory"), mount.join(controllers)]
        };
        for root in roots {
            for folder in root
                .join(path)
                .ancestors()
                .take_while(|f| f.starts_with(&root))
            {
                room = room.into_iter().chain(group_room(folder, files)).min();
            }
        }
    }
    room
}

/// Limit less use of one group, the cache that would be dropped given back.
fn group_room(folder: &Path, [limit, usage, inactive]: [&str; 3]) -> Option<u64> {
    let number = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).ok()?;
        // Version 2 writes "max" where there is none.
        text.trim().parse::<u64>().ok()
    };
    let (limit, usage) = (number(limit)?, number(usage)?);
    let stat = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cache = stat
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|&(name, _)| name == inactive)
        .and_then(|(_, value)| value.trim().parse::<u64>().ok())
        .unwrap_or(0);
    Some(limit.saturating_sub(usage.saturating_sub(cache)))
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

    fn write(folder: &Path, files: &[(&str, &str)]) {
        std::fs::create_dir_all(folder).unwrap();
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }

    #[test]
    fn the_tightest_ancestor_of_a_version_2_group_counts() {
        let mount = tempfile::tempdir().unwrap();
        write(
            &mount.path().join("a/b"),
            &[("memory.max", "max\n"), ("memory.current", "10\n")],
        );
        let parent = [
            ("memory.max", "1000\n"),
            ("memory.current", "700\n"),
            ("memory.stat", "anon 1\ninactive_file 100\nactive_file 5\n"),
        ];
        write(&mount.path().join("a"), &parent);
        // 1000 - (700 - 100)
        assert_eq!(cgroup_room(mount.path(), "0::/a/b\n"), Some(400));
        write(
            mount.path(),
            &[("memory.max", "50"), ("memory.current", "70")],
        );
        assert_eq!(cgroup_room(mount.path(), "0::/a/b\n"), Some(0));
    }

    #[test]
    fn version_1_and_paths_of_the_host_are_understood() {
        let mount = tempfile::tempdir().unwrap();
        let own = [
            ("memory.limit_in_bytes", "500"),
            ("memory.usage_in_bytes", "200"),
            ("memory.stat", "inactive_file 7\ntotal_inactive_file 50\n"),
        ];
        write(&mount.path().join("memory"), &own);
        let text = "5:cpu,cpuacct:/x\n4:memory:/docker/of/the/host\n0::/\n";
        assert_eq!(cgroup_room(mount.path(), text), Some(350));
        assert_eq!(cgroup_room(mount.path(), "5:cpu:/x\nnonsense\n"), None);
    }

    #[test]
    fn kilobytes_are_read_in_bytes() {
        assert_eq!(
            kilobytes("A: 1 kB\nVmSize:   12 kB\n", "VmSize:"),
            Some(12288)
        );
        assert_eq!(kilobytes("VmSize: many\n", "VmSize:"), None);
    }
}
