//! Tests the rights of a job's processes, and files with capabilities that users start as ranks.
//! Jobs that this process runs itself would lend their files to these.

#[path = "it/common/mod.rs"]
mod common;

use common::members;
use common::processes::{assert_gone, children_of, pid, ranks_of, wait_for, wait_until_mapped};
use common::rights::{FILES, Rights};
use common::{Ended, GOAL_RUN, copy_command, default_signals, examples, start_text};
use goal_filetest::{skipped, timeout};
use goal_job::{Mode, Wait, layout};
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
    let launcher = start_text(LONG, &["--timeout", &timeout(60)]);
    let id = pid(launcher.id() as i32);
    let ranks = ranks_of(id, 2);
    wait_until_mapped(&ranks);
    for &rank in &ranks {
        Rights::assert_none(rank, 0);
    }
    // Root's launcher keeps the right to write its results.
    Rights::assert_none(id, FILES);
    kill_process(id, Signal::INT).unwrap();
    let ended = Ended::from_output(launcher.wait_with_output().unwrap());
    ended.assert_status(130);
    assert_gone(&ranks);
}

#[test]
fn threads_that_read_a_large_program_have_no_rights() {
    // So large that several threads read it.
    let text = format!("{}{LONG}", "# }\n".repeat(1 << 20));
    let launcher = start_text(&text, &["--timeout", &timeout(60)]);
    let id = pid(launcher.id() as i32);
    let mut threads = 0;
    wait_for(|| {
        threads = threads.max(Rights::assert_others_none(id, FILES));
        (children_of(id).len() == 2).then_some(())
    });
    assert!(threads > 0, "no thread but the first was seen");
    kill_process(id, Signal::INT).unwrap();
    Ended::from_output(launcher.wait_with_output().unwrap()).assert_status(130);
}

/// The memory files of jobs that programs would inherit from a process. Other tests of this process
/// leave theirs open.
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
    let files = numbers.filter_map(|number| {
        fs::read_link(format!("/proc/{process}/fd/{}", number.display())).ok()
    });
    files.filter(|file| file.to_string_lossy().starts_with("/memfd:goal-run")).collect()
}

#[test]
fn no_process_of_a_job_keeps_a_memory_file_for_programs() {
    let launcher = start_text(LONG, &["--timeout", &timeout(60)]);
    let id = pid(launcher.id() as i32);
    let ranks = ranks_of(id, 2);
    wait_until_mapped(&ranks);
    for process in ranks.iter().chain([&id]) {
        // Programs inherit the launcher's memory files until the last rank has begun.
        wait_for(|| lent(*process).is_empty().then_some(()));
    }
    kill_process(id, Signal::INT).unwrap();
    Ended::from_output(launcher.wait_with_output().unwrap()).assert_status(130);
}

#[test]
fn a_rank_keeps_no_settings() {
    let launcher = start_text(LONG, &["--timeout", &timeout(60)]);
    let id = pid(launcher.id() as i32);
    let ranks = ranks_of(id, 2);
    wait_until_mapped(&ranks);
    for rank in ranks {
        let process = rank.as_raw_nonzero();
        let sealed = "memfd:goal-run schedule (deleted)";
        let open = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
        let links = open.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
        assert_eq!(
            links.filter(|link| link.ends_with(sealed)).count(),
            1,
            "the schedule alone is open"
        );
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
        assert_eq!(maps.lines().filter(|line| line.ends_with(sealed)).count(), 1, "{maps}");
    }
    kill_process(id, Signal::INT).unwrap();
    Ended::from_output(launcher.wait_with_output().unwrap()).assert_status(130);
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
        // A launcher passes on descriptors in this way, and any process may.
        #[expect(unsafe_code, reason = "a child has to say it before it executes")]
        // SAFETY: the child only makes a system call before it executes.
        unsafe {
            command.pre_exec(|| Ok(rustix::thread::set_no_new_privs(true)?))
        };
    }
    command
}

fn order(schedule: i32, settings: i32, segment: i32) -> String {
    let launcher = std::process::id();
    let version = env!("CARGO_PKG_VERSION");
    format!(
        r#"{{"version":"{version}","rank":0,"launcher":{launcher},"startup_errors":0,"segment":{segment},"schedule":{schedule},"settings":{settings},"section":null,"driver":null}}"#
    )
}

/// The bytes of the schedule, the settings and the segment of a job that runs.
fn files_of_a_job() -> [Vec<u8>; 3] {
    let text = "num_ranks 1 rank 0 { c: calc 1000000000000 }";
    let launcher = start_text(text, &["--timeout", &timeout(60)]);
    let id = pid(launcher.id() as i32);
    let ranks = ranks_of(id, 1);
    wait_until_mapped(&ranks);
    let read = |name: &str| {
        let folder = format!("/proc/{}/fd", id.as_raw_nonzero());
        let is_it = |path: &PathBuf| {
            fs::read_link(path)
                .is_ok_and(|link| link.to_str() == Some(&format!("/memfd:{name} (deleted)")))
        };
        let mut paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        fs::read(paths.find(is_it).unwrap_or_else(|| panic!("no {name}"))).unwrap()
    };
    let (schedule, segment) = (read("goal-run schedule"), read("goal-run"));
    kill_process(id, Signal::INT).unwrap();
    launcher.wait_with_output().unwrap();
    let settings = r#"{"eager_limit":0,"pushed_max":0,"unexpected_limit":0,"calc":null,"repeat":1,"check":false,"record":false,"trace_events":0,"crowded":true,"window":null,"paths":PATHS,"progress":"caller","wait":"adaptive","network":null}"#;
    [schedule, settings.into(), segment]
}

#[test]
fn a_rank_that_no_launcher_started_is_refused() {
    let ended =
        Ended::from_output(as_rank(Path::new(GOAL_RUN), &order(3, 4, 5), false).output().unwrap());
    ended.assert_status(2);
    ended.assert_says(&["GOAL_RUN_RANK is set, but no launcher started this process"]);
}

#[test]
fn what_a_local_user_makes_up_for_a_rank_is_refused() {
    let [schedule, settings, segment] = files_of_a_job();
    let run = |schedule: &OwnedFd, settings: &OwnedFd, segment: &OwnedFd| {
        let order = order(schedule.as_raw_fd(), settings.as_raw_fd(), segment.as_raw_fd());
        let ended =
            Ended::from_output(as_rank(Path::new(GOAL_RUN), &order, true).output().unwrap());
        ended.assert_status(2);
        assert!(!ended.err.contains("panicked"), "{ended:?}");
        ended.err
    };
    let good = memory_file(&schedule, SEALED);
    let told = memory_file(&settings, SEALED);
    let area = memory_file(&segment, SIZED);
    // Bytes that can still be changed.
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
    // The record names one descriptor twice, one that is not open, a terminal, and no memory file.
    let pipe = File::open("/dev/null").unwrap();
    fcntl_setfd(&pipe, FdFlags::empty()).unwrap();
    let err = run(&pipe.into(), &told, &area);
    assert!(err.contains("a memory file is not sealed"), "{err}");
    for (numbers, says) in [
        ((999, 4, 5), "is not open"),
        ((0, 4, 5), "is a standard stream"),
        ((-7, 4, 5), "standard"),
    ] {
        let order = order(numbers.0, numbers.1, numbers.2);
        let ended =
            Ended::from_output(as_rank(Path::new(GOAL_RUN), &order, true).output().unwrap());
        ended.assert_status(2);
        ended.assert_says(&[says]);
    }
    for text in ["", "{", "[]", r#"{"rank":0}"#, "\u{1}"] {
        let ended = Ended::from_output(as_rank(Path::new(GOAL_RUN), text, true).output().unwrap());
        ended.assert_status(2);
        ended.assert_says(&["a rank can't start"]);
    }
}

#[test]
fn a_segment_of_another_size_or_form_is_refused() {
    let nisa =
        members::nisa("num_ranks 2 rank 0 { send 8b to 1 tag 1 } rank 1 { recv 8b from 0 tag 1 }");
    let schedule = memory_file(nisa.bytes(), SEALED);
    let told = |mode| {
        let settings = members::settings(2, mode, Wait::Block);
        let len = layout(&nisa, &settings, u64::MAX).unwrap().len() as u64;
        (memory_file(&serde_json::to_vec(&settings).unwrap(), SEALED), len)
    };
    let segment = |len: u64, seals| {
        let file = memory_file(&[], SealFlags::empty());
        rustix::fs::ftruncate(&file, len).unwrap();
        fcntl_add_seals(&file, seals).unwrap();
        file
    };
    let rank = |settings: &OwnedFd, segment: &OwnedFd| {
        let order = order(schedule.as_raw_fd(), settings.as_raw_fd(), segment.as_raw_fd());
        as_rank(Path::new(GOAL_RUN), &order, true)
    };
    let (caller, len) = told(Mode::Caller);
    let (node, len_of_node) = told(Mode::Node);
    assert!(len < len_of_node);
    // Nothing else is wrong with the bootstrap record: with the right segment the rank starts, and
    // waits for the other one.
    for (settings, len) in [(&caller, len), (&node, len_of_node)] {
        let area = segment(len, SIZED);
        let mut child = rank(settings, &area).spawn().unwrap();
        let ready = || {
            let mut word = [0; 4];
            // The start barrier counts the ranks that are ready in its first word.
            rustix::io::pread(&area, &mut word, 0).unwrap();
            assert_eq!(child.try_wait().unwrap(), None, "the rank ended");
            (u32::from_ne_bytes(word) == 1).then_some(())
        };
        wait_for(ready);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let not_memory = tempfile::tempfile().unwrap();
    not_memory.set_len(len).unwrap();
    fcntl_setfd(&not_memory, FdFlags::empty()).unwrap();
    let has =
        |has: u64, needed: u64| format!("the segment has {has} bytes, and the job needs {needed}");
    let unsealed = "the segment may change its size: it is not sealed".to_owned();
    let cases = [
        (&caller, segment(len, SealFlags::empty()), unsealed.clone()),
        (&caller, segment(len, SealFlags::SHRINK), unsealed.clone()),
        (&caller, segment(len, SealFlags::GROW), unsealed),
        (&caller, segment(len - 1, SIZED), has(len - 1, len)),
        (&caller, segment(0, SIZED), has(0, len)),
        (&caller, segment(len + 4096, SIZED), has(len + 4096, len)),
        // The segment of a job whose ranks don't act for each other.
        (&node, segment(len, SIZED), has(len, len_of_node)),
        (&caller, not_memory.into(), "the segment is no memory file".to_owned()),
    ];
    for (settings, area, says) in cases {
        let mut command = rank(settings, &area);
        let mut child = command.spawn().unwrap();
        // A rank that starts in spite of the wrong segment fails this test. It ends with the thread
        // that started it, so nothing is left behind.
        wait_for(|| child.try_wait().unwrap());
        let ended = Ended::from_output(child.wait_with_output().unwrap());
        ended.assert_status(2);
        ended.assert_says(&[&says]);
        assert!(!ended.err.contains("panicked"), "{ended:?}");
    }
}

#[test]
fn a_file_that_is_set_user_id_is_refused() {
    if !rustix::process::getuid().is_root() {
        return skipped("it takes root to give a file to another user");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let file = folder.path().join("goal-run");
    let program = folder.path().join("program.goal");
    fs::write(&program, "num_ranks 1 rank 0 { calc 1 }").unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o644)).unwrap();
    copy_command(&file);
    let run = |mode| {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let mut command = Command::new(&file);
        Ended::from_output(command.arg(&program).uid(NOBODY).gid(NOBODY).output().unwrap())
    };
    run(0o755).assert_status(0);
    if rustix::fs::statvfs(&file).unwrap().f_flag.contains(rustix::fs::StatVfsMountFlags::NOSUID) {
        return skipped("the folder for temporary files is mounted nosuid");
    }
    for mode in [0o4755, 0o2755] {
        let ended = run(mode);
        ended.assert_status(2);
        ended.assert_says(&["must not be set-user-ID or set-group-ID", "setcap cap_net_raw=ep"]);
        assert_eq!((ended.out.as_str(), ended.err.lines().count()), ("", 1), "{ended:?}");
    }
}

#[test]
fn root_runs_a_file_with_capabilities() {
    let folder = tempfile::tempdir().unwrap();
    let (file, program) = (folder.path().join("goal-run"), folder.path().join("program.goal"));
    copy_command(&file);
    fs::write(&program, LONG.replace("1000000000000", "1")).unwrap();
    for capabilities in ["cap_net_raw=ep", "cap_net_raw,cap_sys_nice,cap_setpcap=ep"] {
        let made = Command::new("setcap").arg(capabilities).arg(&file).output();
        if !rustix::process::getuid().is_root() || !made.is_ok_and(|made| made.status.success()) {
            return skipped("it takes root and setcap to give a file a capability");
        }
        fs::set_permissions(&file, Permissions::from_mode(0o711)).unwrap();
        // The kernel executes it in ranks, too, though they get nothing of it.
        Ended::from_output(Command::new(&file).arg(&program).output().unwrap()).assert_status(0);
    }
}

#[test]
fn an_order_of_ones_own_is_an_error() {
    let program = examples().swap_remove(0);
    let mut command = as_rank(
        Path::new(GOAL_RUN),
        &order(3, 4, 5).replace(&std::process::id().to_string(), "1"),
        true,
    );
    let ended = Ended::from_output(command.arg(program).output().unwrap());
    ended.assert_status(2);
    ended.assert_says(&["its launcher did not start this process: unset it"]);
}

#[test]
fn a_file_with_capabilities_gives_nothing_to_a_local_user() {
    // A folder that the user nobody may enter, on a file system that keeps capabilities.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let file = folder.path().join("goal-run");
    copy_command(&file);
    fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
    let made = Command::new("setcap").arg("cap_net_raw=ep").arg(&file).output();
    if !rustix::process::getuid().is_root() || !made.is_ok_and(|made| made.status.success()) {
        return skipped("it takes root and setcap to give a file a capability");
    }
    let run = |mut command: Command| {
        Ended::from_output(command.uid(NOBODY).gid(NOBODY).output().unwrap())
    };
    // The process has the file's right and a forged bootstrap record, so it refuses to be a rank.
    let ended = run(as_rank(&file, &order(3, 4, 5), false));
    ended.assert_status(2);
    ended.assert_says(&["no launcher started this process"]);
    // A whole job runs, and its processes have nothing: neither the file's right nor another.
    let program = folder.path().join("long.goal");
    fs::write(&program, LONG).unwrap();
    let mut command = Command::new(&file);
    command.arg(&program).args(["--timeout", &timeout(60)]).uid(NOBODY).gid(NOBODY);
    let launcher = default_signals(&mut command)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = pid(launcher.id() as i32);
    let ranks = ranks_of(id, 2);
    wait_until_mapped(&ranks);
    for process in ranks.iter().copied().chain([id]) {
        Rights::assert_without_bounds(process);
    }
    kill_process(id, Signal::INT).unwrap();
    Ended::from_output(launcher.wait_with_output().unwrap()).assert_status(130);
}
