//! Every host sends a stream to every other one; all must arrive unharmed.

use goal_esp::endpoint::{ConnectionId, Event};
use goal_esp::sim::{Faults, Links, Partition, Random, Simulation};
use goal_fabric::chunk::{Chunk, ChunkKind};
use std::collections::BTreeMap;

/// The parameters that follow from a seed.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) hosts: usize,
    pub(crate) links: Links,
    pub(crate) faults: Faults,
    pub(crate) partition: Option<Partition>,
    /// True if both hosts of a pair ask for the connection.
    pub(crate) both_ask: bool,
    pub(crate) authenticates_data: bool,
    /// The time before which each host opens the communicator of all streams; 0 if streams name
    /// none.
    pub(crate) opens_ns: u64,
    pub(crate) bytes_max: u64,
    pub(crate) burst_length: u16,
    pub(crate) limit_ns: u64,
}

impl Scenario {
    /// Returns a few hosts with some of the faults.
    pub(crate) fn random(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x5eed);
        let mut rate = |most: u64| if random.below(2) == 0 { 0 } else { random.below(most) as u32 };
        let faults = Faults {
            lost: rate(300_000),
            burst: rate(5_000),
            burst_frames: 20,
            doubled: rate(100_000),
            delayed: rate(200_000),
            delay_ns: 300_000,
            damaged: rate(50_000),
            lost_from: 0,
        };
        let hosts = 2 + random.below(3) as usize;
        let from_ns = random.below(2_000_000);
        let partition = (random.below(4) == 0).then(|| Partition {
            from_ns,
            until_ns: from_ns + random.below(300_000_000),
            hosts: random.number(),
        });
        Self {
            hosts,
            links: Links { queue_frames_max: 8 + random.below(200) as usize, ..Links::default() },
            faults,
            partition,
            both_ask: random.below(2) == 0,
            authenticates_data: random.below(4) > 0,
            opens_ns: if random.below(3) == 0 { 1 + random.below(3_000_000_000) } else { 0 },
            bytes_max: 1 << (8 + random.below(10)),
            burst_length: 1 << random.below(9),
            limit_ns: 100_000_000_000,
        }
    }
}

/// The communicator of all streams.
const COMMUNICATOR: u32 = 3;

/// Returns the payload of a packet that names the communicator.
fn communicator() -> Vec<u8> {
    let (kind, message) = (ChunkKind::Communicator, COMMUNICATOR);
    let chunk = Chunk { kind, len: 0, message, receive: 0, offset: 0, envelope: None };
    let mut payload = vec![0; chunk.header_len()];
    chunk.emit(&mut payload);
    payload
}

/// One direction of a connection, as an end sees both.
struct Flow {
    peer: usize,
    sent: u64,
    read: u64,
    /// True once the communicator was named, by this end and by its peer.
    is_named: [bool; 2],
    is_finished: bool,
    is_closed: bool,
}

/// All streams of a scenario.
pub(crate) struct Streams {
    pub(crate) simulation: Simulation,
    seed: u64,
    scenario: Scenario,
    random: Random,
    /// The time at which each host opens the communicator; `None` once it is open.
    opens_ns: Vec<Option<u64>>,
    flows: BTreeMap<(usize, ConnectionId), Flow>,
}

impl Streams {
    pub(crate) fn new(seed: u64, scenario: &Scenario) -> Self {
        let Scenario { hosts, links, faults, .. } = *scenario;
        let mut simulation = Simulation::new(seed, hosts, links, faults, |config| {
            config.authenticates_data = scenario.authenticates_data;
            config.checks_communicators = scenario.opens_ns > 0;
            config.rules.burst_length = scenario.burst_length;
            config.timing.dead_ns = 20_000_000_000;
            config.timing.connect_ns = 20_000_000_000;
        });
        if let Some(partition) = &scenario.partition {
            simulation.network.partition(partition.clone());
        }
        for host in 0..hosts {
            for peer in (0..hosts).filter(|&peer| host < peer || scenario.both_ask && host > peer) {
                let now_ns = simulation.host_now_ns(host);
                simulation.hosts[host]
                    .endpoint
                    .connect(now_ns, Simulation::address(peer))
                    .expect("a few peers");
                simulation.flush(host);
            }
        }
        let mut random = Random::new(seed ^ 0xf10d);
        let opens_ns = (0..hosts).map(|_| Some(random.below(scenario.opens_ns))).collect();
        let (scenario, flows) = (scenario.clone(), BTreeMap::new());
        Self { simulation, seed, scenario, random, opens_ns, flows }
    }

    /// Returns the number of bytes that `from` sends to `to`.
    fn total(&self, from: usize, to: usize) -> u64 {
        Random::new(self.seed ^ (from * 64 + to) as u64).below(self.scenario.bytes_max)
    }

    fn byte(from: usize, to: usize, at: u64) -> u8 {
        (at ^ at >> 8 ^ at >> 16) as u8 ^ (from * 7 + to * 31) as u8
    }

    /// Runs until every connection is closed on both ends.
    pub(crate) fn run(&mut self) -> Result<(), String> {
        while !self.is_done() {
            self.step()?;
        }
        Ok(())
    }

    pub(crate) fn is_done(&self) -> bool {
        let ends = self.scenario.hosts * (self.scenario.hosts - 1);
        self.flows.len() == ends && self.flows.values().all(|flow| flow.is_closed)
    }

    pub(crate) fn step(&mut self) -> Result<(), String> {
        if self.simulation.now_ns() > self.scenario.limit_ns {
            return Err(format!(
                "not done after {} simulated seconds",
                self.scenario.limit_ns / 1_000_000_000
            ));
        }
        for host in 0..self.scenario.hosts {
            if self.opens_ns[host].take_if(|at_ns| *at_ns <= self.simulation.now_ns()).is_some() {
                let now_ns = self.simulation.host_now_ns(host);
                self.simulation.hosts[host].endpoint.open_communicator(now_ns, COMMUNICATOR);
                self.simulation.flush(host);
            }
        }
        let Some(touched) = self.simulation.advance() else {
            return Err("nothing ever happens again".into());
        };
        let Some(host) = touched else { return Ok(()) };
        while let Some(event) = self.simulation.hosts[host].endpoint.poll_event() {
            self.follow(host, event)?;
        }
        self.simulation.flush(host);
        Ok(())
    }

    fn follow(&mut self, host: usize, event: Event) -> Result<(), String> {
        match event {
            Event::Connected { id, peer } => {
                let peer = usize::from(peer.port) - 1000;
                let flow = Flow {
                    peer,
                    sent: 0,
                    read: 0,
                    is_named: [self.scenario.opens_ns == 0; 2],
                    is_finished: false,
                    is_closed: false,
                };
                if self.flows.insert((host, id), flow).is_some() {
                    return Err(format!("host {host} got connected with {peer} twice"));
                }
                self.write(host, id);
            }
            Event::Writable(id) => self.write(host, id),
            Event::Readable(id) => self.read(host, id)?,
            Event::Finished(id) => {
                self.read(host, id)?;
                let flow = self.flows.get_mut(&(host, id)).expect("it is connected");
                flow.is_finished = true;
                let (read, peer) = (flow.read, flow.peer);
                if read != self.total(peer, host) {
                    return Err(format!("host {host} got {read} bytes of {peer}, and the end"));
                }
            }
            Event::Closed(id) => {
                let flow = self.flows.get_mut(&(host, id)).expect("it is connected");
                flow.is_closed = true;
                if !flow.is_finished {
                    return Err(format!(
                        "host {host}'s connection with {} closed early",
                        flow.peer
                    ));
                }
            }
            Event::Lost { cause, .. } => return Err(format!("host {host} lost a peer: {cause}")),
        }
        Ok(())
    }

    fn write(&mut self, host: usize, id: ConnectionId) {
        let now_ns = self.simulation.host_now_ns(host);
        let peer = self.flows[&(host, id)].peer;
        let total = self.total(host, peer);
        let endpoint = &mut self.simulation.hosts[host].endpoint;
        let flow = self.flows.get_mut(&(host, id)).expect("it is connected");
        let longest = endpoint.payload_max(id) as u64;
        if !std::mem::replace(&mut flow.is_named[0], true) {
            endpoint.push(id, communicator(), false).expect("it is the first packet");
        }
        while flow.sent < total {
            let len = (1 + self.random.below(longest)).min(total - flow.sent);
            let payload =
                (flow.sent..flow.sent + len).map(|at| Self::byte(host, peer, at)).collect();
            if endpoint.push(id, payload, self.random.below(4) == 0).is_err() {
                return;
            }
            flow.sent += len;
        }
        endpoint.close(now_ns, id);
    }

    fn read(&mut self, host: usize, id: ConnectionId) -> Result<(), String> {
        let now_ns = self.simulation.host_now_ns(host);
        let flow = self.flows.get_mut(&(host, id)).expect("it is connected");
        while let Some(payload) = self.simulation.hosts[host].endpoint.read(now_ns, id) {
            if !std::mem::replace(&mut flow.is_named[1], true) {
                if payload != communicator() || self.opens_ns[host].is_some() {
                    return Err(format!("host {host} has read a stream that it does not know"));
                }
                continue;
            }
            for byte in payload {
                if byte != Self::byte(flow.peer, host, flow.read) {
                    return Err(format!("byte {} of {} to {host} differs", flow.read, flow.peer));
                }
                flow.read += 1;
            }
        }
        Ok(())
    }
}
