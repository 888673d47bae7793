//! Drivers between hosts: frames of all sizes, and echoes, through a bridge and through a switch
//! with faults.

mod common;

use common::{BOTH, kinds, lens, limit, open, write};
use goal_cluster::{Cluster, Faults, Host, INTERFACE, Switch, Wiring};
use goal_esp::wire::{ETHERTYPE_ESP, Mac};
use goal_eth::{
    AnyDriver, Driver, DriverKind, InterfaceRefusal, OpenError, PortGroup, QueueFull, probe_xdp,
};
use goal_filetest::{patience, until};
use goal_job::Wait;
use goal_job::rights::give_up;
use goal_launch::echo::{Answerer, Asker};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The beginning of the message about the rights that XDP needs.
const XDP_RIGHTS: &str =
    "XDP needs the rights CAP_NET_ADMIN, CAP_BPF and, to share an interface, CAP_SYS_ADMIN";

/// Sends frames of all lengths from one host to another. Returns those that arrived.
fn all_lengths(one: &mut AnyDriver, other: &mut AnyDriver) -> Vec<Vec<u8>> {
    let (from, to, port) = (one.mac(), other.mac(), other.port());
    let lens: Vec<usize> = (22..=14 + one.mtu()).collect();
    let (mut sent, mut got) = (0, Vec::new());
    let (start, limit) = (Instant::now(), limit());
    while got.len() < lens.len() && start.elapsed() < limit {
        while sent < lens.len() {
            match one.send(|out| Some(write(out, from, to, port, lens[sent]))) {
                Ok(is_sent) => sent += usize::from(is_sent),
                Err(QueueFull) => break,
            }
        }
        one.flush().unwrap();
        other.wait(Some(Duration::from_millis(50))).unwrap();
        other.receive(1000, |frame| {
            assert_eq!(frame.as_ptr() as usize % 8, 0);
            got.push(frame.to_vec());
        });
    }
    got
}

#[test]
fn frames_of_all_sizes_arrive_as_they_were_sent() {
    for mtu in [1500, 3000, 9000] {
        let wiring = Wiring { mtu, ..Wiring::bridge(2) };
        let Some(cluster) = Cluster::or_skip("frames of all sizes", &wiring) else { return };
        let [a, b] = cluster.hosts() else { panic!("two hosts") };
        for kind in kinds("frames of all sizes") {
            let (mut one, mut other) = (open(a, kind, 5), open(b, kind, 6));
            assert_eq!((one.mtu(), other.mac()), (mtu, b.mac()));
            let got = all_lengths(&mut one, &mut other);
            let mut expected = vec![0; 14 + mtu];
            for (len, frame) in (22..).zip(&got) {
                write(&mut expected, one.mac(), other.mac(), 6, len);
                assert!(frame == &expected[..len], "{kind:?}: {len} bytes");
            }
            assert_eq!(got.len(), 14 + mtu - 21, "{kind:?}");
            let stats = other.stats().unwrap();
            assert_eq!((stats.arrived, stats.dropped), (got.len() as u64, 0), "{kind:?}");
            if kind == DriverKind::Xdp {
                assert_eq!(other.packet_stats().unwrap().arrived, 0);
            }
        }
    }
}

#[test]
fn frames_that_arrive_one_by_one_find_room() {
    const FRAMES: u32 = 20_000;
    let wiring = Wiring { switch: Switch::Wire, ..Wiring::bridge(2) };
    let Some(cluster) = Cluster::or_skip("one by one", &wiring) else { return };
    let [a, b] = cluster.hosts() else { panic!("two hosts") };
    for kind in kinds("one by one") {
        let (mut one, mut other) = (open(a, kind, 5), open(b, kind, 6));
        let (from, to) = (one.mac(), other.mac());
        let arrived = &AtomicU32::new(0);
        let (start, limit) = (Instant::now(), limit());
        std::thread::scope(|scope| {
            // It polls while the kernel is still delivering.
            scope.spawn(move || {
                while arrived.load(Ordering::Relaxed) < FRAMES && start.elapsed() < limit {
                    let taken = other.receive(1, |frame| assert_eq!(frame.len(), 60));
                    arrived.fetch_add(taken as u32, Ordering::Relaxed);
                }
            });
            for number in 0..FRAMES {
                one.send(|out| Some(write(out, from, to, 6, 60))).unwrap();
                one.flush().unwrap();
                while arrived.load(Ordering::Relaxed) <= number {
                    assert!(start.elapsed() < limit, "{kind:?}: {number}");
                }
            }
        });
    }
}

#[test]
fn a_port_gets_its_own_frames_and_those_to_all() {
    let Some(cluster) = Cluster::or_skip("ports", &Wiring::bridge(2)) else { return };
    let [a, b] = cluster.hosts() else { panic!("two hosts") };
    for kind in kinds("ports") {
        // The interface has one queue, so it can have one socket of XDP.
        let (mut one, mut five, mut six) =
            (open(a, kind, 5), open(b, kind, 5), open(b, DriverKind::Packet, 6));
        let (from, to) = (one.mac(), five.mac());
        for (to, port, len) in
            [(to, 5, 61), (to, 6, 62), (to, 7, 63), (Mac::BROADCAST, 0, 64), (to, 0, 65)]
        {
            assert_eq!(one.send(|out| Some(write(out, from, to, port, len))), Ok(true));
        }
        one.flush().unwrap();
        assert_eq!(lens(&mut five, 3), [61, 64, 65], "{kind:?}");
        assert_eq!(lens(&mut six, 3), [62, 64, 65], "{kind:?}");
        assert!(!one.has_frame(), "its own frames");
    }
}

#[test]
fn the_ports_of_a_group_get_their_own_frames() {
    // The longest frames do not lie in one piece in the kernel.
    let wiring = Wiring { mtu: 9000, ..Wiring::bridge(2) };
    let Some(cluster) = Cluster::or_skip("group", &wiring) else { return };
    let [a, b] = cluster.hosts() else { panic!("two hosts") };
    let open_one = |port| {
        let opened =
            || AnyDriver::open(DriverKind::Packet, INTERFACE, &[ETHERTYPE_ESP], Some(port));
        b.call(opened).unwrap().unwrap().0
    };
    // Ports in no order, with gaps.
    let members = [9, 7, 300, 8].map(open_one);
    let mut alone = open_one(5);
    let joined = b.call(move || (PortGroup::of(&members, ETHERTYPE_ESP), members)).unwrap();
    let (group, mut members) = joined;
    assert!(group.exists());
    let mut sender = open(a, DriverKind::Packet, 5);
    let (from, to) = (sender.mac(), alone.mac());
    for (port, len) in
        [(5, 61), (6, 62), (7, 63), (8, 64), (9, 65), (10, 66), (299, 67), (300, 68), (301, 69)]
    {
        for len in [len, 8000 + len] {
            assert_eq!(sender.send(|out| Some(write(out, from, to, port, len))), Ok(true));
        }
        sender.flush().unwrap();
    }
    assert_eq!(lens(&mut alone, 2), [61, 8061]);
    for (member, len) in members.iter_mut().zip([65, 63, 68, 64]) {
        assert_eq!(lens(member, 2), [len, 8000 + len]);
        assert!(!member.has_frame());
    }
    let stats = members.each_mut().map(|member| member.stats().unwrap());
    assert!(stats.iter().all(|stats| (stats.arrived, stats.dropped) == (2, 0)), "{stats:?}");
}

#[test]
fn failures_to_open_are_reported() {
    let Some(cluster) = Cluster::or_skip("refusals", &Wiring::bridge(1)) else { return };
    let host = &cluster.hosts()[0];
    for kind in kinds("refusals") {
        let _has_it = open(host, kind, 5);
        let open = |name: &str, port| {
            host.call(|| {
                AnyDriver::open(kind, name, &BOTH, Some(port))
                    .map(|(driver, note)| (driver.kind(), note))
            })
            .unwrap()
        };
        assert!(matches!(open(INTERFACE, 5), Err(OpenError::Taken { number: 5, .. })));
        let (other, note) = open(INTERFACE, 6).unwrap();
        assert_eq!(
            (other, note.is_some()),
            (DriverKind::Packet, kind == DriverKind::Xdp),
            "{note:?}"
        );
        assert!(matches!(
            open("v7", 5),
            Err(OpenError::Interface(InterfaceRefusal::Missing { .. }))
        ));
        assert!(matches!(
            open("lo", 5),
            Err(OpenError::Interface(InterfaceRefusal::Loopback { .. }))
        ));
    }
}

#[test]
fn rights_that_were_given_up_are_gone() {
    let Some(cluster) = Cluster::or_skip("rights", &Wiring::bridge(2)) else { return };
    let [a, b] = cluster.hosts() else { panic!("two hosts") };
    for kind in kinds("rights") {
        let mut other = open(b, kind, 6);
        let without = || {
            let (mut one, _) = AnyDriver::open(kind, INTERFACE, &BOTH, Some(5)).unwrap();
            give_up().unwrap();
            give_up().unwrap();
            assert!(matches!(
                AnyDriver::open(kind, INTERFACE, &BOTH, Some(7)),
                Err(OpenError::Rights)
            ));
            assert_eq!(probe_xdp().unwrap_err().to_string().split(':').next().unwrap(), XDP_RIGHTS);
            // An open socket keeps working.
            let (from, to) = (one.mac(), b.mac());
            one.send(|out| Some(write(out, from, to, 6, 60))).unwrap();
            one.flush().unwrap();
            assert_eq!(one.kind(), kind);
        };
        a.call(without).unwrap();
        other.wait(Some(limit())).unwrap();
        assert_eq!(other.receive(1, |frame| assert_eq!(frame.len(), 60)), 1);
    }
}

#[test]
fn an_interface_that_goes_down_is_lost() {
    let Some(cluster) = Cluster::or_skip("down", &Wiring::bridge(1)) else { return };
    let host = &cluster.hosts()[0];
    for kind in kinds("down") {
        let set = |state| {
            let status =
                host.command("ip").args(["link", "set", INTERFACE, state]).status().unwrap();
            assert!(status.success());
        };
        let mut driver = open(host, kind, 5);
        set("down");
        let lost = driver.wait(Some(limit())).unwrap_err().to_string();
        assert!(lost.starts_with("interface v0 carries no more frames: "), "{lost}");
        let from = driver.mac();
        driver.send(|out| Some(write(out, from, from, 5, 60))).unwrap();
        driver.flush().unwrap_err();
        // The frame is dropped.
        driver.flush().unwrap();
        while driver.send(|out| Some(write(out, from, from, 5, 60))) == Ok(true) {}
        driver.flush().unwrap_err();
        set("up");
        // Frames left from before take no room.
        until("there is room for a frame", || {
            driver.flush().is_ok()
                && driver.send(|out| Some(write(out, from, from, 5, 60))) != Err(QueueFull)
        });
    }
}

/// Returns the time after which an echo that may be lost counts as lost: 30 ms.
fn short() -> Duration {
    patience(3) / 100
}

/// Calls `ask` while all hosts answer echoes.
fn with_answers<T>(hosts: &[Host], kind: DriverKind, ask: impl FnOnce() -> T) -> T {
    let ends = AtomicBool::new(false);
    let drivers: Vec<AnyDriver> = hosts.iter().map(|host| open(host, kind, 1)).collect();
    std::thread::scope(|scope| {
        for driver in drivers {
            let ends = &ends;
            scope.spawn(move || {
                let mut answerer = Answerer::new(driver, 1, Wait::Block);
                while !ends.load(Ordering::Relaxed) {
                    answerer.answer(Duration::from_millis(20)).unwrap();
                }
            });
        }
        let end = End(&ends);
        let result = ask();
        drop(end);
        result
    })
}

/// Ends the answering threads, even if the test fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends `each` echoes between all pairs of hosts. The hosts answer with this kind of driver.
/// Returns the number of answers.
fn echoes(hosts: &[Host], kind: DriverKind, each: usize, limit: Duration) -> usize {
    with_answers(hosts, kind, || {
        let mut answered = 0;
        for asking in hosts {
            let mut asker = Asker::new(open(asking, DriverKind::Packet, 2), 2, Wait::Block);
            let payload: Vec<u8> = (0..asker.payload_max()).map(|at| at as u8).collect();
            for asked in hosts.iter().filter(|asked| asked.mac() != asking.mac()) {
                for number in 0..each {
                    let payload = &payload[..number * payload.len() / each];
                    answered +=
                        usize::from(asker.ask(asked.mac(), 0, payload, limit).unwrap().is_some());
                }
            }
        }
        answered
    })
}

#[test]
fn all_hosts_hear_each_other() {
    let quiet = Switch::Faulty(Faults::default(), 1);
    for (switch, hosts) in [(Switch::Bridge, 4), (quiet, 4), (Switch::Wire, 2)] {
        let wiring = Wiring { switch, ..Wiring::bridge(hosts) };
        let Some(cluster) = Cluster::or_skip("echoes between all hosts", &wiring) else { return };
        for kind in kinds("echoes between all hosts") {
            let answered = echoes(cluster.hosts(), kind, 5, limit());
            assert_eq!(answered, hosts * (hosts - 1) * 5, "{switch:?}, {kind:?}");
        }
    }
}

#[test]
fn a_faulty_switch_loses_some() {
    let faults = Faults {
        lost: 200_000,
        doubled: 200_000,
        delayed: 200_000,
        delay_ns: 1_000_000,
        damaged: 100_000,
        ..Faults::default()
    };
    let wiring = Wiring { switch: Switch::Faulty(faults, 7), ..Wiring::bridge(2) };
    let Some(cluster) = Cluster::or_skip("echoes through faults", &wiring) else { return };
    for kind in kinds("echoes through faults") {
        cluster.set_faults(faults);
        // A question or its answer is lost or damaged in 28 of 100 cases.
        let answered = echoes(cluster.hosts(), kind, 100, short());
        assert!((60..150).contains(&answered), "{answered} of 200");
        cluster.set_faults(Faults::default());
        assert_eq!(echoes(cluster.hosts(), kind, 10, limit()), 20);
        cluster.set_faults(Faults { lost: 1_000_000, ..Faults::default() });
        assert_eq!(echoes(cluster.hosts(), kind, 2, short()), 0);
    }
}

#[test]
fn an_unplugged_host_receives_nothing() {
    let Some(cluster) = Cluster::or_skip("unplugged", &Wiring::bridge(2)) else { return };
    let hosts = cluster.hosts();
    for kind in kinds("unplugged") {
        cluster.plug(1, false).unwrap();
        assert_eq!(echoes(hosts, kind, 2, short()), 0);
        cluster.plug(1, true).unwrap();
        // The bridge needs a moment to start.
        until("all echoes are answered", || echoes(hosts, kind, 2, short()) == 4);
    }
}
