//! Ranks that compute: both ends are silent between two calls.

use super::{FRAME_LEN_MAX, connect, pair};
use crate::endpoint::{ConnectionId, Endpoint};

/// The time for which both ends compute, and that from one poll to the next while they wait.
const SILENCE_NS: u64 = 2_000_000;
const POLL_NS: u64 = 10_000;
/// Packets of a message: more than an initial burst.
const PACKETS: usize = 23;

/// Sends what an endpoint has to send. Returns the frames.
fn transmit(now_ns: u64, endpoint: &mut Endpoint) -> Vec<Vec<u8>> {
    let mut out = [0; FRAME_LEN_MAX];
    std::iter::from_fn(|| endpoint.poll_transmit(now_ns, &mut out).map(|len| out[..len].to_vec()))
        .collect()
}

/// Both ends send a message, compute, and wait for that of the other. Returns the number of polls
/// of the wait.
fn exchange(now_ns: &mut u64, ends: &mut [(Endpoint, ConnectionId); 2]) -> u32 {
    let mut under_way = ends.each_mut().map(|(endpoint, id)| {
        for packet in 1..=PACKETS {
            endpoint.push(*id, vec![7; 1000], packet == PACKETS).expect("room");
        }
        transmit(*now_ns, endpoint)
    });
    *now_ns += SILENCE_NS;
    let (mut polls, mut missing) = (0, [PACKETS; 2]);
    while missing != [0; 2] {
        polls += 1;
        let [to_second, to_first] = under_way;
        let mut arriving = [to_first, to_second].into_iter();
        under_way = ends.each_mut().map(|(endpoint, _)| {
            for frame in arriving.next().expect("frames for each") {
                endpoint.handle_frame(*now_ns, &frame);
            }
            endpoint.handle_timeout(*now_ns);
            transmit(*now_ns, endpoint)
        });
        for ((endpoint, id), missing) in ends.iter_mut().zip(&mut missing) {
            while endpoint.read(*now_ns, *id).is_some() {
                *missing -= 1;
            }
            while endpoint.poll_event().is_some() {}
        }
        *now_ns += POLL_NS;
    }
    polls
}

/// Frames that came during the silence are there at the first poll, and timers that have passed
/// keep nothing back.
#[test]
fn a_silence_delays_nothing_behind_it() {
    let mut simulation = pair(|_| {});
    let [a, b] = connect(&mut simulation);
    let times = [0, 1].map(|host| simulation.host_now_ns(host));
    let mut now_ns = times[0].max(times[1]);
    let mut hosts = simulation.hosts.drain(..).map(|host| host.endpoint);
    let mut ends = [a, b].map(|id| (hosts.next().expect("two"), id));
    let before = ends.each_ref().map(|(endpoint, _)| endpoint.stats().sent_again);
    let polls: Vec<u32> = (0..50).map(|_| exchange(&mut now_ns, &mut ends)).collect();
    // One round trip at most, if the message is longer than the first burst.
    assert!(polls.iter().all(|&polls| polls <= 3), "{polls:?}");
    for ((endpoint, _), before) in ends.iter().zip(before) {
        // The ends learn that their peer answers late.
        let again = endpoint.stats().sent_again - before;
        assert!(again <= 5, "{again} packets were sent again");
        assert!(!endpoint.is_receiving());
    }
}

#[test]
fn a_message_that_has_begun_to_arrive_is_known() {
    let mut simulation = pair(|_| {});
    let [a, _] = connect(&mut simulation);
    let now_ns = simulation.host_now_ns(0).max(simulation.host_now_ns(1));
    let mut hosts = simulation.hosts.drain(..).map(|host| host.endpoint);
    let (mut sender, mut receiver) = (hosts.next().expect("one"), hosts.next().expect("two"));
    (1..=3).for_each(|packet| sender.push(a, vec![7; 1000], packet == 3).expect("room"));
    let frames = transmit(now_ns, &mut sender);
    let is_receiving = frames.iter().map(|frame| {
        receiver.handle_frame(now_ns, frame);
        receiver.is_receiving()
    });
    assert_eq!(is_receiving.collect::<Vec<_>>(), [true, true, false]);
}
