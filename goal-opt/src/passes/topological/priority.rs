//! How long it takes from the start of each action to the end of the program, at least: its upward rank.

use super::order::Channels;
use super::partners::{End, partners};
use crate::machine::Machine;
use goal_lang::{Action, ActionId, Body, Csr, Edge, Operand, Program};
use rayon::prelude::*;

/// The upward ranks of all actions in nanoseconds. Over dependencies and messages that must keep their order they don't
/// ascend.
pub(super) struct Priorities {
    /// By body, its first action in the table; one more entry for the end.
    first: Vec<usize>,
    upward_ns: Vec<f64>,
}

impl Priorities {
    /// Walks back from what nothing waits for, over dependencies and messages of all ranks. Bodies must be in topological order.
    /// Linear in actions, dependencies and messages.
    pub(super) fn new(program: &Program, channels: &Channels, machine: &Machine) -> Self {
        let mut first = vec![0];
        for body in &program.bodies {
            first.push(first[first.len() - 1] + body.len());
        }
        let mut walk = Walk::new(program, channels, machine, &first);
        walk.run();
        walk.complete();
        Self { upward_ns: walk.upward_ns, first }
    }

    /// By action of a body.
    pub(super) fn of_body(&self, body: usize) -> &[f64] {
        &self.upward_ns[self.first[body]..self.first[body + 1]]
    }
}

/// A body with its dependencies the other way round.
struct Back<'a> {
    body: &'a Body,
    channel: &'a [u32],
    requires: Csr,
    irequires: Csr,
}

struct Walk<'a> {
    machine: &'a Machine,
    first: &'a [usize],
    backs: Vec<Back<'a>>,
    body_of: Vec<u32>,
    /// By receive, the sends that it takes a message of: one, or one a rank where ranks share a body.
    sends: Csr,
    /// By action, what is behind it that has no rank yet.
    pending: Vec<u32>,
    /// By action, the longest way from its end.
    behind_ns: Vec<f64>,
    /// By action, the longest way from its start: what is known so far, in the end all of it.
    upward_ns: Vec<f64>,
    done: usize,
}

impl<'a> Walk<'a> {
    fn new(program: &'a Program, channels: &'a Channels, machine: &'a Machine, first: &'a [usize]) -> Self {
        let actions = first[first.len() - 1];
        let backs: Vec<Back<'a>> = program
            .bodies
            .par_iter()
            .enumerate()
            .map(|(index, body)| Back {
                body,
                channel: channels.of_body(index),
                requires: body.requires.transposed(body.len()),
                irequires: body.irequires.transposed(body.len()),
            })
            .collect();
        let mut body_of = Vec::with_capacity(actions);
        let mut pending = vec![0; actions];
        for (index, back) in backs.iter().enumerate() {
            body_of.resize(first[index + 1], index as u32);
            for id in back.body.ids() {
                let waiters = back.body.requires.row(id).len() + back.body.irequires.row(id).len();
                pending[first[index] + id.index()] += waiters as u32;
                let before = back.channel[id.index()];
                if before != u32::MAX {
                    pending[first[index] + before as usize] += 1;
                }
            }
        }
        let vertex = |end: End| ActionId::new(first[end.body.index()] + end.action as usize);
        let messages: Vec<Edge> = partners(program, channels)
            .into_iter()
            .map(|(send, recv)| Edge { prerequisite: vertex(recv), waiter: vertex(send) })
            .collect();
        let sends = Csr::from_edges(actions, &messages);
        for edge in sends.edges() {
            pending[edge.waiter.index()] += 1;
        }
        let (behind_ns, upward_ns) = (vec![0.0; actions], vec![0.0; actions]);
        Self { machine, first, backs, body_of, sends, pending, behind_ns, upward_ns, done: 0 }
    }

    fn run(&mut self) {
        let mut open: Vec<u32> = Vec::new();
        for last in (0..self.pending.len()).rev() {
            if self.pending[last] == 0 {
                self.pending[last] = u32::MAX;
                open.push(last as u32);
            }
            while let Some(vertex) = open.pop() {
                self.pass_on(vertex as usize, &mut open);
            }
        }
    }

    /// An action has its rank: what comes before it learns of it.
    fn pass_on(&mut self, vertex: usize, open: &mut Vec<u32>) {
        self.done += 1;
        let index = self.body_of[vertex] as usize;
        let back = &self.backs[index];
        let (first, id) = (self.first[index], ActionId::new(vertex - self.first[index]));
        let duration_ns = duration_ns(back.body, id, self.machine);
        let upward_ns = self.upward_ns[vertex].max(duration_ns + self.behind_ns[vertex]);
        self.upward_ns[vertex] = upward_ns;
        let pending = &mut self.pending;
        let mut settle = |before: usize| {
            pending[before] -= 1;
            if pending[before] == 0 {
                pending[before] = u32::MAX;
                open.push(before as u32);
            }
        };
        for before in back.requires.row(id) {
            let before = first + before.index();
            self.behind_ns[before] = self.behind_ns[before].max(upward_ns);
            settle(before);
        }
        let in_order = Some(back.channel[id.index()]).filter(|&before| before != u32::MAX);
        for before in back.irequires.row(id).iter().map(|id| id.0).chain(in_order) {
            let before = first + before as usize;
            self.upward_ns[before] = self.upward_ns[before].max(upward_ns);
            settle(before);
        }
        // From the start of a send to the end of its receive it takes as long as a receive takes.
        for send in self.sends.row(ActionId::new(vertex)) {
            let arrival_ns = duration_ns + self.behind_ns[vertex];
            self.upward_ns[send.index()] = self.upward_ns[send.index()].max(arrival_ns);
            settle(send.index());
        }
    }

    /// Ranks for what the walk did not reach: messages whose order the layouts don't tell may form circles.
    fn complete(&mut self) {
        if self.done == self.pending.len() {
            return;
        }
        for (index, back) in self.backs.iter().enumerate() {
            let first = self.first[index];
            for id in (0..back.body.len()).rev().map(ActionId::new) {
                let vertex = first + id.index();
                let behind_ns = |csr: &Csr| {
                    let row = csr.row(id).iter();
                    row.map(|waiter| self.upward_ns[first + waiter.index()]).fold(0.0, f64::max)
                };
                let by_end = behind_ns(&back.body.requires).max(self.behind_ns[vertex]);
                let upward_ns = (duration_ns(back.body, id, self.machine) + by_end)
                    .max(behind_ns(&back.body.irequires))
                    .max(self.upward_ns[vertex]);
                self.upward_ns[vertex] = upward_ns;
                let before = back.channel[id.index()];
                if before != u32::MAX {
                    let before = first + before as usize;
                    self.upward_ns[before] = self.upward_ns[before].max(upward_ns);
                }
            }
        }
    }
}

/// From the start of an action to its end, in nanoseconds. A send has ended when its bytes are with the network, or with the receiver
/// where they wait for it. A local operation goes over its bytes as fast as the wire does.
fn duration_ns(body: &Body, id: ActionId, machine: &Machine) -> f64 {
    match *body.action(id) {
        Action::Recv { payload, .. } => machine.message_ns(body.payload_size(payload)),
        Action::Send { payload, .. } => match body.payload_size(payload) {
            bytes if bytes > machine.eager_bytes_max => machine.message_ns(bytes),
            bytes => machine.overhead_ns + bytes as f64 * machine.overhead_per_byte_ns,
        },
        Action::Calc { nanos, .. } => nanos as f64,
        Action::Wtime { .. } | Action::Nop => 0.0,
        ref action => {
            let bytes = body.local_operation(action).map_or(0, |local| Operand::size(&local.result()));
            bytes as f64 * machine.gap_per_byte_ns
        }
    }
}
