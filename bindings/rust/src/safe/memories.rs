//! The memory of schedules, which runs take.

use crate::buffer::Memory;
use std::sync::Arc;

/// The memory of a schedule: each with true if an action writes it.
pub(super) type Memories = Vec<(Arc<Memory>, bool)>;

/// Adds memory that an action uses.
pub(super) fn note(memories: &mut Memories, memory: Option<&Arc<Memory>>, writes: bool) {
    let Some(memory) = memory else { return };
    match memories.iter_mut().find(|(known, _)| Arc::ptr_eq(known, memory)) {
        Some((_, known)) => *known |= writes,
        None => memories.push((Arc::clone(memory), writes)),
    }
}

/// Gives back what a run has taken.
pub(super) fn release(memories: &[(Arc<Memory>, bool)]) {
    memories.iter().for_each(|(memory, writes)| memory.release(*writes));
}
