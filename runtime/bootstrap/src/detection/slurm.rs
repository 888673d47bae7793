//! Reads the variables of a Slurm job step.
//!
//! Threat: see `environment.rs`. A list of tasks per node is read only up to this node, with
//! checked sums and without an allocation.

use super::environment::{Environment, Number, invalid};
use crate::error::Error;

const TASKS_PER_NODE: &str = "SLURM_STEP_TASKS_PER_NODE";

/// Returns the number of tasks of the step. In a task, `SLURM_NTASKS` is the number of tasks of the
/// step; in a batch script it is that of the whole job.
pub(super) fn size(env: &Environment<'_>) -> Result<Option<Number>, Error> {
    match env.number("SLURM_STEP_NUM_TASKS")? {
        Some(size) => Ok(Some(size)),
        None => env.number("SLURM_NTASKS"),
    }
}

/// Returns the number of this task among the step's tasks on its node.
pub(super) fn local_rank(env: &Environment<'_>) -> Result<Option<Number>, Error> {
    env.number("SLURM_LOCALID")
}

/// Returns the number of the step's tasks on this node.
pub(super) fn local_size(env: &Environment<'_>) -> Result<Option<Number>, Error> {
    let (Some(list), Some(node)) = (env.text(TASKS_PER_NODE), env.number("SLURM_NODEID")?) else {
        return Ok(None);
    };
    let expected = "a list of tasks per node with an entry for the node SLURM_NODEID, like 4(x2),3";
    let tasks = tasks_of_node(&list, node.value);
    let value = tasks.ok_or_else(|| invalid(TASKS_PER_NODE, list.as_bytes(), expected))?;
    Ok(Some(Number { name: TASKS_PER_NODE, value }))
}

/// Reads a list like `4(x2),3`: four tasks on each of two nodes, then three on one. Returns the
/// number of tasks on `node`. Returns `None` if the list is malformed up to the node's entry, or
/// has no such entry.
pub(super) fn tasks_of_node(list: &str, node: u32) -> Option<u32> {
    let mut nodes = 0u32;
    for entry in list.split(',') {
        let (tasks, repeats) = match entry.split_once("(x") {
            Some((tasks, rest)) => (tasks, rest.strip_suffix(')')?.parse().ok()?),
            None => (entry, 1u32),
        };
        let tasks: u32 = tasks.parse().ok()?;
        nodes = nodes.checked_add(repeats)?;
        if node < nodes {
            return Some(tasks);
        }
    }
    None
}
