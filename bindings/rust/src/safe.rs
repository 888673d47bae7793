//! Graphs, schedules and runs of the safe interface.

mod graph;
mod group;
mod memories;
mod run;
mod schedule;

pub use graph::{Graph, scratch};
pub use group::Arguments;
pub use run::Run;
pub use schedule::Schedule;
