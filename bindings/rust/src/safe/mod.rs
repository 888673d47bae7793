//! The safe interface: graphs, schedules and runs on buffers that are guarded while a run uses
//! them.

mod graph;
mod group;
mod memories;
mod run;
mod schedule;

pub use graph::{Graph, scratch};
pub use group::Arguments;
pub use run::Run;
pub use schedule::Schedule;
