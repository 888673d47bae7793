//! The collectives of a program, put together from the statements of their members.

mod findings;
mod gathering;
mod instance;
mod stated;
#[cfg(test)]
mod tests;

pub use gathering::instances;
pub use instance::{CollectiveInstance, CollectiveSize, Instances, Member, StatedMessage};
