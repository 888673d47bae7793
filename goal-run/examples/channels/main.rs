//! Runs a schedule over a fabric of its own: the messages between nodes travel through queues
//! between threads.
//!
//! `cargo run -p goal-run --example channels` runs an exchange of numbers on four ranks, which are
//! threads of this process on two simulated nodes. A fabric over a real network differs in its
//! treatment of the bytes, and in its descriptors. A process of `mpirun` has one rank. It brings
//! its fabric by `attach_among_over` or, for a schedule, by `joined_rank_over` as here.

mod fabric;
mod nodes;

use fabric::Channels;
use goal_asm::{EncodeOptions, Nisa, encode};
use goal_lang::{ParseOptions, SourceMap, parse};
use goal_run::verify::verify;
use std::sync::Arc;

/// Each rank sends its number to the next one.
const RING: &str = "
    num_ranks 4
    rank 0 { init 0 = Int32 10  send 0,4 to 1  recv 4,4 from 3 }
    rank 1 { init 0 = Int32 11  send 0,4 to 2  recv 4,4 from 0 }
    rank 2 { init 0 = Int32 12  send 0,4 to 3  recv 4,4 from 1 }
    rank 3 { init 0 = Int32 13  send 0,4 to 0  recv 4,4 from 2 }";

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut sources = SourceMap::default();
    sources.add("ring.goal", Arc::new(RING.as_bytes().to_vec()));
    let program = parse(&sources, &ParseOptions::default()).program.ok_or("it is no program")?;
    let mut bytes = Vec::new();
    encode(&program, &EncodeOptions::default(), None, &mut bytes)?;
    let nisa = Arc::new(Nisa::load(Arc::new(bytes), &Default::default())?);
    let outcome = nodes::run(&nisa, &["a", "a", "b", "b"], Channels::group(4))?;
    let verified = verify(&outcome).map_err(|difference| difference.to_string())?;
    println!("{} bytes of memory are as the interpreter has them", verified.memory_bytes);
    Ok(())
}
