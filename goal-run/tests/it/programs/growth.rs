//! Tests jobs that grow and shrink, and the callers that may ask for it.

use crate::common::processes::{assert_gone, children_of, state_of, wait_for};
use crate::common::{Ended, GOAL_RUN};
use crate::programs::bench::{PART, as_rank, command, run, told};
use goal_filetest::{skipped, timeout, until};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv,
    send, socket_with,
};
use rustix::process::{Pid, geteuid};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command};

#[test]
fn new_ranks_exchange_messages_with_old_ones() {
    for mode in ["caller", "thread", "node"] {
        let ended = run("grow ring", &["-n", "2", "--progress", mode]);
        ended.assert_status(0);
        let line = |rank: u32| {
            format!("rank {rank} of 2 at the start has its rings, joined: {}", rank >= 2)
        };
        assert_eq!(told(&ended), [0, 1, 2, 3].map(line));
    }
}

#[test]
fn reports_count_new_ranks() {
    let ended = run("grow ring", &["-n", "2", "--format", "json", "--stats"]);
    ended.assert_status(0);
    let report = ended.out.split_once("{\"status\"").unwrap().1;
    let report: serde_json::Value = serde_json::from_str(&format!("{{\"status\"{report}")).unwrap();
    assert_eq!((&report["ranks"], &report["messages"]), (&4.into(), &80.into()));
}

#[test]
fn what_can_not_be_started_is_an_error_and_the_job_goes_on() {
    for (part, options, says) in [
        ("grow missing", &[][..], "./no such program can't be started: No such file"),
        (
            "grow too many",
            &[],
            "65 more ranks do not fit: the job has had 2, and room for 18 in all; start it with goal-run --grow-to 67",
        ),
        (
            "grow missing",
            &["--grow-to", "2"],
            "3 more ranks do not fit: the job has had 2, and room for 2 in all; start it with goal-run --grow-to 5",
        ),
        ("grow none", &[], "a job grows by at least one rank"),
    ] {
        let ended = run(part, &[&["-n", "2"], options].concat());
        ended.assert_status(0);
        assert!(told(&ended)[0].contains(says), "{ended:?}");
    }
}

#[test]
fn a_new_rank_that_does_not_attach_ends_the_job() {
    let ended = run("grow exits", &["-n", "2"]);
    ended.assert_status(4);
    ended.assert_says(&["rank 2 (true) was added to the job, and exited without attaching to it"]);
}

#[test]
fn a_new_rank_that_dies_ends_the_job() {
    let ended = run("grow dies", &["-n", "2"]);
    ended.assert_status(3);
    ended.assert_says(&["rank 2 (", "exited with status 3 before its end"]);
}

#[test]
fn a_job_with_new_ranks_is_found_stuck() {
    let ended = run("grow stuck", &["-n", "2", "--stuck", "end,0.2"]);
    ended.assert_status(3);
    ended.assert_says(&[
        "stuck: no rank can go on",
        "rank 0 waits in GOAL_Wait: recv number 0 from rank 2, tag 4",
        "rank 1 waits in finalize",
        "rank 2 waits in GOAL_Wait: recv number 0 from rank 0, tag 5",
    ]);
}

#[test]
fn a_rank_leaves_and_the_others_go_on() {
    for mode in ["caller", "thread", "node"] {
        let ended = run("shrink", &["-n", "3", "--progress", mode]);
        ended.assert_status(0);
        assert_eq!(told(&ended), ["rank 0 has left", "rank 1 went on", "rank 2 went on"]);
    }
}

#[test]
fn room_is_given_on_the_command_line() {
    let says = |options: &[&str], text: &str| {
        let ended = run("grow none", options);
        ended.assert_status(2);
        ended.assert_says(&[text]);
    };
    says(
        &["-n", "3", "--grow-to", "2"],
        "--grow-to 2 is below the 3 ranks that the job starts with",
    );
    says(&["-n", "3", "--grow-to", "9000"], "--grow-to 9000 is above --max-started, which is 8192");
    let schedule = crate::common::run_text("num_ranks 1\nrank 0 { calc 0 }", &["--grow-to", "3"]);
    schedule.assert_status(2);
    schedule.assert_says(&["--grow-to is for programs"]);
}

/// A job that waits for a rank to join.
struct Waiting {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Waiting {
    fn new() -> Self {
        Self::with(&["-n", "2", "--grow-to", "66"])
    }

    fn with(options: &[&str]) -> Self {
        let mut child = command("grow awaits", options).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("told: ready") {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "it has ended");
        }
        Self { child, output }
    }

    /// Asks for a rank as a user does.
    fn ask(&self, mut command: Command, arguments: &[&str]) -> Ended {
        let job = self.child.id().to_string();
        Ended::from_output(command.args(["grow", &job]).args(arguments).output().unwrap())
    }

    /// Lets a rank join, and returns how the job ended.
    fn end(mut self) -> (String, Ended) {
        let part = format!("{PART}=grow awaits");
        let own = std::env::current_exe().unwrap();
        let arguments: Vec<&str> = ["--", "env", &part, own.to_str().unwrap()]
            .into_iter()
            .chain(crate::programs::bench::AS_RANK)
            .collect();
        let asked = self.ask(Command::new(GOAL_RUN), &arguments);
        asked.assert_status(0);
        let mut out = String::new();
        self.output.read_to_string(&mut out).unwrap();
        (asked.out, Ended { out, ..Ended::from_output(self.child.wait_with_output().unwrap()) })
    }
}

#[test]
fn a_rank_joins_at_the_request_of_a_user() {
    let waiting = Waiting::new();
    let gone = waiting.ask(Command::new(GOAL_RUN), &["--", "false"]);
    gone.assert_status(0);
    assert_eq!(gone.out, "rank 2 was started\n");
    // The launcher looks at it before it answers the next request.
    let launcher = Pid::from_child(&waiting.child);
    let runs = |process: &Pid| {
        let name = fs::read_to_string(format!("/proc/{}/comm", process.as_raw_nonzero()));
        name.is_ok_and(|name| name == "false\n") && state_of(*process) != Some('Z')
    };
    wait_for(|| (!children_of(launcher).iter().any(runs)).then_some(()));
    let none = waiting.ask(Command::new(GOAL_RUN), &["-n", "2", "--", "/nowhere/program"]);
    none.assert_status(2);
    none.assert_says(&["/nowhere/program can't be started: No such file"]);
    let many = waiting.ask(Command::new(GOAL_RUN), &["-n", "64"]);
    many.assert_status(2);
    many.assert_says(&["64 more ranks do not fit: the job has had 3, and room for 66 in all"]);
    let (asked, ended) = waiting.end();
    assert_eq!(asked, "rank 3 was started\n");
    ended.assert_status(0);
    assert!(ended.out.contains("told: accepted 3"), "{ended:?}");
    ended.assert_says(&["rank 2 (false) exited with status 1 before it was accepted"]);
}

/// Returns the folders with sockets for requests of a launcher.
fn growth_folders(process: u32) -> Vec<PathBuf> {
    let prefix = format!("goal-run-{process}-");
    let paths = fs::read_dir("/tmp").unwrap().map(|entry| entry.unwrap().path());
    let is_own = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(&prefix);
    paths.filter(is_own).collect()
}

/// Returns the number of sockets of a process that listen within its host.
fn listeners(process: u32) -> usize {
    const LISTENS: &str = "00010000";
    let table = fs::read_to_string("/proc/net/unix").unwrap();
    let inode = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        (fields[3] == LISTENS).then(|| format!("socket:[{}]", fields[6]))
    };
    let listening: Vec<String> = table.lines().skip(1).filter_map(inode).collect();
    let open = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let targets = open.filter_map(|fd| fs::read_link(fd.unwrap().path()).ok());
    targets.filter(|to| listening.iter().any(|one| **to == *one.as_str())).count()
}

#[test]
fn a_job_without_room_for_users_has_no_socket() {
    for options in [&["-n", "2"][..], &["-n", "2", "--survive"], &["-n", "2", "--grow-to", "2"]] {
        let mut waiting = Waiting::with(options);
        let (job, refused) = (waiting.child.id(), waiting.ask(Command::new(GOAL_RUN), &[]));
        let found = (growth_folders(job), listeners(job));
        waiting.child.kill().unwrap();
        waiting.child.wait().unwrap();
        assert_eq!(found, (vec![], 0), "{options:?}");
        refused.assert_status(2);
        refused.assert_says(&["there is no job", "with --grow-to"]);
    }
}

#[test]
fn a_killed_launcher_leaves_no_socket() {
    let mut waiting = Waiting::new();
    let job = waiting.child.id();
    assert_eq!((growth_folders(job).len(), listeners(job)), (1, 1));
    waiting.child.kill().unwrap();
    waiting.child.wait().unwrap();
    until("its reaper removes the socket", || growth_folders(job).is_empty());
}

/// A program in a container has the same user, and could have others started outside of it.
#[test]
fn a_process_in_other_namespaces_is_refused() {
    let waiting = Waiting::new();
    for flags in [
        &["--mount"][..],
        &["--user", "--map-root-user"],
        &["--user", "--map-root-user", "--mount"],
        &["--pid", "--fork"],
    ] {
        let mut confined = Command::new("unshare");
        confined.args(flags);
        let can = Command::new("unshare").args(flags).arg("true").output();
        if !can.is_ok_and(|can| can.status.success()) {
            skipped(&format!("unshare {} is refused here", flags.join(" ")));
            continue;
        }
        confined.arg(GOAL_RUN);
        let refused = waiting.ask(confined, &["--", "touch", "escaped"]);
        refused.assert_status(2);
        refused.assert_says(&["a process in other namespaces than goal-run's"]);
    }
    let (asked, ended) = waiting.end();
    assert_eq!(asked, "rank 2 was started\n", "the others have started none");
    ended.assert_status(0);
}

#[test]
fn a_rank_in_other_namespaces_starts_no_programs() {
    let flags = ["--user", "--map-root-user", "--mount"];
    let can = Command::new("unshare").args(flags).arg("true").output();
    if !can.is_ok_and(|can| can.status.success()) {
        skipped(&format!("unshare {} is refused here", flags.join(" ")));
        return;
    }
    let mut command = Command::new(GOAL_RUN);
    command.args(["--timeout", &timeout(60), "-n", "1", "unshare"]).args(flags).args(as_rank());
    let ended = Ended::from_output(command.env(PART, "grow escapes").output().unwrap());
    ended.assert_status(0);
    assert!(told(&ended)[0].contains("a process in other namespaces than goal-run's"), "{ended:?}");
}

#[test]
fn a_rank_that_nobody_accepts_ends_with_the_job() {
    // The ranks of this job end soon after its first rank has been told to go on.
    let waiting = Waiting::new();
    let extra = waiting.ask(Command::new(GOAL_RUN), &["--", "sleep", "1000"]);
    assert_eq!(extra.out, "rank 2 was started\n");
    let all = children_of(Pid::from_child(&waiting.child));
    let (_, ended) = waiting.end();
    ended.assert_status(0);
    ended.assert_says(&["rank 2 (sleep) was started and never accepted (GOAL_Accept)"]);
    assert_gone(&all);
}

#[test]
fn no_job_is_an_error_that_says_what_to_give() {
    let ended = Ended::from_output(Command::new(GOAL_RUN).args(["grow", "1"]).output().unwrap());
    ended.assert_status(2);
    ended.assert_says(&[
        "there is no job 1 that can grow here: give the process ID of the goal-run",
    ]);
}

/// Connects to the socket for requests of a launcher.
fn connected(process: u32) -> OwnedFd {
    let [folder] = &growth_folders(process)[..] else { panic!("it has one folder") };
    let kind = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let socket = socket_with(kind.0, kind.1, SocketFlags::CLOEXEC, None).unwrap();
    connect(&socket, &SocketAddrUnix::new(folder.join("socket")).unwrap()).unwrap();
    socket
}

#[test]
fn garbage_at_the_door_does_no_harm() {
    let waiting = Waiting::new();
    let _silent: Vec<OwnedFd> = (0..20).map(|_| connected(waiting.child.id())).collect();
    for garbage in [&b"\0\0\0\0"[..], b"{}", &[b'['; 60_000], &[0xff; 100_000]] {
        let caller = connected(waiting.child.id());
        send(&caller, garbage, SendFlags::NOSIGNAL).unwrap();
        let mut answer = [0; 1000];
        let (len, _) = recv(&caller, &mut answer[..], RecvFlags::empty()).unwrap();
        assert!(answer[..len].starts_with(b"{\"Err\":"));
    }
    let (_, ended) = waiting.end();
    ended.assert_status(0);
}

#[test]
fn another_user_is_refused() {
    const NOBODY: &str = "65534";
    if !geteuid().is_root() {
        return skipped("only root can become another user");
    }
    // Another user can execute the program in this folder.
    let folder = tempfile::Builder::new().prefix("goal").tempdir_in("/tmp").unwrap();
    let copy = folder.path().join("goal-run");
    crate::common::copy_command(&copy);
    let open = Command::new("chmod").args(["-R", "755"]).arg(folder.path()).status().unwrap();
    let mut setpriv = Command::new("setpriv");
    setpriv.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]);
    let mut can = Command::new("setpriv");
    can.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).arg(&copy).arg("--version");
    if !open.success() || !can.output().is_ok_and(|output| output.status.success()) {
        let copy = copy.display();
        return skipped(&format!("setpriv can't execute {copy} as another user"));
    }
    let waiting = Waiting::new();
    setpriv.arg(&copy);
    let refused = waiting.ask(setpriv, &[]);
    refused.assert_status(2);
    refused.assert_says(&["is another user's, and only its own user lets it grow"]);
    let (asked, ended) = waiting.end();
    assert_eq!(asked, "rank 2 was started\n", "the other one has started none");
    ended.assert_status(0);
}
