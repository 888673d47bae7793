//! A simulated switch with its wires, and the faults on them.
//!
//! A frame leaves its host after the frames before it and crosses a wire to the switch. There it
//! may be lost, doubled, delayed or damaged. It waits in the queue of its output, and then crosses
//! another wire. A full queue drops frames.

use super::random::Random;
use crate::wire::{Frame, Mac};
use std::collections::{BTreeMap, VecDeque};

/// The capacity of wires and switch.
#[derive(Debug, Clone, Copy)]
pub struct Links {
    /// The time in picoseconds that a byte takes on a wire: 800 is 10 Gbit/s.
    pub byte_ps: u64,
    /// The time in nanoseconds from one end of a wire to the other, including the delay of the
    /// hardware there.
    pub latency_ns: u64,
    /// The most frames that wait at an output of the switch.
    pub queue_frames_max: usize,
}

impl Default for Links {
    fn default() -> Self {
        Self { byte_ps: 800, latency_ns: 2_000, queue_frames_max: 128 }
    }
}

/// The rates of faults, in frames per million.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// Frames that are lost.
    pub lost: u32,
    /// Frames that begin a burst: [`Faults::burst_frames`] frames of all hosts are lost, from this
    /// frame on.
    pub burst: u32,
    /// The number of frames in such a burst.
    pub burst_frames: u32,
    /// Frames that arrive twice.
    pub doubled: u32,
    /// Frames that arrive up to [`Faults::delay_ns`] later, behind others.
    pub delayed: u32,
    /// The longest delay of a doubled or delayed frame, in nanoseconds.
    pub delay_ns: u64,
    /// Frames in which a bit is flipped.
    pub damaged: u32,
    /// Frames with at least this many bytes are lost; 0 for no limit.
    pub lost_from: usize,
}

/// An interval in which some hosts cannot reach the others.
#[derive(Debug, Clone)]
pub struct Partition {
    /// The beginning.
    pub from_ns: u64,
    /// The end.
    pub until_ns: u64,
    /// The hosts that are cut off from the others: bit n is host n.
    pub hosts: u64,
}

/// Counters of the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that arrived at a host.
    pub delivered: u64,
    /// Frames that were dropped by a full queue.
    pub overrun: u64,
    /// Frames that were lost by a fault.
    pub lost: u64,
}

enum Step {
    /// The frame has arrived at the switch.
    Switch,
    /// The frame enters the queue of its output after a delay.
    Output,
    /// The frame has arrived at a host.
    Host(usize),
}

/// A switch with a wire to each host. Hosts are numbered from 0; their addresses contain the
/// number.
pub struct Network {
    links: Links,
    faults: Faults,
    partitions: Vec<Partition>,
    random: Random,
    /// The time at which each host's wire to the switch is free.
    free_ps: Vec<u64>,
    /// The times at which the frames in the queue of each output will have left.
    outputs: Vec<VecDeque<u64>>,
    /// The next steps of all frames, by time and then by the order of their creation.
    steps: BTreeMap<(u64, u64), (Step, Vec<u8>)>,
    count: u64,
    burst_left: u32,
    counts: Counts,
    /// The frames sent since the last call of [`Network::take_sent`].
    sent: Option<Vec<Vec<u8>>>,
}

impl Network {
    /// Creates a network of `hosts` hosts.
    pub fn new(hosts: usize, links: Links, faults: Faults, random: Random) -> Self {
        Self {
            links,
            faults,
            partitions: Vec::new(),
            random,
            free_ps: vec![0; hosts],
            outputs: vec![VecDeque::new(); hosts],
            steps: BTreeMap::new(),
            count: 0,
            burst_left: 0,
            counts: Counts::default(),
            sent: None,
        }
    }

    /// Returns the address of a host.
    pub fn mac(host: usize) -> Mac {
        Mac([2, 0, 0, 0, (host >> 8) as u8, host as u8])
    }

    /// Adds an interval in which hosts are cut off.
    pub fn partition(&mut self, partition: Partition) {
        self.partitions.push(partition);
    }

    /// Changes the rates of faults.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Returns the counters.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns all frames that hosts have sent since the last call; none at the first one.
    pub fn take_sent(&mut self) -> Vec<Vec<u8>> {
        self.sent.replace(Vec::new()).unwrap_or_default()
    }

    /// Sends a frame of a host.
    pub fn send(&mut self, now_ns: u64, host: usize, frame: &[u8]) {
        let start_ps = self.free_ps[host].max(now_ns * 1000);
        self.free_ps[host] = start_ps + self.time_ps(frame);
        let at_ns = self.free_ps[host] / 1000 + self.links.latency_ns;
        if let Some(sent) = &mut self.sent {
            sent.push(frame.to_vec());
        }
        self.push(at_ns, Step::Switch, frame.to_vec());
    }

    /// Returns the time that a frame takes on a wire, with the bytes that Ethernet adds: 8 before
    /// it, 4 behind it, and a gap of 12.
    fn time_ps(&self, frame: &[u8]) -> u64 {
        (frame.len().max(60) as u64 + 24) * self.links.byte_ps
    }

    fn push(&mut self, at_ns: u64, step: Step, frame: Vec<u8>) {
        self.count += 1;
        self.steps.insert((at_ns, self.count), (step, frame));
    }

    /// Returns the time of the next step.
    pub fn next_ns(&self) -> Option<u64> {
        self.steps.first_key_value().map(|(&(at_ns, _), _)| at_ns)
    }

    /// Does the next step. Returns a frame if it arrives at a host.
    pub fn advance(&mut self) -> Option<(usize, Vec<u8>)> {
        let ((at_ns, _), (step, frame)) = self.steps.pop_first()?;
        match step {
            Step::Host(host) => {
                self.counts.delivered += 1;
                return Some((host, frame));
            }
            Step::Switch => self.switch(at_ns, frame),
            Step::Output => self.output(at_ns, &frame),
        }
        None
    }

    fn switch(&mut self, now_ns: u64, mut frame: Vec<u8>) {
        let faults = self.faults;
        if self.burst_left == 0 && self.random.happens(faults.burst) {
            self.burst_left = faults.burst_frames;
        }
        let is_too_long = faults.lost_from > 0 && frame.len() >= faults.lost_from;
        if self.burst_left > 0 || is_too_long || self.random.happens(faults.lost) {
            self.burst_left = self.burst_left.saturating_sub(1);
            self.counts.lost += 1;
            return;
        }
        if self.random.happens(faults.damaged) {
            let bit = self.random.below(8 * frame.len() as u64) as usize;
            frame[bit / 8] ^= 1 << (bit % 8);
        }
        if self.random.happens(faults.doubled) {
            let again_ns = now_ns + self.random.below(faults.delay_ns);
            self.push(again_ns, Step::Output, frame.clone());
        }
        if self.random.happens(faults.delayed) {
            let late_ns = now_ns + self.random.below(faults.delay_ns);
            self.push(late_ns, Step::Output, frame);
        } else {
            self.output(now_ns, &frame);
        }
    }

    fn host(&self, mac: Mac) -> Option<usize> {
        let host = usize::from(mac.0[4]) << 8 | usize::from(mac.0[5]);
        (Self::mac(host) == mac && host < self.outputs.len()).then_some(host)
    }

    /// Queues a frame for its host, or for all hosts but the sender if it is a broadcast.
    fn output(&mut self, now_ns: u64, frame: &[u8]) {
        let Ok(header) = Frame::new_checked(frame) else { return };
        let (source, destination) = (self.host(header.source()), self.host(header.destination()));
        let is_for_all = frame.starts_with(&Mac::BROADCAST.0);
        for host in 0..self.outputs.len() {
            let is_meant = destination == Some(host) || is_for_all && source != Some(host);
            if is_meant && !self.is_cut(now_ns, source, host) {
                self.queue(now_ns, host, frame);
            }
        }
    }

    fn is_cut(&mut self, now_ns: u64, source: Option<usize>, host: usize) -> bool {
        let side = |partition: &Partition, host: usize| partition.hosts >> (host % 64) & 1;
        let is_cut = self.partitions.iter().any(|partition| {
            (partition.from_ns..partition.until_ns).contains(&now_ns)
                && source.is_some_and(|source| side(partition, source) != side(partition, host))
        });
        self.counts.lost += u64::from(is_cut);
        is_cut
    }

    fn queue(&mut self, now_ns: u64, host: usize, frame: &[u8]) {
        let time_ps = self.time_ps(frame);
        let output = &mut self.outputs[host];
        while output.front().is_some_and(|&left_ps| left_ps <= now_ns * 1000) {
            output.pop_front();
        }
        if output.len() >= self.links.queue_frames_max {
            self.counts.overrun += 1;
            return;
        }
        let left_ps = output.back().copied().unwrap_or(0).max(now_ns * 1000) + time_ps;
        output.push_back(left_ps);
        self.push(left_ps / 1000 + self.links.latency_ns, Step::Host(host), frame.to_vec());
    }
}
