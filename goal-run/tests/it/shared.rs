//! Tests large operations: ranks with nothing to do take chunks of them.
#![allow(unsafe_code)] // writes to the memory of ranks

use crate::common::members::{nisa, settings};
use crate::common::{TRANSPORTS, run_text};
use fastrand::Rng;
use goal_engine::Cause;
use goal_filetest::patience;
use goal_job::Named;
use goal_job::{Job, Mode, Wait, layout};
use goal_lang::{Datatype, Op, is_legal};
use goal_rank::progress::{Interrupted, with_member};
use goal_shm::Segment;
use std::thread;
use std::time::Instant;

/// Bytes from which on operations are shared, and of a chunk.
const SHARED_MIN: usize = 128 << 10;
const CHUNK: usize = 64 << 10;

/// Returns the result of an operation that does not divide by zero.
fn applied(op: Op, datatype: Datatype, a: &[u8], b: &[u8]) -> Vec<u8> {
    goal_interp::apply(op, datatype, a, b).expect("no zero divisor")
}

fn pick(random: &mut Rng) -> (Op, Datatype) {
    loop {
        let op = random.choice(Op::ALL.iter().copied()).unwrap();
        let datatype = random.choice(Datatype::ALL.iter().copied()).unwrap();
        if is_legal(op, datatype) && op != Op::Copy && op != Op::Div {
            return (op, datatype);
        }
    }
}

/// A copy of bytes of a rank's memory.
fn memory(segment: &Segment, rank: u32, at: usize, size: usize) -> Vec<u8> {
    let start = segment.rank(rank).memory.start + at;
    // SAFETY: the ranks run in other processes, or have ended.
    unsafe { segment.copy_of(&(start..start + size)) }
}

/// Writes random bytes to the memory of all ranks, and returns them.
fn fill_at_random(segment: &Segment, random: &mut Rng) -> Vec<Vec<u8>> {
    let fill = |rank| {
        let area = &segment.rank(rank).memory;
        let bytes: Vec<u8> = area.clone().map(|_| random.u8(..)).collect();
        // SAFETY: no rank has started.
        unsafe { segment.write(area.start, &bytes) };
        bytes
    };
    (0..segment.num_ranks()).map(fill).collect()
}

/// Runs each rank in a thread. The rank runs its schedule once, on the memory that `fill` leaves,
/// and is told how that ended.
fn run(
    text: &str,
    mode: Mode,
    wait: Wait,
    fill: impl FnOnce(&Segment),
    end: impl Fn(u32, Result<(), Interrupted>, &Segment) + Sync,
) -> Segment {
    let nisa = nisa(text);
    let settings = settings(nisa.num_ranks(), mode, wait);
    let segment = Segment::create(layout(&nisa, &settings, 1 << 30).unwrap()).unwrap();
    fill(&segment);
    thread::scope(|scope| {
        for rank in 0..nisa.num_ranks() {
            let (segment, nisa, settings, end) = (&segment, &nisa, &settings, &end);
            scope.spawn(move || {
                let job = Job::new(segment, nisa, settings);
                with_member(job, rank, |member| {
                    let ended = if segment.start_barrier().pass(segment.num_ranks(), || 0) {
                        let started = member.start(&job.schedule(rank), job.storage(rank));
                        started.and_then(|handle| member.wait(&handle))
                    } else {
                        Err(Interrupted::Stopped)
                    };
                    end(rank, ended, segment);
                })
                .expect("all ranks are here");
            });
        }
    });
    segment
}

/// Many messages are combined as they come, before the first of the operations starts that do so.
#[test]
fn operations_wait_that_were_done_with_their_receives() {
    const COUNT: usize = 300;
    let mut text = "num_ranks 2 rank 0 {".to_owned();
    for i in 0..COUNT {
        text += &format!(" init {} = Int64 {i}; send {},8 to 1 tag {i};", 8 * i, 8 * i);
    }
    text += " } rank 1 { c: calc 100000000;";
    let at = |i| (8 * i, 8 * (COUNT + i));
    for i in 0..COUNT {
        let (from, to) = at(i);
        text += &format!(
            " init {from} = Int64 1000; init {to} = Int64 7; expect {to} = Int64 {};",
            1000 + i
        );
        text += &format!(" r{i}: recv {to},8 from 0 tag {i}; requ r{i} -> c;");
    }
    for i in 0..COUNT {
        let (from, to) = at(i);
        text += &format!(" x{i}: exec sumInt64 with {from},8 {to},8; requ x{i} -> r{i};");
    }
    let ended = run_text(&(text + " }"), &["--no-check", "--eager-limit", "0", "--repeat", "3"]);
    ended.assert_status(0);
}

/// Rank 0 receives and combines what rank 1 sends, combines that with something else, and sends it
/// to rank 2, in one action or two.
fn operations_leave_what_they_mean(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let ((op, datatype), (other, of_other)) = (pick(&mut random), pick(&mut random));
    let size = random.usize(SHARED_MIN..6 * CHUNK) & !7;
    // Operands begin anywhere.
    let gap = random.usize(..9);
    let [p, q, r] = [0, 1, 2].map(|index| gap + index * (size + gap));
    let names =
        [(op, datatype), (other, of_other)].map(|(op, of)| format!("{}{}", op.name(), of.name()));
    // B = A op B where the send has the operation.
    let (result, send) = if random.bool() {
        (
            r,
            format!(
                "x: exec {} with {p},{size} {q},{size} {r},{size}; s: send {r},{size} to 2; s requires x",
                names[1]
            ),
        )
    } else {
        (q, format!("x: send {q},{size} to 2 with {} {p},{size}", names[1]))
    };
    let text = format!(
        "rank 0 {{ m: recv {p},{size} from 1 with {}; {send}; x requires m; recv 8b from 2; }}
         rank 1 {{ send {p},{size} to 0; recv 8b from 2; send {q},{size} to 2 tag 1 }}
         rank 2 {{ m: recv {p},{size} from 0; s: send 8b to 0; s requires m; t: send 8b to 1; t requires m;
                   recv {q},{size} from 1 tag 1 }}",
        names[0],
    );
    let mode = Mode::ALL[(seed % 3) as usize];
    let wait = [Wait::Adaptive, Wait::Spin, Wait::Block][(seed / 3 % 3) as usize];
    let mut bytes = Vec::new();
    let fill = |segment: &Segment| bytes = fill_at_random(segment, &mut random);
    let segment = run(&text, mode, wait, fill, |_, ended, _| assert_eq!(ended, Ok(())));
    let part = |rank: usize, at: usize| &bytes[rank][at..at + size];
    let first = applied(op, datatype, part(1, p), part(0, p));
    let second = applied(other, of_other, &first, part(0, q));
    for (rank, at, wanted) in
        [(0, p, &*first), (0, result, &*second), (2, p, &*second), (2, q, part(1, q))]
    {
        let found = memory(&segment, rank, at, size);
        let differs = (0..size).find(|&byte| found[byte] != wanted[byte]);
        assert_eq!(differs, None, "seed {seed}: {names:?}, {size} bytes at {at} of rank {rank}");
    }
}

/// Rank 0 receives what an operation on its own bytes then replaces, and sends the result to rank
/// 2: in one pass if that makes no difference.
fn a_receive_and_the_operation_behind_it(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let (op, datatype) = pick(&mut random);
    let most = (3 * SHARED_MIN) >> random.u8(0..10);
    let size = random.usize(8..most) & !7;
    let [own, received] = [random.usize(..9), size + 9];
    let name = format!("{}{}", op.name(), datatype.name());
    let result = if random.bool() { format!("{received},{size}") } else { String::new() };
    let others = ["", "n: nop; n requires m;", "n: nop; x requires n;", "n: nop; n irequires m;"];
    let others = random.choice(others).unwrap();
    let text = format!(
        "rank 0 {{ m: recv {received},{size} from 1; x: exec {name} with {own},{size} {received},{size} {result}; x requires m;
                   {others} s: send {received},{size} to 2; s requires x }}
         rank 1 {{ send 0,{size} to 0 }}
         rank 2 {{ recv 0,{size} from 0 }}",
    );
    let mut bytes = Vec::new();
    let fill = |segment: &Segment| bytes = fill_at_random(segment, &mut random);
    let mode = Mode::ALL[(seed % 3) as usize];
    let segment = run(&text, mode, Wait::Adaptive, fill, |_, ended, _| assert_eq!(ended, Ok(())));
    let wanted = applied(op, datatype, &bytes[0][own..own + size], &bytes[1][..size]);
    for (rank, at) in [(0, received), (2, 0)] {
        assert!(
            memory(&segment, rank, at, size) == wanted,
            "seed {seed}: {name}, {size} bytes at {at} of rank {rank}"
        );
    }
}

#[test]
fn a_receive_may_be_done_with_the_operation_behind_it() {
    for seed in 0..goal_filetest::seeds(150) {
        a_receive_and_the_operation_behind_it(seed);
    }
}

#[test]
fn random_operations_leave_what_they_mean() {
    for seed in 0..goal_filetest::seeds(60) {
        operations_leave_what_they_mean(seed);
    }
}

/// Rank 0 waits while rank 1 computes `COUNT` sums.
const COUNT: u64 = 60;
const BYTES: u64 = 1 << 20;

fn sums() -> String {
    let mut text = String::from("init 0 = Int32 1 2 3 4\nstep0: exec copyInt32 with 0,16 16,16\n");
    let mut step = 0;
    let mut then = |action: String| {
        text.push_str(&format!(
            "step{}: {action}; step{} requires step{step}\n",
            step + 1,
            step + 1
        ));
        step += 1;
    };
    // The first bytes of memory are doubled until they are long enough.
    let mut size = 32;
    while size < BYTES {
        then(format!("exec copyInt32 with 0,{size} {size},{size}"));
        size *= 2;
    }
    then(format!("exec copyInt32 with 0,{BYTES} {BYTES},{BYTES}"));
    for _ in 0..COUNT {
        then(format!("exec sumInt32 with 0,{BYTES} {BYTES},{BYTES}"));
    }
    then(format!("send {BYTES},{BYTES} to 0"));
    format!("rank 0 {{ recv 0,{BYTES} from 1 }}\nrank 1 {{ {text} }}")
}

#[test]
fn who_waits_takes_a_part() {
    let text = sums();
    for transport in TRANSPORTS {
        for mode in Mode::ALL {
            let began = Instant::now();
            // The share depends on the scheduling of the processors. It is always zero only if
            // ranks never help.
            loop {
                let arguments =
                    ["--transport", transport, "--progress", mode.name(), "--wait", "spin"];
                let ended = run_text(
                    &text,
                    &[&arguments[..], &["--stats", "--verify", "--format", "json"]].concat(),
                );
                ended.assert_status(0);
                let report = ended.json();
                let counts = &report["stats"]["ranks"];
                let shared = |rank: usize, key: &str| counts[rank][key].as_u64().unwrap();
                for rank in 0..2 {
                    assert!(
                        shared(rank, "helped_chunks") <= shared(rank, "shared_chunks"),
                        "{report}"
                    );
                    // The copies of rank 1 at its start, the sums, and the copy of rank 0.
                    let most = [1, COUNT + 2][rank] * BYTES / CHUNK as u64;
                    assert!(shared(rank, "shared_chunks") <= most, "{report}");
                }
                if shared(1, "helped_chunks") > 0 {
                    break;
                }
                assert!(began.elapsed() < patience(60), "nobody helps: {report}");
            }
        }
    }
}

#[test]
fn the_first_element_divided_by_zero_is_named() {
    let text = format!(
        "rank 0 {{ recv 8b from 1 }}\nrank 1 {{ d: exec divInt32 with 0,{BYTES} {BYTES},{BYTES}; s: send 8b to 0; s requires d }}"
    );
    for seed in 0..goal_filetest::seeds(30) {
        let mut random = Rng::with_seed(seed);
        let zeros: Vec<u64> = (0..random.usize(1..5)).map(|_| random.u64(..BYTES / 4)).collect();
        let fill = |segment: &Segment| {
            let area = &segment.rank(1).memory;
            let mut bytes = vec![1; area.len()];
            for &zero in &zeros {
                bytes[(BYTES + 4 * zero) as usize..][..4].fill(0);
            }
            // SAFETY: no rank has started.
            unsafe { segment.write(area.start, &bytes) };
        };
        run(&text, Mode::ALL[(seed % 3) as usize], Wait::Spin, fill, |rank, ended, segment| {
            if rank == 0 {
                assert_eq!(ended, Err(Interrupted::Stopped));
                return;
            }
            segment.start_barrier().stop();
            let Err(Interrupted::Failed(failure)) = ended else { panic!("{ended:?}") };
            let element = zeros.iter().copied().min().unwrap();
            assert_eq!(failure.cause, Cause::DivisionByZero { element }, "seed {seed}");
        });
    }
}
