//! Several threads of a process at once.

use goal::{Communicator, Group};
use std::time::{Duration, Instant};

/// The time that a thread is late. A launcher looks several times meanwhile.
const LATE: Duration = Duration::from_millis(400);

pub(crate) fn all(group: Group) {
    let everyone: Vec<u32> = (0..group.size()).collect();
    let communicators: Vec<Communicator> =
        (0..4).map(|_| group.communicator(group.world(), &everyone).unwrap()).collect();
    std::thread::scope(|scope| {
        for (number, communicator) in (0..).zip(&communicators) {
            scope.spawn(move || rounds(group, communicator, number));
        }
    });
}

/// The way by which a thread learns of the end of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Await {
    /// It waits in a call.
    Wait,
    /// It polls, so that its rank never waits in a call.
    Poll,
}

/// Passes numbers around, in a communicator of this thread.
fn rounds(group: Group, communicator: &Communicator, number: u64) {
    let by = if number.is_multiple_of(2) { Await::Wait } else { Await::Poll };
    rounds_of(group, communicator, number, 100, by);
}

fn rounds_of(group: Group, communicator: &Communicator, number: u64, times: u64, by: Await) {
    let (rank, size) = (communicator.rank(), communicator.size());
    let buffer = group.zeros::<u64>(2).unwrap();
    let mut graph = goal::Graph::new(communicator);
    graph.send(buffer.slice(..1), (rank + 1) % size, 0).unwrap();
    graph.recv(buffer.slice(1..), (rank + size - 1) % size, 0).unwrap();
    let schedule = graph.compile().unwrap();
    for round in 0..times {
        buffer.write().unwrap()[0] = 100 * number + round;
        let mut run = schedule.run().unwrap();
        match by {
            Await::Wait => run.wait().unwrap(),
            Await::Poll => {
                while !run.test().unwrap() {
                    std::thread::yield_now();
                }
            }
        }
        assert_eq!(buffer.read().unwrap()[1], 100 * number + round);
    }
}

/// Checks threads that act late. On each of two ranks, the first thread waits for the second thread
/// of the other rank. That thread acts late twice: after a computation before its first call of the
/// library, and after a sleep.
pub(crate) fn late(group: Group) {
    let pair = || group.communicator(group.world(), &[0, 1]).expect("both ranks make it");
    let both = [pair(), pair()];
    let own = group.rank() as usize;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let begin = Instant::now();
            while begin.elapsed() < LATE {
                std::hint::spin_loop();
            }
            pass(group, &both[1 - own]);
            // Time has to pass: this thread is late.
            std::thread::sleep(LATE);
            pass(group, &both[1 - own]);
        });
        pass(group, &both[own]);
        pass(group, &both[own]);
    });
}

/// Passes a number around the ring of ranks, waiting in a call: a rank that polls is never stuck.
fn pass(group: Group, communicator: &Communicator) {
    rounds_of(group, communicator, 1, 1, Await::Wait);
}

/// Waits for a message that nobody sends.
pub(crate) fn alone(group: Group) {
    assert_eq!(group.size(), 1);
    let buffer = group.zeros::<u8>(1).unwrap();
    let mut graph = group.graph();
    graph.recv(&buffer, 0, 1).unwrap();
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let before = threads();
    let run = graph.compile().unwrap().run().unwrap();
    assert_eq!(threads(), before, "a small graph is compiled by its own thread");
    assert_eq!(run.wait().unwrap_err().code(), goal::ErrorCode::Stuck);
    std::process::exit(0);
}
