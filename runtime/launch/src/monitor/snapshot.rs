//! Reads the unfinished actions of all ranks from the segment.
#![allow(unsafe_code)] // copies of words that ranks of other processes may write

use super::watch::read;
use goal_asm::Nisa;
use goal_asm::nisa::{Chunk, Operation, Record};
use goal_engine::{InstanceView, StateSizes, WindowView, kept_bytes};
use goal_job::{ActionPlace, Mode, Settings, Window, split_instance};
use goal_lang::ANY;
use goal_shm::Segment;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// An action, by its rank and its offset in the rank's section.
pub(super) type Vertex = (u32, u32);

/// What a launcher needs to observe its job.
#[derive(Clone, Copy)]
pub(crate) struct Observed<'a> {
    /// The shared memory of the ranks of this host.
    pub(crate) segment: &'a Segment,
    /// The schedule of the job.
    pub(crate) nisa: &'a Arc<Nisa>,
    /// The window through which schedules are run. `None` if they are in memory as a whole.
    pub(crate) window: Option<&'a Window>,
    /// The settings of the job.
    pub(crate) settings: &'a Settings,
    /// The ranks of this host, ascending.
    pub(crate) here: &'a [u32],
}

/// What an unfinished action waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wait {
    /// Its own end, as it has started.
    Itself,
    /// A message with this source and tag, for a receive.
    Message { from: u32, tag: u32 },
    /// The receiver, for a send: it must take the message.
    Receiver { to: u32, tag: u32, size: u64 },
    /// The ends and the starts of other actions of the same rank.
    Actions { ends: Vec<u32>, starts: Vec<u32> },
}

/// The unfinished actions of a rank.
struct RankSnapshot {
    rank: u32,
    instance: u64,
    /// The unfinished actions that have started, ascending.
    started: Vec<u32>,
    /// The unfinished actions of a window, by offset: the number of the action and its piece of the
    /// file.
    read: HashMap<u32, (u64, Chunk)>,
    /// The number of actions that have not entered the window of the rank.
    beyond: u64,
    /// All unfinished actions, ascending by offset.
    unfinished: Vec<u32>,
    /// The first unfinished action that has started, or else the first unfinished action.
    first: Option<u32>,
    /// Pairs of unfinished actions, ascending. The first waits for the end of the second.
    ends: Vec<(u32, u32)>,
    /// Pairs of unfinished actions, ascending. The first waits for the start of the second.
    starts: Vec<(u32, u32)>,
    /// True if the rank could not go on while its actions were read. Then each of its started
    /// actions waits for another rank.
    rests: bool,
}

impl RankSnapshot {
    fn new(segment: &Segment, nisa: &Nisa, rank: u32) -> Self {
        let sizes = StateSizes::from_section(nisa.section(rank));
        let (counters, finished) = split_instance(sizes, &segment.rank(rank).instance);
        // SAFETY: the ranks run in other processes, or their threads have ended.
        let (counters, finished) =
            unsafe { (segment.copy_of(&counters), segment.copy_of(&finished)) };
        let view = InstanceView::new(counters, finished);
        let mut snapshot = Self::without_actions(segment, rank);
        for (offset, record) in
            nisa.section(rank).records().filter(|&(offset, _)| !view.has_ended(offset))
        {
            let started = snapshot.instance > 0 && view.counter(offset) == 0;
            snapshot.add(offset, &record, started);
        }
        snapshot.sort();
        snapshot
    }

    /// Reads the window of a rank. Leaves out actions that the file no longer holds as they were.
    fn in_window(segment: &Segment, window: &Window, rank: u32) -> Self {
        let size = window.settings.size;
        let sizes = StateSizes::in_window(size);
        let (counters, finished) = split_instance(sizes, &segment.rank(rank).instance);
        // The rank may be dead, or still be writing: what it left bounds nothing.
        // SAFETY: as in `new`.
        let (counters, finished) =
            unsafe { (segment.copy_of(&counters), segment.copy_of(&finished)) };
        let view = WindowView::new(size, counters, finished);
        let place = window.outline.place(rank);
        let mut snapshot = Self::without_actions(segment, rank);
        snapshot.beyond = u64::from(place.actions).saturating_sub(view.entered());
        for number in view.unfinished() {
            let offset = view.offset(number);
            let limits = window.settings.limits;
            let Ok(chunk) = Chunk::of_action(&*window.file, &place, offset, limits) else {
                continue;
            };
            snapshot.add(offset, &chunk.record(offset), view.counter(number) == 0);
            snapshot.read.insert(offset, (number, chunk));
        }
        snapshot.sort();
        snapshot
    }

    fn without_actions(segment: &Segment, rank: u32) -> Self {
        let status = segment.status(rank);
        Self {
            rank,
            instance: status.instance.load(Ordering::SeqCst),
            started: vec![],
            read: HashMap::new(),
            beyond: 0,
            unfinished: vec![],
            first: None,
            ends: vec![],
            starts: vec![],
            rests: false,
        }
    }

    /// Adds an unfinished action. The offsets must ascend from call to call.
    fn add(&mut self, offset: u32, record: &Record<'_>, started: bool) {
        self.unfinished.push(offset);
        self.ends.extend(record.dependents.iter().map(|waiter| (waiter, offset)));
        if started {
            self.started.push(offset);
        } else {
            self.starts.extend(record.start_dependents.iter().map(|waiter| (waiter, offset)));
        }
    }

    fn sort(&mut self) {
        let started = self.unfinished.iter().find(|&&offset| self.has_started(offset));
        self.first = started.or(self.unfinished.first()).copied();
        self.ends.sort_unstable();
        self.starts.sort_unstable();
    }

    fn has_started(&self, offset: u32) -> bool {
        self.started.binary_search(&offset).is_ok()
    }
}

/// Sends or receives that have not started, with the receiver and two other values of the envelope.
/// They are sorted by these three values, whose order depends on the list.
type Offers = Vec<((u32, u32, u32), Vertex)>;

/// Returns the offers whose keys are from `first` to `last`, including both.
fn between(
    offers: &Offers,
    first: (u32, u32, u32),
    last: (u32, u32, u32),
) -> impl Iterator<Item = &((u32, u32, u32), Vertex)> {
    let start = offers.partition_point(|(key, _)| *key < first);
    offers[start..].iter().take_while(move |(key, _)| *key <= last)
}

/// The unfinished actions of all ranks of a job.
pub(super) struct Snapshot {
    nisa: Arc<Nisa>,
    ranks: Vec<RankSnapshot>,
    /// The size of the largest message that is sent before its receive is posted.
    eager_limit: u64,
    /// Sends that have not started, by receiver, sender and tag.
    sends: Offers,
    /// Sends that have not started, by receiver, tag and sender.
    sends_by_tag: Offers,
    /// Receives that have not started, by receiver, sender and tag, which may be wildcards.
    recvs: Offers,
}

impl Snapshot {
    /// Reads the unfinished actions of a job. `all_rest` is true if no rank can go on.
    pub(super) fn new(observed: &Observed<'_>, all_rest: bool) -> Self {
        let Observed { segment, nisa, window, settings, .. } = *observed;
        let reading = |rank| read(segment, rank, settings.spec.progress == Mode::Node);
        let of_rank = |rank| {
            let before = reading(rank);
            let mut snapshot = match window {
                None => RankSnapshot::new(segment, nisa, rank),
                Some(window) => RankSnapshot::in_window(segment, window, rank),
            };
            snapshot.rests = all_rest || before.is_some() && before == reading(rank);
            snapshot
        };
        let ranks = (0..segment.num_ranks()).map(of_rank).collect();
        let mut snapshot = Self {
            nisa: Arc::clone(nisa),
            ranks,
            eager_limit: settings.spec.eager_limit,
            sends: vec![],
            sends_by_tag: vec![],
            recvs: vec![],
        };
        for rank in &snapshot.ranks {
            for &offset in rank.unfinished.iter().filter(|&&offset| !rank.has_started(offset)) {
                let vertex = (rank.rank, offset);
                match snapshot.record(vertex).operation() {
                    Operation::Send { peer, tag, .. } => {
                        snapshot.sends.push(((peer, rank.rank, tag), vertex));
                        snapshot.sends_by_tag.push(((peer, tag, rank.rank), vertex));
                    }
                    Operation::Recv { peer, tag, .. } => {
                        snapshot.recvs.push(((rank.rank, peer, tag), vertex));
                    }
                    _ => {}
                }
            }
        }
        snapshot.sends.sort_unstable();
        snapshot.sends_by_tag.sort_unstable();
        snapshot.recvs.sort_unstable();
        snapshot
    }

    pub(super) fn record(&self, (rank, offset): Vertex) -> Record<'_> {
        match self.ranks[rank as usize].read.get(&offset) {
            Some((_, chunk)) => chunk.record(offset),
            None => self.nisa.section(rank).record(offset),
        }
    }

    /// Returns the place of an unfinished action, for a text.
    pub(super) fn place(&self, (rank, offset): Vertex) -> ActionPlace {
        match self.ranks[rank as usize].read.get(&offset) {
            Some((number, chunk)) => ActionPlace::numbered(rank, *number, &chunk.record(offset)),
            None => ActionPlace::new(&self.nisa, rank, offset),
        }
    }

    /// Returns true if rank `from` may have sends that have not entered its window. `from` may be
    /// the wildcard for any rank.
    pub(super) fn may_yet_send(&self, from: u32) -> bool {
        self.ranks.iter().any(|rank| rank.beyond > 0 && (from == ANY || from == rank.rank))
    }

    /// Returns the number of actions of a rank that have not entered its window.
    pub(super) fn beyond_window(&self, rank: u32) -> u64 {
        self.ranks[rank as usize].beyond
    }

    /// Returns the unfinished actions of a rank: if `started` is true those that have started,
    /// otherwise those that have not.
    pub(super) fn unfinished(&self, rank: u32, started: bool) -> impl Iterator<Item = Vertex> {
        let snapshot = &self.ranks[rank as usize];
        let of_kind = move |offset: &&u32| snapshot.has_started(**offset) == started;
        snapshot.unfinished.iter().filter(of_kind).map(move |&offset| (rank, offset))
    }

    /// Returns the number of instances that a rank has begun.
    pub(super) fn instance(&self, rank: u32) -> u64 {
        self.ranks[rank as usize].instance
    }

    /// Returns the receiver of an eager send that waits because the receiver has reached its limit
    /// on unexpected messages. Returns `None` if the send waits for something else.
    ///
    /// When both ranks rest, the send has become a request that the receiver knows of. If
    /// `all_rest` is true, this alone proves that the receiver had no room. Otherwise the mailbox
    /// of the receiver must announce too little room, which can be read only for ranks of this
    /// host.
    pub(super) fn full(
        &self,
        observed: &Observed<'_>,
        all_rest: bool,
        vertex: Vertex,
    ) -> Option<u32> {
        let Wait::Receiver { to, size, .. } = self.wait(vertex) else { return None };
        let is_here = |rank: u32| observed.here.binary_search(&rank).is_ok();
        let has_no_room = || {
            is_here(vertex.0)
                && is_here(to)
                && self.ranks[to as usize].rests
                && kept_bytes(size) > observed.segment.mailbox(to).room()
        };
        (size <= self.eager_limit && (all_rest || has_no_room())).then_some(to)
    }

    pub(super) fn num_ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Returns what an unfinished action waits for.
    pub(super) fn wait(&self, (rank, offset): Vertex) -> Wait {
        let snapshot = &self.ranks[rank as usize];
        if !snapshot.has_started(offset) {
            return Wait::Actions {
                ends: prerequisites(&snapshot.ends, offset),
                starts: prerequisites(&snapshot.starts, offset),
            };
        }
        match self.record((rank, offset)).operation() {
            // The rank has not rested since this action started, so it may be just about to send.
            Operation::Send { payload, .. }
                if !snapshot.rests && payload.size() <= self.eager_limit =>
            {
                Wait::Itself
            }
            Operation::Send { peer, tag, payload, .. } => {
                Wait::Receiver { to: peer, tag, size: payload.size() }
            }
            Operation::Recv { peer, tag, .. } => Wait::Message { from: peer, tag },
            _ => Wait::Itself,
        }
    }

    /// Returns a few unfinished actions that could end the wait of `vertex`. Returns none if no
    /// rank has a send left for the message that `vertex` waits for.
    pub(super) fn waits_for(&self, vertex: Vertex) -> Vec<Vertex> {
        let (rank, _) = vertex;
        match self.wait(vertex) {
            Wait::Itself => vec![],
            Wait::Actions { ends, starts } => {
                ends.into_iter().chain(starts).map(|at| (rank, at)).collect()
            }
            Wait::Message { from, tag } => self.sends_to(rank, from, tag),
            Wait::Receiver { to, tag, .. } => {
                let envelopes = [(rank, tag), (rank, ANY), (ANY, tag), (ANY, ANY)];
                let mut found = self.lagging(to, rank);
                for (from, tag) in envelopes {
                    let key = (to, from, tag);
                    found.extend(
                        between(&self.recvs, key, key).map(|&(_, recv)| recv).take(OFFERS_MAX),
                    );
                }
                found.retain(|&(peer, _)| {
                    self.ranks[peer as usize].instance <= self.ranks[rank as usize].instance
                });
                found
            }
        }
    }

    /// Returns a few unfinished sends that match a receive of `rank` with source `from` and `tag`.
    fn sends_to(&self, rank: u32, from: u32, tag: u32) -> Vec<Vertex> {
        let (offers, first, last) = match (from, tag) {
            (ANY, ANY) => (&self.sends, (rank, 0, 0), (rank, ANY, ANY)),
            (ANY, tag) => (&self.sends_by_tag, (rank, tag, 0), (rank, tag, ANY)),
            (from, ANY) => (&self.sends, (rank, from, 0), (rank, from, ANY)),
            (from, tag) => (&self.sends, (rank, from, tag), (rank, from, tag)),
        };
        let instance = |rank: u32| self.ranks[rank as usize].instance;
        let sends = between(offers, first, last).map(|&(_, send)| send);
        // A rank that is ahead of the receiver would send this message in a later instance.
        let mut found: Vec<Vertex> = sends
            .filter(|&(source, _)| instance(source) <= instance(rank))
            .take(OFFERS_MAX)
            .collect();
        if from != ANY {
            found.extend(self.lagging(from, rank));
        }
        found
    }

    /// Returns the first unfinished action of `peer` if `peer` is in an earlier instance than
    /// `rank`.
    fn lagging(&self, peer: u32, rank: u32) -> Vec<Vertex> {
        let (peer, rank) = (&self.ranks[peer as usize], &self.ranks[rank as usize]);
        let lags = peer.instance < rank.instance;
        peer.first.filter(|_| lags).map(|offset| (peer.rank, offset)).into_iter().collect()
    }
}

/// The most actions of other ranks that are followed for one missing message.
const OFFERS_MAX: usize = 8;

fn prerequisites(pairs: &[(u32, u32)], waiter: u32) -> Vec<u32> {
    let first = pairs.partition_point(|&(other, _)| other < waiter);
    pairs[first..].iter().take_while(|&&(other, _)| other == waiter).map(|&(_, at)| at).collect()
}
