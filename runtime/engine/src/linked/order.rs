//! Numbers the messages between two ranks that have one tag. The engine matches such messages in
//! the order of their starts, so they are linked only if the schedule forces this order.

use super::message::Message;
use goal_asm::nisa::Section;
use rustc_hash::FxHashMap;

/// The most steps along dependencies by which the order of a rank's messages is looked for. Chains
/// of 65,536 actions need as many steps.
const STEPS_MAX: u32 = 1 << 24;

/// The dependencies between the actions of a section, which have no circle.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    /// The place in `dependents` of each action's first dependent, and of the end.
    starts: Vec<u32>,
    dependents: Vec<u32>,
}

impl Graph {
    /// Returns the dependencies of a section with this number of actions.
    pub(super) fn of(section: Section<'_>, actions: usize) -> Self {
        // Actions begin at multiples of 4.
        let mut numbers = vec![0; section.bytes().len() / 4];
        for (number, (offset, _)) in (0..).zip(section.records()) {
            numbers[offset as usize / 4] = number;
        }
        let (mut starts, mut dependents) = (Vec::with_capacity(actions + 1), Vec::new());
        for (_, record) in section.records() {
            starts.push(dependents.len() as u32);
            dependents.extend(record.dependents.iter().map(|at| numbers[at as usize / 4]));
        }
        starts.push(dependents.len() as u32);
        Self { starts, dependents }
    }

    /// Returns the number of actions.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the actions that wait for this one.
    pub(super) fn dependents(&self, action: u32) -> &[u32] {
        let at = action as usize;
        &self.dependents[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Returns the place of each action in an order in which no action comes before one that it
    /// waits for.
    fn places(&self) -> Vec<u32> {
        let mut waits = vec![0u32; self.len()];
        self.dependents.iter().for_each(|&dependent| waits[dependent as usize] += 1);
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.retain(|&action| waits[action as usize] == 0);
        let mut places = vec![0; self.len()];
        let mut at = 0;
        while let Some(&action) = order.get(at) {
            places[action as usize] = at as u32;
            for &dependent in self.dependents(action) {
                let left = &mut waits[dependent as usize];
                *left -= 1;
                if *left == 0 {
                    order.push(dependent);
                }
            }
            at += 1;
        }
        places
    }
}

/// The order of a rank's actions, computed when it is needed first.
pub(super) struct Order<'g> {
    graph: &'g Graph,
    /// See [`Graph::places`].
    places: Vec<u32>,
    /// The last search that has met each action.
    met: Vec<u32>,
    searches: u32,
    steps_left: u32,
}

impl<'g> Order<'g> {
    pub(super) fn new(graph: &'g Graph) -> Self {
        let (places, met) = (Vec::new(), Vec::new());
        Self { graph, places, met, searches: 0, steps_left: STEPS_MAX }
    }

    /// Sets the [turn](Message::turn) of each message.
    ///
    /// # Errors
    /// A message that has the rank and the tag of an earlier one, and does not wait for it. Or it
    /// took too many steps to find that out.
    pub(super) fn number(&mut self, messages: &mut [Message]) -> Result<(), Message> {
        let mut counts = FxHashMap::<(u32, u32), u32>::default();
        for message in &mut *messages {
            let count = counts.entry((message.peer, message.tag)).or_default();
            message.turn = *count;
            *count += 1;
        }
        if counts.len() == messages.len() {
            return Ok(());
        }
        if self.places.is_empty() {
            self.places = self.graph.places();
            self.met = vec![0; self.graph.len()];
        }
        let place = |message: &Message| self.places[message.number as usize];
        let mut order: Vec<u32> = (0..messages.len() as u32).collect();
        order.sort_unstable_by_key(|&at| {
            let message = &messages[at as usize];
            (message.peer, message.tag, place(message))
        });
        if let Some(&first) = order.first() {
            messages[first as usize].turn = 0;
        }
        for pair in order.windows(2) {
            let [first, second] = [pair[0], pair[1]].map(|at| messages[at as usize]);
            let is_same = (first.peer, first.tag) == (second.peer, second.tag);
            if is_same && !self.is_forced(first.number, second.number) {
                return Err(second);
            }
            messages[pair[1] as usize].turn =
                if is_same { messages[pair[0] as usize].turn + 1 } else { 0 };
        }
        Ok(())
    }

    /// Returns true if `second` waits for `first`, directly or not. The search meets only actions
    /// whose place lies between these two. So all searches for the messages of one peer and tag
    /// meet each action once.
    fn is_forced(&mut self, first: u32, second: u32) -> bool {
        let end = self.places[second as usize];
        self.searches += 1;
        let mut left = vec![first];
        while let Some(action) = left.pop() {
            for &dependent in self.graph.dependents(action) {
                if dependent == second {
                    return true;
                }
                if self.steps_left == 0 {
                    return false;
                }
                self.steps_left -= 1;
                let at = dependent as usize;
                if self.places[at] < end && self.met[at] != self.searches {
                    self.met[at] = self.searches;
                    left.push(dependent);
                }
            }
        }
        false
    }
}
