//! The facts that certain proofs and the search share: which ends of messages compete, and when
//! sends end.

use goal_lang::{ANY, Action, Payload};
use goal_opt::whole::{Room, Vertex, Whole};
use rustc_hash::FxHashMap;

/// When a send ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Completion {
    AtStart,
    /// When it starts or when its message is taken: nobody knows.
    Either,
    AtMatch,
}

/// Source and tag, either of which may be any.
pub(super) type Envelope = (u32, u32);

/// Returns true if a receive of an envelope may take a message of a source and a tag.
pub(super) fn fits(recv: Envelope, send: Envelope) -> bool {
    (recv.0 == ANY || recv.0 == send.0) && (recv.1 == ANY || recv.1 == send.1)
}

/// The envelopes of receives that may take a message.
pub(super) fn takers((source, tag): Envelope) -> [Envelope; 4] {
    [(source, tag), (ANY, tag), (source, ANY), (ANY, ANY)]
}

/// A program and what is known of its messages.
pub(super) struct Scene<'a, 'p> {
    pub(super) whole: &'a Whole<'p>,
    /// By vertex, the other end where it is fixed.
    pub(super) partner: &'a [Vertex],
    /// By vertex, whether the other end of its message is the same in every order.
    pub(super) is_fixed: &'a [bool],
    /// By destination, the envelopes of its receives that compete, and the messages that these
    /// compete for.
    pub(super) places: FxHashMap<u32, Place>,
    eager_limit: u64,
    scarce: Vec<u32>,
}

/// The receives of a rank that compete.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) recvs: FxHashMap<Envelope, Vec<Vertex>>,
    pub(super) sends: FxHashMap<Envelope, Vec<Vertex>>,
}

impl<'a, 'p> Scene<'a, 'p> {
    pub(super) fn new(
        whole: &'a Whole<'p>,
        partner: &'a [Vertex],
        is_fixed: &'a [bool],
        eager_limit: u64,
        room: Option<&Room>,
    ) -> Self {
        let mut places: FxHashMap<u32, Place> = FxHashMap::default();
        for vertex in whole.vertices().filter(|vertex| !is_fixed[vertex.index()]) {
            match *whole.action(vertex) {
                Action::Send { to, tag, .. } => {
                    let sends = &mut places.entry(to).or_default().sends;
                    sends.entry((whole.rank(vertex), tag)).or_default().push(vertex);
                }
                Action::Recv { from, tag, .. } => {
                    let recvs = &mut places.entry(whole.rank(vertex)).or_default().recvs;
                    recvs.entry((from, tag)).or_default().push(vertex);
                }
                _ => {}
            }
        }
        let scarce = room.map(|room| room.scarce().to_vec()).unwrap_or_default();
        Self { whole, partner, is_fixed, places, eager_limit, scarce }
    }

    /// The destination and the envelope of a send or a receive.
    pub(super) fn end(&self, vertex: Vertex) -> Option<(u32, Envelope)> {
        let rank = self.whole.rank(vertex);
        match *self.whole.action(vertex) {
            Action::Send { to, tag, .. } => Some((to, (rank, tag))),
            Action::Recv { from, tag, .. } => Some((rank, (from, tag))),
            _ => None,
        }
    }

    /// Returns true if every send ends when it starts: all that can happen with lower limits can
    /// happen then, too.
    pub(super) fn is_eager(&self) -> bool {
        self.whole.vertices().all(|vertex| self.completion(vertex) == Completion::AtStart)
    }

    /// When a send ends.
    pub(super) fn completion(&self, send: Vertex) -> Completion {
        let Action::Send { to, .. } = *self.whole.action(send) else { return Completion::AtStart };
        match (
            self.whole.message_size(send) <= self.eager_limit,
            self.scarce.binary_search(&to).is_ok(),
        ) {
            (true, false) => Completion::AtStart,
            (true, true) => Completion::Either,
            (false, _) => Completion::AtMatch,
        }
    }
}

/// Returns true if a receive keeps the bytes of its message.
pub(crate) fn stores(action: &Action) -> bool {
    matches!(*action, Action::Recv { payload, .. } if !matches!(payload, Payload::Pattern { .. }))
}
