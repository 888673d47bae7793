//! Tests the processes of programs from outside: scripts, signals, and left processes.

use crate::common::processes::{assert_gone, pid, wait_for};
use crate::common::{Ended, GOAL_RUN, default_signals};
use crate::programs::bench::{PART, Script, as_rank, command, run, this_file, told};
use goal_filetest::timeout;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

/// The processes with this in their environment, but not those of other users.
fn processes_with(mark: &str) -> Vec<Pid> {
    let numbers = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<i32>().ok());
    let has_mark = |number: &i32| {
        fs::read(format!("/proc/{number}/environ"))
            .is_ok_and(|all| all.split(|&byte| byte == 0).any(|one| one == mark.as_bytes()))
    };
    numbers.filter(has_mark).map(pid).collect()
}

/// Starts ranks that are scripts, whose children are the real processes, in a job with a mark.
fn start_scripts(name: &str, part: &str) -> (Child, String) {
    // A script that is read while it runs, from a file that nobody removes.
    static SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new("sleep 1000 & \"$@\"; exit $?"));
    let mark = format!("GOAL_TEST_MARK={name}-{}", std::process::id());
    let (key, value) = mark.split_once('=').unwrap();
    let mut command = Command::new(GOAL_RUN);
    command.args(["-n", "3", "--timeout", &timeout(60)]).arg(SCRIPT.path()).args(as_rank());
    command.env(PART, part).env(key, value).stdin(Stdio::null());
    // The parent of this process group's leader is in the session. So the system lets SIGTSTP stop
    // the group even if no shell controls the jobs of this process.
    command.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    (default_signals(&mut command).spawn().unwrap(), mark)
}

fn name(process: &Pid) -> String {
    let path = format!("/proc/{}/comm", process.as_raw_nonzero());
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// The processes of a job of scripts, once all are there: three scripts, as many sleepers and
/// ranks, and the launcher with its reaper.
fn all_of(mark: &str) -> Vec<Pid> {
    wait_for(|| {
        let all = processes_with(mark);
        let names: Vec<String> = all.iter().map(name).collect();
        let count = |wanted: &str| names.iter().filter(|name| *name == wanted).count();
        let are_there = [("script", 3), ("sleep", 3), ("reaper", 1), ("goal-run", 1)]
            .iter()
            .all(|&(name, wanted)| count(name) == wanted);
        (are_there && all.len() == 11).then_some(all)
    })
}

#[test]
fn a_script_may_start_the_real_program() {
    let script = Script::new("\"$@\"; exit $?");
    let mut command = Command::new(GOAL_RUN);
    command.args(["-n", "3", "--timeout", &timeout(60), "--"]).arg(script.path()).args(as_rank());
    command.env(PART, "ring");
    let ended = Ended::from_output(command.output().unwrap());
    ended.assert_status(0);
    assert_eq!(told(&ended).len(), 3, "{ended:?}");
}

/// Descriptors that ranks inherit have other numbers than those that scripts open.
#[test]
fn a_script_may_open_files_before_it_starts_the_program() {
    let opens: String = (3..10).map(|number| format!("exec {number}</dev/null; ")).collect();
    let script = Script::new(&format!("{opens}\"$@\""));
    let mut command = Command::new(GOAL_RUN);
    command.args(["-n", "2", "--timeout", &timeout(60)]).arg(script.path()).args(as_rank());
    let ended = Ended::from_output(command.env(PART, "ring").output().unwrap());
    ended.assert_status(0);
    assert_eq!(told(&ended).len(), 2, "{ended:?}");
}

#[test]
fn one_process_of_a_rank_attaches() {
    let script = Script::new("\"$@\" && \"$@\"");
    let mut command = Command::new(GOAL_RUN);
    command.args(["-n", "2", "--timeout", &timeout(60)]).arg(script.path()).args(as_rank());
    let ended = Ended::from_output(command.env(PART, "ring").output().unwrap());
    ended.assert_status(7);
    assert_eq!(told(&ended).len(), 2, "{ended:?}");
    ended.assert_says(&["rank: rank ", " is taken: process ", " has attached as it"]);
}

#[test]
fn a_process_that_a_rank_executes_is_no_rank() {
    let ended = run("child", &["-n", "2"]);
    ended.assert_status(0);
    assert_eq!(ended.err.matches("its descriptors are closed").count(), 2, "{ended:?}");
}

#[test]
fn nothing_is_left_of_ranks_and_what_they_started() {
    for (name, signal, status) in [
        ("term", Signal::TERM, Some(143)),
        ("int", Signal::INT, Some(130)),
        // The launcher can't do anything then.
        ("kill", Signal::KILL, None),
    ] {
        let (child, mark) = start_scripts(name, "waits");
        let all = all_of(&mark);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = Ended::from_output(child.wait_with_output().unwrap());
        assert_eq!(ended.status, status, "{ended:?}");
        assert_gone(&all);
    }
    let (mut child, mark) = start_scripts("status", "status");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    // A process that is left is about to vanish.
    assert_gone(&processes_with(&mark));
}

/// Kills both, as `pkill -9 -f goal-run` does.
#[test]
fn ranks_end_with_launcher_and_reaper() {
    let mark = format!("GOAL_TEST_MARK=both-{}", std::process::id());
    let (key, value) = mark.split_once('=').unwrap();
    let mut command = Command::new(GOAL_RUN);
    command.args(["-n", "2", "--timeout", &timeout(60)]).args(as_rank());
    command.env(PART, "waits").env(key, value).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = default_signals(&mut command).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let waiting = lines.by_ref().map(Result::unwrap).filter(|line| line.contains("told: waits"));
    assert_eq!(waiting.take(2).count(), 2);
    let all = processes_with(&mark);
    let reaper = all.iter().find(|&process| name(process) == "reaper").unwrap();
    assert_eq!(all.len(), 4);
    kill_process(*reaper, Signal::KILL).unwrap();
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    assert_gone(&all);
}

#[test]
fn a_stopped_job_goes_on() {
    let (child, mark) = start_scripts("stop", "waits");
    let launcher = Pid::from_child(&child);
    let all = all_of(&mark);
    // A command of a script may have ended since it was seen.
    let state = |process: &Pid| {
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
        stat.rsplit_once(") ").unwrap().1.chars().next().filter(|&state| state != 'Z')
    };
    let states = || all.iter().filter_map(state);
    let stopped = || states().filter(|&state| state == 'T').count();
    kill_process(launcher, Signal::TSTP).unwrap();
    // All but the reaper, which has nothing to do.
    wait_for(|| (stopped() + 1 == states().count()).then_some(()));
    kill_process(launcher, Signal::CONT).unwrap();
    wait_for(|| (stopped() == 0).then_some(()));
    kill_process(launcher, Signal::TERM).unwrap();
    let ended = Ended::from_output(child.wait_with_output().unwrap());
    ended.assert_status(143);
    assert_gone(&all);
}

#[test]
fn standard_input_is_that_of_the_first_rank() {
    let mut command = Command::new(GOAL_RUN);
    command.args(["-n", "3", "sh", "-c", "wc -c"]);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "twelve bytes").unwrap();
    let input = fs::File::open(file.path()).unwrap();
    let ended = Ended::from_output(command.stdin(input).output().unwrap());
    ended.assert_status(0);
    let mut counts: Vec<&str> = ended.out.split_whitespace().collect();
    counts.sort_unstable();
    assert_eq!(counts, ["0", "0", "12"]);
}

/// Each process that has attached gets a signal once, also one that has left its group.
#[test]
fn signals_reach_ranks_behind_scripts() {
    let script = Script::new("trap '' USR1 USR2; \"$@\" & wait $!");
    for part in ["signals", "signals away"] {
        let mut command = Command::new(GOAL_RUN);
        command.args(["-n", "2", "--timeout", &timeout(60)]).arg(script.path()).args(as_rank());
        let mut child = command.env(PART, part).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut both_tell = |text: &str| {
            let told = lines.by_ref().filter(|line| line.contains(&format!("told: {text}")));
            assert_eq!(told.take(2).count(), 2, "{part}: {text}");
        };
        both_tell("ready");
        kill_process(Pid::from_child(&child), Signal::USR1).unwrap();
        both_tell("a signal");
        kill_process(Pid::from_child(&child), Signal::USR2).unwrap();
        both_tell("1 in all");
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_program_may_run_on_after_its_end() {
    let ended = run("lingers", &["-n", "2"]);
    ended.assert_status(0);
    assert_eq!(told(&ended), ["rank 0 was there", "rank 1 was there"]);
}

/// Without a launcher a process is a group of one.
#[test]
fn a_process_alone_is_a_group_of_one() {
    let alone = |part: &str| {
        let mut command = Command::new(this_file());
        command.args(&as_rank()[1..]).env(PART, part).env("GOAL_STUCK", "end,0.2");
        Ended::from_output(command.output().unwrap())
    };
    let ended = alone("ring");
    ended.assert_status(0);
    assert_eq!(told(&ended), ["rank 0 of 1 has its rings"]);
    // It waits for itself.
    let ended = alone("alone");
    ended.assert_status(9);
    let ended = alone("unfinished");
    ended.assert_status(7);
    ended.assert_says(&["schedules were started and not finished"]);
}

#[test]
fn an_order_that_is_made_up_is_refused() {
    let true_order = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut order: serde_json::Value = serde_json::from_str(
            r#"{"version":"","rank":0,"launcher":1,"startup_errors":null,"segment":50,"passed":[{"first":50,"count":1,"device":1,"file":1}],"schedule":51,"settings":52,"section":null,"driver":null}"#,
        )
        .unwrap();
        order["version"] = env!("CARGO_PKG_VERSION").into();
        change(&mut order);
        order.to_string()
    };
    for (order, why) in [
        ("".to_owned(), "EOF"),
        ("{}".to_owned(), "missing field `version`"),
        (r#"{"version":"0.0.1"}"#.to_owned(), "its launcher is goal-run 0.0.1"),
        (true_order(&|_| ()), "its descriptors are closed"),
        (
            true_order(&|order| order["passed"][0]["first"] = (-1).into()),
            "its descriptors are closed",
        ),
        // The file is there, but does not belong to a job.
        (true_order(&|order| order["passed"][0]["first"] = 0.into()), "its descriptors are closed"),
        (true_order(&|order| order["passed"] = json!([])), "its descriptors are closed"),
    ] {
        let mut command = Command::new(this_file());
        command.args(&as_rank()[1..]).env(PART, "ring").env("GOAL_RUN_PROGRAM", &order);
        let ended = Ended::from_output(command.output().unwrap());
        ended.assert_status(7);
        ended.assert_says(&["GOAL_RUN_PROGRAM is set, but this process can't be the rank", why]);
    }
    // A file with the right numbers, which is not sealed.
    let file = tempfile::tempfile().unwrap();
    let there = file.metadata().unwrap();
    let order = true_order(&|order| {
        order["passed"][0]["device"] = there.dev().into();
        order["passed"][0]["file"] = there.ino().into();
        for name in ["segment", "schedule", "settings"] {
            order[name] = 50.into();
        }
    });
    let mut command = Command::new(this_file());
    command.args(&as_rank()[1..]).env(PART, "ring").env("GOAL_RUN_PROGRAM", &order);
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    let lend = move || {
        // SAFETY: a system call on numbers.
        #[expect(unsafe_code, reason = "a child has to do it before it executes")]
        match unsafe { libc::dup2(number, 50) } {
            50 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: it makes a system call only.
    #[expect(unsafe_code, reason = "a child has to do it before it executes")]
    unsafe {
        command.pre_exec(lend)
    };
    let ended = Ended::from_output(command.output().unwrap());
    ended.assert_status(7);
    ended.assert_says(&["GOAL_RUN_PROGRAM is set", "a memory file is not sealed"]);
}

#[test]
fn orders_do_not_reach_jobs_within() {
    // The ranks of the inner job are processes of goal-run, in the environment of a rank.
    let program = format!("{GOAL_RUN} {}/../examples/hello.goal", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(GOAL_RUN);
    command.args(["-n", "2", "--timeout", &timeout(60), "sh", "-c", &program]);
    let ended = Ended::from_output(command.output().unwrap());
    ended.assert_status(0);
    assert_eq!(
        ended.out.lines().filter(|line| line.starts_with("2 ranks: ")).count(),
        2,
        "{ended:?}"
    );
    // Programs may start a job within a job too.
    let inner = command_text(&["-n", "3", "sh", "-c", "echo within"]);
    let mut command = Command::new(GOAL_RUN);
    command.args(["-n", "2", "--timeout", &timeout(60), "sh", "-c", &inner]);
    let ended = Ended::from_output(command.output().unwrap());
    ended.assert_status(0);
    assert_eq!(ended.out.matches("within").count(), 6, "{ended:?}");
}

fn command_text(arguments: &[&str]) -> String {
    let quoted = arguments.iter().map(|text| format!("'{text}'"));
    std::iter::once(GOAL_RUN.to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

#[test]
fn arguments_are_split_at_the_program() {
    let output = |arguments: &[&str]| {
        let ended = Ended::from_output(Command::new(GOAL_RUN).args(arguments).output().unwrap());
        (ended.status, ended.out, ended.err)
    };
    for options in [&["-n", "1"][..], &["-n1", "--"], &["--ranks=1", "--progress", "thread"]] {
        let told = output(&[options, &["echo", "--repeat", "-n", "2", "--help"]].concat());
        assert_eq!(told, (Some(0), "--repeat -n 2 --help\n".to_owned(), String::new()));
    }
    for (arguments, says) in [
        (&["echo"][..], "echo is a program: how many of its processes are ranks? Give -n N"),
        (&["-n", "0", "echo"], "a job has at least one rank"),
        (&["-n", "2", "--repeat", "3", "echo"], "--repeat is for schedules, and echo is a program"),
        (&["-n", "2", "--trace=x", "echo"], "--trace is for schedules"),
        (&["-n", "2", "--window", "5", "echo"], "--window is for schedules"),
        (&["-n", "2", "--verify", "echo"], "--verify is for schedules"),
        (&["-n", "2", "--dump", "d", "echo"], "--dump is for schedules"),
        (&["-n", "2", "--no-check", "echo"], "--no-check is for schedules"),
        (&["-n", "2", "--ranks-as", "threads", "echo"], "--ranks-as is for schedules"),
        (&["-n", "2", "--transport", "threads", "echo"], "whose ranks are processes"),
        (
            &["-n", "9000", "echo"],
            "9000 ranks, and at most 8192 are started (--max-started raises it)",
        ),
        (
            &["-n", "2", "--heap", "200G", "echo"],
            "the limit is 274877906944 (--max-segment raises it)",
        ),
        (&["-n", "2", "./no-such-program"], "No such file"),
        (&["-n", "2", "nowhere"], "nowhere is neither a file here nor a program in PATH"),
        (&["dis", "x.nisa"], "there is no file dis; if it is the command, write goalc dis"),
        (&["-n", "-4", "echo"], "the number of ranks is a whole number, as in -n 4"),
        (&["echo", "-n", "2"], "Give -n N before it, as in goal-run -n 4 echo"),
    ] {
        let (status, out, err) = output(arguments);
        assert!(matches!(status, Some(1 | 2)), "{arguments:?}: {status:?}");
        assert!(err.contains(says), "{arguments:?}: {err}");
        assert_eq!(out, "");
    }
    // One file is not executable, and one has a name without a slash.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tool");
    fs::write(&path, "#!/bin/sh\necho here\n").unwrap();
    let (status, _, err) = output(&["-n", "1", path.to_str().unwrap()]);
    assert_eq!(status, Some(2));
    assert!(err.contains("tool can't be started: Permission denied"), "{err}");
    assert!(err.contains("tool lets it be executed"), "{err}");
    let mut made = Command::new("chmod");
    assert!(made.arg("755").arg(&path).status().unwrap().success());
    let mut command = Command::new(GOAL_RUN);
    command.args(["-n", "1", "tool"]).current_dir(folder.path());
    assert_eq!(Ended::from_output(command.output().unwrap()).out, "here\n");
}

#[test]
fn a_job_of_many_ranks_has_room_by_default() {
    let ended = run("heap", &["-n", "64", "--bind", "none"]);
    ended.assert_status(0);
    assert_eq!(ended.err, "");
    assert_eq!(told(&ended).len(), 64, "{ended:?}");
    let mut lone = command("heap", &["-n", "1", "--heap", "3M"]);
    let ended = Ended::from_output(lone.output().unwrap());
    assert_eq!(told(&ended), ["3145728"]);
}

/// A process whose parent has ended becomes a child of the launcher.
#[test]
fn orphans_of_ranks_are_reaped() {
    let script = "for i in 1 2 3 4 5 6 7 8; do (true &); done
        while ps -o stat=,pgid= --ppid $PPID | grep -q \"Z.* $$\\$\"; do sleep 0.02; done; echo none";
    let mut command = Command::new(GOAL_RUN);
    command.args(["-n", "2", "--timeout", &timeout(60), "sh", "-c", script]);
    let ended = Ended::from_output(default_signals(&mut command).output().unwrap());
    ended.assert_status(0);
    assert_eq!(ended.out, "none\nnone\n");
}
