//! Finds cycles of actions that wait for each other.

use super::snapshot::{Snapshot, Vertex};
use std::collections::HashMap;

/// The most cycles that are reported.
const CYCLES_MAX: usize = 3;

/// The state of an action in the depth-first search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// The action is on the current path.
    OnPath,
    /// The search has left the action, and all cycles through it have been found.
    Done,
}

/// Returns up to three cycles that have no action in common. In each cycle, an action waits for the
/// next one.
pub(super) fn cycles(snapshot: &Snapshot) -> Vec<Vec<Vertex>> {
    let mut marks = HashMap::new();
    let mut cycles = Vec::new();
    for root in (0..snapshot.num_ranks()).flat_map(|rank| snapshot.unfinished(rank, true)) {
        if cycles.len() == CYCLES_MAX {
            break;
        }
        if !marks.contains_key(&root) {
            cycles.extend(search(snapshot, root, &mut marks));
        }
    }
    cycles
}

/// Returns the first cycle on a path from `root` through unmarked actions. The depth-first search
/// has its stack on the heap, since a chain may have a million actions.
fn search(
    snapshot: &Snapshot,
    root: Vertex,
    marks: &mut HashMap<Vertex, Mark>,
) -> Option<Vec<Vertex>> {
    let mut path = vec![(root, snapshot.waits_for(root).into_iter())];
    marks.insert(root, Mark::OnPath);
    while let Some((vertex, next)) = path.last_mut() {
        let Some(next) = next.next() else {
            marks.insert(*vertex, Mark::Done);
            path.pop();
            continue;
        };
        match marks.get(&next) {
            None => {
                marks.insert(next, Mark::OnPath);
                path.push((next, snapshot.waits_for(next).into_iter()));
            }
            Some(Mark::OnPath) => {
                let path: Vec<Vertex> = path.into_iter().map(|(vertex, _)| vertex).collect();
                for &vertex in &path {
                    marks.insert(vertex, Mark::Done);
                }
                let start = path.iter().position(|&vertex| vertex == next)?;
                return Some(path[start..].to_vec());
            }
            Some(Mark::Done) => {}
        }
    }
    None
}
