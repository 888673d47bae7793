//! Processor time of a command's process and of its children, while they run.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::process::Child;
use std::time::Duration;

/// The time between two looks at the processes.
const LOOK: Duration = Duration::from_millis(50);

/// Follows a command to its end; its name and those of its children, each with the milliseconds of
/// processor time that it had used at the last look.
pub(super) fn follow(command: &mut Child) -> io::Result<BTreeMap<String, f64>> {
    let mut used = BTreeMap::new();
    while command.try_wait()?.is_none() {
        // A process that ends meanwhile keeps its last figure.
        for process in children(command.id()).into_iter().chain([command.id()]) {
            if let Some((name, ms)) = look(process) {
                used.insert(name, ms);
            }
        }
        std::thread::sleep(LOOK);
    }
    Ok(used)
}

fn children(process: u32) -> Vec<u32> {
    let text =
        fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

/// Returns the name of a process and the milliseconds of processor time of its threads.
fn look(process: u32) -> Option<(String, f64)> {
    let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let of_thread = |thread: io::Result<fs::DirEntry>| {
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    let ns: Option<f64> = threads.map(of_thread).sum();
    Some((name.trim().to_owned(), ns? / 1e6))
}

#[cfg(test)]
mod tests {
    use super::{follow, look};
    use std::process::Command;

    #[test]
    fn a_process_that_computes_is_told_from_one_that_sleeps() {
        // The shell's children end with it.
        let script = "yes > /dev/null & sleep 1; kill $!";
        let mut shell = Command::new("sh").args(["-c", script]).spawn().expect("a shell");
        let used = follow(&mut shell).expect("times");
        assert!(used["yes"] > used["sleep"], "{used:?}");
        assert!(used.contains_key("sh"), "{used:?}");
    }

    #[test]
    fn a_process_that_is_gone_has_none() {
        let mut gone = Command::new("true").spawn().expect("a process");
        gone.wait().expect("its end");
        assert_eq!(look(gone.id()), None);
    }
}
