//! A deterministic simulation of hosts on a switch: the same seed gives the same run every time.
//!
//! The hosts run real endpoints. A test calls [`Simulation::advance`], and then acts as the
//! application of the host that it returns.

mod network;
mod random;

pub use network::{Counts, Faults, Links, Network, Partition};
pub use random::Random;

use crate::auth::{Address, JobKey};
use crate::endpoint::{Config, Endpoint, FRAME_LEN_MAX};

/// A host: an endpoint, and a clock that differs from the clocks of other hosts.
pub struct Host {
    /// The host's end of ESP.
    pub endpoint: Endpoint,
    /// The time in nanoseconds that the host's clock shows at the beginning.
    offset_ns: u64,
    /// The rate by which the host's clock is faster than the simulation's clock, in millionths.
    skew_ppm: i64,
}

impl Host {
    /// Returns the time that the host's clock shows at the time `at_ns` of the simulation.
    pub fn now_ns(&self, at_ns: u64) -> u64 {
        let skew_ns = i128::from(at_ns) * i128::from(self.skew_ppm) / 1_000_000;
        self.offset_ns + (i128::from(at_ns) + skew_ns) as u64
    }

    /// Returns the time of the simulation at which the host's clock has reached `now_ns`.
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
    /// Creates `hosts` hosts with the same job key. `configure` changes their configurations. Their
    /// clocks differ by up to 100 millionths.
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

    /// Returns the address of a host's endpoint.
    pub fn address(host: usize) -> Address {
        Address { mac: Network::mac(host), port: 1000 + host as u16 }
    }

    /// Returns the time of the simulation.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Returns the time that a host's clock shows.
    pub fn host_now_ns(&self, host: usize) -> u64 {
        self.hosts[host].now_ns(self.now_ns)
    }

    /// Sends the frames of a host. Must be called after its endpoint was used.
    pub fn flush(&mut self, host: usize) {
        let Self { network, hosts, now_ns, out } = self;
        let now_of_host_ns = hosts[host].now_ns(*now_ns);
        while let Some(len) = hosts[host].endpoint.poll_transmit(now_of_host_ns, out) {
            network.send(*now_ns, host, &out[..len]);
        }
    }

    /// Returns the time of the next step, and the host if that step is a timeout.
    fn next(&self) -> Option<(u64, Option<usize>)> {
        let timeout = |(number, host): (usize, &Host)| {
            let at_ns = host.when_ns(host.endpoint.poll_timeout()?);
            Some((at_ns.max(self.now_ns), Some(number)))
        };
        let timeout = self.hosts.iter().enumerate().filter_map(timeout).min();
        let arrival = self.network.next_ns().map(|at_ns| (at_ns.max(self.now_ns), None));
        [arrival, timeout].into_iter().flatten().min()
    }

    /// Returns the time of the next step; `None` if there is none.
    pub fn next_ns(&self) -> Option<u64> {
        self.next().map(|(at_ns, _)| at_ns)
    }

    /// Advances the time to `at_ns`. No step may be due before `at_ns`.
    pub fn wait_until(&mut self, at_ns: u64) {
        debug_assert!(
            self.next_ns().is_none_or(|next_ns| at_ns <= next_ns),
            "something happens before"
        );
        self.now_ns = self.now_ns.max(at_ns);
    }

    /// Does the next step. Returns the host that the step concerned, or `Some(None)` if it
    /// concerned no host. Returns `None` if there is no step.
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
