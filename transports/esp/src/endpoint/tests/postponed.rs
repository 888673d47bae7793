//! Streams of communicators that are not open yet.

use super::{SECOND_NS, pair, push, read, run_for, with};
use crate::endpoint::{Config, ConnectionId, Event, Loss};
use crate::sim::{Faults, Links, Simulation};
use goal_fabric::chunk::{Chunk, ChunkKind};

const COMMUNICATOR: u32 = 7;

/// Returns the payload of a packet that names a communicator, followed by `len` bytes.
fn first_packet(len: usize) -> Vec<u8> {
    let (kind, message) = (ChunkKind::Communicator, COMMUNICATOR);
    let chunk = Chunk { kind, len: 0, message, receive: 0, offset: 0, envelope: None };
    let mut packet = vec![0; chunk.header_len()];
    chunk.emit(&mut packet);
    packet.resize(packet.len() + len, 0);
    packet
}

fn checks(config: &mut Config) {
    config.checks_communicators = true;
}

/// Host 0 asks host 1 for a connection. Returns the ids of both ends.
fn connect(simulation: &mut Simulation) -> [ConnectionId; 2] {
    let [a, b] = super::connect(simulation);
    // Each end has measured a round trip.
    run_for(simulation, SECOND_NS / 100);
    [a, b]
}

fn open(simulation: &mut Simulation, host: usize, communicator: u32) {
    with(simulation, host, |now_ns, endpoint| endpoint.open_communicator(now_ns, communicator));
}

/// Returns the number of packets that host 1 keeps.
fn kept(simulation: &Simulation) -> usize {
    let connections = simulation.hosts[1].endpoint.connections.iter().flatten();
    connections.filter_map(|of| of.slot.machine()).map(|machine| machine.receiver().kept()).sum()
}

#[test]
fn a_stream_is_read_once_its_communicator_is_open() {
    let mut simulation = pair(checks);
    let [a, b] = connect(&mut simulation);
    push(&mut simulation, 0, a, &first_packet(0));
    for byte in 0..100 {
        push(&mut simulation, 0, a, &[byte]);
    }
    open(&mut simulation, 1, COMMUNICATOR + 1);
    for _ in 0..90 {
        assert_eq!(run_for(&mut simulation, SECOND_NS / 10), []);
        assert_eq!(kept(&simulation), 0, "a packet is kept");
        assert_eq!(simulation.hosts[1].endpoint.controlling, 0, "it has a share of the budget");
    }
    assert!(!simulation.hosts[1].endpoint.is_readable(b));
    let before = simulation.hosts[1].endpoint.stats();
    assert!((10..60).contains(&before.postponed), "{before:?}");
    open(&mut simulation, 1, COMMUNICATOR);
    // The packets are requested at once: their sender's timer would take up to a second.
    let events = run_for(&mut simulation, SECOND_NS / 1000);
    assert_eq!(events[0], (1, Event::Readable(b)));
    let mut all = read(&mut simulation, 1, b);
    while all.len() < 101 {
        run_for(&mut simulation, SECOND_NS / 1000);
        all.extend(read(&mut simulation, 1, b));
    }
    let expected = (0..100).map(|byte| vec![byte]);
    assert_eq!(all, [first_packet(0)].into_iter().chain(expected).collect::<Vec<_>>());
    assert_eq!(run_for(&mut simulation, 20 * SECOND_NS).len(), 0, "the time limit is over");
}

#[test]
fn the_other_direction_is_not_held_up() {
    let mut simulation = pair(checks);
    let [a, b] = connect(&mut simulation);
    open(&mut simulation, 0, COMMUNICATOR);
    push(&mut simulation, 0, a, &first_packet(0));
    push(&mut simulation, 1, b, &first_packet(3));
    assert_eq!(run_for(&mut simulation, SECOND_NS / 10), [(0, Event::Readable(a))]);
    assert_eq!(read(&mut simulation, 0, a), [first_packet(3)]);
}

#[test]
fn a_communicator_that_is_never_opened_ends_the_connection() {
    for postpone_ns in [0, SECOND_NS / 100, 5 * SECOND_NS] {
        let mut simulation = pair(|config| {
            checks(config);
            config.timing.postpone_ns = postpone_ns;
        });
        let [a, b] = connect(&mut simulation);
        let at_ns = simulation.now_ns();
        push(&mut simulation, 0, a, &first_packet(0));
        let mut events = Vec::new();
        while events.is_empty() {
            events = run_for(&mut simulation, SECOND_NS / 1000);
            // There may be no room left.
            with(&mut simulation, 0, |_, endpoint| endpoint.push(a, vec![1], true).ok());
        }
        let time_ns = simulation.now_ns() - at_ns;
        assert!((postpone_ns..postpone_ns + SECOND_NS / 100).contains(&time_ns), "{time_ns} ns");
        events.extend(run_for(&mut simulation, SECOND_NS / 100));
        let lost = |id, cause| Event::Lost { id, cause };
        let cause = Loss::Communicator(COMMUNICATOR);
        assert_eq!(events, [(1, lost(b, cause)), (0, lost(a, Loss::Reset))]);
        // Nothing is left, and another connection can follow.
        run_for(&mut simulation, 10 * SECOND_NS);
        assert!(simulation.hosts.iter().all(|host| host.endpoint.poll_timeout().is_none()));
        open(&mut simulation, 1, COMMUNICATOR);
        let [a, b] = connect(&mut simulation);
        push(&mut simulation, 0, a, &first_packet(0));
        assert_eq!(run_for(&mut simulation, SECOND_NS / 100), [(1, Event::Readable(b))]);
    }
}

/// The first packet arrives last, so those behind it are already kept.
#[test]
fn early_packets_of_a_postponed_stream_are_dropped() {
    let mut simulation = pair(checks);
    let [a, b] = connect(&mut simulation);
    push(&mut simulation, 0, a, &first_packet(0));
    for byte in 0..30 {
        push(&mut simulation, 0, a, &[byte]);
    }
    let mut frames = Vec::new();
    while simulation.network.next_ns().is_some() {
        frames.extend(simulation.network.advance().map(|(_, frame)| frame));
    }
    let now_ns = simulation.host_now_ns(1);
    let endpoint = &mut simulation.hosts[1].endpoint;
    frames[1..].iter().for_each(|frame| endpoint.handle_frame(now_ns, frame));
    assert_eq!(kept(&simulation), 15, "an initial burst, but for its first packet");
    simulation.hosts[1].endpoint.handle_frame(now_ns, &frames[0]);
    assert_eq!(kept(&simulation), 0);
    simulation.flush(1);
    open(&mut simulation, 1, COMMUNICATOR);
    run_for(&mut simulation, SECOND_NS / 10);
    assert_eq!(read(&mut simulation, 1, b).len(), 31);
}

/// A long packet that waits for its communicator is not lost for its size, and its sender does not
/// become slower towards other peers.
#[test]
fn a_sender_that_waits_draws_no_conclusions() {
    let mut simulation = pair(checks);
    let [a, _] = connect(&mut simulation);
    let lag = |simulation: &Simulation| simulation.hosts[0].endpoint.shared.lag.ns();
    let before_ns = lag(&simulation);
    push(&mut simulation, 0, a, &first_packet(1000));
    assert_eq!(run_for(&mut simulation, 9 * SECOND_NS), []);
    assert!(lag(&simulation) < before_ns + 2_000_000, "{} ns", lag(&simulation));
    open(&mut simulation, 1, COMMUNICATOR);
    assert_eq!(run_for(&mut simulation, SECOND_NS).len(), 1);
    assert!(lag(&simulation) < before_ns + 2_000_000, "{} ns", lag(&simulation));
}

/// Many connections wait, and their peers send on whatever they are told.
#[test]
fn connections_that_wait_keep_nothing_and_slow_no_other() {
    const HOSTS: usize = 40;
    let mut simulation = Simulation::new(3, HOSTS, Links::default(), Faults::default(), checks);
    open(&mut simulation, 1, 0);
    let peer = Simulation::address(1);
    for host in (0..HOSTS).filter(|&host| host != 1) {
        with(&mut simulation, host, |now_ns, endpoint| endpoint.connect(now_ns, peer))
            .expect("one peer");
    }
    let mut ids = vec![None; HOSTS];
    for (host, event) in run_for(&mut simulation, SECOND_NS / 10) {
        if let Event::Connected { id, .. } = event {
            ids[host] = Some(id);
        }
    }
    let mut honest = first_packet(0);
    honest[8..12].fill(0);
    let id = ids[0].expect("it is connected");
    push(&mut simulation, 0, id, &honest);
    let mut read = 0;
    for _ in 0..50 {
        for (host, id) in ids.iter().enumerate().skip(2) {
            let id = id.expect("it is connected");
            let packet = first_packet(900);
            with(&mut simulation, host, |_, endpoint| endpoint.push(id, packet, true).ok());
        }
        while with(&mut simulation, 0, |_, endpoint| endpoint.push(id, vec![1; 1000], true)).is_ok()
        {
        }
        for _ in 0..10 {
            run_for(&mut simulation, SECOND_NS / 1000);
            let endpoint = &mut simulation.hosts[1].endpoint;
            let all: Vec<_> = endpoint.connections.iter().flatten().map(|of| of.id).collect();
            for id in all {
                while endpoint.read(0, id).is_some() {
                    read += 1;
                }
            }
            simulation.flush(1);
        }
        assert_eq!(kept(&simulation), 0, "a packet is kept");
        assert!(simulation.hosts[1].endpoint.controlling <= 1, "they have shares of the budget");
    }
    assert!(read > 10_000, "{read}");
}
