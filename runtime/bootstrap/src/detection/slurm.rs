//! The variables of a step of Slurm.
//!
//! Threat: see `environment.rs`. A list of tasks per node is read up to its node, with checked
//! sums, and allocates nothing.

use super::environment::{Environment, Number, invalid};
use crate::error::Error;

const TASKS_PER_NODE: &str = "SLURM_STEP_TASKS_PER_NODE";

/// Returns the number of tasks of the step. `SLURM_NTASKS` is that of the job in a batch script,
/// and that of the step in a task.
pub(super) fn size(env: &Environment<'_>) -> Result<Option<Number>, Error> {
    match env.number("SLURM_STEP_NUM_TASKS")? {
        Some(size) => Ok(Some(size)),
        None => env.number("SLURM_NTASKS"),
    }
}

/// Returns the task's number on its node.
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

/// Reads a list like `4(x2),3`: four tasks on each of two nodes, then three on one. Returns `None`
/// if it is malformed up to the node, or has no entry for it.
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
