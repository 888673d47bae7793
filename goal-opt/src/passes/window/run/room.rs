//! Finds room in windows and records the order of starts.

use super::super::messages::NONE;
use super::{Run, State};
use crate::whole::Vertex;
use goal_lang::Action;

impl Run<'_, '_> {
    /// Makes room for one action for each entry of `ranks`, in which a rank may occur several
    /// times. Begins a new window for a rank if the current one is too full. This is impossible
    /// while an action of the rank is under way, or if its actions do not fit into an empty window.
    /// Then returns the rank as the error, with no effect.
    pub(super) fn make_room(&mut self, ranks: &[u32]) -> Result<(), u32> {
        let fits = |run: &Self, rank: u32, count: usize| {
            let layout = &run.layouts[rank as usize];
            layout.order.len() - layout.window_start() + count <= run.window
        };
        if let [rank] = *ranks
            && fits(self, rank, 1)
        {
            return Ok(());
        }
        if let [a, b] = *ranks
            && a != b
            && fits(self, a, 1)
            && fits(self, b, 1)
        {
            return Ok(());
        }
        let mut sorted = ranks.to_vec();
        sorted.sort_unstable();
        let groups = || sorted.chunk_by(|a, b| a == b).map(|group| (group[0], group.len()));
        for (rank, count) in groups() {
            let can_cut = self.under_way[rank as usize] == 0 && count <= self.window;
            if !fits(self, rank, count) && !can_cut {
                return Err(rank);
            }
        }
        for (rank, count) in groups() {
            if !fits(self, rank, count) {
                let layout = &mut self.layouts[rank as usize];
                layout.cuts.push(layout.order.len() as u32);
            }
        }
        Ok(())
    }

    /// Starts an action in the current window, which must have room.
    pub(super) fn start(&mut self, vertex: Vertex) {
        let (rank, place) = (self.rank(vertex), self.place(vertex));
        self.state[vertex.index()] = State::Started;
        self.under_way[rank as usize] += 1;
        self.pin(vertex, self.messages.of[vertex.index()]);
        self.layouts[rank as usize].order.push(place);
        for waiter in self.whole.irequires(vertex) {
            self.release(waiter);
        }
    }

    /// Records that the start of `vertex` must stay after the last start of a message of its family
    /// on the same side, send or receive. Does nothing if this order has no effect on the matches,
    /// or if the last start is in an earlier window.
    fn pin(&mut self, vertex: Vertex, envelope: u32) {
        if envelope == NONE {
            return;
        }
        let (rank, action) = (self.rank(vertex), self.place(vertex));
        let family = self.messages.envelopes[envelope as usize].family;
        let family = &mut self.messages.families[family as usize];
        if family.is_open_ended {
            return;
        }
        let side = usize::from(matches!(self.whole.action(vertex), Action::Recv { .. }));
        let layout = &mut self.layouts[rank as usize];
        let place = layout.order.len() as u32;
        let before = std::mem::replace(&mut family.last[side], place);
        if before != NONE && before as usize >= layout.window_start() {
            layout.pins.push((layout.order[before as usize], action));
        }
    }
}
