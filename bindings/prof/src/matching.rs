//! Keeps the order of messages that several threads start.
//!
//! MPI matches the messages between two ranks with one tag in the order in which they start, in
//! whatever thread. Each thread has its own chain of actions. So the order of messages in two
//! threads needs a dependency: the later message starts after the earlier one. Labels ascend in the
//! order of starts.

use rustc_hash::FxHashMap;

/// The most pairs of peer and tag that are remembered.
const KEYS_MAX: usize = 1 << 16;
/// The most receives that are remembered for a peer and tag, since receives may end in another
/// order.
const LATEST_MAX: usize = 256;

/// The start of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) label: u64,
    pub(crate) thread: usize,
}

/// The labels of the previous and of the next message in the order of starts. A label is `None` if
/// no such message is remembered. It is also `None` if the message is of the same thread, whose
/// chain orders it already.
pub(crate) type Neighbours = (Option<u64>, Option<u64>);

/// The recent starts of messages, by peer and tag, in the order of their labels.
#[derive(Debug, Default)]
pub(crate) struct Matching {
    sends: FxHashMap<(u32, u32), Vec<Start>>,
    recvs: FxHashMap<(u32, u32), Vec<Start>>,
}

impl Matching {
    /// Adds a send when it starts, and returns its neighbours.
    pub(crate) fn start_send(&mut self, to: u32, tag: u32, start: Start) -> Neighbours {
        insert(self.sends.entry((to, tag)).or_default(), start, 1)
    }

    /// Adds a receive when it has ended, and returns its neighbours. Receives that started later
    /// may have ended earlier.
    pub(crate) fn end_recv(&mut self, from: u32, tag: u32, start: Start) -> Neighbours {
        insert(self.recvs.entry((from, tag)).or_default(), start, LATEST_MAX)
    }

    /// Forgets all starts if more than [`KEYS_MAX`] pairs are remembered. Returns true if it did.
    pub(crate) fn forget_if_full(&mut self) -> bool {
        let is_full = self.sends.len() + self.recvs.len() > KEYS_MAX;
        if is_full {
            *self = Self::default();
        }
        is_full
    }
}

/// Adds a start to the list of its peer and tag, and returns the labels of its neighbours. Keeps
/// only the latest `most` starts.
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
