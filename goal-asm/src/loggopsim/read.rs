//! A LogGOPSim binary as a program.

use super::{ENTRY_SIZE, HEADER_SIZE, MAGIC, ORIGIN, node};
use goal_lang::limits::Limits;
use goal_lang::{
    ANY, Action, ActionId, Body, BodyBuilder, Cycle, Payload, Placement, Program, ProgramBuilder,
    topological_order,
};
use std::ops::Range;

/// Why bytes are not a LogGOPSim binary that can be used.
#[derive(Debug, thiserror::Error)]
#[error("{message} (at byte {offset:#x} of the file)")]
pub struct ReadError {
    message: String,
    offset: u64,
}

type Result<T> = std::result::Result<T, ReadError>;

fn error<T>(offset: usize, message: impl Into<String>) -> Result<T> {
    Err(ReadError { message: message.into(), offset: offset as u64 })
}

/// Reads a LogGOPSim binary: every offset and count is checked, and nothing is allocated that the file doesn't hold.
///
/// # Errors
/// Where the file is cut short, an index, a peer, a type or a count is wrong, or operations wait for each other.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Program> {
    let file = File(bytes);
    if bytes.len() < HEADER_SIZE || file.u64(0) != MAGIC {
        return error(0, "this is not a LogGOPSim binary");
    }
    let ranks = file.u32(8);
    if ranks > limits.ranks_max {
        return error(8, format!("{ranks} ranks, and the limit is {} (--max-ranks)", limits.ranks_max));
    }
    let table_end = HEADER_SIZE as u64 + ENTRY_SIZE as u64 * u64::from(ranks);
    if table_end > bytes.len() as u64 {
        return error(8, format!("the file is too short for {ranks} ranks"));
    }
    let mut program = ProgramBuilder::default();
    // Where the last rank ended: ranks lie one behind the other, so that no byte is read for two of them.
    let mut before = table_end;
    for rank in 0..ranks {
        let entry = HEADER_SIZE + ENTRY_SIZE * rank as usize;
        let range = [file.u64(entry), file.u64(entry + 8)].map(|offset| offset.saturating_add(ORIGIN as u64));
        if range[0] < before || range[1] < range[0] || range[1] > bytes.len() as u64 {
            return error(
                entry,
                format!(
                    "rank {rank} lies at bytes {} to {}, out of order or outside the file",
                    range[0], range[1]
                ),
            );
        }
        before = range[1];
        program.rank_with(RankReader { file, rank, ranks }.body(range[0] as usize..range[1] as usize)?);
    }
    Ok(program.finish())
}

#[derive(Clone, Copy)]
struct File<'a>(&'a [u8]);

impl File<'_> {
    fn u32(self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().expect("four bytes"))
    }

    fn u64(self, at: usize) -> u64 {
        u64::from_le_bytes(self.0[at..at + 8].try_into().expect("eight bytes"))
    }
}

struct RankReader<'a> {
    file: File<'a>,
    rank: u32,
    ranks: u32,
}

impl RankReader<'_> {
    fn body(&self, range: Range<usize>) -> Result<Body> {
        let rank = self.rank;
        if range.len() < 8 {
            return error(range.start, format!("rank {rank} has no room for its counts"));
        }
        let (nodes, roots) = (self.file.u32(range.start), self.file.u32(range.start + 4));
        let first_node = range.start as u64 + 8 + 4 * u64::from(roots);
        let appendix = first_node + node::LENGTH as u64 * u64::from(nodes);
        if appendix > range.end as u64 || !(range.end as u64 - appendix).is_multiple_of(4) {
            return error(range.start, format!("{nodes} operations and {roots} roots don't fit rank {rank}"));
        }
        let (first_node, appendix) = (first_node as usize, appendix as usize);
        let mut builder = BodyBuilder::default();
        let mut stated = Vec::with_capacity(nodes as usize);
        for i in 0..nodes as usize {
            let at = first_node + node::LENGTH * i;
            stated.push(self.file.u32(at + node::DEPENDENCIES.start));
            builder.action(self.action(at)?);
        }
        let mut edges_left = (range.end - appendix) / 4;
        for i in 0..nodes as usize {
            let at = first_node + node::LENGTH * i;
            let prerequisite = ActionId::new(i);
            for (count, first, start) in [
                (node::DEPENDENTS, node::FIRST_DEPENDENT, false),
                (node::START_DEPENDENTS, node::FIRST_START_DEPENDENT, true),
            ] {
                let (len, index) =
                    (self.file.u32(at + count.start) as usize, self.file.u32(at + first.start) as usize);
                if len == 0 {
                    continue;
                }
                if len > edges_left || index + len > (range.end - appendix) / 4 {
                    return error(
                        at + count.start,
                        format!("dependents {index} to {} lie outside the appendix", index + len),
                    );
                }
                edges_left -= len;
                for j in index..index + len {
                    let at = appendix + 4 * j;
                    let waiter = self.file.u32(at);
                    if waiter >= nodes {
                        return error(at, format!("there is no operation {waiter} in rank {rank}"));
                    }
                    let waiting = &mut stated[waiter as usize];
                    let Some(rest) = waiting.checked_sub(1) else {
                        return error(
                            at,
                            format!("operation {waiter} of rank {rank} has more dependencies than it says"),
                        );
                    };
                    *waiting = rest;
                    match start {
                        false => builder.requires(ActionId(waiter), prerequisite),
                        true => builder.irequires(ActionId(waiter), prerequisite),
                    }
                }
            }
        }
        if let Some(i) = stated.iter().position(|&missing| missing > 0) {
            let at = first_node + node::LENGTH * i;
            return error(at, format!("operation {i} of rank {rank} has fewer dependencies than it says"));
        }
        let body = builder.finish();
        self.check_roots(&body, range.start + 8, roots)?;
        match topological_order(&body) {
            Ok(_) => Ok(body),
            Err(Cycle(path)) => {
                let at = first_node + node::LENGTH * path[0].index();
                error(at, format!("operations of rank {rank} wait for each other, {} in all", path.len()))
            }
        }
    }

    /// The roots, in any order.
    fn check_roots(&self, body: &Body, at: usize, roots: u32) -> Result<()> {
        let rank = self.rank;
        let mut is_root: Vec<bool> = body.indegrees().iter().map(|&indegree| indegree == 0).collect();
        for i in 0..roots as usize {
            let root = self.file.u32(at + 4 * i);
            match is_root.get_mut(root as usize) {
                Some(waiting) if *waiting => *waiting = false,
                _ => {
                    return error(
                        at + 4 * i,
                        format!("operation {root} of rank {rank} is no root, or listed twice"),
                    );
                }
            }
        }
        match is_root.iter().position(|&missing| missing) {
            Some(i) => error(
                at,
                format!("operation {i} of rank {rank} waits for nothing and is not among the roots"),
            ),
            None => Ok(()),
        }
    }

    fn action(&self, at: usize) -> Result<Action> {
        let bytes = self.file.0;
        let peer = self.file.u32(at + node::PEER.start);
        let size = self.file.u64(at + node::BYTES.start);
        let tag = self.file.u32(at + node::TAG.start);
        let placement = Placement { cpu: bytes[at + node::CPU], nic: bytes[at + node::NIC] };
        let payload = Payload::Pattern { size };
        let known = peer < self.ranks;
        match bytes[at + node::TYPE] {
            node::SEND if !known => {
                error(at + node::PEER.start, format!("there is no rank {peer} among {}", self.ranks))
            }
            node::SEND if tag == ANY => error(at + node::TAG.start, "a send needs a tag"),
            node::SEND => Ok(Action::Send { payload, to: peer, tag, placement }),
            node::RECV if !known && peer != ANY => {
                error(at + node::PEER.start, format!("there is no rank {peer} among {}", self.ranks))
            }
            node::RECV => Ok(Action::Recv { payload, from: peer, tag, placement }),
            node::CALC => Ok(Action::Calc { nanos: size, placement }),
            other => error(at + node::TYPE, format!("there is no type of operation {other}")),
        }
    }
}
