//! Defines the parts that ranks of the tests do. The environment names the part of a rank.

use crate::common::members::nisa;
use crate::programs::bench::{AS_RANK, PART, this_file};
use crate::programs::growing;
use goal_engine::memory::{Cells, Region};
use goal_engine::{Areas, Handle, Schedule, Storage, WORLD};
use goal_filetest::until;
use goal_job::Mode;
use goal_rank::program::{Attached, attach};
use goal_rank::progress::{Interrupted, Member};
use rustix::process::{Signal, getpid, kill_process, setsid};
use signal_hook::iterator::Signals;
use std::io::Write;
use std::process::{Command, exit};
use std::sync::Arc;
use std::time::Duration;

/// The variable with the number of lines that a rank prints.
pub(crate) const LINES: &str = "GOAL_TEST_LINES";

/// Does a part if this process is a rank, and passes as a test otherwise.
#[test]
fn this_process_is_a_rank() {
    let Ok(part) = std::env::var(PART) else { return };
    match part.as_str() {
        "ring" => ring(&mut Rank::attach()),
        "many" => many(&mut Rank::attach()),
        "leaves" => leaves(&mut Rank::attach()),
        "status" => {
            let rank = Rank::attach();
            end_as(&rank, 2, || exit(3));
        }
        "status before" => exit(if ordered_rank() == 2 { 3 } else { 0 }),
        "killed" => {
            let rank = Rank::attach();
            end_as(&rank, 1, || kill_process(getpid(), Signal::KILL).unwrap());
        }
        "deserts" => {
            let rank = Rank::attach();
            end_as(&rank, 1, || exit(0));
        }
        "absent" if ordered_rank() == 1 => {}
        "absent host" if ordered_rank() >= 2 => {}
        "absent" | "absent host" => drop(Rank::attach()),
        "status after" => {
            let mut rank = Rank::attach();
            rank.finalize();
            exit(if rank.attached.rank() == 1 { 5 } else { 0 });
        }
        "fails" => {
            let rank = Rank::attach();
            end_as(&rank, 1, || rank.attached.fail("rank 1: its input is no matrix"));
        }
        "obeyed" => {
            let rank = Rank::attach();
            end_as(&rank, 1, || rank.attached.fail("rank 1: \u{1b}]0;title\u{7}\r\u{9b}2J"));
        }
        "mismatch" => mismatch(&mut Rank::attach()),
        "in place" => in_place(&mut Rank::attach()),
        "stuck" => stuck(&mut Rank::attach()),
        "computes" => {
            let mut rank = Rank::attach();
            if rank.attached.rank() > 0 {
                let handle = rank.start(LATE, WORLD);
                rank.wait(&handle);
            }
            tell("computes");
            forever();
        }
        "twice" => {
            let _rank = Rank::attach();
            fail(&attach().map(drop).unwrap_err().to_string());
        }
        "waits" => {
            let _rank = Rank::attach();
            tell("waits");
            forever();
        }
        "prints" => {
            let mut rank = Rank::attach();
            let line = [&[b'x'; 1023][..], b"\n"].concat();
            let lines = std::env::var(LINES).unwrap().parse().unwrap();
            (0..lines).for_each(|_| std::io::stdout().write_all(&line).unwrap());
            rank.finalize();
        }
        "signals" | "signals away" => {
            if part == "signals away" {
                setsid().unwrap();
            }
            let mut signals = Signals::new([libc::SIGUSR1, libc::SIGUSR2]).unwrap();
            let mut rank = Rank::attach();
            tell("ready");
            let once = signals.forever().take_while(|&signal| signal == libc::SIGUSR1);
            tell(&format!("{} in all", once.inspect(|_| tell("a signal")).count()));
            rank.finalize();
        }
        "child" => {
            let mut rank = Rank::attach();
            let mut child = Command::new(this_file());
            let child = child.args(AS_RANK).env(PART, "ring").status().unwrap();
            assert_eq!(child.code(), Some(7));
            rank.finalize();
        }
        "lingers" => {
            let mut rank = Rank::attach();
            rank.finalize();
            // Time has to pass: longer than a launcher waits for processes that should exit.
            std::thread::sleep(Duration::from_millis(6000));
            tell(&format!("rank {} was there", rank.attached.rank()));
        }
        "alone" => {
            let mut rank = Rank::attach();
            let handle = rank.start("num_ranks 1\nrank 0 { recv 8b from 0 }", WORLD);
            rank.wait(&handle);
        }
        "unfinished" => {
            let mut rank = Rank::attach();
            rank.start("num_ranks 1\nrank 0 { calc 0 }", WORLD);
            rank.finalize();
        }
        "heap" => {
            let mut rank = Rank::attach();
            tell(&rank.attached.heap().len().to_string());
            rank.finalize();
        }
        part if growing::has(part) => growing::take(part),
        part => panic!("no part is called {part}"),
    }
    exit(0);
}

/// In a job of three ranks, one waits for the first, which has nothing to send.
const LATE: &str =
    "num_ranks 3\nrank 1 { recv 8b from 0 tag 5 }\nrank 2 { send 8b to 2  recv 8b from 2 }";

/// Returns the rank that the bootstrap record in the environment names.
fn ordered_rank() -> u32 {
    let order = std::env::var("GOAL_RUN_PROGRAM").unwrap();
    let order: serde_json::Value = serde_json::from_str(&order).unwrap();
    order["rank"].as_u64().unwrap() as u32
}

/// Does something as one of the ranks, while the others wait for ever.
fn end_as(rank: &Rank, which: u32, end: impl FnOnce()) {
    if rank.attached.rank() == which {
        end();
    }
    forever();
}

fn forever() -> ! {
    loop {
        std::thread::park();
    }
}

/// Rank 0 comes to its end, rank 1 waits for it, and so does rank 2 for rank 1.
fn stuck(rank: &mut Rank) {
    let text = "num_ranks 3
        rank 1 { a: recv 8b from 0 tag 5  b: send 100000b to 2 tag 6  b requires a }
        rank 2 { c: calc 1000  d: recv 100000b from 1 tag 6  d requires c  recv 8b from any tag 7 }";
    if rank.attached.rank() > 0 {
        let handle = rank.start(text, WORLD);
        rank.wait(&handle);
        fail("it went on");
    }
    rank.finalize();
}

/// Prints a line in one piece.
pub(crate) fn tell(text: &str) {
    std::io::stdout().write_all(format!("told: {text}\n").as_bytes()).unwrap();
}

/// A rank, as a library over it would see it.
pub(crate) struct Rank {
    pub(crate) attached: Attached,
    pub(crate) member: Option<Member<'static>>,
}

impl Rank {
    pub(crate) fn attach() -> Self {
        let attached = attach().unwrap_or_else(|error| fail(&error.to_string()));
        let member = attached.member().unwrap_or_else(|error| fail(&error.to_string()));
        Self { attached, member: Some(member) }
    }

    pub(crate) fn member(&mut self) -> &mut Member<'static> {
        self.member.as_mut().expect("it has not called GOAL_Finalize")
    }

    /// Starts this rank's part of a text.
    pub(crate) fn start(&mut self, text: &str, communicator: u64) -> Handle {
        let (nisa, rank) = (nisa(text), self.attached.rank());
        let schedule = Arc::new(Schedule::new(nisa, rank, self.attached.job().seed()));
        let storage = Storage::new(&schedule);
        self.member().start_in(&schedule, communicator, storage).expect("it starts")
    }

    /// Waits, and says what for if the job is stuck.
    pub(crate) fn wait(&mut self, handle: &Handle) {
        self.attached.waits("GOAL_Wait", 1);
        let member = self.member.as_mut().expect("it has not called GOAL_Finalize");
        let waited = member.wait(handle);
        self.attached.computes();
        if matches!(waited, Err(Interrupted::Stuck | Interrupted::Late)) {
            let waiting = member.underway(handle).unwrap();
            let waiting: Vec<String> = waiting.iter().map(ToString::to_string).collect();
            let rank = self.attached.rank();
            self.attached.fail(&format!("rank {rank} waits in GOAL_Wait: {}", waiting.join("; ")));
            exit(9);
        }
        waited.unwrap_or_else(|error| fail(&error.to_string()));
    }

    pub(crate) fn finish(&mut self, handle: Handle) -> Vec<u8> {
        self.member().finish(handle).unwrap().memory().to_vec()
    }

    pub(crate) fn finalize(&mut self) {
        let member = self.member.take().expect("it has not called GOAL_Finalize");
        self.attached.finalize(member).unwrap_or_else(|error| fail(&error.to_string()));
    }
}

pub(crate) fn fail(text: &str) -> ! {
    eprintln!("rank: {text}");
    exit(7)
}

/// A ring as it is built at run time: each rank sends a number to the next.
pub(crate) fn ring_text(ranks: u32, number: u32) -> String {
    let rank = |rank: u32| {
        let (next, last) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        format!(
            "rank {rank} {{ init 0 = Int64 {} \n send 0,8 to {next} tag {number}\n recv 8,8 from {last} tag {number} }}\n",
            1000 * number + rank
        )
    };
    format!("num_ranks {ranks}\n{}", (0..ranks).map(rank).collect::<String>())
}

/// The number that came.
pub(crate) fn came(memory: &[u8]) -> u64 {
    u64::from_le_bytes(memory[8..16].try_into().unwrap())
}

/// One ring after the other.
fn ring(rank: &mut Rank) {
    let (me, ranks) = (rank.attached.rank(), rank.attached.size());
    for number in 0..20 {
        let handle = rank.start(&ring_text(ranks, number), WORLD);
        rank.wait(&handle);
        let last = u64::from((me + ranks - 1) % ranks);
        assert_eq!(came(&rank.finish(handle)), 1000 * u64::from(number) + last);
    }
    rank.finalize();
    tell(&format!("rank {me} of {ranks} has its rings"));
}

/// Several rings at once, some in another communicator, which are finished in the reverse order;
/// a large message through the heap; a function of this process.
fn many(rank: &mut Rank) {
    let (me, ranks) = (rank.attached.rank(), rank.attached.size());
    rank.member().register(3, Box::new(|a, b| b[0] = a[0] + 40)).unwrap();
    let mut handles: Vec<Handle> =
        (0..30).map(|number| rank.start(&ring_text(ranks, number), (number % 3).into())).collect();
    let called = rank.start(
        &format!("num_ranks {ranks}\nrank * {{ init 0 = UInt8 2\n exec user 3 with 0,1 1,1 }}"),
        7,
    );
    while let Some(handle) = handles.pop() {
        rank.wait(&handle);
        let number = handles.len() as u64;
        let last = u64::from((me + ranks - 1) % ranks);
        assert_eq!(came(&rank.finish(handle)), 1000 * number + last);
    }
    rank.wait(&called);
    assert_eq!(rank.finish(called), [2, 42]);
    rank.finalize();
    tell(&format!("rank {me} of {ranks} has many"));
}

/// A message to rank 1, and an answer of rank 0 to one of rank 1.
const LEAVING: [&str; 2] = [
    "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }",
    "num_ranks 2\nrank 0 { r: recv 8b from 1  s: send 8b to 1  requ s -> r }\n\
     rank 1 { send 8b to 0  recv 8b from 0 }",
];

/// Rank 0 makes a call, and then none until the message of that call has come. Rank 1 tells that by
/// a file in the current folder. The calls are first a start, then a wait.
fn leaves(rank: &mut Rank) {
    let me = rank.attached.rank();
    let connected = rank.start(&ring_text(2, 0), WORLD);
    rank.wait(&connected);
    rank.finish(connected);
    for (text, file) in LEAVING.into_iter().zip(["started", "waited"]) {
        let handle = rank.start(text, WORLD);
        if me == 1 || file == "waited" {
            rank.wait(&handle);
        }
        if me == 1 {
            std::fs::write(file, "").unwrap();
        }
        // In vain if the message does not leave.
        until("rank 1 has told", || std::fs::exists(file).unwrap());
        rank.wait(&handle);
        rank.finish(handle);
    }
    rank.finalize();
    tell(&format!("rank {me} is through"));
}

/// A library keeps both where all threads of its program reach them.
#[test]
fn a_library_may_share_its_end_of_the_job_among_threads() {
    fn is_shared<T: Send + Sync + 'static>() {}
    is_shared::<Attached>();
    is_shared::<std::sync::Mutex<Member<'static>>>();
}

/// Rank 1 gets a message of the wrong size, when it starts, when it waits or, in mode `thread`,
/// while it computes.
fn mismatch(rank: &mut Rank) {
    let text = "num_ranks 2
        rank 0 { c: calc 20000000  d: send 8b to 1 tag 5  d requires c }
        rank 1 { a: calc 0  b: recv 16b from 0 tag 5  b requires a }";
    let (nisa, me) = (nisa(text), rank.attached.rank());
    let schedule = Arc::new(Schedule::new(Arc::clone(&nisa), me, rank.attached.job().seed()));
    let started = rank.member().start_in(&schedule, 2, Storage::new(&schedule));
    let ended = started.and_then(|handle| match (me, rank.attached.progress()) {
        (1, Mode::Thread) => forever(),
        _ => rank.member().wait(&handle),
    });
    match ended {
        Err(Interrupted::Failed(failure)) => rank.attached.fail_action(&nisa, &failure),
        Err(error) => fail(&error.to_string()),
        Ok(()) if me == 0 => {}
        Ok(()) => fail("no failure"),
    }
    forever();
}

/// A large message from heap to heap, which the receiver or the sender copies in place.
#[expect(unsafe_code, reason = "the memory of an instance is the rank's heap")]
fn in_place(rank: &mut Rank) {
    const BYTES: usize = 1 << 20;
    let text = "num_ranks 2
        rank 0 { send 0,1048576 to 1 tag 5 }
        rank 1 { recv 0,1048576 from 0 tag 5 }";
    let (me, heap) = (rank.attached.rank(), rank.attached.heap());
    let schedule = Arc::new(Schedule::new(nisa(text), me, rank.attached.job().seed()));
    let sizes = schedule.state_sizes();
    let counters = Vec::leak(vec![0u16; sizes.counters]);
    let finished = Vec::leak(vec![0u64; sizes.finished]);
    // SAFETY: leaked, and used by the instance alone.
    let (counters, finished) = unsafe {
        let counters = Cells::new(counters.as_mut_ptr(), counters.len());
        (counters, Cells::new(finished.as_mut_ptr(), finished.len()))
    };
    let areas = Areas {
        memory: heap,
        buffers: vec![],
        scratch: Region::EMPTY,
        counters,
        finished,
        matches: None,
    };
    // SAFETY: the heap is this rank's, and nothing else uses it; the rest is leaked.
    let mut storage = unsafe { Storage::over(areas, None) };
    if me == 0 {
        storage.memory_mut()[..BYTES].fill(0x5a);
    }
    let handle = rank.member().start_in(&schedule, WORLD, storage).unwrap();
    rank.wait(&handle);
    let storage = rank.member().finish(handle).unwrap();
    assert!(storage.memory()[..BYTES].iter().all(|&byte| byte == 0x5a));
    rank.finalize();
}
