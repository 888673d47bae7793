//! Executes GOAL schedules on one rank: the paper's Listing 1 over verified NISA, the binary form
//! of schedules.
//!
//! An [`Engine`] starts any number of instances of schedules, and makes progress whenever it is
//! polled. It does no IO, makes no system call and reads no clock: its caller hands in memory,
//! time, random numbers and a [`Transport`](transport::Transport). It never reads GOAL text. It
//! refuses to guess: if a message and its receive differ in size, the engine fails with an error
//! that names both ends.
//!
//! Two ranks in one process that add up their numbers:
//!
//! ```
//! use goal_asm::{EncodeOptions, Nisa, encode};
//! use goal_engine::memory::Zeroed;
//! use goal_engine::transport::InMemory;
//! use goal_engine::{Engine, Options, Schedule, Seed, Storage, WORLD, state_bytes};
//! use goal_lang::{ParseOptions, SourceMap, parse};
//! use std::sync::Arc;
//!
//! // Each rank sends its number at address 0, and adds the one that it receives to it.
//! let text = "
//!     num_ranks 2
//!     rank 0 { s: send 0,4 to 1   r: recv 4,4 from 1   x: exec sumInt32 with 4,4 0,4
//!              x requires s     x requires r }
//!     rank 1 { s: send 0,4 to 0   r: recv 4,4 from 0   x: exec sumInt32 with 4,4 0,4
//!              x requires s     x requires r }";
//! let mut sources = SourceMap::default();
//! sources.add("allreduce.goal", Arc::new(text.as_bytes().to_vec()));
//! let program = parse(&sources, &ParseOptions::default()).program.expect("a valid program");
//! let mut bytes = Vec::new();
//! encode(&program, &EncodeOptions::default(), None, &mut bytes)?;
//! let nisa = Arc::new(Nisa::load(Arc::new(bytes), &Default::default())?);
//!
//! let mut ranks = Vec::new();
//! for (rank, transport) in (0..).zip(InMemory::group(2)) {
//!     let schedule = Arc::new(Schedule::new(Arc::clone(&nisa), rank, Seed::default()));
//!     let mut storage = Storage::new(&schedule);
//!     storage.memory_mut()[..4].copy_from_slice(&(rank as i32 + 20).to_le_bytes());
//!     // Address space for its state: only the pages that are used take memory.
//!     let state = Zeroed::new(state_bytes(Options::UNEXPECTED_LIMIT) as usize);
//!     let mut engine = Engine::new(rank, transport, Options::default(), state);
//!     let handle = engine.start(&schedule, WORLD, storage);
//!     ranks.push((engine, handle));
//! }
//! while !ranks.iter().all(|(engine, handle)| engine.test(handle)) {
//!     for (engine, _) in &mut ranks {
//!         engine.poll(0)?; // The time matters only to `calc` and `wtime`.
//!     }
//! }
//! for (mut engine, handle) in ranks {
//!     assert_eq!(engine.finish(handle).memory()[..4], 41i32.to_le_bytes());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(doctest)]
mod compile_fail;
mod engine;
mod heap;
pub mod linked;
mod matching;
pub mod memory;
mod ops;
mod seed;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod trace;
pub mod transport;

pub use engine::*;
pub use ops::{InstructionSet, combine};
pub use seed::Seed;
