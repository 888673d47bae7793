//! Merges sends and receives in a rank's body.

use super::bundles::Plan;
use crate::edit::{Owners, Removal, place};
use goal_lang::{Action, ActionId, Body, Edge, Payload, Piece, Pieces, Program};

/// Executes a plan, rank by rank. Returns false if there is nothing to do.
pub(super) fn apply(program: &mut Program, mut plan: Plan) -> bool {
    plan.bundles.sort_by_key(|&(rank, _)| rank);
    plan.orders.sort_by_key(|&(rank, _)| rank);
    let mut owners = Owners::new(program);
    let mut orders = plan.orders.as_slice();
    for bundles in plan.bundles.chunk_by(|a, b| a.0 == b.0) {
        let rank = bundles[0].0;
        let (of_rank, rest) = orders.split_at(orders.partition_point(|order| order.0 <= rank));
        orders = rest;
        merge(owners.own(program, rank), bundles, of_rank);
    }
    !plan.bundles.is_empty()
}

fn merge(body: &mut Body, bundles: &[(u32, Vec<ActionId>)], orders: &[(u32, Edge)]) {
    let mut removal = Removal::new(body);
    let mut kept: Vec<ActionId> = body.ids().collect();
    for (_, bundle) in bundles {
        let payload = payload(body, bundle);
        let (Action::Send { payload: of_first, .. } | Action::Recv { payload: of_first, .. }) =
            &mut body.actions[bundle[0].index()]
        else {
            unreachable!("messages are in bundles")
        };
        *of_first = payload;
        for id in &bundle[1..] {
            kept[id.index()] = bundle[0];
            removal.gone[id.index()] = true;
        }
    }
    for edge in removal.requires.edges.iter_mut().chain(&mut removal.irequires.edges) {
        edge.prerequisite = kept[edge.prerequisite.index()];
    }
    for &(_, edge) in orders {
        removal.irequires.push(edge, place(body, edge.waiter));
    }
    removal.finish(body);
}

/// The buffers of several sends or receives, one after the other.
fn payload(body: &mut Body, bundle: &[ActionId]) -> Payload {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut pattern = 0;
    for &id in bundle {
        let (Action::Send { payload, .. } | Action::Recv { payload, .. }) = *body.action(id) else {
            unreachable!("messages are in bundles")
        };
        match body.payload_operand(payload) {
            None => pattern += body.payload_size(payload),
            Some(buffer) => {
                for piece in buffer.pieces() {
                    match pieces.last_mut() {
                        Some(last)
                            if last.space == piece.space && last.addr + last.size == piece.addr =>
                        {
                            last.size += piece.size;
                        }
                        _ => pieces.push(*piece),
                    }
                }
            }
        }
    }
    match pieces[..] {
        [] => Payload::Pattern { size: pattern },
        [piece] => Payload::Buffer(piece),
        _ => {
            let pieces_of = Pieces { first: body.pieces.len() as u32, len: pieces.len() as u32 };
            body.pieces.extend(pieces);
            Payload::Vector(pieces_of)
        }
    }
}
