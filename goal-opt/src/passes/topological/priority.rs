//! The upward rank of each action: the least time from its start to the end of the program.

use super::ends::{End, Ends};
use super::order::{View, visit_ordered};
use crate::machine::Machine;
use crate::reach::Graph;
use goal_lang::{Action, ActionId, Body, Csr, Operand, Program};

/// The upward ranks of all actions in nanoseconds. No action has a larger one than its
/// prerequisites, and no message a larger one than the message that must come before it.
pub(super) struct Priorities {
    /// By body, the position of its first action in the table; one more entry for the end.
    first: Vec<usize>,
    upward_ns: Vec<f64>,
}

impl Priorities {
    /// Computes the upward ranks backwards from actions that no action waits for, over dependencies
    /// and messages of all ranks. Bodies must be in topological order. Linear in actions,
    /// dependencies and messages, but for sorting messages.
    pub(super) fn new(program: &Program, machine: &Machine) -> Self {
        let mut first = vec![0];
        for body in &program.bodies {
            first.push(first[first.len() - 1] + body.len());
        }
        let mut walk = Walk::new(program, machine, &first);
        walk.run();
        walk.complete(program, &first);
        Self { upward_ns: walk.known.iter().map(|known| known.upward_ns).collect(), first }
    }

    /// The upward ranks of a body's actions.
    pub(super) fn of_body(&self, body: usize) -> &[f64] {
        &self.upward_ns[self.first[body]..self.first[body + 1]]
    }
}

/// The predecessors of each action. Actions are numbered over all bodies.
struct Before {
    /// The actions whose end it waits for.
    ends: Graph,
    /// The actions whose start it waits for.
    starts: Graph,
    /// For a receive, the sends whose message it takes: one, or several if ranks share a body.
    sends: Graph,
}

struct Walk {
    /// By action, the message that must be laid out before it; `u32::MAX` for none.
    channel: Vec<u32>,
    /// `None` if there are more actions or dependencies than can be numbered.
    before: Option<Before>,
    duration_ns: Vec<f64>,
    known: Vec<Known>,
    done: usize,
}

/// The state of the computation for an action.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// The longest way from the end of the action to the end of the program, in nanoseconds.
    behind_ns: f64,
    /// The longest way from the start of the action to the end of the program found so far, in
    /// nanoseconds.
    upward_ns: f64,
    /// The number of its successors without an upward rank; `u32::MAX` when the action has its own.
    pending: u32,
}

impl Walk {
    fn new<'a>(program: &'a Program, machine: &'a Machine, first: &[usize]) -> Self {
        let actions = first[first.len() - 1];
        let views: Vec<View> = program.bodies.iter().map(View::new).collect();
        let (sends, receives) = (&Ends::sends(program), &Ends::receives(program));
        let mut channel = vec![u32::MAX; actions];
        visit_ordered(program, &views, [sends, receives], |body, before, after| {
            channel[first[body] + after as usize] = first[body] as u32 + before;
        });
        let edges = |of: fn(&Body) -> &Csr, visit: &mut dyn FnMut(u32, u32)| {
            for (body, &first) in program.bodies.iter().zip(first) {
                let vertex = |id: ActionId| first as u32 + id.0;
                of(body)
                    .edges()
                    .for_each(|edge| visit(vertex(edge.waiter), vertex(edge.prerequisite)));
            }
        };
        let mut messages: Vec<(u32, u32)> = Vec::new();
        visit_partners(program, &views, [sends, receives], |send, receive| {
            let [send, receive] = [send, receive].map(|(body, action)| first[body] as u32 + action);
            messages.push((receive, send));
        });
        let before = || {
            Some(Before {
                ends: Graph::new(actions, |visit| edges(|body| &body.requires, visit))?,
                starts: Graph::new(actions, |visit| edges(|body| &body.irequires, visit))?,
                sends: Graph::new(actions, |visit| {
                    messages.iter().for_each(|&(receive, send)| visit(receive, send));
                })?,
            })
        };
        let durations = |body: &'a Body| {
            body.actions.iter().map(move |action| duration_ns(body, action, machine))
        };
        Self {
            before: before(),
            channel,
            duration_ns: program.bodies.iter().flat_map(durations).collect(),
            known: vec![Known::default(); actions],
            done: 0,
        }
    }

    fn run(&mut self) {
        let Some(before) = self.before.take() else { return };
        let in_order = self.channel.iter().filter(|&&before| before != u32::MAX);
        let all = before
            .ends
            .targets()
            .iter()
            .chain(before.starts.targets())
            .chain(before.sends.targets());
        all.chain(in_order).for_each(|&before| self.known[before as usize].pending += 1);
        let mut open: Vec<u32> = Vec::new();
        for last in (0..self.known.len()).rev() {
            if self.known[last].pending == 0 {
                open.push(last as u32);
            }
            while let Some(vertex) = open.pop() {
                self.pass_on(vertex, &before, &mut open);
            }
        }
    }

    /// Passes the upward rank of an action on to its predecessors. Adds to `open` the predecessors
    /// without a pending successor.
    fn pass_on(&mut self, vertex: u32, before: &Before, open: &mut Vec<u32>) {
        self.done += 1;
        let Known { behind_ns, ref mut upward_ns, ref mut pending } = self.known[vertex as usize];
        *pending = u32::MAX;
        let by_end_ns = self.duration_ns[vertex as usize] + behind_ns;
        *upward_ns = upward_ns.max(by_end_ns);
        let upward_ns = *upward_ns;
        let mut tell = |before: u32, learn: &dyn Fn(&mut Known)| {
            let known = &mut self.known[before as usize];
            learn(known);
            known.pending -= 1;
            if known.pending == 0 {
                open.push(before);
            }
        };
        for &before in before.ends.row(vertex) {
            tell(before, &|known| known.behind_ns = known.behind_ns.max(upward_ns));
        }
        let in_order = Some(self.channel[vertex as usize]).filter(|&before| before != u32::MAX);
        for &before in before.starts.row(vertex).iter().chain(&in_order) {
            tell(before, &|known| known.upward_ns = known.upward_ns.max(upward_ns));
        }
        // The time from the start of a send to the end of its receive is the duration of the
        // receive.
        for &send in before.sends.row(vertex) {
            tell(send, &|known| known.upward_ns = known.upward_ns.max(by_end_ns));
        }
    }

    /// Computes upward ranks for actions that the walk did not reach: messages whose order the
    /// layouts do not decide may form cycles.
    fn complete(&mut self, program: &Program, first: &[usize]) {
        if self.done == self.known.len() {
            return;
        }
        for (body, &first) in program.bodies.iter().zip(first) {
            for id in (0..body.len()).rev().map(ActionId::new) {
                let vertex = first + id.index();
                let behind_ns = |csr: &Csr| {
                    let row = csr.row(id).iter();
                    row.map(|waiter| self.known[first + waiter.index()].upward_ns)
                        .fold(0.0, f64::max)
                };
                let by_end = behind_ns(&body.requires).max(self.known[vertex].behind_ns);
                let upward_ns = (self.duration_ns[vertex] + by_end)
                    .max(behind_ns(&body.irequires))
                    .max(self.known[vertex].upward_ns);
                self.known[vertex].upward_ns = upward_ns;
                let before = self.channel[vertex];
                if before != u32::MAX {
                    let before = &mut self.known[before as usize];
                    before.upward_ns = before.upward_ns.max(upward_ns);
                }
            }
        }
    }
}

/// The time from the start of an action to its end, in nanoseconds. A send ends when its bytes are
/// with the network, or with the receiver if it waits for its receive. A local operation takes as
/// long for its bytes as the wire does.
fn duration_ns(body: &Body, action: &Action, machine: &Machine) -> f64 {
    match *action {
        Action::Recv { payload, .. } => machine.message_ns(body.payload_size(payload)),
        Action::Send { payload, .. } => match body.payload_size(payload) {
            bytes if bytes > machine.eager_bytes_max => machine.message_ns(bytes),
            bytes => machine.overhead_ns + bytes as f64 * machine.overhead_per_byte_ns,
        },
        Action::Calc { nanos, .. } => nanos as f64,
        Action::Wtime { .. } | Action::Nop | Action::Marker { .. } => 0.0,
        ref action => {
            let bytes =
                body.local_operation(action).map_or(0, |local| Operand::size(&local.result()));
            bytes as f64 * machine.gap_per_byte_ns
        }
    }
}

/// Calls `visit` with pairs of a send and a receive, each as its body and action. The n-th send of
/// a channel goes with the n-th receive, as the layouts suggest. Messages to ranks that receive
/// with wildcards are left out.
///
/// Of ranks with the same body, only the sends of the first rank are used. So the work depends on
/// the bodies, not on the number of ranks. It is linear, but for a search for each channel that is
/// not the next one.
fn visit_partners(
    program: &Program,
    views: &[View],
    [sends, receives]: [&Ends; 2],
    mut visit: impl FnMut((usize, u32), (usize, u32)),
) {
    let mut has_sent = vec![false; program.bodies.len()];
    // By body, the first receive behind the last channel found. Sources ascend, so the next channel
    // mostly begins there.
    let mut reached = vec![0; program.bodies.len()];
    for (source, entry) in program.ranks.iter().enumerate() {
        let body = entry.body.index();
        if std::mem::replace(&mut has_sent[body], true) {
            continue;
        }
        for channel in sends.of_body(body).chunk_by(|a, b| a.channel() == b.channel()) {
            let theirs = program.ranks[channel[0].peer as usize].body.index();
            if views[theirs].is_wild() {
                continue;
            }
            let wanted = (source as u32, channel[0].tag);
            let receives = receives.of_body(theirs);
            let comes_before = |receive: &End| receive.channel() < wanted;
            let mut from = reached[theirs];
            if receives[..from].last().is_some_and(|receive| !comes_before(receive))
                || receives.get(from).is_some_and(comes_before)
            {
                from = receives.partition_point(comes_before);
            }
            let listening = receives[from..].iter();
            let listening = listening.take_while(|receive| receive.channel() == wanted);
            for (send, receive) in channel.iter().zip(listening.clone()) {
                visit((body, send.action), (theirs, receive.action));
            }
            reached[theirs] = from + listening.count();
        }
    }
}
