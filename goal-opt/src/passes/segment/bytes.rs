//! The dependencies between the bytes of actions that can be split.

use super::slice;
use crate::flow::{Fate, Flow, Order};
use goal_lang::{ActionId, Body, Csr, Edge};

/// The facts about a body's bytes.
pub(super) struct Facts {
    /// Sorted pairs of actions that access the same bytes one after the other, if one of them
    /// writes. The earlier action is the first of a pair. Only for actions that can be split and
    /// for all of whose bytes the order of accesses is proved.
    pub(super) conflicts: Vec<(ActionId, ActionId)>,
    /// The pairs of a writer and a reader of its bytes, by writer.
    pub(super) readers: Csr,
    /// The pairs of a writer and a reader of its bytes, by reader.
    pub(super) writers: Csr,
}

impl Facts {
    /// Computes the facts of a body. Returns `None` if a bound is reached.
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
