//! The numbers of processors and interfaces that observers see: over all ranks, in the order in
//! which actions name them.

use super::line::Shape;
use crate::source::{Actions, Source};
use crate::workload::Kind;
use rustc_hash::FxHashSet;

/// The numbers of all places. Empty if nobody needs them.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// By rank.
    ranks: Vec<Numbers>,
}

#[derive(Debug, Clone, Copy)]
struct Numbers {
    first: u32,
    /// By place of a rank with one processor and one interface, its number from the first on.
    order: [u32; 3],
}

impl Places {
    pub(super) fn new(program: &impl Source) -> Self {
        let (mut ranks, mut first) = (Vec::new(), 0);
        for rank in 0..program.num_ranks() {
            let actions = program.rank(rank);
            let (mut known, mut seen) = (Vec::new(), FxHashSet::default());
            for (_, record) in actions.records() {
                let places = match record.kind {
                    Kind::Dummy => continue,
                    Kind::Calc | Kind::Local => [Some((0, record.cpu)), None],
                    Kind::Send => [Some((0, record.cpu)), Some((1, record.nic.into()))],
                    Kind::Recv => [Some((0, record.cpu)), Some((2, record.nic.into()))],
                };
                for place in places.into_iter().flatten() {
                    if seen.insert(place) {
                        known.push(place);
                    }
                }
            }
            let mut order = [0, 1, 2];
            if Shape::of(actions).is_plain() {
                for (number, &(part, _)) in (0..).zip(&known) {
                    order[part] = number;
                }
            }
            ranks.push(Numbers { first, order });
            first += known.len() as u32;
        }
        Self { ranks }
    }

    /// Returns the number of a rank's place.
    #[inline]
    pub(super) fn number(&self, rank: u32, place: u32) -> u32 {
        let Some(numbers) = self.ranks.get(rank as usize) else { return place };
        numbers.first + numbers.order.get(place as usize).copied().unwrap_or(place)
    }
}
