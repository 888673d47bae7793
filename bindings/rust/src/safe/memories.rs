//! Lists the buffers of a schedule. A run acquires them at its start and releases them at its end.

use crate::buffer::Memory;
use std::sync::Arc;

/// The buffers of a schedule, each with true if an action writes to it.
pub(super) type Memories = Vec<(Arc<Memory>, bool)>;

/// Adds the memory that an action uses to the list. `writes` is true if the action writes to it.
pub(super) fn note(memories: &mut Memories, memory: Option<&Arc<Memory>>, writes: bool) {
    let Some(memory) = memory else { return };
    match memories.iter_mut().find(|(known, _)| Arc::ptr_eq(known, memory)) {
        Some((_, known)) => *known |= writes,
        None => memories.push((Arc::clone(memory), writes)),
    }
}

/// Releases the buffers that a run has acquired.
pub(super) fn release(memories: &[(Arc<Memory>, bool)]) {
    memories.iter().for_each(|(memory, writes)| memory.release(*writes));
}
