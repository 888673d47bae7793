//! Continues a run in which no message can be sent and received in one step.

use super::{Cause, Event, OpenEnded, Run, State, Stuck};
use crate::whole::Vertex;
use goal_lang::Action;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Run<'_, '_> {
    /// Starts one end of a message alone: an end whose start other actions wait for, or else a send
    /// that becomes eager because the eager limit is raised.
    pub(super) fn start_one_end(&mut self) -> Result<(), Stuck> {
        let mut without_room = Vec::new();
        let mut started = None;
        while let Some(Reverse((key, vertex))) = self.starters.pop() {
            if self.state[vertex.index()] != State::Ready {
                continue;
            }
            if self.make_room(&[self.rank(vertex)]).is_ok() {
                started = Some(vertex);
                break;
            }
            without_room.push(Reverse((key, vertex)));
        }
        let blocked = without_room.first().map(|Reverse((_, vertex))| *vertex);
        self.starters.extend(without_room);
        if let Some(vertex) = started {
            if matches!(self.whole.action(vertex), Action::Send { .. }) {
                self.send_early(vertex);
            } else {
                self.post(vertex);
            }
            return Ok(());
        }
        if let Some(vertex) = blocked.or_else(|| self.first_parked()) {
            return Err(Stuck { vertex, cause: Cause::TooSmall });
        }
        let stays_closed = |family: &&OpenEnded| {
            !family.held.is_empty()
                || !family.is_open && family.is_received && !family.ready.is_empty()
        };
        if let Some(family) = self.open_ended.values().find(stays_closed) {
            let vertex = family.held.first().or(family.ready.first()).copied();
            return Err(Stuck { vertex: vertex.expect("it has a send"), cause: Cause::OpenEnded });
        }
        self.raise_eager_limit()
    }
    /// Returns an action that waits for room. Drops parked steps that have become impossible.
    fn first_parked(&mut self) -> Option<Vertex> {
        let parked = std::mem::take(&mut self.parked);
        for event in parked.into_values().flatten() {
            match event {
                Event::Local(vertex) => return Some(vertex),
                Event::Gate(family) => {
                    let family = &self.open_ended[&family];
                    if !family.is_open {
                        return family.ready.first().copied();
                    }
                }
                Event::Message(number) => {
                    self.drop_started(number);
                    let envelope = &self.messages.envelopes[number as usize];
                    let is_open_ended =
                        self.messages.families[envelope.family as usize].is_open_ended;
                    let (send, recv) =
                        (envelope.sends.front(), envelope.recvs.front().map(|(_, recv)| recv));
                    let is_sent = self.sent.contains_key(&number);
                    if let Some(&recv) =
                        recv.filter(|_| is_sent || send.is_some() && !is_open_ended)
                    {
                        return Some(recv);
                    }
                    if let Some(&send) = send.filter(|&&send| self.first_posted(send).is_some()) {
                        return Some(send);
                    }
                }
            }
        }
        None
    }

    /// Raises the eager limit to the size of the smallest send that waits for its receive. Then
    /// lets this send end.
    fn raise_eager_limit(&mut self) -> Result<(), Stuck> {
        if self.by_size.is_none() {
            let ready = self.messages.envelopes.iter().flat_map(|envelope| &envelope.sends);
            let all = ready.filter(|send| self.state[send.index()] == State::Ready);
            let sizes = all.chain(&self.unmatched).map(|&send| {
                let Action::Send { payload, .. } = *self.whole.action(send) else {
                    unreachable!("only sends")
                };
                Reverse((self.whole.body(send).payload_size(payload), send))
            });
            self.by_size = Some(sizes.collect());
        }
        while let Some(Reverse((size, send))) = self.by_size.as_mut().and_then(BinaryHeap::pop) {
            let state = self.state[send.index()];
            if state != State::Ready && !(state == State::Started && self.unmatched.contains(&send))
            {
                continue;
            }
            self.eager_limit = self.eager_limit.max(Some(size));
            if state == State::Started {
                self.complete(send);
                return Ok(());
            }
            if self.make_room(&[self.rank(send)]).is_err() {
                return Err(Stuck { vertex: send, cause: Cause::TooSmall });
            }
            self.send_early(send);
            return Ok(());
        }
        let vertex = self.state.iter().position(|&state| state != State::Complete).map(Vertex::new);
        let vertex = vertex.expect("some are left");
        Err(Stuck { vertex, cause: Cause::Deadlock })
    }
}
