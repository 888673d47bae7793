//! Decides if one action has always ended, or started, when another starts.

use goal_lang::{ActionId, Body, Csr, topological_order};

/// The most actions and dependencies that one question visits. The answer is mostly near. Beyond
/// the bound, the question is given up.
const STEPS_MAX: usize = 128;
/// The number of steps that each action of a body adds to the bound on all questions about it.
const STEPS_PER_ACTION: usize = 24;

/// Answers questions about the order of a body's actions, by a search backwards from the later one.
/// If a bound is reached, the answer is no.
pub(crate) struct Order<'b> {
    body: &'b Body,
    /// By action, its position in a topological order. A prerequisite has a smaller position than
    /// its waiter.
    place: Vec<u32>,
    ids: Vec<ActionId>,
    requires: Csr,
    irequires: Csr,
    /// By action, the last question that visited it.
    seen: Vec<u32>,
    questions: u32,
    open: Vec<ActionId>,
    steps_left: usize,
    /// True if the bound on all questions was reached.
    pub(crate) is_exhausted: bool,
}

impl<'b> Order<'b> {
    /// # Panics
    /// If the dependencies form a cycle, which the verifier refuses.
    pub(crate) fn new(body: &'b Body) -> Self {
        let ids = topological_order(body).expect("a verified body has no cycle");
        let mut place = vec![0; body.len()];
        for (at, id) in ids.iter().enumerate() {
            place[id.index()] = at as u32;
        }
        Self {
            body,
            place,
            ids,
            requires: body.requires.transposed(body.len()),
            irequires: body.irequires.transposed(body.len()),
            seen: vec![0; body.len()],
            questions: 0,
            open: Vec::new(),
            steps_left: 4096 + STEPS_PER_ACTION * body.len(),
            is_exhausted: false,
        }
    }

    /// All actions, each after its prerequisites.
    pub(crate) fn ids(&self) -> &[ActionId] {
        &self.ids
    }

    /// The actions whose end an action waits for.
    pub(crate) fn requires(&self, id: ActionId) -> &[ActionId] {
        self.requires.row(id)
    }

    /// The actions whose start an action waits for.
    pub(crate) fn irequires(&self, id: ActionId) -> &[ActionId] {
        self.irequires.row(id)
    }

    /// Returns true if `earlier` has always ended when `later` starts.
    pub(crate) fn ends_before(&mut self, earlier: ActionId, later: ActionId) -> bool {
        self.body.requires.row(earlier).binary_search(&later).is_ok()
            || self.search(earlier, later, false)
    }

    /// Returns true if `earlier` has always started when `later` starts.
    pub(crate) fn starts_before(&mut self, earlier: ActionId, later: ActionId) -> bool {
        earlier == later || self.search(earlier, later, true)
    }

    /// Searches for a path of dependencies from `earlier` to `later`. An action that waits for an
    /// end or a start starts no sooner than its prerequisite. If `start` is false, the first
    /// dependency of the path must be on the end of `earlier`.
    fn search(&mut self, earlier: ActionId, later: ActionId, start: bool) -> bool {
        let least = self.place[earlier.index()];
        if self.place[later.index()] <= least {
            return false;
        }
        self.questions += 1;
        self.open.clear();
        self.open.push(later);
        let mut steps = 0;
        while let Some(id) = self.open.pop() {
            for &before in self.requires.row(id) {
                if before == earlier {
                    return true;
                }
                visit(before, least, self.questions, &self.place, &mut self.seen, &mut self.open);
            }
            for &before in self.irequires.row(id) {
                if before == earlier && start {
                    return true;
                }
                visit(before, least, self.questions, &self.place, &mut self.seen, &mut self.open);
            }
            steps += 1 + self.requires.row(id).len() + self.irequires.row(id).len();
            if steps >= STEPS_MAX.min(self.steps_left) {
                break;
            }
        }
        self.steps_left = self.steps_left.saturating_sub(steps);
        self.is_exhausted |= self.steps_left == 0;
        false
    }
}

fn visit(
    id: ActionId,
    least: u32,
    question: u32,
    place: &[u32],
    seen: &mut [u32],
    open: &mut Vec<ActionId>,
) {
    if place[id.index()] > least && seen[id.index()] != question {
        seen[id.index()] = question;
        open.push(id);
    }
}
