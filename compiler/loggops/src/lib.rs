//! Models of time: what a GOAL program costs on a LogGOPS machine (Hoefler, Schneider, Lumsdaine:
//! LogGOPSim, 2010).

mod channels;
mod heaps;
pub mod machine;
mod matching;
pub mod model;
mod pairs;
pub mod path;
pub mod peers;
mod radix;
pub mod symmetry;
mod workload;

pub use workload::{Kind, Record, TooLarge, Workload, WorkloadBuilder};
