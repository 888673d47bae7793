//! Matches sends and receives.

use super::{Run, State};
use crate::whole::Vertex;
use goal_lang::Action;

impl Run<'_, '_> {
    /// Starts a send and a receive of the envelope that match, as far as they have not started, and
    /// delivers the message. Does nothing without such a pair. If a rank has no room for them,
    /// returns this rank as the error.
    pub(super) fn match_ends(&mut self, envelope: u32) -> Result<(), u32> {
        self.drop_started(envelope);
        let of = &self.messages.envelopes[envelope as usize];
        let (send, has_recv) = (of.sends.front().copied(), !of.recvs.is_empty());
        if has_recv && let Some(&sent) = self.sent.get(&envelope).and_then(|sent| sent.front()) {
            let recv = self.first_ready(sent);
            self.make_room(&[self.rank(recv)])?;
            self.start(recv);
            self.unmatched.remove(&sent);
            self.deliver(sent, recv);
        } else if let Some(send) = send
            && !self.messages.families[of.family as usize].is_open_ended
        {
            if let Some((of, recv)) = self.first_posted(send) {
                self.make_room(&[self.rank(send)])?;
                self.start(send);
                self.take_posted(of);
                self.deliver(send, recv);
            } else if has_recv {
                let recv = self.first_ready(send);
                self.make_room(&[self.rank(send), self.rank(recv)])?;
                self.start(send);
                self.start(recv);
                self.deliver(send, recv);
            } else {
                return Ok(());
            }
        } else {
            return Ok(());
        }
        self.queue_message(envelope);
        Ok(())
    }

    /// Starts all sends of a family with several sources, so that a receive can take any of their
    /// messages. If a rank has no room for them, returns this rank as the error.
    pub(super) fn open_family(&mut self, number: u32) -> Result<(), u32> {
        let family = &self.open_ended[&number];
        if family.is_open || !family.is_received {
            return Ok(());
        }
        let ready = |vertex: &&Vertex| self.state[vertex.index()] == State::Ready;
        let sends: Vec<Vertex> = family.ready.iter().filter(ready).copied().collect();
        let ranks: Vec<u32> = sends.iter().map(|&send| self.rank(send)).collect();
        self.make_room(&ranks)?;
        self.open_ended.get_mut(&number).expect("there").is_open = true;
        for send in sends {
            self.send_early(send);
        }
        Ok(())
    }

    /// Starts a send before its receive.
    pub(super) fn send_early(&mut self, send: Vertex) {
        self.start(send);
        let Action::Send { payload, .. } = *self.whole.action(send) else {
            unreachable!("only sends send")
        };
        let size = self.whole.body(send).payload_size(payload);
        let is_eager = self.eager_limit.is_some_and(|limit| size <= limit);
        if let Some((envelope, recv)) = self.first_posted(send) {
            self.take_posted(envelope);
            self.deliver(send, recv);
            return;
        }
        self.unmatched.insert(send);
        let envelope = self.messages.of[send.index()];
        for i in 0..=self.messages.envelopes[envelope as usize].wider.len() {
            let wider = &self.messages.envelopes[envelope as usize].wider;
            let number = if i == 0 { envelope } else { wider[i - 1] };
            self.sent.entry(number).or_default().push_back(send);
            self.queue_message(number);
        }
        if is_eager {
            self.complete(send);
        }
    }

    /// Gives a message to a receive, which ends. A send that waited for this ends, too. In an
    /// open-ended family, waiting sends end only when every receive has its message.
    fn deliver(&mut self, send: Vertex, recv: Vertex) {
        let number = self.family(recv);
        let family = &mut self.messages.families[number as usize];
        family.recvs_left -= 1;
        let is_last = family.recvs_left == 0;
        let is_open_ended = family.is_open_ended;
        self.complete(recv);
        let waits = self.state[send.index()] == State::Started;
        if !is_open_ended {
            if waits {
                self.complete(send);
            }
            return;
        }
        let family = self.open_ended.entry(number).or_default();
        if waits {
            family.held.push(send);
        }
        if is_last {
            for send in std::mem::take(&mut family.held) {
                self.complete(send);
            }
        }
    }

    /// Drops sends and receives that have started from the front of the queues of an envelope.
    pub(super) fn drop_started(&mut self, envelope: u32) {
        let Self { messages, state, .. } = self;
        let of = &mut messages.envelopes[envelope as usize];
        let started = |vertex: &Vertex| state[vertex.index()] != State::Ready;
        while of.sends.front().is_some_and(started) {
            of.sends.pop_front();
        }
        while of.recvs.front().is_some_and(|(_, recv)| started(recv)) {
            of.recvs.pop_front();
        }
        if let Some(sent) = self.sent.get_mut(&envelope) {
            while sent.front().is_some_and(|send| !self.unmatched.contains(send)) {
                sent.pop_front();
            }
            if sent.is_empty() {
                self.sent.remove(&envelope);
            }
        }
    }

    /// The receive that was posted first among those that accept a send, and its envelope.
    pub(super) fn first_posted(&self, send: Vertex) -> Option<(u32, Vertex)> {
        if self.posted.is_empty() {
            return None;
        }
        let own = self.messages.of[send.index()];
        let all =
            std::iter::once(own).chain(self.messages.envelopes[own as usize].wider.iter().copied());
        let first = all.filter_map(|envelope| {
            let &(number, recv) = self.posted.get(&envelope)?.front()?;
            Some((number, envelope, recv))
        });
        first.min().map(|(_, envelope, recv)| (envelope, recv))
    }

    /// The receive that became ready first among those that accept a send. There must be one.
    fn first_ready(&mut self, send: Vertex) -> Vertex {
        let own = self.messages.of[send.index()];
        let mut first = None;
        for i in 0..=self.messages.envelopes[own as usize].wider.len() {
            let wider = &self.messages.envelopes[own as usize].wider;
            let envelope = if i == 0 { own } else { wider[i - 1] };
            self.drop_started(envelope);
            let front = self.messages.envelopes[envelope as usize].recvs.front().copied();
            first = [first, front].into_iter().flatten().min();
        }
        first.expect("a receive fits").1
    }

    fn take_posted(&mut self, envelope: u32) {
        let queue = self.posted.get_mut(&envelope).expect("a receive is posted");
        queue.pop_front();
        if queue.is_empty() {
            self.posted.remove(&envelope);
        }
    }

    /// Starts a receive before its message is sent.
    pub(super) fn post(&mut self, recv: Vertex) {
        let envelope = self.messages.of[recv.index()];
        self.start(recv);
        self.posted.entry(envelope).or_default().push_back((self.postings, recv));
        self.postings += 1;
        self.queue_message(envelope);
    }
}
