//! Translates a schedule for the engine in the kernel.
//!
//! An action becomes one or more of the engine's actions. Each of these is an operation, a send or
//! both.
//!
//! - **Pieces.** A message that is gathered or scattered is copied piece by piece.
//! - **Portions.** A message of the engine has a limited number of frames. A longer message is sent
//!   in portions, each a message of the engine. The receive waits for all portions.
//! - **Starts.** If other actions wait for the start of a receive, it begins with an action that
//!   does nothing. The same holds for computations, the time, and functions of the program. Any
//!   other action counts as started once the first of its engine's actions has ended.
//! - **Fallback operations.** The engine hands some actions over to the rank's process, because the
//!   kernel can't do them, or not in time. These are long operations on floating-point numbers,
//!   computations, the time, and functions of the program.
//!
//! The memory of a part has these areas in order: the rank's memory, scratch memory, the bytes of
//! patterns, gathered operands, and an area that exists twice. This last area has the places where
//! messages land, and the bytes that sends keep. One copy serves even runs, the other odd runs.

mod builder;
mod image;
mod matched;
mod messages;

use crate::analysis::{acks, numbers, refused, touched};
use crate::graph::{Abilities, Graph, Node, Work};
use crate::image::PartImage;
use crate::limits::{ACTIONS_MAX, FRAGMENT_BYTES_MAX, PART_BYTES, PEERS_MAX};
use crate::matching::{Match, matching};
use crate::reason::{ActionRefusal, Reason};
use builder::Builder;
use goal_asm::Nisa;
use matched::Matched;
use std::ops::Range;

/// A message of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The rank that sends it, and the number of the send in the rank's section.
    pub send: (u32, u32),
    /// The rank that receives it, and the number of the receive in the rank's section.
    pub receive: (u32, u32),
    /// The number of the message among all messages from its sender to its receiver.
    pub sequence: u64,
}

/// A schedule of all ranks that the kernel can execute.
#[derive(Debug)]
pub struct Plan(Matched);

impl Plan {
    /// Translates a schedule. A frame has at most `fragment` bytes of payload: a multiple of 8 that
    /// all hosts of the job agree on.
    ///
    /// # Errors
    /// Every action that the kernel cannot execute.
    ///
    /// # Panics
    /// If `fragment` is not a multiple of 8 between 8 and 8192.
    pub fn of(nisa: &Nisa, fragment: u32) -> Result<Self, Vec<ActionRefusal>> {
        Self::with(nisa, fragment, Abilities::default())
    }

    /// Translates a schedule as [`Plan::of`] does, for processes with the given abilities.
    ///
    /// # Errors
    /// Every action that the kernel cannot execute.
    ///
    /// # Panics
    /// If `fragment` is not a multiple of 8 between 8 and 8192.
    pub fn with(
        nisa: &Nisa,
        fragment: u32,
        abilities: Abilities,
    ) -> Result<Self, Vec<ActionRefusal>> {
        assert!(
            fragment.is_multiple_of(8) && (8..=FRAGMENT_BYTES_MAX).contains(&fragment),
            "fragments of {fragment} bytes"
        );
        let ranks = nisa.num_ranks();
        if ranks > PEERS_MAX {
            let reason = Reason::ManyRanks(ranks);
            return Err(vec![ActionRefusal { rank: 0, action: None, line: None, reason }]);
        }
        let graphs: Vec<Graph> = (0..ranks).map(|rank| Graph::of(nisa, rank, abilities)).collect();
        // The limits on actions and bytes are checked first. The analyses take time and memory for
        // each action, and their sums of sizes must not wrap.
        let long = graphs.iter().enumerate().filter_map(|(rank, graph)| {
            let (count, bytes) = (graph.nodes.len(), graph.memory.max(graph.scratch));
            let reason = match () {
                () if count > ACTIONS_MAX as usize => Reason::ManyActions(count as u64),
                () if bytes > PART_BYTES.into() => Reason::ManyBytes(bytes),
                () => return None,
            };
            Some(ActionRefusal { rank: rank as u32, action: None, line: None, reason })
        });
        let long: Vec<ActionRefusal> = long.collect();
        if !long.is_empty() {
            return Err(long);
        }
        let refusal = |(rank, action, reason): (u32, u32, Reason)| ActionRefusal {
            rank,
            action: Some(action),
            line: nisa.debug(rank).line(action as usize),
            reason,
        };
        let refusals: Vec<ActionRefusal> = refused(&graphs).into_iter().map(refusal).collect();
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let matching = matching(&graphs)
            .map_err(|misfits| misfits.into_iter().map(refusal).collect::<Vec<_>>())?;
        let numbers = numbers(&graphs, &matching, fragment);
        let acks = acks(&graphs, &matching);
        let plan = Self(Matched { graphs, matching, numbers, acks, fragment });
        let parts = (0..ranks).filter_map(|rank| {
            let reason = plan.build(rank).err()?;
            Some(ActionRefusal { rank, action: None, line: None, reason })
        });
        let refusals: Vec<ActionRefusal> = parts.collect();
        if refusals.is_empty() { Ok(plan) } else { Err(refusals) }
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> u32 {
        self.0.graphs.len() as u32
    }

    /// Returns the most bytes of payload of a frame.
    pub fn fragment(&self) -> u32 {
        self.0.fragment
    }

    /// Returns the messages of a run, each with the send and the receive that were matched.
    pub fn messages(&self) -> impl Iterator<Item = Message> {
        let of_rank = |(rank, graph): (usize, &'_ Graph)| {
            let matches = self.0.matching.matches[rank].iter();
            let sends = graph.nodes.iter().zip(matches).enumerate();
            let message = |(action, (node, other)): (usize, (&Node, &Option<Match>))| {
                let Work::Send { .. } = node.work else { return None };
                let Match { rank: to, action: receive, key } = (*other)?;
                let send = (rank as u32, action as u32);
                Some(Message { send, receive: (to, receive), sequence: key.sequence })
            };
            sends.filter_map(message).collect::<Vec<_>>()
        };
        self.0.graphs.iter().enumerate().flat_map(of_rank)
    }

    /// Returns three lists of bytes of a rank's memory: bytes that its actions read, bytes that
    /// they write, and bytes that functions of the program may write in addition. Each list is
    /// ascending, and its ranges have gaps between them.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn touched(&self, rank: u32) -> [Vec<Range<u64>>; 3] {
        touched(&self.0.graphs[rank as usize])
    }

    /// Returns the part of a rank.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn part(&self, rank: u32) -> PartImage {
        self.build(rank).expect("the limits were checked")
    }

    fn build(&self, rank: u32) -> Result<PartImage, Reason> {
        let mut builder = Builder::new(&self.0, rank);
        builder.actions();
        builder.acknowledgements();
        builder.image()
    }
}
