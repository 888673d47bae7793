//! The channels of sends and receives: one for each destination, source and tag, also for those
//! with wildcards.

use super::vertices::{Vertex, Whole};
use goal_lang::{ANY, Action};
use rustc_hash::FxHashMap;

/// The channels of all sends and receives, and the wildcards of each rank.
#[derive(Debug)]
pub(super) struct Channels {
    /// By vertex, the channel of a send or a receive; `u32::MAX` for other actions.
    of: Vec<u32>,
    ids: FxHashMap<(u32, u32, u32), u32>,
    /// By rank, the kinds of wildcards among its receives.
    wild: Vec<Wild>,
}

/// The kinds of wildcards among the receives of a rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wild {
    pub(super) any_source: bool,
    pub(super) any_tag: bool,
    pub(super) any: bool,
}

impl Channels {
    pub(super) fn new(whole: &Whole<'_>) -> Self {
        let mut ids = FxHashMap::default();
        let mut of = vec![u32::MAX; whole.len()];
        let mut wild = vec![Wild::default(); whole.program.ranks.len()];
        for vertex in whole.vertices() {
            let rank = whole.rank(vertex);
            let key = match *whole.action(vertex) {
                Action::Send { to, tag, .. } => (to, rank, tag),
                Action::Recv { from, tag, .. } => {
                    let wild = &mut wild[rank as usize];
                    wild.any |= from == ANY && tag == ANY;
                    wild.any_source |= from == ANY && tag != ANY;
                    wild.any_tag |= from != ANY && tag == ANY;
                    (rank, from, tag)
                }
                _ => continue,
            };
            let next = ids.len() as u32;
            of[vertex.index()] = *ids.entry(key).or_insert(next);
        }
        Self { of, ids, wild }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The channel of a send or a receive.
    #[inline]
    pub(super) fn of(&self, vertex: Vertex) -> usize {
        self.of[vertex.index()] as usize
    }

    /// Returns true if a rank has a receive with a wildcard.
    #[inline]
    pub(super) fn is_wild(&self, rank: u32) -> bool {
        self.wild[rank as usize] != Wild::default()
    }

    /// Returns true if any rank has a receive with a wildcard.
    pub(super) fn any_is_wild(&self) -> bool {
        self.wild.iter().any(|&wild| wild != Wild::default())
    }

    /// Returns the channels of the receives that may take a message to `destination`. The channel
    /// of `send` itself comes first.
    pub(super) fn candidates(
        &self,
        send: Vertex,
        destination: u32,
        source: u32,
        tag: u32,
    ) -> Candidates {
        let wild = self.wild[destination as usize];
        let find = |there: bool, source, tag| {
            let id = there.then(|| self.ids.get(&(destination, source, tag)).copied()).flatten();
            id.unwrap_or(u32::MAX)
        };
        Candidates([
            self.of[send.index()],
            find(wild.any_source, ANY, tag),
            find(wild.any_tag, source, ANY),
            find(wild.any, ANY, ANY),
        ])
    }
}

/// Up to four channels; `u32::MAX` stands for none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidates([u32; 4]);

impl Candidates {
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().filter(|&id| id != u32::MAX).map(|id| id as usize)
    }
}
