//! Collectives on many ranks, which state their expected results. They are written as text line by
//! line, and not by goal-collectives: figures of earlier runs are for these bytes.

use std::io::{self, Write};

/// Writes an allreduce of 1, 2, ... over the ranks by dissemination (paper, section IV.B, with n =
/// 1). The message of each round has its own place in scratch memory. It is added when the round's
/// send no longer reads the sum.
pub(super) fn dissemination(out: &mut impl Write, rank: u32, ranks: u32) -> io::Result<()> {
    let count = u64::from(ranks);
    writeln!(out, "init 0 = Int64 {}", u64::from(rank) + 1)?;
    writeln!(out, "expect 0 = Int64 {}", count * (count + 1) / 2)?;
    let rounds = ranks.ilog2();
    if rounds > 0 {
        writeln!(out, "scratch {}", 8 * rounds)?;
    }
    for round in 0..rounds {
        let (distance, place) = (1 << round, 8 * round);
        let (to, from) = ((rank + distance) % ranks, (rank + ranks - distance) % ranks);
        writeln!(out, "r{round}: recv @{place},8 from {from} tag {round}")?;
        writeln!(out, "s{round}: send 0,8 to {to} tag {round}")?;
        if round > 0 {
            writeln!(out, "s{round} requires e{}", round - 1)?;
        }
        writeln!(out, "e{round}: exec sumInt64 with @{place},8 0,8")?;
        writeln!(out, "e{round} requires r{round}")?;
        writeln!(out, "e{round} requires s{round}")?;
    }
    Ok(())
}

/// Writes a broadcast of eight bytes from rank 0. A rank that has the bytes sends them to the ranks
/// 2^k above it, the farthest first. The exponent `k` takes all values below the lowest set bit of
/// the rank's own number.
pub(super) fn binomial(out: &mut impl Write, rank: u32, ranks: u32) -> io::Result<()> {
    let low = if rank == 0 { ranks.next_power_of_two() } else { rank & rank.wrapping_neg() };
    if rank == 0 {
        writeln!(out, "init 0 = Int64 42")?;
    } else {
        writeln!(out, "expect 0 = Int64 42")?;
        writeln!(out, "r: recv 0,8 from {} tag 0", rank - low)?;
    }
    for bit in (0..low.ilog2()).rev() {
        let to = u64::from(rank) + (1 << bit);
        if to < u64::from(ranks) {
            writeln!(out, "s{bit}: send 0,8 to {to} tag 0")?;
            if rank > 0 {
                writeln!(out, "s{bit} requires r")?;
            }
        }
    }
    Ok(())
}
