//! Defines the parts that ranks do in jobs that grow and shrink.

use crate::common::processes::{assert_gone, pid};
use crate::programs::rank::{Rank, came, fail, ring_text, tell};
use goal_filetest::until;
use goal_job::growth::Command;
use goal_shm::Identity;
use std::ffi::OsString;
use std::io::{Write, stdout};
use std::os::unix::fs::MetadataExt;

/// The variable with the process that a rank names though it is not its own.
pub(crate) const VICTIM: &str = "GOAL_TEST_VICTIM";

/// The communicator of old and new ranks.
const LARGER: u64 = 55;

/// Returns true if a part is one of these.
pub(crate) fn has(part: &str) -> bool {
    part.starts_with("grow") || part == "shrink"
}

/// Takes a part as the rank that this process is.
pub(crate) fn take(part: &str) {
    let mut rank = Rank::attach();
    match part {
        "grow ring" => {
            if rank.attached.rank() == 0 {
                assert_eq!(rank.attached.grow(2, None).unwrap(), 2);
            }
            ring(&mut rank, 4);
        }
        "grow exits" | "grow missing" | "grow too many" | "grow none" | "grow escapes" => {
            if rank.attached.rank() == 0 {
                let (ranks, program) = match part {
                    "grow exits" | "grow escapes" => (1, "true"),
                    "grow missing" => (3, "./no such program"),
                    "grow too many" => (65, "true"),
                    _ => (0, "true"),
                };
                let command = Command { executable: program.into(), arguments: vec![] };
                match rank.attached.grow(ranks, Some(command)) {
                    Ok(first) => {
                        tell(&format!("rank {first}"));
                        // In vain.
                        let handle = rank.start("num_ranks 3\nrank 0 { recv 8b from 2 }", LARGER);
                        rank.wait(&handle);
                    }
                    Err(error) => tell(&error.to_string()),
                }
                assert_eq!(rank.attached.num_ranks(), rank.attached.size());
            }
            rank.finalize();
        }
        "grow dies" => {
            if rank.attached.has_joined() {
                std::process::exit(3);
            }
            if rank.attached.rank() == 0 {
                rank.attached.grow(1, None).unwrap();
            }
            rank.finalize();
        }
        "grow stuck" => {
            if rank.attached.rank() == 0 {
                rank.attached.grow(1, None).unwrap();
            }
            if rank.attached.rank() != 1 {
                let text =
                    "num_ranks 3\nrank 0 { recv 8b from 2 tag 4 }\nrank 2 { recv 8b from 0 tag 5 }";
                let handle = rank.start(text, LARGER);
                rank.wait(&handle);
            }
            rank.finalize();
        }
        "grow unread" => {
            if rank.attached.rank() == 0 {
                tell("ready");
                while stdout().write_all(b"a line\n").is_ok() {}
                let arguments = ["-c", "yes; exit 7"].map(OsString::from).to_vec();
                let command = Command { executable: "sh".into(), arguments };
                rank.attached.grow(1, Some(command)).unwrap();
            }
            rank.finalize();
        }
        "grow lies" => {
            if rank.attached.rank() == 0 {
                lie(&rank);
            }
            rank.finalize();
        }
        "grow awaits" => awaits(&mut rank),
        "shrink" => shrink(rank),
        part => panic!("no part is called {part}"),
    }
}

/// Names another process as the one that has attached as the next rank, and ends the job once the
/// launcher has looked at it.
fn lie(rank: &Rank) {
    let victim: u32 = std::env::var(VICTIM).unwrap().parse().unwrap();
    let process_state = &rank.attached.job().segment().status(2).process_state;
    process_state.claim(victim).unwrap();
    let namespace = std::fs::metadata("/proc/self/ns/pid").unwrap().ino();
    // In another namespace of clocks its start says nothing.
    process_state.identify(Identity { namespace, clocks: 1, start: 0 });
    let command = Command { executable: "sleep".into(), arguments: vec!["1000".into()] };
    assert_eq!(rank.attached.grow(1, Some(command)).unwrap(), 2);
    until("the launcher has looked at it", || process_state.seen() == Some(victim));
    std::process::exit(3);
}

/// A ring over old and new ranks.
fn ring(rank: &mut Rank, ranks: u32) {
    let me = rank.attached.rank();
    for number in 0..20 {
        let handle = rank.start(&ring_text(ranks, number), LARGER);
        rank.wait(&handle);
        let last = u64::from((me + ranks - 1) % ranks);
        assert_eq!(came(&rank.finish(handle)), 1000 * u64::from(number) + last);
    }
    let (joined, size) = (rank.attached.has_joined(), rank.attached.size());
    rank.finalize();
    tell(&format!("rank {me} of {size} at the start has its rings, joined: {joined}"));
}

/// Rank 0 waits until a rank is added, and accepts it. The test that runs the job also adds ranks
/// that end before.
fn awaits(rank: &mut Rank) {
    if rank.attached.rank() == 0 {
        tell("ready");
        until("a rank joins", || !rank.attached.joining().is_empty());
        let joining = rank.attached.joining();
        let &[new] = &joining[..] else { fail("more have joined") };
        assert!(rank.attached.accept(new) && !rank.attached.accept(new));
        welcome(rank, new);
        tell(&format!("accepted {new}"));
    } else if rank.attached.has_joined() {
        welcome(rank, rank.attached.rank());
    }
    rank.finalize();
}

/// The message by which a new rank learns that it was accepted.
fn welcome(rank: &mut Rank, new: u32) {
    let ranks = new + 1;
    let text = format!(
        "num_ranks {ranks}\nrank 0 {{ send 8b to {new} }}\nrank {new} {{ recv 8b from 0 }}"
    );
    let handle = rank.start(&text, LARGER);
    rank.wait(&handle);
    rank.finish(handle);
}

/// Rank 0 leaves, and the others go on without it.
fn shrink(mut rank: Rank) {
    ring_once(&mut rank, 0);
    let first = rank.attached.job().segment().status(0).process_state.process();
    if rank.attached.rank() == 0 {
        let member = rank.member.take().unwrap();
        rank.attached.leave(member).unwrap_or_else(|error| fail(&error.to_string()));
        tell("rank 0 has left");
        return;
    }
    until("rank 0 leaves", || {
        assert!(!rank.attached.has_left(1));
        rank.attached.has_left(0)
    });
    assert_gone(&[pid(first.expect("it has attached") as i32)]);
    let text = "num_ranks 3\nrank 1 { send 8b to 2  recv 8b from 2 }\nrank 2 { send 8b to 1  recv 8b from 1 }";
    let handle = rank.start(text, LARGER);
    rank.wait(&handle);
    rank.finish(handle);
    let me = rank.attached.rank();
    rank.finalize();
    tell(&format!("rank {me} went on"));
}

fn ring_once(rank: &mut Rank, number: u32) {
    let ranks = rank.attached.size();
    let handle = rank.start(&ring_text(ranks, number), LARGER);
    rank.wait(&handle);
    rank.finish(handle);
}
