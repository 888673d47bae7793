//! A memory cgroup, which limits the bytes that its processes have together. The pages of files
//! that they read and map count too.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// A group that is removed when dropped, by when its processes should have ended.
pub(crate) struct MemoryGroup {
    folder: PathBuf,
    version: Version,
}

/// The kernel's two interfaces to groups.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl MemoryGroup {
    /// Makes a group of at most `limit` bytes. With version 1 it lies below the group of this
    /// process. With version 2 it lies beside it, because a group with processes can't have groups
    /// below it there.
    ///
    /// # Errors
    /// `PermissionDenied`, `ReadOnlyFilesystem` or `NotFound` if this process may not create groups
    /// or the kernel can't.
    pub(crate) fn new(limit: u64) -> io::Result<Self> {
        let (own, version) = own_group()?;
        let parent = match version {
            Version::One => own.as_path(),
            Version::Two => own.parent().unwrap_or(&own),
        };
        let folder = parent.join(format!("goal-bench-{}", std::process::id()));
        fs::create_dir(&folder)?;
        let group = Self { folder, version };
        let name = match version {
            Version::One => "memory.limit_in_bytes",
            Version::Two => "memory.max",
        };
        fs::write(group.folder.join(name), limit.to_string())?;
        Ok(group)
    }

    /// Returns a command whose process is in the group before it begins.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
            .arg(self.folder.join("cgroup.procs"))
            .arg(program);
        command
    }

    /// Returns the bytes that its processes have now, their own and shared ones. Bytes that the
    /// kernel could drop are not counted.
    pub(crate) fn held(&self) -> io::Result<u64> {
        let text = fs::read_to_string(self.folder.join("memory.stat"))?;
        let own = match self.version {
            Version::One => "rss",
            Version::Two => "anon",
        };
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|digits| digits.parse::<u64>().ok()).unwrap_or(0)
        };
        Ok(value(own) + value("shmem"))
    }

    /// Returns the most bytes that the group had at once, with the pages of files that the kernel
    /// kept because there was room.
    pub(crate) fn peak(&self) -> io::Result<u64> {
        let name = match self.version {
            Version::One => "memory.max_usage_in_bytes",
            Version::Two => "memory.peak",
        };
        let text = fs::read_to_string(self.folder.join(name))?;
        text.trim()
            .parse()
            .map_err(|_| io::Error::new(ErrorKind::InvalidData, format!("{name} says `{text}`")))
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // Killed processes leave the group when the kernel has finished with them.
        for _ in 0..200 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            sleep(Duration::from_millis(10));
        }
        eprintln!("goal-bench: the group {} still has processes", self.folder.display());
    }
}

/// Returns the folder of the group that the memory of this process is counted in.
fn own_group() -> io::Result<(PathBuf, Version)> {
    let mounts = fs::read_to_string("/proc/self/mounts")?;
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    let mount = |kind: &str, option: &str| {
        mounts.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            let &[_, folder, of_kind, options, ..] = fields.as_slice() else { return None };
            (of_kind == kind && (option.is_empty() || options.split(',').any(|o| o == option)))
                .then_some(folder)
        })
    };
    let group = |controller: &str| {
        groups.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            controllers.split(',').any(|c| c == controller).then_some(path)
        })
    };
    let found = match (mount("cgroup", "memory"), group("memory")) {
        (Some(folder), Some(path)) => Some((folder, path, Version::One)),
        _ => mount("cgroup2", "").zip(group("")).map(|(folder, path)| (folder, path, Version::Two)),
    };
    let Some((folder, path, version)) = found else {
        return Err(io::Error::new(ErrorKind::NotFound, "no cgroups are mounted"));
    };
    Ok((Path::new(folder).join(path.trim_start_matches('/')), version))
}
