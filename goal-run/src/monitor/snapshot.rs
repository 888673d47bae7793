//! What the actions of all ranks are at, read from the segment.

use crate::engine::{StateSizes, slot};
use crate::rank::split_instance;
use crate::shm::Segment;
use goal_asm::Nisa;
use goal_asm::nisa::{Operation, Record};
use goal_lang::ANY;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// An action: rank, and offset in the rank's section.
pub(super) type Vertex = (u32, u32);

/// What an unfinished action waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wait {
    /// It has started, and takes its time.
    Itself,
    /// A receive for a message.
    Message { from: u32, tag: u32 },
    /// A send for its receiver.
    Receiver { to: u32, tag: u32, size: u64 },
    /// Other actions of the rank, for the end of some and for the start of others.
    Actions { ends: Vec<u32>, starts: Vec<u32> },
}

/// The unfinished actions of a rank.
struct RankSnapshot {
    rank: u32,
    instance: u64,
    /// Whether it leaves messages in its ring.
    is_refusing: bool,
    counters: Vec<u16>,
    /// Ascending.
    unfinished: Vec<u32>,
    /// Who waits for the end of whom, ascending; both unfinished.
    ends: Vec<(u32, u32)>,
    /// Who waits for the start of whom, ascending.
    starts: Vec<(u32, u32)>,
}

impl RankSnapshot {
    fn new(segment: &Segment, nisa: &Nisa, rank: u32) -> Self {
        let sizes = StateSizes::of(nisa.section(rank));
        let (counters, finished) = split_instance(sizes, &segment.rank(rank).instance);
        let counters: Vec<u16> = segment.copy_of(&counters);
        let finished: Vec<u64> = segment.copy_of(&finished);
        let is_finished = |offset| finished[slot(offset) / 64] >> (slot(offset) % 64) & 1 != 0;
        let status = segment.status(rank);
        let instance = status.instance.load(Ordering::SeqCst);
        let is_refusing = status.refusing.load(Ordering::SeqCst) != 0;
        let mut snapshot =
            Self { rank, instance, is_refusing, counters, unfinished: vec![], ends: vec![], starts: vec![] };
        for (offset, record) in nisa.section(rank).records().filter(|&(offset, _)| !is_finished(offset)) {
            snapshot.unfinished.push(offset);
            snapshot.ends.extend(record.dependents.iter().map(|waiter| (waiter, offset)));
            if !snapshot.has_started(offset) {
                snapshot.starts.extend(record.start_dependents.iter().map(|waiter| (waiter, offset)));
            }
        }
        snapshot.ends.sort_unstable();
        snapshot.starts.sort_unstable();
        snapshot
    }

    fn has_started(&self, offset: u32) -> bool {
        self.instance > 0 && self.counters[slot(offset)] == 0
    }
}

/// Sends or receives that have not started, by the rank that waits for them.
type Offers = Vec<(u32, Vertex)>;

/// The unfinished actions of the ranks of a job.
pub(super) struct Snapshot {
    pub(super) nisa: Arc<Nisa>,
    ranks: Vec<RankSnapshot>,
    /// Sends that have not started, by destination.
    sends: Offers,
    /// Receives that have not started, by rank.
    recvs: Offers,
}

impl Snapshot {
    /// All unfinished actions of a job.
    pub(super) fn new(segment: &Segment, nisa: &Arc<Nisa>) -> Self {
        let ranks = (0..segment.num_ranks()).map(|rank| RankSnapshot::new(segment, nisa, rank)).collect();
        let mut snapshot = Self { nisa: Arc::clone(nisa), ranks, sends: vec![], recvs: vec![] };
        for rank in &snapshot.ranks {
            for &offset in rank.unfinished.iter().filter(|&&offset| !rank.has_started(offset)) {
                let vertex = (rank.rank, offset);
                match snapshot.record(vertex).operation() {
                    Operation::Send { peer, .. } => snapshot.sends.push((peer, vertex)),
                    Operation::Recv { .. } => snapshot.recvs.push((rank.rank, vertex)),
                    _ => {}
                }
            }
        }
        snapshot.sends.sort_unstable();
        snapshot
    }

    pub(super) fn record(&self, (rank, offset): Vertex) -> Record<'_> {
        self.nisa.section(rank).record(offset)
    }

    /// The unfinished actions of a rank, those that have started before the others.
    pub(super) fn unfinished(&self, rank: u32, started: bool) -> impl Iterator<Item = Vertex> {
        let snapshot = &self.ranks[rank as usize];
        let of_kind = move |offset: &&u32| snapshot.has_started(**offset) == started;
        snapshot.unfinished.iter().filter(of_kind).map(move |&offset| (rank, offset))
    }

    /// Whether a rank leaves messages in its ring because of the limit on unexpected ones.
    pub(super) fn is_refusing(&self, rank: u32) -> bool {
        self.ranks[rank as usize].is_refusing
    }

    pub(super) fn num_ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// What an unfinished action waits for.
    pub(super) fn wait(&self, (rank, offset): Vertex) -> Wait {
        let snapshot = &self.ranks[rank as usize];
        if !snapshot.has_started(offset) {
            return Wait::Actions {
                ends: prerequisites(&snapshot.ends, offset),
                starts: prerequisites(&snapshot.starts, offset),
            };
        }
        match self.record((rank, offset)).operation() {
            Operation::Send { peer, tag, payload } => Wait::Receiver { to: peer, tag, size: payload.size() },
            Operation::Recv { peer, tag, .. } => Wait::Message { from: peer, tag },
            _ => Wait::Itself,
        }
    }

    /// The unfinished actions that could end what `vertex` waits for. None for a message that nobody has left to send.
    pub(super) fn waits_for(&self, vertex: Vertex) -> Vec<Vertex> {
        let (rank, _) = vertex;
        let fits = |wanted: u32, value: u32| wanted == ANY || wanted == value;
        match self.wait(vertex) {
            Wait::Itself => vec![],
            Wait::Actions { ends, starts } => ends.into_iter().chain(starts).map(|at| (rank, at)).collect(),
            Wait::Message { from, tag } => self.offers(&self.sends, rank, rank, from, |record| {
                matches!(record, Operation::Send { tag: sent, .. } if fits(tag, *sent))
            }),
            Wait::Receiver { to, tag, .. } => self.offers(&self.recvs, to, rank, to, |record| {
                matches!(record, Operation::Recv { peer, tag: wanted, .. } if fits(*peer, rank) && fits(*wanted, tag))
            }),
        }
    }

    /// The first of the offers under `key`, by rank `peer` or any, that fit. A peer in an earlier instance has to end that
    /// one first.
    fn offers(
        &self,
        offers: &Offers,
        key: u32,
        waiter: u32,
        peer: u32,
        fits: impl Fn(&Operation<'_>) -> bool,
    ) -> Vec<Vertex> {
        let instance = self.ranks[waiter as usize].instance;
        if peer != ANY && self.ranks[peer as usize].instance < instance {
            return self.unfinished(peer, true).chain(self.unfinished(peer, false)).take(1).collect();
        }
        let first = offers.partition_point(|&(other, _)| other < key);
        let of_key = offers[first..].iter().take_while(|&&(other, _)| other == key);
        of_key
            .map(|&(_, vertex)| vertex)
            .filter(|&(rank, _)| {
                (peer == ANY || peer == rank) && self.ranks[rank as usize].instance == instance
            })
            .filter(|&vertex| fits(&self.record(vertex).operation()))
            .take(OFFERS_MAX)
            .collect()
    }
}

/// Peers' actions that are looked at for each message that is missing.
const OFFERS_MAX: usize = 8;

fn prerequisites(pairs: &[(u32, u32)], waiter: u32) -> Vec<u32> {
    let first = pairs.partition_point(|&(other, _)| other < waiter);
    pairs[first..].iter().take_while(|&&(other, _)| other == waiter).map(|&(_, at)| at).collect()
}
