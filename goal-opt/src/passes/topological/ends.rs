//! The sends and the receives of every body by channel, in flat arrays.

use goal_lang::{Action, Program};

/// A send or a receive: its peer, its tag and its position in the layout. The derived order sorts
/// by channel, then by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End {
    pub(super) peer: u32,
    pub(super) tag: u32,
    pub(super) action: u32,
}

impl End {
    /// Returns the peer and the tag. Messages with the same peer and tag could be taken for each
    /// other.
    pub(super) fn channel(&self) -> (u32, u32) {
        (self.peer, self.tag)
    }
}

/// The sends, or the receives, of all bodies.
pub(super) struct Ends {
    /// By body, the position of its first end; one more entry for the end.
    starts: Vec<usize>,
    ends: Vec<End>,
}

impl Ends {
    /// The sends of all bodies. Linear but for sorting those of each body.
    pub(super) fn sends(program: &Program) -> Self {
        Self::new(program, |action| match *action {
            Action::Send { to, tag, .. } => Some((to, tag)),
            _ => None,
        })
    }

    /// The receives of all bodies. Linear but for sorting those of each body.
    pub(super) fn receives(program: &Program) -> Self {
        Self::new(program, |action| match *action {
            Action::Recv { from, tag, .. } => Some((from, tag)),
            _ => None,
        })
    }

    fn new(program: &Program, channel: impl Fn(&Action) -> Option<(u32, u32)>) -> Self {
        let mut starts = Vec::with_capacity(program.bodies.len() + 1);
        let mut ends = Vec::new();
        for body in &program.bodies {
            starts.push(ends.len());
            for (action, what) in body.actions.iter().enumerate() {
                if let Some((peer, tag)) = channel(what) {
                    ends.push(End { peer, tag, action: action as u32 });
                }
            }
            ends[starts[starts.len() - 1]..].sort_unstable();
        }
        starts.push(ends.len());
        Self { starts, ends }
    }

    /// The ends of a body.
    pub(super) fn of_body(&self, body: usize) -> &[End] {
        &self.ends[self.starts[body]..self.starts[body + 1]]
    }
}
