//! The order of messages that several threads start.
//!
//! MPI matches messages of a pair of ranks with one tag in the order in which they start, whichever
//! threads start them. Threads have chains of their own, so the order between two threads needs a
//! dependency: the later message starts behind the earlier one. Labels count in the order of
//! starts.

use rustc_hash::FxHashMap;

/// The peers and tags that are remembered.
const KEYS_MAX: usize = 1 << 16;
/// The receives of a peer and tag that are remembered: those that may end in another order.
const LATEST_MAX: usize = 256;

/// The start of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) label: u64,
    pub(crate) thread: usize,
}

/// The labels of the neighbours in the order of starts: the one before, and the one behind. One of
/// the same thread is left out, since the thread's chain has it.
pub(crate) type Neighbours = (Option<u64>, Option<u64>);

/// The starts of late by peer and tag, in order.
#[derive(Debug, Default)]
pub(crate) struct Matching {
    sends: FxHashMap<(u32, u32), Vec<Start>>,
    recvs: FxHashMap<(u32, u32), Vec<Start>>,
}

impl Matching {
    /// Adds a send when it starts.
    pub(crate) fn start_send(&mut self, to: u32, tag: u32, start: Start) -> Neighbours {
        insert(self.sends.entry((to, tag)).or_default(), start, 1)
    }

    /// Adds a receive when it has ended. Ones that have started behind it may have ended before.
    pub(crate) fn end_recv(&mut self, from: u32, tag: u32, start: Start) -> Neighbours {
        insert(self.recvs.entry((from, tag)).or_default(), start, LATEST_MAX)
    }

    /// Forgets everything if that is much. Returns true if it did.
    pub(crate) fn forget_if_full(&mut self) -> bool {
        let is_full = self.sends.len() + self.recvs.len() > KEYS_MAX;
        if is_full {
            *self = Self::default();
        }
        is_full
    }
}

/// Adds a start to those of its peer and tag, and returns the labels of its neighbours. Keeps the
/// latest `most` starts.
fn insert(starts: &mut Vec<Start>, start: Start, most: usize) -> Neighbours {
    let at = starts.partition_point(|other| other.label < start.label);
    let of_other = |other: &&Start| other.thread != start.thread;
    let before = at.checked_sub(1).and_then(|at| starts.get(at)).filter(of_other);
    let behind = starts.get(at).filter(of_other);
    let labels = (before.map(|start| start.label), behind.map(|start| start.label));
    starts.insert(at, start);
    if starts.len() > most {
        starts.remove(0);
    }
    labels
}
