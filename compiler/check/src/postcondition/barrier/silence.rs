//! Computes the actions that can start and end while one rank, the silent one, never starts.

use super::needs::{Needs, SetId, TooMuchWork, Work, can_all_take, may_take};
use crate::analysis::Analysis;
use goal_lang::Action;
use goal_opt::whole::Vertex;

/// Decides which actions can happen while one rank never starts.
///
/// Each action is considered alone. It can start if all its prerequisites can end and there is a
/// message for each receive that must have taken one. Two actions may need the same message. This
/// is ignored, so the result may contain actions that can't happen, but never lacks one that can.
pub(super) struct Silence<'a> {
    analysis: &'a Analysis<'a>,
    partner: &'a [Vertex],
    needs: &'a Needs,
    /// By vertex, the number of its dependencies of both kinds.
    missing: Vec<u32>,
}

/// The actions that can happen while a rank never starts.
pub(super) struct Without {
    started: Vec<bool>,
    ended: Vec<bool>,
    /// By rank with counted receives, the sends to this rank that can start.
    sent: Vec<Vec<Vertex>>,
    /// By set of receives, the last answer of `have_messages`, behind the number of sends that were
    /// known then.
    answers: Vec<(usize, bool)>,
}

/// The computation of a [`Without`].
struct Flow<'s, 'a, 'w> {
    silence: &'s Silence<'a>,
    without: Without,
    missing: Vec<u32>,
    ready: Vec<Vertex>,
    /// By set of receives, the actions that wait only for messages for these receives.
    held: Vec<Vec<Vertex>>,
    /// By rank, the sets of receives that actions in `held` wait for.
    awaited: Vec<Vec<SetId>>,
    work: &'w mut Work,
}

impl<'a> Silence<'a> {
    pub(super) fn new(analysis: &'a Analysis<'a>, partner: &'a [Vertex], needs: &'a Needs) -> Self {
        let whole = analysis.whole;
        let mut missing = vec![0; whole.len()];
        for vertex in whole.vertices() {
            for waiter in whole.requires(vertex).chain(whole.irequires(vertex)) {
                missing[waiter.index()] += 1;
            }
        }
        Self { analysis, partner, needs, missing }
    }

    /// Computes the actions that can happen while `silent` never starts. Linear in actions and
    /// dependencies, but for the matching of open receives.
    pub(super) fn without(&self, silent: u32, work: &mut Work) -> Result<Without, TooMuchWork> {
        let whole = self.analysis.whole;
        let ranks = whole.program.ranks.len();
        let mut flow = Flow {
            silence: self,
            without: Without {
                started: vec![false; whole.len()],
                ended: vec![false; whole.len()],
                sent: vec![Vec::new(); ranks],
                answers: vec![(0, false); self.needs.num_sets()],
            },
            missing: self.missing.clone(),
            ready: whole.vertices().filter(|vertex| self.missing[vertex.index()] == 0).collect(),
            held: vec![Vec::new(); self.needs.num_sets()],
            awaited: vec![Vec::new(); ranks],
            work,
        };
        while let Some(vertex) = flow.ready.pop() {
            flow.work.add(1)?;
            let rank = whole.rank(vertex);
            if rank == silent {
                continue;
            }
            let need = self.needs.of(vertex);
            if self.have_messages(&mut flow.without, rank, need, flow.work)? {
                flow.start(vertex)?;
            } else {
                if flow.held[need.index()].is_empty() {
                    flow.awaited[rank as usize].push(need);
                }
                flow.held[need.index()].push(vertex);
            }
        }
        Ok(flow.without)
    }

    /// Returns true if all actions of a rank can end.
    pub(super) fn ends(
        &self,
        without: &mut Without,
        rank: u32,
        work: &mut Work,
    ) -> Result<bool, TooMuchWork> {
        let mut vertices = self.analysis.whole.vertices_of(rank);
        work.add(vertices.size_hint().0)?;
        let all = self.needs.of_rank(rank);
        Ok(vertices.all(|vertex| without.has_ended(vertex))
            && self.have_messages(without, rank, all, work)?)
    }

    /// Returns true if each receive of the set `recvs` can have a message of its own, from sends
    /// that can start.
    fn have_messages(
        &self,
        without: &mut Without,
        rank: u32,
        recvs: SetId,
        work: &mut Work,
    ) -> Result<bool, TooMuchWork> {
        if recvs == SetId::EMPTY {
            return Ok(true);
        }
        let sent = &without.sent[rank as usize];
        let (length, answer) = without.answers[recvs.index()];
        if answer || length == sent.len() {
            return Ok(answer);
        }
        let may_take = |recv, send| may_take(self.analysis, self.partner, recv, send);
        let answer = can_all_take(self.needs.set(recvs), sent, may_take, work)?;
        without.answers[recvs.index()] = (sent.len(), answer);
        Ok(answer)
    }

    /// Returns the sends that can start and whose message `recv` may take.
    pub(super) fn senders(&self, without: &Without, recv: Vertex) -> Vec<Vertex> {
        let rank = self.analysis.whole.rank(recv);
        match self.partner[recv.index()].some() {
            Some(send) => [send].into_iter().filter(|&send| without.has_started(send)).collect(),
            None => {
                let sent = without.sent[rank as usize].iter().copied();
                sent.filter(|&send| may_take(self.analysis, self.partner, recv, send)).collect()
            }
        }
    }

    /// Returns true if different runs may match a receive with different sends.
    pub(super) fn is_open(&self, recv: Vertex) -> bool {
        self.partner[recv.index()] == Vertex::NONE
    }

    pub(super) fn needs(&self) -> &'a Needs {
        self.needs
    }
}

impl Without {
    pub(super) fn has_started(&self, vertex: Vertex) -> bool {
        self.started[vertex.index()]
    }

    /// Returns true if an action can end; for a receive that may take several messages, if it can
    /// start.
    pub(super) fn has_ended(&self, vertex: Vertex) -> bool {
        self.ended[vertex.index()]
    }
}

impl Flow<'_, '_, '_> {
    /// Handles an action that can start.
    fn start(&mut self, vertex: Vertex) -> Result<(), TooMuchWork> {
        let Self { silence, .. } = *self;
        let whole = silence.analysis.whole;
        self.without.started[vertex.index()] = true;
        whole.irequires(vertex).for_each(|waiter| self.release(waiter));
        let partner = silence.partner[vertex.index()].some();
        match *whole.action(vertex) {
            Action::Send { to, .. } => {
                if silence.needs.of_rank(to) != SetId::EMPTY {
                    self.without.sent[to as usize].push(vertex);
                    for set in std::mem::take(&mut self.awaited[to as usize]) {
                        if silence.have_messages(&mut self.without, to, set, self.work)? {
                            self.ready.append(&mut self.held[set.index()]);
                        } else {
                            self.awaited[to as usize].push(set);
                        }
                    }
                }
                if let Some(recv) = partner
                    && self.without.has_started(recv)
                {
                    self.end(recv);
                }
                self.end(vertex);
            }
            Action::Recv { .. } if partner.is_some_and(|send| !self.without.has_started(send)) => {}
            _ => self.end(vertex),
        }
        Ok(())
    }

    /// Handles an action that can end.
    fn end(&mut self, vertex: Vertex) {
        self.without.ended[vertex.index()] = true;
        let whole = self.silence.analysis.whole;
        whole.requires(vertex).for_each(|waiter| self.release(waiter));
    }

    /// Removes one unmet dependency of an action.
    fn release(&mut self, waiter: Vertex) {
        self.missing[waiter.index()] -= 1;
        if self.missing[waiter.index()] == 0 {
            self.ready.push(waiter);
        }
    }
}
