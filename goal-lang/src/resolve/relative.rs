//! Relative peers: each rank that has some gets a body of its own.
//!
//! A few words of text can ask for very many peers. So they are counted before they are made, and
//! more than [`BLOCK_ENTRIES_MAX`] are refused.

use rustc_hash::FxHashSet;

use super::check::peer_span;
use super::group::Group;
use super::plan::{Plan, Recipe};
use super::resolver::Resolver;
use crate::diag::{Code, Diagnostic, Report};
use crate::ids::{ActionId, BodyId};
use crate::limits::BLOCK_ENTRIES_MAX;
use crate::parse::{Block, Chunk};
use crate::program::{Action, Body};
use crate::relative::{Relation, RelativePeer};
use crate::source::SourceMap;
use crate::symmetric::SymmetricProgram;

/// The actions of a body that have relative peers.
pub(super) type Relatives = Vec<(ActionId, RelativePeer)>;

/// Returns the relative peers of each body, or nothing if there are none.
pub(super) fn by_body(blocks: &[Block], recipes: &[Recipe]) -> Vec<Relatives> {
    if blocks.iter().all(|block| block.relatives.is_empty()) {
        return Vec::new();
    }
    let of_recipe = |recipe: &Recipe| match recipe {
        &Recipe::Single(block) => blocks[block as usize].relatives.clone(),
        Recipe::Merged(list) => joined(list.iter().map(|&block| &blocks[block as usize])),
    };
    recipes.iter().map(of_recipe).collect()
}

/// Returns the relative peers of a body that is made of blocks.
fn joined<'b>(blocks: impl Iterator<Item = &'b Block>) -> Relatives {
    let (mut first, mut found) = (0, Vec::new());
    for block in blocks {
        let moved = |&(id, peer): &(ActionId, RelativePeer)| (ActionId(id.0 + first), peer);
        found.extend(block.relatives.iter().map(moved));
        first += block.body.len() as u32;
    }
    found
}

fn set_peers(body: &mut Body, relatives: &Relatives, rank: u32, num_ranks: u32) {
    for &(id, peer) in relatives {
        if let Some(action) = body.actions.get_mut(id.index()) {
            set_peer(action, peer.of(rank, num_ranks));
        }
    }
}

impl Resolver<'_> {
    /// Gives each rank with relative peers its peers, in a body of its own. Returns `None` if there
    /// are too many actions.
    pub(super) fn expand(
        &mut self,
        plan: &mut Plan,
        bodies: &mut Vec<Body>,
        relatives: &[Relatives],
    ) -> Option<()> {
        let num_ranks = plan.ranks.len() as u32;
        let size = |id: &BodyId| match relatives.get(id.index()) {
            Some(own) if !own.is_empty() => {
                let body = &bodies[id.index()];
                1 + body.len() as u64 + body.requires.len() as u64 + body.irequires.len() as u64
            }
            _ => 0,
        };
        self.count(plan.ranks.iter().map(size).sum())?;
        let mut is_taken = vec![false; relatives.len()];
        for (rank, id) in (0..).zip(&mut plan.ranks) {
            let Some(own) = relatives.get(id.index()).filter(|own| !own.is_empty()) else {
                continue;
            };
            if std::mem::replace(&mut is_taken[id.index()], true) {
                let body = bodies[id.index()].clone();
                *id = BodyId::new(bodies.len());
                bodies.push(body);
            }
            set_peers(&mut bodies[id.index()], own, rank, num_ranks);
        }
        Some(())
    }
}

/// Reports relative peers that lie outside of the group.
pub(super) fn check(sources: &SourceMap, blocks: &[Block], group: &Group, report: &mut Report) {
    let num_ranks = group.num_ranks;
    let stays = |(_, peer): &(ActionId, RelativePeer)| peer.stays_within(num_ranks);
    if blocks.iter().all(|block| block.relatives.iter().all(stays)) {
        return;
    }
    let mut told = FxHashSet::default();
    let mut room = BLOCK_ENTRIES_MAX;
    for rank in 0..num_ranks {
        for at in group.blocks_of(rank) {
            let block = &blocks[at as usize];
            // With more peers than that, `expand` refuses the program.
            let Some(rest) = room.checked_sub(block.relatives.len() as u64) else { return };
            room = rest;
            for &(id, peer) in &block.relatives {
                let other = peer.of(rank, num_ranks);
                if other >= num_ranks && told.insert((at, id)) {
                    let found = || out_of_range(sources, block, (rank, id), (peer, other), group);
                    report.add(Code::PeerOutOfRange, found);
                }
            }
        }
    }
}

#[cold]
fn out_of_range(
    sources: &SourceMap,
    block: &Block,
    (rank, id): (u32, ActionId),
    (peer, other): (RelativePeer, u32),
    group: &Group,
) -> Diagnostic {
    let (num_ranks, RelativePeer { sign, by }) = (group.num_ranks, peer);
    let (from, to) = match block.body.action(id) {
        Action::Send { .. } => (rank, other),
        _ => (other, rank),
    };
    let message =
        format!("a message from rank {from} to rank {to}, but the group has {num_ranks} ranks");
    let mut diagnostic = Diagnostic::new(Code::PeerOutOfRange, message).label(
        peer_span(sources, block.body.debug.actions[id.index()]),
        format!("{rank}{}{by} is {other}, and the last rank is {}", sign.text(), num_ranks - 1),
    );
    if let Some(span) = group.declared {
        diagnostic = diagnostic.label(span, "the group's size is set here");
    }
    let ranks = (u64::from(by) + 1).next_power_of_two();
    diagnostic
        .note("the rank's number and the number behind `^` are combined bit by bit")
        .help(format!("take a multiple of {ranks} ranks, or another number behind `^`"))
}

/// Returns the program if all ranks have the same blocks, in which all peers are relative in one
/// way. Returns `None` for other programs, and for programs with findings or values of memory.
pub(crate) fn symmetric(sources: &SourceMap, chunks: &[Chunk]) -> Option<SymmetricProgram> {
    let &(num_ranks, _) = chunks.iter().flat_map(|chunk| &chunk.declared).next()?;
    let is_for_all = |chunk: &Chunk| {
        !chunk.bare
            && chunk.every.len() == chunk.blocks.len()
            && chunk.members.is_empty()
            && chunk
                .blocks
                .iter()
                .all(|block| block.data.is_empty() && block.body.collectives.is_empty())
            && chunk.declared.iter().all(|&(declared, _)| declared == num_ranks)
    };
    let blocks: Vec<&Block> = chunks.iter().flat_map(|chunk| &chunk.blocks).collect();
    if blocks.is_empty() || !chunks.iter().all(is_for_all) {
        return None;
    }
    let relatives = joined(blocks.iter().copied());
    let relation = relatives.first().map_or(Relation::Shift, |(_, peer)| peer.relation());
    let is_alike = |(_, peer): &(ActionId, RelativePeer)| {
        peer.relation() == relation && peer.stays_within(num_ranks)
    };
    if !relatives.iter().all(is_alike) {
        return None;
    }
    let mut report = Report::default();
    let mut body = Resolver::new(sources, &mut report).merge(&blocks);
    let is_message = |action: &&Action| matches!(action, Action::Send { .. } | Action::Recv { .. });
    let messages = body.actions.iter().filter(is_message).count();
    if messages != relatives.len() || !report.diagnostics.is_empty() {
        return None;
    }
    set_peers(&mut body, &relatives, 0, num_ranks);
    Some(SymmetricProgram { num_ranks, relation, body })
}

/// Sets the peer of a message.
fn set_peer(action: &mut Action, peer: u32) {
    if let Action::Send { to: other, .. } | Action::Recv { from: other, .. } = action {
        *other = peer;
    }
}
