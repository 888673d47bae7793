//! How the actions of a body that can be split depend on each other's bytes.

use super::slice;
use crate::flow::{Fate, Flow, Order};
use goal_lang::{ActionId, Body, Csr, Edge};

/// What is known of a body's bytes.
pub(super) struct Facts {
    /// Pairs of actions, in order, that touch the same bytes one after the other, one of them
    /// writing; ascending. Only of actions to all of whose bytes dependencies order all accesses.
    pub(super) conflicts: Vec<(ActionId, ActionId)>,
    /// Of these, by writer, who reads what it writes.
    pub(super) readers: Csr,
    /// The same by reader.
    pub(super) writers: Csr,
}

impl Facts {
    /// The facts of a body; `None` where a bound cut the search short.
    pub(super) fn new(body: &Body) -> Option<Self> {
        let mut order = Order::new(body);
        let flow = Flow::new(body, &mut order)?;
        let mut is_certain = vec![true; body.len()];
        for value in flow.values.iter().filter(|value| !value.is_certain) {
            let overwriter = overwriter(value.fate);
            for id in value.writer.iter().chain(flow.readers(value)).chain(&overwriter) {
                is_certain[id.index()] = false;
            }
        }
        let counts =
            |id: &ActionId| is_certain[id.index()] && slice::size(body, body.action(*id)) > 0;
        let mut conflicts = Vec::new();
        let mut reads = Vec::new();
        for value in &flow.values {
            let writer = value.writer.filter(counts);
            let overwriter = overwriter(value.fate).filter(counts);
            for &reader in flow.readers(value).iter().filter(|reader| counts(reader)) {
                if let Some(writer) = writer.filter(|&writer| writer != reader) {
                    conflicts.push((writer, reader));
                    reads.push(Edge { waiter: reader, prerequisite: writer });
                }
                conflicts.extend(overwriter.filter(|&by| by != reader).map(|by| (reader, by)));
            }
            conflicts.extend(writer.zip(overwriter));
        }
        conflicts.sort_unstable();
        conflicts.dedup();
        let readers = Csr::from_edges(body.len(), &reads);
        let writers = readers.transposed(body.len());
        Some(Self { conflicts, readers, writers })
    }
}

fn overwriter(fate: Fate) -> Option<ActionId> {
    match fate {
        Fate::Overwritten(by) => Some(by),
        Fate::Final => None,
    }
}
