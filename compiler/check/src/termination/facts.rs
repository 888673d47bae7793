//! The facts about messages that the proof and the search share: which sends and receives compete,
//! and when sends end.

use goal_lang::{ANY, Action, Payload};
use goal_opt::whole::{Room, Vertex, Whole};
use rustc_hash::FxHashMap;

/// The moment when a send ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Completion {
    AtStart,
    /// When the send starts or when its message is taken: both are possible.
    Either,
    AtMatch,
}

/// The source and the tag of a message, or the source and the tag that a receive asks for. [`ANY`]
/// in a receive accepts all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Envelope {
    pub(super) source: u32,
    pub(super) tag: u32,
}

/// Returns true if a receive that asks for `recv` may take a message sent as `send`.
pub(super) fn fits(recv: Envelope, send: Envelope) -> bool {
    (recv.source == ANY || recv.source == send.source) && (recv.tag == ANY || recv.tag == send.tag)
}

/// Returns the four envelopes of receives that may take a message sent as `sent`: `sent` itself,
/// with any source, with any tag, and with both.
pub(super) fn takers(sent: Envelope) -> [Envelope; 4] {
    [
        sent,
        Envelope { source: ANY, ..sent },
        Envelope { tag: ANY, ..sent },
        Envelope { source: ANY, tag: ANY },
    ]
}

/// A program and the facts about its messages.
pub(super) struct Facts<'a, 'p> {
    pub(super) whole: &'a Whole<'p>,
    /// By vertex, the other end of its message; valid if `is_fixed` is true.
    pub(super) partner: &'a [Vertex],
    /// By vertex, true if its message has the same other end in every order.
    pub(super) is_fixed: &'a [bool],
    /// By destination, its receives that compete, and the messages that they compete for.
    pub(super) competitions: FxHashMap<u32, Competition>,
    eager_limit: u64,
    scarce: Vec<u32>,
}

/// The receives of a rank that compete for messages, and these messages, by envelope.
#[derive(Debug, Default)]
pub(super) struct Competition {
    pub(super) recvs: FxHashMap<Envelope, Vec<Vertex>>,
    pub(super) sends: FxHashMap<Envelope, Vec<Vertex>>,
}

impl<'a, 'p> Facts<'a, 'p> {
    pub(super) fn new(
        whole: &'a Whole<'p>,
        partner: &'a [Vertex],
        is_fixed: &'a [bool],
        eager_limit: u64,
        room: Option<&Room>,
    ) -> Self {
        let mut competitions: FxHashMap<u32, Competition> = FxHashMap::default();
        for vertex in whole.vertices().filter(|vertex| !is_fixed[vertex.index()]) {
            match *whole.action(vertex) {
                Action::Send { to, tag, .. } => {
                    let sends = &mut competitions.entry(to).or_default().sends;
                    sends
                        .entry(Envelope { source: whole.rank(vertex), tag })
                        .or_default()
                        .push(vertex);
                }
                Action::Recv { from, tag, .. } => {
                    let recvs = &mut competitions.entry(whole.rank(vertex)).or_default().recvs;
                    recvs.entry(Envelope { source: from, tag }).or_default().push(vertex);
                }
                _ => {}
            }
        }
        let scarce = room.map(|room| room.scarce().to_vec()).unwrap_or_default();
        Self { whole, partner, is_fixed, competitions, eager_limit, scarce }
    }

    /// Returns the destination and the envelope of a send or a receive; `None` for other actions.
    pub(super) fn end(&self, vertex: Vertex) -> Option<(u32, Envelope)> {
        let rank = self.whole.rank(vertex);
        match *self.whole.action(vertex) {
            Action::Send { to, tag, .. } => Some((to, Envelope { source: rank, tag })),
            Action::Recv { from, tag, .. } => Some((rank, Envelope { source: from, tag })),
            _ => None,
        }
    }

    /// Returns true if every send ends when it starts. Then every order that is possible with a
    /// lower eager limit is also possible with this one.
    pub(super) fn is_eager(&self) -> bool {
        self.whole.vertices().all(|vertex| self.completion(vertex) == Completion::AtStart)
    }

    /// Decides when a send ends.
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

/// Returns true if an action is a receive that stores the bytes of its message.
pub(crate) fn stores(action: &Action) -> bool {
    matches!(*action, Action::Recv { payload, .. } if !matches!(payload, Payload::Pattern { .. }))
}
