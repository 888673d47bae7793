//! Writes actions and their dependencies as lines.

use super::{Fault, Recorder};
use crate::collective::{Prepared, Step};
use crate::lines::{self, Line};
use crate::order::Edge;
use crate::requests::Operation;
use std::io::Write;

impl<W: Write> Recorder<W> {
    /// Writes the thread's computation since its last action, unless it is shorter than the
    /// settings ask for.
    pub(super) fn write_calc(&mut self, thread: usize) {
        let nanos = std::mem::take(&mut self.threads.of(thread).calc_ns);
        if nanos == 0 || nanos < self.settings.calc_ns_min {
            return;
        }
        let nanos = (nanos as f64 * self.settings.calc_scale).round() as u64;
        if nanos > 0 {
            self.write_next(thread, Line::Calc(nanos));
        }
    }

    /// Writes an action at the end of the thread's chain, so that the next action waits for its
    /// end.
    fn write_next(&mut self, thread: usize, line: Line) -> u64 {
        let label = self.label();
        self.threads.take(thread, &mut self.edges);
        self.write_action(label, line);
        self.threads.follow(thread, Edge::Requires(label));
        label
    }

    /// Returns a label that no action has yet.
    pub(super) fn label(&mut self) -> u64 {
        self.next_label += 1;
        self.next_label - 1
    }

    /// Writes an action with the dependencies in `self.edges`, and empties `self.edges`.
    pub(super) fn write_action(&mut self, label: u64, line: Line) {
        let text = self.output.text();
        lines::action(text, label, line);
        for edge in self.edges.drain(..) {
            lines::dependency(text, label, edge);
        }
    }

    /// Makes the thread's next action wait for the end of the action `label`.
    pub(super) fn wait(&mut self, thread: usize, label: u64) {
        self.threads.wait(thread, label);
        self.join_if_many(thread);
    }

    /// Joins the dependencies of the thread's next action by a `nop` if they are too many.
    /// Otherwise they would grow without end in a thread that only waits.
    pub(super) fn join_if_many(&mut self, thread: usize) {
        if self.threads.waits_for_many(thread) {
            self.write_next(thread, Line::Nop);
        }
    }

    /// Writes a collective between two `nop` actions. The first one starts it, and the last one
    /// joins its end. Returns the label of the last one, or `None` if the rank sends and receives
    /// nothing in it. The next action of the thread waits for the first one.
    pub(super) fn write_collective(
        &mut self,
        thread: usize,
        prepared: &Prepared,
    ) -> Result<Option<u64>, Fault> {
        let Prepared { place, expansion } = prepared;
        let communicator = &place.communicator;
        if expansion.steps.is_empty() {
            return Ok(None);
        }
        self.write_calc(thread);
        let begin = self.write_next(thread, Line::Nop);
        let at = |step: u32| begin + 1 + u64::from(step);
        let world = |rank| communicator.world(rank).ok_or(Fault::Rank("a collective", rank));
        let tag = |message| self.tags.collective(communicator.id, place.number(), message);
        let mut lines_of = Vec::with_capacity(expansion.steps.len());
        for step in &expansion.steps {
            lines_of.push(match *step {
                Step::Send { bytes, to, message } => {
                    Line::Send { bytes, to: world(to)?, tag: tag(message)? }
                }
                Step::Recv { bytes, from, message } => {
                    Line::Recv { bytes, from: world(from)?, tag: tag(message)? }
                }
                Step::Local => Line::Nop,
            });
        }
        let text = self.output.text();
        for (step, line) in (0..).zip(lines_of) {
            lines::action(text, at(step), line);
        }
        for &step in &expansion.first {
            lines::dependency(text, at(step), Edge::Requires(begin));
        }
        for &(waiter, earlier) in &expansion.requires {
            lines::dependency(text, at(waiter), Edge::Requires(at(earlier)));
        }
        for &(waiter, earlier) in &expansion.irequires {
            lines::dependency(text, at(waiter), Edge::Irequires(at(earlier)));
        }
        let end = at(expansion.steps.len() as u32);
        lines::action(text, end, Line::Nop);
        for &step in &expansion.last {
            lines::dependency(text, end, Edge::Requires(at(step)));
        }
        self.next_label = end + 1;
        Ok(Some(end))
    }

    /// Writes all operations that have started and were never completed.
    pub(super) fn write_outstanding(&mut self) -> Result<(), Fault> {
        let mut lost = 0;
        for operation in self.requests.drain() {
            lost += u32::from(operation.has_recv());
            self.write_unfinished(operation);
            self.output.write_if_full()?;
        }
        if lost > 0 {
            self.notes.push(format!(
                "{lost} receives were never completed, so their messages are not known; they are \
                 written as `nop`"
            ));
        }
        Ok(())
    }

    /// Writes an operation whose end was not seen. A send is written as a send; a receive becomes a
    /// `nop`.
    pub(super) fn write_unfinished(&mut self, operation: Operation) {
        match operation {
            Operation::Nothing | Operation::Collective { .. } => {}
            Operation::Both(both) => both.into_iter().for_each(|one| self.write_unfinished(one)),
            Operation::Send { label, edges, message } => {
                self.edges = edges;
                let line = Line::Send { bytes: message.bytes, to: message.to, tag: message.tag };
                self.write_action(label, line);
            }
            Operation::Recv { label, edges, .. } => {
                self.edges = edges;
                self.write_action(label, Line::Nop);
            }
        }
    }
}
