//! Tests the rights of launchers and ranks on hosts: they have none once the sockets are open.

use crate::common::processes::{wait_for, wait_until_it_waits_for_hosts};
use crate::common::rights::{FILES, PACKETS, Rights, XDP};
use crate::common::{copy_command, default_signals};
use crate::hosts::bench::{Bench, DISCOVER, LONG, ended, launcher, ranks_of, send};
use goal_cluster::{INTERFACE, Wiring};
use goal_eth::probe_xdp;
use goal_filetest::{skipped, timeout};
use goal_job::rights;
use rustix::io::Errno;
use rustix::net::AddressFamily;
use rustix::net::sockopt::socket_domain;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, Signal, pidfd_getfd, pidfd_open};
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// User and group of nobody.
const NOBODY: u32 = 65534;

#[test]
fn no_process_of_a_job_on_hosts_has_rights_once_ranks_run() {
    let Some(bench) = Bench::or_skip("rights", &Wiring::bridge(2)) else { return };
    let program = bench.write("long.goal", LONG);
    for driver in ["packet", "xdp"] {
        for ranks_as in ["processes", "threads"] {
            let options = ["--driver", driver, "--ranks-as", ranks_as, "--transport", "auto"];
            let children = bench.start_all(&program, &[&DISCOVER[..], &options].concat());
            for child in &children {
                let id = launcher(child);
                if ranks_as == "processes" {
                    let ranks = ranks_of(id, 2);
                    ranks.iter().for_each(|&rank| Rights::assert_none(rank, 0));
                    // The interface has one queue. So one of the ranks has a socket of XDP, which
                    // its launcher opened.
                    let maps = |rank: &Pid| {
                        fs::read_to_string(format!("/proc/{}/maps", rank.as_raw_nonzero()))
                    };
                    let has_area = |rank| maps(rank).unwrap().contains("memfd:goal-run frames");
                    let wanted = usize::from(driver == "xdp" && probe_xdp().is_ok());
                    assert_eq!(ranks.iter().filter(|rank| has_area(rank)).count(), wanted);
                } else {
                    let tasks = format!("/proc/{}/task", id.as_raw_nonzero());
                    wait_for(|| {
                        let names = fs::read_dir(&tasks)
                            .unwrap()
                            .map(|task| task.unwrap().path().join("comm"));
                        let is_rank = |path| {
                            fs::read_to_string(path).is_ok_and(|name| name.starts_with("rank "))
                        };
                        (names.filter(|path| is_rank(path.clone())).count() == 2).then_some(())
                    });
                }
                Rights::assert_none(id, FILES);
            }
            send(launcher(&children[0]), Signal::INT);
            children.into_iter().map(ended).for_each(|ended| ended.assert_status(130));
        }
    }
}

#[test]
fn a_launcher_has_few_rights_before_it_hears_others() {
    let Some(bench) = Bench::or_skip("rights", &Wiring::bridge(2)) else { return };
    let program = bench.write("long.goal", LONG);
    for (driver, kept) in [("packet", FILES | PACKETS), ("xdp", FILES | PACKETS | XDP)] {
        // The other host never comes.
        let child = bench.start(0, &program, &[&DISCOVER[..], &["--driver", driver]].concat());
        let id = launcher(&child);
        wait_until_it_waits_for_hosts(id);
        Rights::assert_none(id, kept);
        send(id, Signal::INT);
        ended(child).assert_status(130);
    }
}

/// Tries to take the descriptors of a process, as a user without rights. Returns the error that
/// such a user gets, or `None` if the user gets one.
fn refused(user: u32, process: Pid) -> Option<Errno> {
    let mut command = Command::new("true");
    let take = move || {
        rights::give_up()?;
        let from = pidfd_open(process, PidfdFlags::empty())?;
        let taken = |number| pidfd_getfd(&from, number, PidfdGetfdFlags::empty());
        match (3..64).map(taken).find(|taken| !matches!(taken, Err(Errno::BADF))) {
            Some(Err(refused)) => Err(io::Error::from(refused)),
            _ => Ok(()),
        }
    };
    // SAFETY: system calls on values of the stack; nothing is allocated and no lock taken.
    #[expect(unsafe_code, reason = "a child has to do it as another user")]
    unsafe {
        command.uid(user).gid(user).pre_exec(take)
    };
    command
        .status()
        .err()
        .map(|error| Errno::from_io_error(&error).expect("an error of the system"))
}

/// Returns true if this is a socket whose filter stays.
fn has_locked_filter(socket: &OwnedFd) -> bool {
    let (mut value, mut len) = (0i32, size_of::<i32>() as libc::socklen_t);
    // SAFETY: the kernel writes at most `len` bytes to a number that outlives the call.
    #[expect(unsafe_code, reason = "no crate has this option")]
    let result = unsafe {
        let value = (&raw mut value).cast();
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LOCK_FILTER,
            value,
            &raw mut len,
        )
    };
    result == 0 && value == 1
}

#[test]
fn the_sockets_of_ranks_are_theirs() {
    let Some(bench) = Bench::or_skip("rights", &Wiring::bridge(2)) else { return };
    let program = bench.write("long.goal", LONG);
    let children = bench.start_all(&program, &DISCOVER);
    for child in &children {
        for rank in ranks_of(launcher(child), 2) {
            assert_eq!(refused(0, rank), Some(Errno::PERM), "root without rights");
            // A process with all rights gets the sockets, but no other frames by them.
            let from = pidfd_open(rank, PidfdFlags::empty()).unwrap();
            let all: Vec<OwnedFd> = (3..64)
                .filter_map(|number| pidfd_getfd(&from, number, PidfdGetfdFlags::empty()).ok())
                .collect();
            let is_packet = |socket: &&OwnedFd| socket_domain(socket) == Ok(AddressFamily::PACKET);
            let sockets: Vec<&OwnedFd> = all.iter().filter(is_packet).collect();
            assert!(!sockets.is_empty() && sockets.into_iter().all(has_locked_filter));
        }
    }
    send(launcher(&children[0]), Signal::INT);
    children.into_iter().map(ended).for_each(|ended| ended.assert_status(130));
}

#[test]
fn a_file_with_capabilities_gives_no_socket_to_a_local_user() {
    let Some(bench) = Bench::or_skip("rights", &Wiring::bridge(2)) else { return };
    // A folder that the user nobody may read and execute, on a file system that keeps capabilities.
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let open = |path: &str, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let (file, key, long, short) =
        (path("goal-run"), path("key"), path("long.goal"), path("short.goal"));
    open(folder.path().to_str().unwrap(), 0o755);
    fs::write(&long, LONG).unwrap();
    fs::write(&short, "num_ranks 2 rank * { calc 1 }").unwrap();
    open(&long, 0o644);
    open(&short, 0o644);
    fs::copy(bench.path("key"), &key).unwrap();
    chown(&key, Some(NOBODY), None).unwrap();
    copy_command(file.as_ref());
    // That a file changes its owner takes its capabilities away.
    let make = |owner, mode| {
        chown(&file, Some(owner), Some(0)).unwrap();
        open(&file, mode);
        let made = Command::new("setcap").arg("cap_net_raw=ep").arg(&file).output();
        made.is_ok_and(|made| made.status.success())
    };
    if !make(0, 0o755) {
        return skipped("it takes setcap to give a file a capability");
    }
    let start = |program: &str, more: &[&str]| -> Vec<Child> {
        let start = |host: usize| {
            let mut command = bench.cluster.hosts()[host].command("setpriv");
            // setpriv has its rights until it executes something: that is another program, which
            // has none any more.
            command.args([
                "--reuid",
                "65534",
                "--regid",
                "65534",
                "--clear-groups",
                "env",
                &file,
                program,
            ]);
            command
                .args(["--interface", INTERFACE, "--key", &key, "--timeout", &timeout(60)])
                .args(DISCOVER)
                .args(more);
            default_signals(&mut command)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        (0..2).map(start).collect()
    };
    let run = |more: &[&str]| start(&short, more).into_iter().map(ended);
    for ended in run(&[]) {
        ended.assert_status(2);
        ended.assert_says(&[
            "has capabilities and the user can read it",
            &format!("chmod 711 {file} "),
        ]);
        assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
    }
    // No file is executed, and the process with the file's rights is closed to its user.
    run(&["--ranks-as", "threads"]).for_each(|ended| ended.assert_status(0));
    // Its owner could make it readable at any moment.
    for mode in [0o711, 0o111] {
        assert!(make(NOBODY, mode));
        for ended in run(&[]) {
            ended.assert_status(2);
            ended.assert_says(&[
                "has capabilities and belongs to the user",
                &format!("chown root {file}"),
            ]);
        }
    }
    assert!(make(0, 0o711));
    run(&[]).for_each(|ended| ended.assert_status(0));
    let children = start(&long, &[]);
    for child in &children {
        let id = launcher(child);
        for process in ranks_of(id, 2).into_iter().chain([id]) {
            assert_eq!(refused(NOBODY, process), Some(Errno::PERM));
            Rights::assert_without_bounds(process);
        }
    }
    send(launcher(&children[0]), Signal::INT);
    children.into_iter().map(ended).for_each(|ended| ended.assert_status(130));
}
