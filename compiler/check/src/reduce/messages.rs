//! Removes messages, both ends together, and simplifies them.

use super::actions;
use super::reducer::Reducer;
use crate::disjoint::DisjointSets;
use goal_lang::{ANY, Action, Payload, Program};
use goal_opt::whole::{Run, Vertex, Whole};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Removes messages: each send with the receive that takes it.
pub(super) fn reduce(reducer: &mut Reducer<'_>) {
    let messages = Messages::from_program(&reducer.best);
    reducer.take_away(messages.count, |program, gone| {
        let mut program = program.clone();
        let mut of = messages.of.iter();
        for body in &mut program.bodies {
            let gone_of =
                |message: &Option<u32>| message.is_some_and(|message| gone[message as usize]);
            let gone = of.by_ref().take(body.len()).map(gone_of).collect();
            actions::remove(body, gone);
        }
        Some(program)
    });
}

/// Makes messages carry a pattern instead of bytes of memory.
pub(super) fn without_memory(reducer: &mut Reducer<'_>) {
    let messages = Messages::from_program(&reducer.best);
    reducer.take_away(messages.count, |program, plain| {
        let mut program = program.clone();
        let mut of = messages.of.iter();
        for body in &mut program.bodies {
            for id in body.ids() {
                let message = of.next().expect("an entry an action");
                if message.is_some_and(|message| plain[message as usize])
                    && let Action::Send { payload, .. } | Action::Recv { payload, .. } =
                        *body.action(id)
                {
                    let size = body.payload_size(payload);
                    if let Action::Send { payload, .. } | Action::Recv { payload, .. } =
                        &mut body.actions[id.index()]
                    {
                        *payload = Payload::Pattern { size };
                    }
                }
            }
        }
        Some(program)
    });
}

/// The numbers of messages: sends and receives with the same number belong together.
struct Messages {
    /// By action, body after body, the number of its message; `None` for actions that are no
    /// messages.
    of: Vec<Option<u32>>,
    count: usize,
}

impl Messages {
    /// Numbers the messages of a program. A send and a receive that match in an abstract run get
    /// the same number. Of the ends that a deadlock left, the first send of a channel goes with its
    /// first receive, and so on. If ranks share a body, all matches of one action get the same
    /// number.
    fn from_program(program: &Program) -> Self {
        let mut first = Vec::with_capacity(program.bodies.len());
        let mut actions = 0;
        for body in &program.bodies {
            first.push(actions);
            actions += body.len();
        }
        let mut sets = DisjointSets::new(actions);
        if let Ok(whole) = Whole::new(program) {
            let place = |vertex| {
                first[program.ranks[whole.rank(vertex) as usize].body.index()]
                    + whole.id(vertex).index()
            };
            for (a, b) in pairs(&whole) {
                sets.join(place(a), place(b));
            }
        }
        let mut numbers = FxHashMap::default();
        let all = program.bodies.iter().flat_map(|body| &body.actions).enumerate();
        let of = all
            .map(|(place, action)| {
                let is_message = matches!(action, Action::Send { .. } | Action::Recv { .. });
                let next = numbers.len() as u32;
                is_message.then(|| *numbers.entry(sets.root(place)).or_insert(next))
            })
            .collect();
        Self { of, count: numbers.len() }
    }
}

/// Returns pairs of a send and a receive: the matches of an abstract run, then pairs of ends that
/// it left unmatched.
fn pairs(whole: &Whole<'_>) -> Vec<(Vertex, Vertex)> {
    let trace = Run::new(whole).finish(u64::MAX);
    let partner = |vertex: Vertex| trace.partner[vertex.index()].some();
    let mut pairs = Vec::new();
    let mut waiting: FxHashMap<(u32, u32, u32), VecDeque<Vertex>> = FxHashMap::default();
    for vertex in whole.vertices() {
        if let Action::Send { to, tag, .. } = *whole.action(vertex) {
            match partner(vertex) {
                Some(recv) => pairs.push((vertex, recv)),
                None => waiting.entry((to, whole.rank(vertex), tag)).or_default().push_back(vertex),
            }
        }
    }
    for vertex in whole.vertices() {
        if let Action::Recv { from, tag, .. } = *whole.action(vertex)
            && from != ANY
            && partner(vertex).is_none()
            && let Some(sends) = waiting.get_mut(&(whole.rank(vertex), from, tag))
            && let Some(send) = sends.pop_front()
        {
            pairs.push((send, vertex));
        }
    }
    pairs
}
