//! Cuts a long schedule into blocks of at most 64 operations of each rank.
//!
//! Each block is a linked schedule of its own. A rank begins with a block when all its operations
//! of the block before have ended. All ranks cut at equal places, because all compute the cut from
//! the sections of all ranks.
//!
//! **No block waits for a later one.** Let a node stand for a message, with its send and its
//! receive, or for another action. The edges are the dependencies of all ranks. Nodes that reach
//! each other form a component, which is never cut. Components are put into blocks in the order of
//! their levels: the level is the length of the longest path to the component. So an operation
//! needs only its own block and earlier ones, and both ends of a message lie in one block.
//!
//! It follows that a run ends if the engine's run does. Assume that all ranks end all blocks before
//! block `k`. An operation of block `k` then waits only for operations of block `k`, and these wait
//! for each other as in the engine. A write also waits for room: all ranks must have read what lies
//! a ring's length before. That is at an earlier block or an earlier run, since a block takes at
//! most a quarter of the ring.

use super::message::Message;
use super::messages::{Messages, OPS_MAX, Refusal};
use super::order::Graph;
use crate::engine::Work;

/// The blocks of all ranks' actions.
#[derive(Debug, Clone)]
pub(super) struct Cut {
    /// The block of each action of each rank.
    pub(super) block_of: Vec<Vec<u32>>,
    /// For each block true if long messages are written in pieces.
    pub(super) has_pieces: Vec<bool>,
}

/// The operations and the lines of some actions, by rank.
#[derive(Debug, Clone)]
struct Load {
    ops: Vec<u32>,
    /// The operations if long messages and copies are split.
    pieces: Vec<u32>,
    lines: Vec<u64>,
}

const NONE: u32 = u32::MAX;

/// Returns the blocks of schedules. `pairs` has the rank and the action of the send for each
/// receive of each rank. A block has at most `lines_max` lines, and a message of `bytes` bytes
/// takes `lines_of(bytes)` lines.
///
/// # Errors
/// A component fits no block.
pub(super) fn cut(
    all: &[Messages],
    pairs: &[Vec<(u32, u32)>],
    lines_max: u64,
    lines_of: fn(u64) -> u64,
) -> Result<Cut, Refusal> {
    let nodes = Nodes::new(all, pairs);
    let components = nodes.components();
    let mut block_of: Vec<Vec<u32>> = all.iter().map(|one| vec![0; one.actions()]).collect();
    let (mut has_pieces, mut block) = (vec![true], Load::new(all.len()));
    for members in components.in_order(&nodes) {
        let mut own = Load::new(all.len());
        for &node in members {
            nodes.add_to(&mut own, node, all, lines_of);
        }
        let mut sum = block.plus(&own);
        let is_split = has_pieces.last().is_some_and(|&is_split| is_split);
        if !sum.fits(is_split, lines_max) {
            // A component of too many pieces gets a block in which messages are whole.
            let is_split = own.fits(true, lines_max);
            if !is_split && !own.fits(false, lines_max) {
                return Err(nodes.refusal(members, &own, all, lines_max, lines_of));
            }
            if block.is_empty() {
                has_pieces.pop();
            }
            has_pieces.push(is_split);
            sum = own;
        }
        block = sum;
        for &node in members {
            for action in nodes.actions_of(node) {
                let (rank, number) = nodes.place(action);
                block_of[rank][number as usize] = has_pieces.len() as u32 - 1;
            }
        }
    }
    Ok(Cut { block_of, has_pieces })
}

impl Load {
    fn new(ranks: usize) -> Self {
        Self { ops: vec![0; ranks], pieces: vec![0; ranks], lines: vec![0; ranks] }
    }

    fn plus(&self, other: &Self) -> Self {
        let sum =
            |a: &[u32], b: &[u32]| a.iter().zip(b).map(|(a, b)| a.saturating_add(*b)).collect();
        let lines = self.lines.iter().zip(&other.lines).map(|(a, b)| a + b).collect();
        Self { ops: sum(&self.ops, &other.ops), pieces: sum(&self.pieces, &other.pieces), lines }
    }

    fn is_empty(&self) -> bool {
        self.ops.iter().all(|&ops| ops == 0)
    }

    /// Returns true if a block has room for this.
    fn fits(&self, is_split: bool, lines_max: u64) -> bool {
        let ops = if is_split { &self.pieces } else { &self.ops };
        ops.iter().all(|&ops| ops as usize <= OPS_MAX)
            && self.lines.iter().all(|&lines| lines <= lines_max)
    }
}

/// The actions of all ranks, numbered one rank after the other. A send stands for its receive, too.
struct Nodes<'m> {
    graphs: Vec<&'m Graph>,
    /// The first action of each rank.
    firsts: Vec<u32>,
    /// The rank of each action.
    ranks: Vec<u8>,
    /// The send of a receive, and the receive of a send; [`NONE`] for others.
    partners: Vec<u32>,
    /// True for receives.
    are_receives: Vec<bool>,
}

/// Nodes that reach each other, in an order in which no component reaches an earlier one.
struct Components {
    members: Vec<u32>,
    /// The end of each component in `members`.
    ends: Vec<u32>,
    /// The component of each node.
    of: Vec<u32>,
}

impl<'m> Nodes<'m> {
    fn new(all: &'m [Messages], pairs: &[Vec<(u32, u32)>]) -> Self {
        let graphs: Vec<&Graph> = all.iter().map(|one| &one.graph).collect();
        let (mut firsts, mut ranks) = (Vec::new(), Vec::new());
        for (rank, graph) in (0..).zip(&graphs) {
            firsts.push(ranks.len() as u32);
            ranks.resize(ranks.len() + graph.len(), rank);
        }
        let (mut partners, mut are_receives) = (vec![NONE; ranks.len()], vec![false; ranks.len()]);
        for (rank, (one, pairs)) in all.iter().zip(pairs).enumerate() {
            for (message, &(sender, send)) in one.receives.iter().zip(pairs) {
                let receive = firsts[rank] + message.number;
                let send = firsts[sender as usize] + send;
                partners[send as usize] = receive;
                partners[receive as usize] = send;
                are_receives[receive as usize] = true;
            }
        }
        Self { graphs, firsts, ranks, partners, are_receives }
    }

    /// Returns the rank and the number of an action.
    fn place(&self, action: u32) -> (usize, u32) {
        let rank = usize::from(self.ranks[action as usize]);
        (rank, action - self.firsts[rank])
    }

    /// Returns the actions of a node: of a message the send, then the receive.
    fn actions_of(&self, node: u32) -> impl Iterator<Item = u32> {
        [node, self.partners[node as usize]].into_iter().filter(|&action| action != NONE)
    }

    /// Returns the dependent with the number `at` of a node; `None` if it has fewer.
    fn dependent(&self, node: u32, mut at: usize) -> Option<u32> {
        for action in self.actions_of(node) {
            let (rank, number) = self.place(action);
            let dependents = self.graphs[rank].dependents(number);
            match dependents.get(at) {
                Some(&dependent) => {
                    let dependent = self.firsts[rank] + dependent;
                    let is_receive = self.are_receives[dependent as usize];
                    return Some(match is_receive {
                        true => self.partners[dependent as usize],
                        false => dependent,
                    });
                }
                None => at -= dependents.len(),
            }
        }
        None
    }

    /// Adds the operations and the lines of a node.
    fn add_to(&self, load: &mut Load, node: u32, all: &[Messages], lines_of: fn(u64) -> u64) {
        for action in self.actions_of(node) {
            let (rank, number) = self.place(action);
            load.ops[rank] += 1;
            let pieces = all[rank].pieces[number as usize];
            load.pieces[rank] = load.pieces[rank].saturating_add(pieces);
        }
        if let Some(sent) = self.send(node, all) {
            load.lines[self.place(node).0] += lines_of(sent.bytes.into());
        }
    }

    /// Returns the message of a node, if it is one.
    fn send<'a>(&self, node: u32, all: &'a [Messages]) -> Option<&'a Message> {
        let (rank, number) = self.place(node);
        let sends = &all[rank].sends;
        sends.get(sends.binary_search_by_key(&number, |sent| sent.number).ok()?)
    }

    /// Returns the error that these nodes fit no block. It names the longest message, or the first
    /// one of a circle.
    fn refusal(
        &self,
        members: &[u32],
        load: &Load,
        all: &[Messages],
        lines_max: u64,
        lines_of: fn(u64) -> u64,
    ) -> Refusal {
        let sends = members.iter().filter_map(|&node| Some((node, self.send(node, all)?)));
        let refusal = |(node, sent): (u32, &Message), why: String| {
            sent.refused(self.place(node).0 as u32, Work::sent, why)
        };
        let bytes_max = (0..32).rev().fold(0, |bytes, bit| {
            let more = bytes | 1 << bit;
            if lines_of(more) <= lines_max { more } else { bytes }
        });
        if let Some(longest) = sends.clone().max_by_key(|(_, sent)| sent.bytes)
            && lines_of(longest.1.bytes.into()) > lines_max
        {
            return refusal(longest, format!("is longer than {bytes_max} bytes"));
        }
        let why = match load.fits(false, u64::MAX) {
            true => format!("a rank writes more than {bytes_max} bytes"),
            false => format!("a rank has more than {OPS_MAX} actions"),
        };
        let why = format!("is in a circle of waits between ranks in which {why}");
        match sends.min_by_key(|&(node, _)| node) {
            Some(first) => refusal(first, why),
            None => Refusal { rank: 0, action: None, why: why.into() },
        }
    }

    /// Returns the strongly connected components (Tarjan 1972), without recursion.
    fn components(&self) -> Components {
        const OPEN: u32 = u32::MAX - 1;
        let count = self.ranks.len();
        let (mut of, mut lows) = (vec![NONE; count], vec![0u32; count]);
        let (mut members, mut ends, mut open) = (Vec::new(), Vec::new(), Vec::new());
        let (mut path, mut visited) = (Vec::<(u32, u32, usize)>::new(), 0);
        for root in (0..count as u32).filter(|&node| !self.are_receives[node as usize]) {
            let mut next = (of[root as usize] == NONE).then_some(root);
            loop {
                if let Some(node) = next.take() {
                    (of[node as usize], lows[node as usize]) = (OPEN, visited);
                    open.push(node);
                    path.push((node, visited, 0));
                    visited += 1;
                }
                let Some((node, index, at)) = path.last_mut() else { break };
                let (node, index) = (*node, *index);
                if let Some(dependent) = self.dependent(node, *at) {
                    *at += 1;
                    match of[dependent as usize] {
                        NONE => next = Some(dependent),
                        OPEN => {
                            let low = lows[dependent as usize].min(lows[node as usize]);
                            lows[node as usize] = low;
                        }
                        _ => {}
                    }
                    continue;
                }
                path.pop();
                let low = lows[node as usize];
                if let Some(&(before, ..)) = path.last() {
                    lows[before as usize] = low.min(lows[before as usize]);
                }
                if low == index {
                    let from = open.iter().rposition(|&other| other == node).unwrap_or(0);
                    for member in open.drain(from..) {
                        of[member as usize] = ends.len() as u32;
                        members.push(member);
                    }
                    ends.push(members.len() as u32);
                }
            }
        }
        // Tarjan finds a component after all that it reaches.
        Components { members, ends, of }
    }
}

impl Components {
    fn members(&self, component: usize) -> &[u32] {
        let start = if component == 0 { 0 } else { self.ends[component - 1] };
        &self.members[start as usize..self.ends[component] as usize]
    }

    /// Returns the components in the order of their levels. Components of one level come in the
    /// order of their first actions.
    fn in_order(&self, nodes: &Nodes<'_>) -> impl Iterator<Item = &[u32]> {
        let mut levels = vec![0u32; self.ends.len()];
        for component in (0..self.ends.len()).rev() {
            for &node in self.members(component) {
                let dependents = (0..).map_while(|at| nodes.dependent(node, at));
                for other in dependents.map(|dependent| self.of[dependent as usize] as usize) {
                    if other != component {
                        levels[other] = levels[other].max(levels[component] + 1);
                    }
                }
            }
        }
        let first = |component: usize| {
            let places = self.members(component).iter().map(|&node| (nodes.place(node).1, node));
            places.min().unwrap_or_default()
        };
        let mut order: Vec<usize> = (0..self.ends.len()).collect();
        order.sort_by_cached_key(|&component| (levels[component], first(component)));
        order.into_iter().map(|component| self.members(component))
    }
}
