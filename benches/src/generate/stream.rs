//! Patterns that stress the number of messages.

use std::io::{self, Write};

/// Sends each block of 8 bytes to its rank, to its place behind all blocks to send.
pub(super) fn alltoall(
    out: &mut impl Write,
    rank: u32,
    ranks: u32,
    memory: bool,
) -> io::Result<()> {
    for distance in 1..ranks {
        let label = 2 * distance;
        let (to, from) = ((rank + distance) % ranks, (rank + ranks - distance) % ranks);
        if memory {
            let stored = 8 * (u64::from(ranks) + u64::from(from));
            writeln!(out, "l{}: send {},8 to {to} tag 0", label - 1, 8 * u64::from(to))?;
            writeln!(out, "l{label}: recv {stored},8 from {from} tag 0")?;
        } else {
            writeln!(out, "l{}: send 8b to {to} tag 0", label - 1)?;
            writeln!(out, "l{label}: recv 8b from {from} tag 0")?;
        }
    }
    Ok(())
}

/// Writes a pipeline around a ring: segments of 4096 bytes pass every rank from rank 0 on and come
/// back to it. Rank 0 stores them behind the bytes that it sends. With `memory`, each segment has a
/// tag of its own: receives start in any order, and would otherwise take each other's segments.
pub(super) fn ring(
    out: &mut impl Write,
    rank: u32,
    ranks: u32,
    messages: u32,
    memory: bool,
) -> io::Result<()> {
    let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    for message in 0..u64::from(messages) {
        let recv = 2 * message + 1;
        let send = recv + 1;
        if memory {
            let stored = if rank == 0 { u64::from(messages) + message } else { message };
            writeln!(out, "l{recv}: recv {},4096 from {before} tag {message}", 4096 * stored)?;
            writeln!(out, "l{send}: send {},4096 to {next} tag {message}", 4096 * message)?;
        } else {
            writeln!(out, "l{recv}: recv 4096b from {before} tag 0")?;
            writeln!(out, "l{send}: send 4096b to {next} tag 0")?;
        }
        if rank > 0 {
            writeln!(out, "l{send} requires l{recv}")?;
        }
        if message > 0 {
            writeln!(out, "l{send} requires l{}", send - 2)?;
        }
    }
    Ok(())
}

/// Blocks of planes that each wavefront is cut into.
const BLOCKS: u32 = 20;

/// Eight wavefronts, two from each corner: a block is computed when those of both neighbours before
/// it are there and its own last one is done.
pub(super) fn sweep(out: &mut impl Write, rank: u32, side: u32) -> io::Result<()> {
    let (x, y) = (rank % side, rank / side);
    let neighbour = |x: Option<u32>, y: Option<u32>| match (x, y) {
        (Some(x), Some(y)) if x < side && y < side => Some(y * side + x),
        _ => None,
    };
    for octant in 0..8 {
        let (right, down) = (octant & 1 == 0, octant & 2 == 0);
        let step = |at: u32, forward: bool| if forward { Some(at + 1) } else { at.checked_sub(1) };
        let from = [neighbour(step(x, !right), Some(y)), neighbour(Some(x), step(y, !down))];
        let to = [neighbour(step(x, right), Some(y)), neighbour(Some(x), step(y, down))];
        for block in 0..BLOCKS {
            let at = octant * BLOCKS + block;
            writeln!(out, "c{at}: calc 1000")?;
            if at > 0 {
                writeln!(out, "c{at} requires c{}", at - 1)?;
            }
            for (direction, from) in from.iter().enumerate() {
                if let Some(from) = from {
                    writeln!(out, "r{at}_{direction}: recv 1200b from {from} tag {at}")?;
                    writeln!(out, "c{at} requires r{at}_{direction}")?;
                }
            }
            for (direction, to) in to.iter().enumerate() {
                if let Some(to) = to {
                    writeln!(out, "s{at}_{direction}: send 1200b to {to} tag {at}")?;
                    writeln!(out, "s{at}_{direction} requires c{at}")?;
                }
            }
        }
    }
    Ok(())
}
