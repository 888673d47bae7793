//! Names, places and stated order of a body's text. They are kept beside the graph and can be
//! dropped.

use super::stated::StatedOrder;
use crate::ids::ActionId;
use crate::source::Position;

/// Details of the text or binary that a body came from. Each table is empty or has an entry for
/// every action or edge.
#[derive(Debug, Clone, Default)]
pub struct Debug {
    /// Labels of the actions.
    pub labels: Labels,
    /// The position of each action's statement in the source map.
    pub actions: Vec<Position>,
    /// The position of each dependency of `requires`, in the rows' order.
    pub requires: Vec<Position>,
    /// The position of each dependency of `irequires`, in the rows' order.
    pub irequires: Vec<Position>,
    /// The source line (1-based) of each action, if only lines are known, as for a binary file; 0
    /// for none.
    pub lines: Vec<u32>,
    /// The name of the source file that `lines` count in.
    pub source_name: String,
    /// The stated order of dependencies and roots, if it differs from the graph's.
    pub order: Option<Box<StatedOrder>>,
}

/// The labels of all actions in one string. An action without a label has an empty one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    text: String,
    ends: Vec<u32>,
}

impl Labels {
    /// Adds the next action's label; the empty string for none. Labels past 4 GiB in all are
    /// dropped.
    pub fn push(&mut self, label: &str) {
        if let Ok(end) = u32::try_from(self.text.len() + label.len()) {
            self.text.push_str(label);
            self.ends.push(end);
        } else {
            self.ends.push(self.text.len() as u32);
        }
    }

    /// Moves all labels out, and leaves room for as many others.
    pub(crate) fn take(&mut self) -> Self {
        let (text, ends) = (self.text.len(), self.ends.len());
        let room = Self { text: String::with_capacity(text), ends: Vec::with_capacity(ends) };
        std::mem::replace(self, room)
    }

    /// The label of an action, if it has one.
    pub fn get(&self, id: ActionId) -> Option<&str> {
        let end = *self.ends.get(id.index())? as usize;
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        (start < end).then(|| &self.text[start..end])
    }

    /// All labels, end to end.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The end of each entry's label in [`text`](Self::text).
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Number of entries, labelled or not.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}
