//! Several threads of a process at once.

use goal::{Communicator, Group};

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

/// Passes numbers around, in a communicator of this thread.
fn rounds(group: Group, communicator: &Communicator, number: u64) {
    let (rank, size) = (communicator.rank(), communicator.size());
    let buffer = group.zeros::<u64>(2).unwrap();
    let mut graph = goal::Graph::new(communicator);
    graph.send(buffer.slice(..1), (rank + 1) % size, 0).unwrap();
    graph.recv(buffer.slice(1..), (rank + size - 1) % size, 0).unwrap();
    let schedule = graph.compile().unwrap();
    for round in 0..100 {
        buffer.write().unwrap()[0] = 100 * number + round;
        let mut run = schedule.run().unwrap();
        if number.is_multiple_of(2) {
            run.wait().unwrap();
        } else {
            while !run.test().unwrap() {
                std::thread::yield_now();
            }
        }
        assert_eq!(buffer.read().unwrap()[1], 100 * number + round);
    }
}
