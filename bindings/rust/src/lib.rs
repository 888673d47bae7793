//! Runs group communication operations of a program beside its computation. A program builds the
//! dependency graph of an operation, compiles it to a schedule, and runs it on all ranks of a
//! group.
//!
//! A program with this crate is started by `goal-run -n 4 ./program`, on one host or on several.
//! Without a launcher it is a group of one. The following program is complete. It builds the graph
//! of a prefix sum along a chain of ranks, and then runs an allreduce by the best known algorithm.
//!
//! ```
//! use goal::{Arguments, CollectiveKind, Group, Op};
//!
//! fn main() -> goal::Result<()> {
//!     let group = Group::init()?;
//!     let (rank, size) = (group.rank(), group.size());
//!
//!     // Each rank adds its number to the sum of the ranks before it, and passes it on.
//!     let own = group.buffer(&[f64::from(rank)])?;
//!     let sum = group.zeros::<f64>(1)?;
//!     let mut graph = group.graph();
//!     graph.allocate_scratch(8);
//!     let passed = goal::scratch(0, 8);
//!     let ready = if rank == 0 {
//!         graph.copy(&own, &sum)?
//!     } else {
//!         let got = graph.recv(passed, rank - 1, 0)?;
//!         let added = graph.combine(Op::Sum, passed, &own, &sum)?;
//!         graph.requires(got, added)?;
//!         added
//!     };
//!     if rank + 1 < size {
//!         let send = graph.send(&sum, rank + 1, 0)?;
//!         graph.requires(ready, send)?;
//!     }
//!     let prefix = graph.compile()?;
//!
//!     let run = prefix.run()?;
//!     // The program computes here.
//!     run.wait()?;
//!     let wanted: f64 = (0..=rank).map(f64::from).sum();
//!     assert_eq!(sum.read()?[0], wanted);
//!
//!     // The sum of all ranks' numbers. A schedule can run any number of times.
//!     let total = group.zeros::<f64>(1)?;
//!     let allreduce = group.collective(group.world(), &Arguments {
//!         kind: CollectiveKind::Allreduce,
//!         count: 1,
//!         op: Op::Sum,
//!         root: 0,
//!         input: Some(&own),
//!         output: Some(&total),
//!     })?;
//!     for _ in 0..3 {
//!         allreduce.run()?.wait()?;
//!     }
//!     println!("rank {rank} of {size}: {} of {}", sum.read()?[0], total.read()?[0]);
//!     group.finalize()
//! }
//! ```
//!
//! - [`Group`]: the ranks that this process belongs to; [`Communicator`]: some of them.
//! - [`Buffer`]: elements that peers of the host read in place. While a run uses a buffer, it can't
//!   be changed.
//! - [`Graph`]: sends, receives and local operations, and the dependencies between them;
//!   [`Schedule`]: a compiled graph; [`Run`]: one run of a schedule, which is a [`Future`] too.
//! - [`growth`]: ranks that join and leave while the group runs.
//! - [`raw`]: the layer below, on any memory of the process. Bindings to other languages use it.
//!
//! All types may be used from any thread. All ranks of a communicator must start its schedules in
//! the same order, as with MPI's collectives. So two threads that start schedules on one
//! communicator have to agree on the order.

mod biased;
mod boards;
mod buffer;
mod collective;
mod communicator;
mod compile;
mod departed;
mod error;
mod exchange;
mod file;
mod graph;
mod group;
pub mod growth;
mod heap;
mod idle;
mod join_message;
mod kept;
mod linkable;
mod links;
mod offload;
mod prepare;
mod process;
mod progress;
pub mod raw;
mod recent;
mod report;
mod returned;
mod rotation;
mod safe;
mod shared;
mod slots;
mod survivors;
mod table;
mod thread;
mod waiting;

pub use buffer::{Buffer, Element, Read, Slice, Write};
pub use collective::{Collective, Persistent};
pub use communicator::Communicator;
pub use error::{Error, ErrorCode, Result};
pub use goal_collectives::Blocks;
pub use goal_job::{Mode, Named};
pub use goal_lang::{ANY, BlockList, CollectiveKind, Datatype, Function, Neighbors, Op};
pub use graph::Vertex;
pub use group::Group;
pub use safe::{Arguments, Graph, Run, Schedule, scratch};
pub use thread::IdleFunction;
