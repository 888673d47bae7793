//! All ranks of a program together: one numbering of their actions, their abstract execution, and
//! the order of their events.

mod body_order;
mod channels;
mod events;
mod room;
mod run;
#[cfg(test)]
mod tests;
mod unique;
mod vertices;

pub use body_order::BodyOrder;
pub use events::{Event, Ordered, event_graph};
pub use room::Room;
pub use run::{Run, Trace, Turn};
pub use unique::{UniqueMatches, unique_partners};
pub use vertices::{TooLarge, Vertex, Whole};
