//! The memory of a job: of its processes as the system divides shared pages among them, and of the
//! segment.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

/// Returns the bytes of all children of a launcher. A shared page counts once: it is divided among
/// the processes that map it.
pub(super) fn of_processes(launcher: u32) -> io::Result<u64> {
    let mut bytes = 0;
    for task in fs::read_dir(format!("/proc/{launcher}/task"))? {
        let children = fs::read_to_string(task?.path().join("children"))?;
        for child in children.split_whitespace() {
            bytes += pss(child)?;
        }
    }
    Ok(bytes)
}

fn pss(process: &str) -> io::Result<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let number = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    number.map(|kib| kib << 10).ok_or_else(|| io::Error::other("the system tells no Pss"))
}

/// Returns the bytes of the pages that a launcher's segment has.
pub(super) fn of_segment(launcher: u32) -> io::Result<u64> {
    let mut largest = (0, 0);
    for descriptor in fs::read_dir(format!("/proc/{launcher}/fd"))? {
        let path = descriptor?.path();
        let is_memory =
            fs::read_link(&path).is_ok_and(|to| to.starts_with("/memfd:goal-run (deleted)"));
        if is_memory {
            let file = fs::metadata(&path)?;
            largest = largest.max((file.len(), file.blocks() * 512));
        }
    }
    Ok(largest.1)
}
