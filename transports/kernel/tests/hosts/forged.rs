//! Recorded frames come again, and others are made up: nothing changes. The engine in the kernel
//! handles each as if it had arrived.
#![allow(unsafe_code)] // a packet socket

use crate::allreduce;
use crate::bench::{Bench, outcome};
use goal_cluster::{Cluster, INTERFACE, Switch, Wiring};
use goal_filetest::until;
use goal_kernel::layout::Counter;
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, RecvFlags, SocketType, recv, socket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// A packet socket at the interface of the thread's network namespace. What the engine takes never
/// gets to a socket for one protocol, only to one for all.
pub fn packets() -> OwnedFd {
    let socket = socket(AddressFamily::PACKET, SocketType::RAW, None).unwrap();
    // SAFETY: all zeros is a value of a structure of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = name_to_index(&socket, INTERFACE).unwrap() as i32;
    let length = size_of::<libc::sockaddr_ll>() as u32;
    // SAFETY: the kernel reads an address that outlives the call.
    let bound = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    assert_eq!(bound, 0, "{}", std::io::Error::last_os_error());
    socket
}

/// The messages and requests to a host that came since the last call.
pub fn recorded(socket: &OwnedFd, mac: [u8; 6]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut bytes = vec![0; 10_000];
    while let Ok((_, length)) = recv(socket, bytes.as_mut_slice(), RecvFlags::DONTWAIT) {
        let frame = &bytes[..length];
        if frame[..6] == mac && frame[12..15] == [0x88, 0xb6, 0x28] && [1, 2].contains(&frame[15]) {
            frames.push(frame.to_vec());
        }
    }
    frames
}

#[test]
fn replayed_and_forged_frames_change_nothing() {
    let name = "replayed_and_forged_frames_change_nothing";
    let wiring = Wiring { hosts: 2, mtu: 9000, switch: Switch::Bridge };
    let Some(cluster) = Cluster::or_skip(name, &wiring) else { return };
    let (program, plan) = allreduce();
    let mut bench = Bench::new(&cluster, &[plan], None);
    let victim = cluster.hosts()[1].call(packets).unwrap();
    let frames = 50_000 * goal_filetest::seeds(1);
    let mut z = 1u64;
    let mut random = move |bound: usize| {
        z = z.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (z >> 33) as usize % bound
    };
    let counters = [Counter::Data, Counter::Answered, Counter::Asked, Counter::Unsent];
    let refusals = [Counter::Forged, Counter::Late, Counter::Double, Counter::Malformed];
    let (mut sent, mut refused) = (0, 0);
    let start = Instant::now();
    for round in 0.. {
        let (inputs, outcome) = outcome(&program, round);
        let memories = bench.run(0, &inputs);
        assert_eq!(outcome.first_difference(&memories), None, "after {sent} frames");
        let mut recorded = Vec::new();
        until("frames of the run are recorded", || {
            recorded = self::recorded(&victim, cluster.hosts()[1].mac().0);
            !recorded.is_empty()
        });
        let before = counters.map(|counter| bench.counter(counter));
        let refused_before: u64 = refusals.map(|counter| bench.counter(counter)).iter().sum();
        let kernel = &bench.kernels[1];
        let mut attack = || {
            for _ in 0..5000 {
                let mut frame = recorded[random(recorded.len())].clone();
                if random(2) == 0 {
                    // The addresses and the job stay: without them it is another host's or job's.
                    for _ in 0..1 + random(4) {
                        let at = match random(27) {
                            0 => 15,
                            _ => 26 + random(frame.len() - 26),
                        };
                        frame[at] ^= 1 << random(8);
                    }
                }
                kernel.trial(&frame, 1).unwrap_or_else(|error| panic!("{error}"));
                sent += 1;
            }
        };
        cluster.hosts()[1].call(&mut attack).unwrap();
        // Time has to pass, in which nothing is sent or counted.
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(counters.map(|counter| bench.counter(counter)), before, "{}", bench.counters());
        let now: u64 = refusals.map(|counter| bench.counter(counter)).iter().sum();
        refused += now - refused_before;
        for (rank, memory) in bench.ranks[0].iter().zip(&memories) {
            assert!(rank.test().unwrap());
            let mut now = vec![0; rank.len()];
            rank.read(0, &mut now);
            assert!(now == *memory, "after {sent} frames");
        }
        if sent >= frames {
            break;
        }
    }
    println!("{sent} frames in {:?}, {refused} counted: {}", start.elapsed(), bench.counters());
    // Others became signs of an end, which the engine lets pass, or differ behind the payload.
    assert!(refused > sent * 9 / 10, "{refused} of {sent}");
}
