//! Reads the rights of processes from /proc.

use rustix::process::Pid;
use std::fs;

/// CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH.
pub(crate) const FILES: u64 = 1 << 1 | 1 << 2;
/// CAP_NET_RAW and CAP_SYS_NICE.
pub(crate) const PACKETS: u64 = 1 << 13 | 1 << 23;
/// CAP_NET_ADMIN, CAP_IPC_LOCK, CAP_SYS_ADMIN and CAP_BPF.
pub(crate) const XDP: u64 = 1 << 12 | 1 << 14 | 1 << 21 | 1 << 39;

/// The sets of a thread.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    effective: u64,
    permitted: u64,
    inheritable: u64,
    bounding: u64,
    ambient: u64,
    no_new_privs: bool,
}

impl Rights {
    fn from_status(status: &str) -> Self {
        let line = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            value.unwrap_or_else(|| panic!("no {name} in {status}")).trim()
        };
        let set = |name| u64::from_str_radix(line(name), 16).unwrap();
        Self {
            effective: set("CapEff"),
            permitted: set("CapPrm"),
            inheritable: set("CapInh"),
            bounding: set("CapBnd"),
            ambient: set("CapAmb"),
            no_new_privs: line("NoNewPrivs") == "1",
        }
    }

    /// Returns the rights of all threads of a process.
    fn from_process(process: Pid) -> Vec<Self> {
        let tasks = fs::read_dir(format!("/proc/{}/task", process.as_raw_nonzero())).unwrap();
        let read = |path: std::path::PathBuf| fs::read_to_string(path.join("status")).ok();
        let all: Vec<Self> = tasks
            .filter_map(|task| read(task.unwrap().path()))
            .map(|text| Self::from_status(&text))
            .collect();
        assert!(!all.is_empty());
        all
    }

    /// Asserts that each thread of a process but the first has no rights but those in `kept`.
    /// Returns the number of these threads.
    #[track_caller]
    pub(crate) fn assert_others_none(process: Pid, kept: u64) -> usize {
        let number = process.as_raw_nonzero();
        let tasks = fs::read_dir(format!("/proc/{number}/task")).unwrap();
        let paths =
            tasks.map(|task| task.unwrap()).filter(|task| *task.file_name() != *number.to_string());
        // A thread may have ended meanwhile.
        let all = paths.filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
        let count = |status: String| {
            let rights = Self::from_status(&status);
            assert_eq!(rights.permitted & !kept, 0, "{rights:x?} in {status}");
            assert!(rights.no_new_privs, "{status}");
        };
        all.map(count).count()
    }

    /// Asserts that no thread of a process has a right but those in `kept`, or can get one.
    #[track_caller]
    pub(crate) fn assert_none(process: Pid, kept: u64) {
        // Without CAP_SETPCAP there is no way to empty the bounding set.
        let own = Self::from_status(&fs::read_to_string("/proc/thread-self/status").unwrap());
        let bounding = if own.effective >> 8 & 1 == 1 { 0 } else { own.bounding };
        let kept = kept & own.effective;
        for rights in Self::from_process(process) {
            assert_eq!(rights.permitted & !kept, 0, "{rights:x?}");
            assert_eq!(rights.effective & !kept, 0, "{rights:x?}");
            assert_eq!(
                (rights.inheritable, rights.ambient, rights.bounding),
                (0, 0, bounding),
                "{rights:x?}"
            );
            assert!(rights.no_new_privs);
        }
    }

    /// Asserts this for a process that could not empty its bounding set.
    #[track_caller]
    pub(crate) fn assert_without_bounds(process: Pid) {
        for rights in Self::from_process(process) {
            let sets = [rights.permitted, rights.effective, rights.inheritable, rights.ambient];
            assert_eq!(sets, [0; 4], "{rights:x?}");
            assert!(rights.no_new_privs);
        }
    }
}
