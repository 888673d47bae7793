//! Models of time: what a GOAL program costs on a LogGOPS machine (Hoefler, Schneider, Lumsdaine:
//! LogGOPSim, 2010).

mod channels;
pub mod machine;
mod matching;
pub mod model;
pub mod path;
pub mod peers;
mod radix;
mod source;
pub mod symmetry;
mod workload;

pub use source::{Actions, Source};
pub use workload::{Kind, Record, TooLarge, Workload, WorkloadBuilder};
