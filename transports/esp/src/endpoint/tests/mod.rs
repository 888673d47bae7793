//! Two endpoints on a simulated network.

mod postponed;
mod rtt;
mod silence;

use super::{ConnectionId, Event, FRAME_LEN_MAX, Loss, Stats};
use crate::auth::Address;
use crate::endpoint::{CHECKED_MAX, Config, Endpoint, Seals};
use crate::sim::{Faults, Links, Random, Simulation};
use crate::wire::{Frame, Packet};

const SECOND_NS: u64 = 1_000_000_000;

fn pair(configure: impl Fn(&mut Config)) -> Simulation {
    Simulation::new(7, 2, Links::default(), Faults::default(), configure)
}

/// Runs the simulation up to a time, and returns the events of the hosts.
fn run_until(simulation: &mut Simulation, until_ns: u64) -> Vec<(usize, Event)> {
    let mut events = Vec::new();
    loop {
        for (number, host) in simulation.hosts.iter_mut().enumerate() {
            events.extend(
                std::iter::from_fn(|| host.endpoint.poll_event()).map(|event| (number, event)),
            );
        }
        if simulation.next_ns().is_none_or(|next_ns| next_ns >= until_ns) {
            simulation.wait_until(until_ns);
            return events;
        }
        simulation.advance();
    }
}

fn run_for(simulation: &mut Simulation, time_ns: u64) -> Vec<(usize, Event)> {
    let until_ns = simulation.now_ns() + time_ns;
    run_until(simulation, until_ns)
}

/// Uses a host's endpoint, and sends its frames.
fn with<R>(
    simulation: &mut Simulation,
    host: usize,
    act: impl FnOnce(u64, &mut Endpoint) -> R,
) -> R {
    let now_ns = simulation.host_now_ns(host);
    let result = act(now_ns, &mut simulation.hosts[host].endpoint);
    simulation.flush(host);
    result
}

/// Host 0 asks for a connection. Returns the ids of both ends.
fn connect(simulation: &mut Simulation) -> [ConnectionId; 2] {
    let peer = Simulation::address(1);
    let own =
        with(simulation, 0, |now_ns, endpoint| endpoint.connect(now_ns, peer)).expect("one peer");
    let events = run_for(simulation, SECOND_NS / 10);
    let [
        (0, Event::Connected { id: first, peer: to }),
        (1, Event::Connected { id: second, peer: from }),
    ] = events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((first, to, from), (own, peer, Simulation::address(0)));
    [first, second]
}

fn push(simulation: &mut Simulation, host: usize, id: ConnectionId, payload: &[u8]) {
    with(simulation, host, |_, endpoint| endpoint.push(id, payload.to_vec(), true)).expect("room");
}

fn read(simulation: &mut Simulation, host: usize, id: ConnectionId) -> Vec<Vec<u8>> {
    with(simulation, host, |now_ns, endpoint| {
        std::iter::from_fn(|| endpoint.read(now_ns, id)).collect()
    })
}

#[test]
fn a_stream_each_way_and_an_end() {
    let mut simulation = pair(|_| {});
    let [a, b] = connect(&mut simulation);
    push(&mut simulation, 0, a, b"hello");
    push(&mut simulation, 1, b, b"you");
    let mut events = run_for(&mut simulation, SECOND_NS / 10);
    events.sort_by_key(|(host, _)| *host);
    assert_eq!(events, [(0, Event::Readable(a)), (1, Event::Readable(b))]);
    assert_eq!(read(&mut simulation, 0, a), [b"you"]);
    assert_eq!(read(&mut simulation, 1, b), [b"hello"]);
    with(&mut simulation, 0, |now_ns, endpoint| endpoint.close(now_ns, a));
    assert_eq!(run_for(&mut simulation, SECOND_NS / 10), [(1, Event::Finished(b))]);
    push(&mut simulation, 1, b, b"more");
    with(&mut simulation, 1, |now_ns, endpoint| endpoint.close(now_ns, b));
    let events = run_for(&mut simulation, SECOND_NS / 10);
    assert_eq!(events, [(0, Event::Readable(a)), (0, Event::Finished(a)), (1, Event::Closed(b))]);
    assert_eq!(read(&mut simulation, 0, a), [b"more"]);
    assert_eq!(run_for(&mut simulation, SECOND_NS), [(0, Event::Closed(a))]);
    // Nothing is left, and nothing ever happens again.
    run_for(&mut simulation, 10 * SECOND_NS);
    assert!(simulation.hosts.iter().all(|host| host.endpoint.poll_timeout().is_none()));
}

#[test]
fn a_small_message_takes_two_frames() {
    let mut simulation = pair(|_| {});
    let [a, _] = connect(&mut simulation);
    let before = simulation.network.counts().delivered;
    push(&mut simulation, 0, a, b"hello");
    run_for(&mut simulation, SECOND_NS / 10);
    assert_eq!(simulation.network.counts().delivered - before, 2);
}

#[test]
fn answers_take_acknowledgements_along() {
    let mut simulation = pair(|_| {});
    let [a, b] = connect(&mut simulation);
    let before = simulation.network.counts().delivered;
    for _ in 0..10 {
        push(&mut simulation, 0, a, b"ping");
        run_for(&mut simulation, 8_000);
        assert_eq!(read(&mut simulation, 1, b), [b"ping"]);
        push(&mut simulation, 1, b, b"pong");
        run_for(&mut simulation, 8_000);
        assert_eq!(read(&mut simulation, 0, a), [b"pong"]);
    }
    assert_eq!(simulation.network.counts().delivered - before, 20);
    // The last message is acknowledged alone.
    run_for(&mut simulation, SECOND_NS / 10);
    assert_eq!(simulation.network.counts().delivered - before, 21);
}

#[test]
fn a_sign_of_life_that_was_lost_makes_no_long_round_trip() {
    let mut simulation = pair(|_| {});
    let peer = Simulation::address(1);
    let a = with(&mut simulation, 0, |now_ns, endpoint| endpoint.connect(now_ns, peer))
        .expect("one peer");
    let mut b = None;
    while b.is_none() {
        simulation.advance();
        b = simulation.hosts[1].endpoint.poll_event();
    }
    let Some(Event::Connected { id: b, .. }) = b else { panic!("{b:?}") };
    // The end that received the SYN asks for a sign of life, and gets none.
    simulation.network.set_faults(Faults { lost: 1_000_000, ..Faults::default() });
    run_for(&mut simulation, 5_000_000);
    simulation.network.set_faults(Faults::default());
    for _ in 0..2 {
        push(&mut simulation, 1, b, b"you");
        push(&mut simulation, 0, a, b"hello");
        run_for(&mut simulation, 5_000_000);
    }
    let rtt = &simulation.hosts[1].endpoint.connections[0].as_ref().unwrap().clock.rtt;
    let smoothed_ns = rtt.smoothed_ns().expect("it was measured");
    assert!(smoothed_ns < 1_000_000, "{smoothed_ns}");
}

#[test]
fn a_peer_that_falls_silent_is_told_in_time() {
    let mut simulation = pair(|_| {});
    let [a, b] = connect(&mut simulation);
    // While the peer lives, it answers.
    assert_eq!(run_for(&mut simulation, 60 * SECOND_NS), []);
    simulation.network.set_faults(Faults { lost: 1_000_000, ..Faults::default() });
    // The last sign of life came up to `probe_ns` before.
    let mut lost = run_for(&mut simulation, 2 * SECOND_NS + SECOND_NS / 1000);
    lost.sort_by_key(|(host, _)| *host);
    let cause = Loss::Dead;
    assert_eq!(lost, [(0, Event::Lost { id: a, cause }), (1, Event::Lost { id: b, cause })]);
}

#[test]
fn an_idle_peer_is_not_given_up_if_every_fourth_frame_is_lost() {
    let mut simulation = pair(|_| {});
    connect(&mut simulation);
    simulation.network.set_faults(Faults { lost: 250_000, ..Faults::default() });
    assert_eq!(run_for(&mut simulation, 1000 * SECOND_NS), []);
}

/// The end of a handshake may be lost. Then the peer can't answer requests for a sign of life, so
/// each request repeats the end of the handshake. SYNs alone are repeated too seldom.
#[test]
fn a_peer_that_lacks_the_end_of_the_handshake_is_not_given_up() {
    let mut random = Random::new(1);
    for _ in 0..300 {
        let faults = Faults { lost: 300_000, ..Faults::default() };
        let configure = |config: &mut Config| config.timing.connect_ns = 60 * SECOND_NS;
        let mut simulation =
            Simulation::new(random.number(), 2, Links::default(), faults, configure);
        let peer = Simulation::address(1);
        with(&mut simulation, 0, |now_ns, endpoint| endpoint.connect(now_ns, peer))
            .expect("one peer");
        let mut events = Vec::new();
        while events.len() < 2 {
            events.extend(run_for(&mut simulation, SECOND_NS / 100));
        }
        let are_connected =
            events.iter().all(|(_, event)| matches!(event, Event::Connected { .. }));
        assert!(are_connected, "{events:?}");
    }
}

/// Runs a host's endpoint at a time of its clock, and drops its frames. Returns its events.
fn look(simulation: &mut Simulation, host: usize, now_ns: u64) -> Vec<Event> {
    let endpoint = &mut simulation.hosts[host].endpoint;
    endpoint.handle_timeout(now_ns);
    let mut frame = [0; FRAME_LEN_MAX];
    while endpoint.poll_transmit(now_ns, &mut frame).is_some() {}
    std::iter::from_fn(|| endpoint.poll_event()).collect()
}

#[test]
fn time_in_which_nobody_looked_is_no_silence() {
    let mut simulation = pair(|_| {});
    let [a, _] = connect(&mut simulation);
    let mut now_ns = simulation.host_now_ns(0);
    // A host that has no processor for 10 s has not looked for frames. So its peer does not count
    // as silent.
    for _ in 0..3 {
        now_ns += 10 * SECOND_NS;
        assert_eq!(look(&mut simulation, 0, now_ns), []);
    }
    // A host that looks and finds no frames has lost its peer.
    let looks = (1..=25).flat_map(|n| look(&mut simulation, 0, now_ns + n * SECOND_NS / 10));
    assert_eq!(looks.collect::<Vec<_>>(), [Event::Lost { id: a, cause: Loss::Dead }]);
}

#[test]
fn a_peer_that_was_slow_to_answer_is_given_longer() {
    let mut simulation = pair(|_| {});
    let [a, b] = connect(&mut simulation);
    // The peer has less and less processor time, so its signs of life come later and later.
    for tenths in [10, 15, 30, 50] {
        let mut now_ns = simulation.host_now_ns(0);
        for _ in 0..tenths {
            now_ns += SECOND_NS / 10;
            assert_eq!(look(&mut simulation, 0, now_ns), [], "after {tenths} tenths of a second");
        }
        simulation.wait_until(simulation.now_ns());
        let question = with(&mut simulation, 1, |now_ns, endpoint| {
            let connection = endpoint.of_mut(b).expect("it is there");
            connection.machine_mut().expect("it is connected").probe();
            endpoint.mark_touched(b.index);
            let mut frame = [0; FRAME_LEN_MAX];
            let len = endpoint.poll_transmit(now_ns, &mut frame).expect("a question");
            frame[..len].to_vec()
        });
        simulation.hosts[0].endpoint.handle_frame(now_ns, &question);
    }
    // A peer that was slow is lost too when it stays silent, after at most five times as long.
    let now_ns = simulation.host_now_ns(0) + 20 * SECOND_NS;
    let looks = (1..=110).flat_map(|n| look(&mut simulation, 0, now_ns + n * SECOND_NS / 10));
    assert_eq!(looks.collect::<Vec<_>>(), [Event::Lost { id: a, cause: Loss::Dead }]);
}

/// Returns the losses that hosts report when host 0 sends packets of `len` bytes for 10 s.
fn after_long_packets(len: usize, faults: Faults) -> Vec<(usize, Event)> {
    let mut simulation = pair(|_| {});
    let [a, b] = connect(&mut simulation);
    simulation.network.set_faults(faults);
    let mut events = Vec::new();
    for _ in 0..100 {
        while with(&mut simulation, 0, |_, endpoint| endpoint.push(a, vec![1; len], true)).is_ok() {
        }
        events.extend(run_for(&mut simulation, SECOND_NS / 10));
        read(&mut simulation, 1, b);
    }
    events.retain(|(_, event)| matches!(event, Event::Lost { .. }));
    events
}

#[test]
fn frames_that_get_lost_for_their_size_are_told() {
    let long = Faults { lost_from: 1000, ..Faults::default() };
    let [(0, Event::Lost { cause: Loss::TooLong(bytes), .. }), ..] =
        after_long_packets(1200, long)[..]
    else {
        panic!("{:?}", after_long_packets(1200, long))
    };
    assert!((1200..1260).contains(&bytes), "{bytes}");
    assert_eq!(after_long_packets(900, long), []);
    // If frames of every size are lost, the size is not the cause.
    for lost in [100_000, 300_000] {
        assert_eq!(after_long_packets(1200, Faults { lost, ..Faults::default() }), []);
    }
}

#[test]
fn a_peer_without_room_is_no_loss_for_size() {
    let mut simulation = pair(|config| config.rules.burst_length = 16);
    let [a, _] = connect(&mut simulation);
    while with(&mut simulation, 0, |_, endpoint| endpoint.push(a, vec![1; 1200], true)).is_ok() {}
    let events = run_for(&mut simulation, 30 * SECOND_NS);
    assert!(!events.iter().any(|(_, event)| matches!(event, Event::Lost { .. })), "{events:?}");
}

#[test]
fn a_question_that_is_overtaken_by_its_answer_is_not_asked() {
    let mut simulation = pair(|_| {});
    let peer = Simulation::address(1);
    with(&mut simulation, 0, |now_ns, endpoint| endpoint.connect(now_ns, peer)).expect("one peer");
    // The SYN was answered, and the peer's acknowledgement is in flight.
    while simulation.hosts[1].endpoint.poll_event().is_none() {
        simulation.advance();
    }
    let mut frames = Vec::new();
    while simulation.network.next_ns().is_some() {
        frames.extend(simulation.network.advance().filter(|(host, _)| *host == 0));
    }
    let now_ns = simulation.host_now_ns(0) + SECOND_NS;
    // The SYN is due again, but the interface has no room before the frames are handled.
    simulation.hosts[0].endpoint.handle_timeout(now_ns);
    for (_, frame) in frames {
        simulation.hosts[0].endpoint.handle_frame(now_ns, &frame);
    }
    simulation.flush(0);
    let events = run_for(&mut simulation, SECOND_NS);
    assert!(!events.iter().any(|(_, event)| matches!(event, Event::Lost { .. })), "{events:?}");
}

#[test]
fn a_peer_that_is_not_there_is_told() {
    let mut simulation = pair(|_| {});
    let nobody = Address { port: 1, ..Simulation::address(1) };
    let id = with(&mut simulation, 0, |now_ns, endpoint| endpoint.connect(now_ns, nobody)).unwrap();
    let lost = Event::Lost { id, cause: Loss::Unreachable };
    assert_eq!(run_for(&mut simulation, 20 * SECOND_NS), [(0, lost)]);
    assert!(simulation.hosts[0].endpoint.poll_timeout().is_none());
}

#[test]
fn a_reset_is_told_to_the_peer() {
    let mut simulation = pair(|_| {});
    let [a, b] = connect(&mut simulation);
    with(&mut simulation, 0, |now_ns, endpoint| endpoint.reset(now_ns, a));
    let lost = Event::Lost { id: b, cause: Loss::Reset };
    assert_eq!(run_for(&mut simulation, SECOND_NS / 10), [(1, lost)]);
    // Another connection can follow at once.
    let [again, _] = connect(&mut simulation);
    assert_ne!(again, a);
}

#[test]
fn a_peer_that_starts_anew_gets_another_connection() {
    let mut simulation = pair(|_| {});
    let [_, b] = connect(&mut simulation);
    let config = simulation.hosts[0].endpoint.config().clone();
    simulation.hosts[0].endpoint = Endpoint::new(config, [99; 32]);
    let peer = Simulation::address(1);
    let a = with(&mut simulation, 0, |now_ns, endpoint| endpoint.connect(now_ns, peer)).unwrap();
    let events = run_for(&mut simulation, SECOND_NS / 10);
    let [(0, Event::Connected { .. }), (1, lost), (1, Event::Connected { id, .. })] = events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(lost, Event::Lost { id: b, cause: Loss::Restarted });
    push(&mut simulation, 0, a, b"hello again");
    assert_eq!(run_for(&mut simulation, SECOND_NS / 10), [(1, Event::Readable(id))]);
    assert_eq!(read(&mut simulation, 1, id), [b"hello again"]);
}

#[test]
fn unread_packets_close_the_window() {
    let mut simulation = pair(|config| config.rules.burst_length = 16);
    let [a, b] = connect(&mut simulation);
    let full = (0u8..).position(|byte| {
        with(&mut simulation, 0, |_, endpoint| endpoint.push(a, vec![byte], true)).is_err()
    });
    let count = full.expect("room ends");
    run_for(&mut simulation, SECOND_NS);
    let first = read(&mut simulation, 1, b);
    assert_eq!(first, (0..16).map(|byte| vec![byte]).collect::<Vec<_>>());
    run_for(&mut simulation, SECOND_NS);
    let mut rest = Vec::new();
    while rest.len() < count - 16 {
        rest.extend(read(&mut simulation, 1, b));
        run_for(&mut simulation, SECOND_NS);
    }
    assert_eq!(rest, (16..count as u8).map(|byte| vec![byte]).collect::<Vec<_>>());
}

#[test]
fn another_jobs_questions_are_not_answered() {
    let mut simulation = pair(|_| {});
    let mut config = simulation.hosts[0].endpoint.config().clone();
    config.job_key = crate::auth::JobKey::new(&[1; 32]);
    simulation.hosts[0].endpoint = Endpoint::new(config, [99; 32]);
    let peer = Simulation::address(1);
    let id = with(&mut simulation, 0, |now_ns, endpoint| endpoint.connect(now_ns, peer)).unwrap();
    let lost = Event::Lost { id, cause: Loss::Unreachable };
    assert_eq!(run_for(&mut simulation, 20 * SECOND_NS), [(0, lost)]);
    let Stats { unproven, sent, .. } = simulation.hosts[1].endpoint.stats();
    assert!(unproven > 0 && sent == 0);
    assert!(simulation.hosts[1].endpoint.poll_timeout().is_none(), "it is remembered");
}

#[test]
fn data_is_tagged_if_one_end_asks_for_it() {
    for asks in [Simulation::address(0), Simulation::address(1)] {
        let mut simulation = pair(|config| config.authenticates_data = config.address == asks);
        let [a, _] = connect(&mut simulation);
        simulation.network.take_sent();
        push(&mut simulation, 0, a, b"hello");
        run_for(&mut simulation, SECOND_NS / 10);
        let heard = simulation.network.take_sent();
        assert!(heard.len() >= 2);
        for bytes in heard {
            let frame = Frame::new_checked(&bytes[..]).unwrap();
            assert!(Packet::new_checked(frame.payload()).unwrap().tag().is_some());
        }
    }
}

/// A payload is read in place only if it is the next one, and no packets before it are unread and
/// no events unreported.
#[test]
fn the_next_payload_is_read_where_it_lies() {
    let mut simulation = pair(|_| {});
    let [a, b] = connect(&mut simulation);
    for byte in 0..4 {
        with(&mut simulation, 0, |_, endpoint| endpoint.push(a, vec![byte; 300], true))
            .expect("room");
    }
    let mut frames = Vec::new();
    while simulation.network.next_ns().is_some() {
        frames.extend(simulation.network.advance().map(|(_, frame)| frame));
    }
    let now_ns = simulation.host_now_ns(1);
    let receiver = &mut simulation.hosts[1].endpoint;
    let mut read = |frame: &[u8]| {
        receiver.read_frame(now_ns, frame).map(|(id, payload)| (id, payload.to_vec()))
    };
    assert_eq!(read(&frames[1]), None, "too early");
    assert_eq!(read(&frames[0]), Some((b, vec![0; 300])));
    assert_eq!(read(&frames[0]), None, "read before");
    assert_eq!(read(&frames[2]), None, "another one is left to be read");
    assert_eq!(receiver.poll_event(), Some(Event::Readable(b)));
    assert_eq!(receiver.read(now_ns, b), Some(vec![1; 300]));
    assert_eq!(receiver.read(now_ns, b), Some(vec![2; 300]));
    assert_eq!(receiver.read_frame(now_ns, &frames[3]), Some((b, &[3; 300][..])));
    assert_eq!(receiver.read(now_ns, b), None);
}

/// Sends `count` packets from host 0 to host 1 whose tags are made together and checked together.
/// `spoil` changes the frames on their way. Returns the payloads that host 1 reads, in order.
fn carry_together(
    simulation: &mut Simulation,
    [a, b]: [ConnectionId; 2],
    count: u8,
    spoil: impl Fn(usize, &mut [u8]),
) -> Vec<Vec<u8>> {
    let now_ns = simulation.host_now_ns(0);
    let sender = &mut simulation.hosts[0].endpoint;
    for number in 0..count {
        // A short one among them has its tag computed alone.
        let len = if number == 3 { 20 } else { 1400 + usize::from(number) };
        sender.push(a, vec![number; len], number + 1 == count).expect("room");
    }
    let (mut seals, mut frames) = (Seals::default(), Vec::new());
    loop {
        let mut frame = vec![0; FRAME_LEN_MAX];
        let Some(len) = sender.poll_unsealed(now_ns, &mut frame, &mut seals) else { break };
        frame.truncate(len);
        frames.push(frame);
    }
    assert_eq!((frames.len(), seals.len()), (count.into(), count.into()));
    seals.seal(&mut frames.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
    assert_eq!(seals.len(), 0);
    for (number, frame) in frames.iter_mut().enumerate() {
        spoil(number, frame);
    }
    let now_ns = simulation.host_now_ns(1);
    let receiver = &mut simulation.hosts[1].endpoint;
    let mut read = Vec::new();
    for frames in frames.chunks(CHECKED_MAX) {
        let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
        for (frame, checked) in frames.iter().zip(receiver.check(&frames)) {
            let payload = receiver.handle_checked(now_ns, frame, true, checked);
            read.extend(payload.map(|(id, payload)| {
                assert_eq!(id, b);
                payload.to_vec()
            }));
        }
    }
    read
}

#[test]
fn tags_are_made_and_checked_together() {
    let mut simulation = pair(|_| {});
    let ends = connect(&mut simulation);
    let read = carry_together(&mut simulation, ends, 12, |_, _| {});
    let numbers: Vec<u8> = read.iter().map(|payload| payload[0]).collect();
    assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    assert_eq!(simulation.hosts[1].endpoint.stats().unproven, 0);
}

#[test]
fn a_changed_frame_among_others_is_refused() {
    for (changed, at) in [(0, 60), (2, 700), (3, 58), (7, 47), (9, 27), (11, 1400)] {
        let mut simulation = pair(|_| {});
        let ends = connect(&mut simulation);
        let read = carry_together(&mut simulation, ends, 12, |number, frame| {
            if number == changed {
                frame[at] ^= 4;
            }
        });
        assert_eq!(read.len(), changed, "those before it are read in place");
        assert_eq!(simulation.hosts[1].endpoint.stats().unproven, 1);
    }
}
