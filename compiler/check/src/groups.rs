//! Groups findings by a key, mostly by their statements.

use crate::analysis::Analysis;
use goal_lang::{ActionId, BodyId};
use goal_opt::whole::Vertex;
use rustc_hash::FxHashMap;

/// A statement of a body, for all ranks that run the body.
pub(crate) type Statement = (BodyId, ActionId);

/// The statement of a vertex.
pub(crate) fn statement(analysis: &Analysis<'_>, vertex: Vertex) -> Statement {
    let whole = analysis.whole;
    (whole.program.ranks[whole.rank(vertex) as usize].body, whole.id(vertex))
}

/// Findings grouped by a key. `order` has, for each key, the first finding and the number of
/// findings.
pub(crate) struct Groups<K, V> {
    pub(crate) order: Vec<(K, V, u64)>,
    places: FxHashMap<K, usize>,
}

impl<K: std::hash::Hash + Eq + Copy, V> Groups<K, V> {
    /// Groups findings by their keys, in the order in which the keys first occur.
    pub(crate) fn from_pairs(found: impl Iterator<Item = (K, V)>) -> Self {
        let mut groups = Self { order: Vec::new(), places: FxHashMap::default() };
        for (key, first) in found {
            match groups.places.get(&key) {
                Some(&place) => groups.order[place].2 += 1,
                None => {
                    groups.places.insert(key, groups.order.len());
                    groups.order.push((key, first, 1));
                }
            }
        }
        groups
    }
}

/// The end of a note about a group of `count` findings: "; the same is true of 3 other ranks", or
/// nothing for one.
pub(crate) fn more(count: u64) -> String {
    match count {
        1 => String::new(),
        2 => "; the same is true of another rank".to_owned(),
        count => format!("; the same is true of {} other ranks", count - 1),
    }
}
