//! A process that has compiled a program may fork, and its child may compile a program too. The
//! child does not wait for a pool of threads that only its parent has.
#![allow(unsafe_code)] // forks

use goal_filetest::patience;
use goal_opt::Machine;
use goalc::driver::{Options, compile, load_program};
use goalc::stats::stats;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The patience after which a child counts as hanging, in seconds.
const HANGS: u64 = 120;

/// Writes a program that is large enough for several threads in each stage.
fn program(into: &tempfile::TempDir) -> PathBuf {
    let mut text = "num_ranks 4\n".to_owned();
    for rank in 0..4 {
        let _ = writeln!(text, "rank {rank} {{");
        for number in 0..12_000 {
            let _ = writeln!(text, "label{number}: calc {}", 1_000_000 + rank * number);
        }
        text.push_str("}\n");
    }
    let path = into.path().join("large.goal");
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_forked_child_compiles() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = [program(&folder)];
    let options = Options { threads: 4, check: false, ..Options::default() };
    let work = || {
        let compiled = compile(&inputs, &options).unwrap();
        let loaded = load_program(&inputs, &options).unwrap();
        let counted = options.with_threads(|| stats(&loaded.program, &Machine::default()));
        (compiled.nisa.bytes().to_vec(), counted.actions)
    };
    let before = work();
    // SAFETY: the child computes, and ends without destructors of the test.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let is_same = work() == before
            && stats(&load_program(&inputs, &options).unwrap().program, &Machine::default())
                .actions
                == before.1;
        // SAFETY: as above.
        unsafe { libc::_exit(if is_same { 0 } else { 1 }) }
    }
    let since = Instant::now();
    let mut status = -1;
    // SAFETY: the status is written to a variable of its own.
    while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
        if since.elapsed() > patience(HANGS) {
            // SAFETY: the child has not been waited for, so its number is its own.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(status, 0, "the child hung or failed");
}
