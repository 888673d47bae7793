//! Streams of ESP over each driver, with and without lost frames.

mod common;

use common::{kinds, limit, open};
use goal_cluster::{Cluster, Faults, Host, Switch, Wiring};
use goal_engine::transport::{Header, Kind, Transport};
use goal_esp::auth::{Address, JobKey};
use goal_esp::endpoint::Config;
use goal_eth::{AnyDriver, Driver, DriverKind, EspTransport, now_ns};
use std::ops::ControlFlow;
use std::time::Instant;

/// The number of messages in each direction.
const MESSAGES: u32 = 60;

fn payload_len(number: u32) -> usize {
    [0, 1, 8, 1400, 9000, 30_000][number as usize % 6]
}

fn byte(source: u32, number: u32, at: usize) -> u8 {
    (at as u32 * 7 + number * 3 + source) as u8
}

/// One end.
struct End {
    rank: u32,
    esp: EspTransport<AnyDriver>,
    sent: u32,
    got: u32,
}

impl End {
    fn pair(hosts: &[Host], kind: DriverKind) -> Vec<Self> {
        let drivers: Vec<AnyDriver> = hosts.iter().map(|host| open(host, kind, 5)).collect();
        let address = |driver: &AnyDriver| Address { mac: driver.mac(), port: driver.port() };
        let addresses: Vec<Address> = drivers.iter().map(address).collect();
        let end = |(rank, driver): (u32, AnyDriver)| {
            let payload_max = Config::payload_max_of(driver.mtu()).unwrap();
            let config = Config::new(addresses[rank as usize], JobKey::new(&[7; 32]), payload_max);
            let seed = [rank as u8 + 1; 32];
            let mut esp: EspTransport<AnyDriver> =
                EspTransport::new(rank, addresses.clone(), config, seed, driver, now_ns);
            esp.announce_room(1 << 20, 1 << 20);
            Self { rank, esp, sent: 0, got: 0 }
        };
        (0..).zip(drivers).map(end).collect()
    }

    /// Sends its next message if there is room, and takes messages that have arrived.
    fn poll(&mut self) {
        let other = 1 - self.rank;
        let Self { rank, esp, sent, got } = self;
        if *sent < MESSAGES {
            let size = payload_len(*sent) as u64;
            let header = Header {
                kind: Kind::Eager as u8,
                source: *rank,
                tag: *sent,
                size,
                ..Header::default()
            };
            let fill = |out: &mut [u8]| {
                out.iter_mut().enumerate().for_each(|(at, out)| *out = byte(*rank, *sent, at));
            };
            *sent += u32::from(esp.try_send(other, &header, fill).is_ok());
        }
        esp.poll(8, |header, payload| {
            assert_eq!(
                (header.source, header.tag, payload.len()),
                (other, *got, payload_len(*got))
            );
            assert!(payload.iter().enumerate().all(|(at, &is)| is == byte(other, *got, at)));
            *got += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(esp.lost(), None);
    }
}

#[test]
fn all_messages_arrive_once_and_in_order() {
    let faults = Faults {
        lost: 30_000,
        doubled: 30_000,
        delayed: 30_000,
        delay_ns: 100_000,
        damaged: 10_000,
        ..Faults::default()
    };
    for (mtu, switch) in [
        (1500, Switch::Wire),
        (9000, Switch::Wire),
        (1500, Switch::Faulty(faults, 3)),
        (9000, Switch::Faulty(faults, 4)),
    ] {
        let wiring = Wiring { mtu, switch, ..Wiring::bridge(2) };
        let Some(cluster) = Cluster::or_skip("streams", &wiring) else { return };
        for kind in kinds("streams") {
            let mut ends = End::pair(cluster.hosts(), kind);
            let (start, limit) = (Instant::now(), limit());
            while ends.iter().any(|end| end.got < MESSAGES) {
                assert!(
                    start.elapsed() < limit,
                    "{kind:?}, {mtu}: {:?}",
                    ends.iter().map(|end| end.got).collect::<Vec<_>>()
                );
                ends.iter_mut().for_each(End::poll);
            }
        }
    }
}
