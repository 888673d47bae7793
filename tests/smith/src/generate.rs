//! Generates the sequence of events of a program.

use goal_lang::{Action, MARKERS, Placement, Program};
use rand::RngExt;

use crate::cells::Cell;
use crate::generator::Generator;
use crate::node::Node;
use crate::operands::{Use, buffer};
use crate::{group, local, message};

impl Generator<'_> {
    pub(crate) fn program(mut self) -> Program {
        let events = self
            .rng
            .random_range(self.shape.events.0..=self.shape.events.1.max(self.shape.events.0));
        for _ in 0..events {
            let before: Vec<usize> = self.nodes.iter().map(Node::len).collect();
            self.event();
            self.extra_dependencies(&before);
        }
        self.finish()
    }

    fn event(&mut self) {
        let groups = if self.shape.outcomes_may_differ { 30 } else { 13 };
        match self.rng.random_range(0..87 + groups) {
            0..42 => message::event(self),
            87.. if self.shape.wildcards => group::event(self),
            42..47 => self.calc(),
            47..51 => {
                let node = self.any_node();
                let action = dummy(self.nodes[node].len());
                self.nodes[node].add(action, &[], &[]);
            }
            51..56 if self.shape.wtime => self.wtime(),
            _ => local::event(self),
        }
    }

    fn calc(&mut self) {
        let node = self.any_node();
        let nanos = self.rng.random_range(0..=self.shape.calc_nanos_max);
        let placement = self.placement();
        self.nodes[node].add(Action::Calc { nanos, placement }, &[], &[]);
    }

    fn wtime(&mut self) {
        let node = self.any_node();
        if let Some(pieces) = buffer(&mut self.rng, &self.nodes[node], 8, Use::Write, false, &[]) {
            let (addr, space) = (pieces[0].addr, pieces[0].space);
            self.nodes[node].add(Action::Wtime { addr, space }, &[], &pieces);
            self.nodes[node].cells.write(&pieces, &[Cell::PLAIN; 8]);
        }
    }

    /// Adds a few unnecessary dependencies of this event's actions on actions of earlier events.
    fn extra_dependencies(&mut self, before: &[usize]) {
        for (node, &before) in self.nodes.iter_mut().zip(before) {
            for index in before..node.len() {
                while before > 0 && self.rng.random_bool(0.2) {
                    let earlier = self.rng.random_range(0..before);
                    if self.shape.start_dependencies && self.rng.random() {
                        node.require_start(index, earlier);
                    } else {
                        node.require(index, earlier);
                    }
                }
            }
        }
    }
}

/// Returns an action that does nothing, for a place in its body: a dummy or a marker.
fn dummy(place: usize) -> Action {
    let [kind, tag] = [place % 4, place % 3];
    match MARKERS.get(kind) {
        Some(&to) => Action::Marker { to, tag: tag as u32, placement: Placement::default() },
        None => Action::Nop,
    }
}
