//! The queues of messages and receives that wait, as the peers keep and count them.
//!
//! LogGOPSim searches lists. The length of ATLAHS's queue is the number of sources and tags that
//! ever waited in it, and a search there counts no elements.

use super::Peer;
use goal_loggops::peers::{Meeting, Pair};
use goal_loggops::{Kind, Workload};
use std::collections::{HashSet, VecDeque};
use std::fmt::Write;

/// Messages that wait, or receives.
enum Queue {
    List(VecDeque<u32>),
    Keys(HashSet<(u32, u32)>),
}

impl Queue {
    fn new(peer: Peer) -> Self {
        match peer {
            Peer::Loggopsim => Queue::List(VecDeque::new()),
            Peer::Atlahs => Queue::Keys(HashSet::new()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Queue::List(actions) => actions.len(),
            Queue::Keys(keys) => keys.len(),
        }
    }

    fn push(&mut self, action: u32, key: (u32, u32)) {
        match self {
            Queue::List(actions) => actions.push_back(action),
            Queue::Keys(keys) => {
                keys.insert(key);
            }
        }
    }

    /// Removes an action. Returns the number of elements that were looked at.
    fn remove(&mut self, action: u32) -> usize {
        let Queue::List(actions) = self else {
            return 0;
        };
        match actions.iter().position(|&other| other == action) {
            Some(at) => {
                actions.remove(at);
                at + 1
            }
            None => 0,
        }
    }
}

/// The queues of one kind, by rank, and what searches in them found.
pub(super) struct Side {
    queues: Vec<Queue>,
    pub(super) longest: Vec<usize>,
    /// By rank, the number of elements and the time of each search that found something.
    pub(super) hits: Vec<String>,
    /// By rank, the length and the time of each search that found nothing.
    pub(super) misses: Vec<String>,
}

impl Side {
    fn new(peer: Peer, ranks: usize) -> Self {
        Self {
            queues: (0..ranks).map(|_| Queue::new(peer)).collect(),
            longest: vec![0; ranks],
            hits: vec![String::new(); ranks],
            misses: vec![String::new(); ranks],
        }
    }

    pub(super) fn len_max(&self) -> usize {
        self.queues.iter().map(Queue::len).max().unwrap_or_default()
    }

    fn measure(&mut self, rank: usize) {
        self.longest[rank] = self.longest[rank].max(self.queues[rank].len());
    }

    fn miss(&mut self, rank: usize, time: u64) {
        note(&mut self.misses[rank], self.queues[rank].len(), time);
    }

    fn hit(&mut self, rank: usize, action: u32, time: u64) {
        self.measure(rank);
        note(&mut self.hits[rank], self.queues[rank].remove(action), time);
    }
}

fn note(line: &mut String, count: usize, time: u64) {
    // Writing to a string never fails.
    let _ = write!(line, "{count},{time} ");
}

/// The queues of all ranks.
pub(super) struct Queues<'w> {
    peer: Peer,
    workload: &'w Workload,
    pub(super) unexpected: Side,
    pub(super) receives: Side,
}

impl<'w> Queues<'w> {
    pub(super) fn new(peer: Peer, workload: &'w Workload) -> Self {
        let [unexpected, receives] = [(); 2].map(|()| Side::new(peer, workload.num_ranks()));
        Self { peer, workload, unexpected, receives }
    }

    pub(super) fn wait(&mut self, action: u32, time: u64) {
        let record = self.workload.record(action);
        let rank = self.workload.rank_of(action);
        if record.kind == Kind::Recv {
            self.unexpected.measure(rank as usize);
            self.unexpected.miss(rank as usize, time);
            self.receives.queues[rank as usize].push(action, (record.tag, record.peer));
            return;
        }
        let to = record.peer as usize;
        if self.peer == Peer::Loggopsim {
            self.receives.measure(to);
        }
        self.receives.miss(to, time);
        self.unexpected.queues[to].push(action, (record.tag, rank));
    }

    pub(super) fn meet(&mut self, meeting: Meeting) {
        let Meeting { pair: Pair { send, receive }, time, is_unexpected } = meeting;
        let rank = self.workload.rank_of(receive) as usize;
        if is_unexpected {
            self.unexpected.hit(rank, send, time);
        } else {
            self.receives.hit(rank, receive, time);
        }
    }
}
