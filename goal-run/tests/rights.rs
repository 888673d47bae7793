//! What rights the processes of a job have, and that a file with capabilities does nothing for whoever starts it as a rank.

mod common;

use common::processes::{assert_gone, pid, ranks_of, wait_for, wait_until_mapped};
use common::rights::{FILES, Rights, skipped};
use common::{Ended, GOAL_RUN, start_text};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const LONG: &str = "num_ranks 2 rank * { c: calc 1000000000000 }";
/// User and group of nobody.
const NOBODY: u32 = 65534;

#[test]
fn a_job_has_no_rights_once_its_ranks_run() {
    let launcher = start_text(LONG, &["--timeout", "60"]);
    let id = pid(launcher.id() as i32);
    let ranks = ranks_of(id, 2);
    wait_until_mapped(&ranks);
    for &rank in &ranks {
        Rights::assert_none(rank, 0);
    }
    // Threads that have compiled the program may still be ending. Root's launcher keeps the right to write its results.
    wait_for(|| Rights::are_given_up(id, FILES).then_some(()));
    Rights::assert_none(id, FILES);
    kill_process(id, Signal::INT).unwrap();
    let ended = Ended::of(launcher.wait_with_output().unwrap());
    ended.assert_status(130);
    assert_gone(&ranks);
}

/// The memory files of jobs that programs would inherit from a process. Other tests of this process leave theirs open.
fn lent(process: Pid) -> Vec<PathBuf> {
    let process = process.as_raw_nonzero();
    let numbers = fs::read_dir(format!("/proc/{process}/fdinfo")).unwrap();
    let is_lent = |number: &std::ffi::OsString| {
        let info = format!("/proc/{process}/fdinfo/{}", number.display());
        let Ok(text) = fs::read_to_string(info) else { return false };
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
        i32::from_str_radix(flags.trim(), 8).unwrap() & libc::O_CLOEXEC == 0
    };
    let numbers = numbers.map(|entry| entry.unwrap().file_name()).filter(is_lent);
    let files =
        numbers.filter_map(|number| fs::read_link(format!("/proc/{process}/fd/{}", number.display())).ok());
    files.filter(|file| file.to_string_lossy().starts_with("/memfd:goal-run")).collect()
}

#[test]
fn no_process_of_a_job_keeps_a_memory_file_for_programs() {
    let launcher = start_text(LONG, &["--timeout", "60"]);
    let id = pid(launcher.id() as i32);
    let ranks = ranks_of(id, 2);
    wait_until_mapped(&ranks);
    for process in ranks.iter().chain([&id]) {
        // The launcher lends its own until the last rank has begun.
        wait_for(|| lent(*process).is_empty().then_some(()));
    }
    kill_process(id, Signal::INT).unwrap();
    Ended::of(launcher.wait_with_output().unwrap()).assert_status(130);
}

/// A memory file that a program inherits.
fn memory_file(bytes: &[u8], seals: SealFlags) -> OwnedFd {
    let mut file = File::from(memfd_create("attack", MemfdFlags::ALLOW_SEALING).unwrap());
    file.write_all(bytes).unwrap();
    fcntl_add_seals(&file, seals).unwrap();
    fcntl_setfd(&file, FdFlags::empty()).unwrap();
    file.into()
}

const SEALED: SealFlags =
    SealFlags::WRITE.union(SealFlags::SHRINK).union(SealFlags::GROW).union(SealFlags::SEAL);
const SIZED: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

/// Starts a file as a rank of this process with descriptors of ours.
fn as_rank(file: &Path, order: &str, confined: bool) -> Command {
    let mut command = Command::new(file);
    command.env("GOAL_RUN_RANK", order).stdout(Stdio::piped()).stderr(Stdio::piped());
    if confined {
        // What a launcher does, and anybody may.
        // SAFETY: one system call.
        #[expect(unsafe_code, reason = "a child has to say it before it executes")]
        unsafe {
            command.pre_exec(|| Ok(rustix::thread::set_no_new_privs(true)?))
        };
    }
    command
}

fn order(schedule: i32, settings: i32, segment: i32) -> String {
    let launcher = std::process::id();
    format!(
        r#"{{"rank":0,"launcher":{launcher},"troubles":0,"segment":{segment},"schedule":{schedule},"settings":{settings},"section":null,"driver":null}}"#
    )
}

/// The bytes of the schedule, the settings and the segment of a job that runs.
fn files_of_a_job() -> [Vec<u8>; 3] {
    let launcher = start_text("num_ranks 1 rank 0 { c: calc 1000000000000 }", &["--timeout", "60"]);
    let id = pid(launcher.id() as i32);
    let ranks = ranks_of(id, 1);
    wait_until_mapped(&ranks);
    let read = |name: &str| {
        let folder = format!("/proc/{}/fd", id.as_raw_nonzero());
        let is_it = |path: &PathBuf| {
            fs::read_link(path).is_ok_and(|link| link.to_str() == Some(&format!("/memfd:{name} (deleted)")))
        };
        let mut paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        fs::read(paths.find(is_it).unwrap_or_else(|| panic!("no {name}"))).unwrap()
    };
    let (schedule, segment) = (read("goal-run schedule"), read("goal-run"));
    kill_process(id, Signal::INT).unwrap();
    launcher.wait_with_output().unwrap();
    let settings = r#"{"eager_limit":0,"unexpected_limit":0,"calc":null,"repeat":1,"check":false,"record":false,"trace_events":0,"crowded":true,"window":null,"paths":PATHS,"progress":"caller","wait":"adaptive","network":null}"#;
    [schedule, settings.into(), segment]
}

#[test]
fn a_rank_that_no_launcher_started_is_refused() {
    let ended = Ended::of(as_rank(Path::new(GOAL_RUN), &order(3, 4, 5), false).output().unwrap());
    ended.assert_status(2);
    ended.assert_says(&["GOAL_RUN_RANK is set, but no launcher started this process"]);
}

#[test]
fn what_a_local_user_makes_up_for_a_rank_is_refused() {
    let [schedule, settings, segment] = files_of_a_job();
    let run = |schedule: &OwnedFd, settings: &OwnedFd, segment: &OwnedFd| {
        let order = order(schedule.as_raw_fd(), settings.as_raw_fd(), segment.as_raw_fd());
        let ended = Ended::of(as_rank(Path::new(GOAL_RUN), &order, true).output().unwrap());
        ended.assert_status(2);
        assert!(!ended.err.contains("panicked"), "{ended:?}");
        ended.err
    };
    let good = memory_file(&schedule, SEALED);
    let told = memory_file(&settings, SEALED);
    let area = memory_file(&segment, SIZED);
    // Bytes that somebody may still change.
    let err = run(&memory_file(&schedule, SIZED), &told, &area);
    assert!(err.contains("a memory file is not sealed"), "{err}");
    let err = run(&good, &memory_file(&settings, SealFlags::empty()), &area);
    assert!(err.contains("a memory file is not sealed"), "{err}");
    // Cut off, or something else.
    run(&memory_file(&schedule[..schedule.len() / 2], SEALED), &told, &area);
    run(&memory_file(b"GOAL", SEALED), &told, &area);
    run(&memory_file(&[], SEALED), &told, &area);
    for garbage in ["", "{}", "null", "\u{0}\u{1}", "[1,2,3]"] {
        run(&good, &memory_file(garbage.as_bytes(), SEALED), &area);
    }
    // The same descriptor twice, one that is not open, a terminal, no memory file.
    let pipe = File::open("/dev/null").unwrap();
    fcntl_setfd(&pipe, FdFlags::empty()).unwrap();
    let err = run(&pipe.into(), &told, &area);
    assert!(err.contains("a memory file is not sealed"), "{err}");
    for (numbers, says) in
        [((999, 4, 5), "is not open"), ((0, 4, 5), "is a standard stream"), ((-7, 4, 5), "standard")]
    {
        let order = order(numbers.0, numbers.1, numbers.2);
        let ended = Ended::of(as_rank(Path::new(GOAL_RUN), &order, true).output().unwrap());
        ended.assert_status(2);
        ended.assert_says(&[says]);
    }
    for text in ["", "{", "[]", r#"{"rank":0}"#, "\u{1}"] {
        let ended = Ended::of(as_rank(Path::new(GOAL_RUN), text, true).output().unwrap());
        ended.assert_status(2);
        ended.assert_says(&["a rank can't start"]);
    }
}

#[test]
fn a_file_with_capabilities_gives_nothing_to_a_local_user() {
    // A folder that nobody may enter, on a file system that keeps capabilities.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let file = folder.path().join("goal-run");
    fs::copy(GOAL_RUN, &file).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
    let made = Command::new("setcap").arg("cap_net_raw=ep").arg(&file).output();
    if !rustix::process::getuid().is_root() || !made.is_ok_and(|made| made.status.success()) {
        return skipped("rights", "it takes root and setcap to give a file a capability");
    }
    let run = |mut command: Command| Ended::of(command.uid(NOBODY).gid(NOBODY).output().unwrap());
    // As a rank of its own making, the process has the file's right, and so is none.
    let ended = run(as_rank(&file, &order(3, 4, 5), false));
    ended.assert_status(2);
    ended.assert_says(&["no launcher started this process"]);
    // A whole job runs, and its processes have nothing: neither the file's right nor another.
    let program = folder.path().join("long.goal");
    fs::write(&program, LONG).unwrap();
    let mut command = Command::new(&file);
    command.arg(&program).args(["--timeout", "60"]).uid(NOBODY).gid(NOBODY);
    let launcher = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = pid(launcher.id() as i32);
    let ranks = ranks_of(id, 2);
    wait_until_mapped(&ranks);
    for process in ranks.iter().copied().chain([id]) {
        wait_for(|| Rights::are_given_up(process, 0).then_some(()));
        Rights::assert_without_bounds(process);
    }
    kill_process(id, Signal::INT).unwrap();
    Ended::of(launcher.wait_with_output().unwrap()).assert_status(130);
}
