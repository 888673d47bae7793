//! Tests `goal-run info` on systems whose kernel runs no schedules, or lacks a part that helps.
//! Rights are taken away, and system calls are made to fail as they do on other kernels.

use goal_job::Offload;
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Commands of bpf(2).
const MAP_CREATE: u64 = 0;
const PROG_LOAD: u64 = 5;
const LINK_CREATE: u64 = 28;

/// Returns true, with a line, if this system's kernel runs no schedules anyway.
fn is_skipped() -> bool {
    let probe = Offload::probe();
    if let Err(missing) = &probe {
        goal_filetest::skipped(missing);
    }
    probe.is_err()
}

/// Runs `goal-run info` in a thread that `prepare` has changed, and returns what it says as text
/// and as JSON.
fn info(prepare: impl Fn(&mut Command) + Sync) -> (String, Value) {
    let run = |arguments: &[&str]| {
        let run = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_goal-run"));
            prepare(command.arg("info").args(arguments));
            command.output().unwrap()
        };
        let output = std::thread::scope(|scope| scope.spawn(run).join()).unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run(&[]);
    let line = text.lines().find(|line| line.starts_with("schedules in the kernel"));
    let line = line.expect("a line about schedules").to_owned();
    println!("{line}");
    (line, serde_json::from_str(&run(&["--format", "json"])).unwrap())
}

/// Lets a system call fail, if its first argument is the given one.
fn failing(call: i64, argument: Option<u64>, error: i32) -> impl Fn(&mut Command) + Sync {
    let condition =
        |value| SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value).unwrap();
    let rule = argument.map(|value| SeccompRule::new(vec![condition(value)]).unwrap());
    let filter = SeccompFilter::new(
        [(call, rule.into_iter().collect())].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(error as u32),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let program: BpfProgram = filter.unwrap().try_into().unwrap();
    move |_| apply_filter(&program).unwrap()
}

#[test]
fn a_kernel_that_runs_schedules_says_so() {
    if is_skipped() {
        return;
    }
    let (line, json) = info(|_| ());
    assert!(line.contains("yes, at TCX, with ticks from frames that circle"), "{line}");
    assert_eq!((&json["offload"], &json["offload_missing"]), (&"TCX".into(), &Value::Null));
    assert_eq!(json["offload_ticks_missing"], Value::Null);
}

#[test]
fn missing_rights_are_named() {
    if is_skipped() {
        return;
    }
    let (line, _) = info(|command| {
        command.uid(65534).gid(65534);
    });
    let all = "the rights CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN and CAP_NET_RAW, as root has them";
    assert!(line.contains("no, it lacks classifier programs") && line.contains(all), "{line}");
    assert!(line.contains("Operation not permitted"), "{line}");
    for (right, name) in
        [(CapabilitySet::PERFMON, "CAP_PERFMON"), (CapabilitySet::NET_ADMIN, "CAP_NET_ADMIN")]
    {
        let (line, json) = info(|_| {
            for right in [right, CapabilitySet::SYS_ADMIN] {
                remove_capability_from_bounding_set(right).unwrap();
            }
        });
        assert!(line.contains("no, it lacks"), "{line}");
        assert!(line.contains(&format!("the right {name}, as root has it")), "{line}");
        assert!(json["offload_missing"].as_str().unwrap().contains(name), "{json}");
    }
}

#[test]
fn missing_parts_of_the_kernel_are_named() {
    if is_skipped() {
        return;
    }
    for (argument, error, wanted) in [
        (None, libc::ENOSYS, "no, it lacks classifier programs: the kernel option CONFIG_"),
        (Some(PROG_LOAD), libc::EINVAL, "no, it lacks classifier programs: the kernel option"),
        (Some(MAP_CREATE), libc::EINVAL, "no, it lacks array maps: the kernel option"),
        (Some(LINK_CREATE), libc::EINVAL, "no, it lacks hooks of TCX: Linux 6.6 or later"),
    ] {
        let (line, json) = info(failing(libc::SYS_bpf, argument, error));
        assert!(line.contains(wanted), "{line}");
        assert_eq!((&json["offload"], &json["offload_ticks"]), (&Value::Null, &Value::Null));
    }
}

#[test]
fn ticks_come_from_a_thread_where_no_frames_circle() {
    if is_skipped() {
        return;
    }
    let no_namespace = failing(libc::SYS_unshare, None, libc::EPERM);
    let no_netlink = failing(libc::SYS_socket, Some(libc::AF_NETLINK as u64), libc::EPERM);
    for (line, wanted) in [
        (info(no_namespace).0, "CAP_SYS_ADMIN for a network namespace"),
        (info(no_netlink).0, "CONFIG_VETH and CONFIG_NET_SCH_TBF"),
    ] {
        assert!(line.contains("yes, at TCX, with ticks from a thread of the launcher"), "{line}");
        assert!(line.contains(wanted), "{line}");
    }
}
