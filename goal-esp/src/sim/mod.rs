//! A deterministic simulation of hosts on a switch: from one seed, the same happens every time.
//!
//! The hosts run real endpoints. A test moves it on with [`Simulation::advance`] and does for the
//! host that this names what an application would do.

mod network;
mod random;

pub use network::{Counts, Faults, Links, Network, Partition};
pub use random::Random;

use crate::auth::{Address, JobKey};
use crate::endpoint::{Config, Endpoint, FRAME_LEN_MAX};

/// A host: an endpoint, and a clock that does not agree with those of others.
pub struct Host {
    /// Its end of ESP.
    pub endpoint: Endpoint,
    /// What its clock shows at the beginning.
    offset_ns: u64,
    /// How much faster it is than the simulation's, in millionths.
    skew_ppm: i64,
}

impl Host {
    /// What its clock shows.
    pub fn now_ns(&self, at_ns: u64) -> u64 {
        let skew_ns = i128::from(at_ns) * i128::from(self.skew_ppm) / 1_000_000;
        self.offset_ns + (i128::from(at_ns) + skew_ns) as u64
    }

    /// When its clock has reached a time.
    fn when_ns(&self, now_ns: u64) -> u64 {
        let since_ns = i128::from(now_ns.saturating_sub(self.offset_ns));
        (since_ns * 1_000_000 / i128::from(1_000_000 + self.skew_ppm)) as u64 + 1
    }
}

/// Hosts on a switch.
pub struct Simulation {
    /// The switch.
    pub network: Network,
    /// The hosts, by their numbers.
    pub hosts: Vec<Host>,
    now_ns: u64,
    out: Vec<u8>,
}

impl Simulation {
    /// `hosts` hosts with the same job key, whose settings `configure` changes. Their clocks differ
    /// by up to 100 millionths.
    pub fn new(
        seed: u64,
        hosts: usize,
        links: Links,
        faults: Faults,
        configure: impl Fn(&mut Config),
    ) -> Self {
        let mut random = Random::new(seed);
        let job_key = JobKey::new(&random.bytes());
        let mut host = |number: usize| {
            let address = Self::address(number);
            let payload_max = Config::payload_max_of(1500).expect("it is enough");
            let mut config = Config::new(address, job_key.clone(), payload_max);
            configure(&mut config);
            Host {
                endpoint: Endpoint::new(config, random.bytes()),
                offset_ns: random.below(1 << 40),
                skew_ppm: random.below(200) as i64 - 100,
            }
        };
        let all = (0..hosts).map(&mut host).collect();
        let network = Network::new(hosts, links, faults, Random::new(random.number()));
        Self { network, hosts: all, now_ns: 0, out: vec![0; FRAME_LEN_MAX] }
    }

    /// The address of a host's endpoint.
    pub fn address(host: usize) -> Address {
        Address { mac: Network::mac(host), port: 1000 + host as u16 }
    }

    /// The time.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// What a host's clock shows.
    pub fn host_now_ns(&self, host: usize) -> u64 {
        self.hosts[host].now_ns(self.now_ns)
    }

    /// Sends what a host has to send: to be called after its endpoint was used.
    pub fn flush(&mut self, host: usize) {
        let Self { network, hosts, now_ns, out } = self;
        let now_of_host_ns = hosts[host].now_ns(*now_ns);
        while let Some(len) = hosts[host].endpoint.poll_transmit(now_of_host_ns, out) {
            network.send(*now_ns, host, &out[..len]);
        }
    }

    /// When something happens next, and to which host if its clock makes it happen.
    fn next(&self) -> Option<(u64, Option<usize>)> {
        let timeout = |(number, host): (usize, &Host)| {
            let at_ns = host.when_ns(host.endpoint.poll_timeout()?);
            Some((at_ns.max(self.now_ns), Some(number)))
        };
        let timeout = self.hosts.iter().enumerate().filter_map(timeout).min();
        let arrival = self.network.next_ns().map(|at_ns| (at_ns.max(self.now_ns), None));
        [arrival, timeout].into_iter().flatten().min()
    }

    /// When something happens next; `None` if nothing ever happens again.
    pub fn next_ns(&self) -> Option<u64> {
        self.next().map(|(at_ns, _)| at_ns)
    }

    /// Lets time pass in which nothing happens.
    pub fn wait_until(&mut self, at_ns: u64) {
        debug_assert!(
            self.next_ns().is_none_or(|next_ns| at_ns <= next_ns),
            "something happens before"
        );
        self.now_ns = self.now_ns.max(at_ns);
    }

    /// Lets the next thing happen. The host to which it did, if any; `None` if nothing ever happens
    /// again.
    pub fn advance(&mut self) -> Option<Option<usize>> {
        let (at_ns, host) = self.next()?;
        self.now_ns = at_ns;
        let host = match host {
            Some(host) => {
                let now_ns = self.host_now_ns(host);
                self.hosts[host].endpoint.handle_timeout(now_ns);
                host
            }
            None => {
                let Some((host, frame)) = self.network.advance() else { return Some(None) };
                let now_ns = self.host_now_ns(host);
                self.hosts[host].endpoint.handle_frame(now_ns, &frame);
                host
            }
        };
        self.flush(host);
        Some(Some(host))
    }
}
