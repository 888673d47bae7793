//! Finds the places where the chain of messages from one rank to another is broken.

use super::needs::{TooMuchWork, Work};
use super::silence::{Silence, Without};
use crate::analysis::Analysis;
use goal_lang::diag::Diagnostic;
use goal_opt::whole::Vertex;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// The most sends, and the most receives, that a finding shows.
const SENDS_MAX: usize = 8;

/// Searches for sends that start too early.
pub(super) struct Search<'a> {
    analysis: &'a Analysis<'a>,
    /// By vertex, the position of its end in the traced run. `None` until it is first needed.
    place: Option<Vec<u32>>,
}

/// The faults on the chains of messages that lead to a rank.
#[derive(Default)]
struct Broken {
    /// Pairs of a send and a receive of the same rank: the send should wait for the receive. In the
    /// text, the receive comes first.
    early: Vec<[Vertex; 2]>,
    /// Pairs as in `early`, but in the text the send comes first.
    later: Vec<[Vertex; 2]>,
    /// Receives that may take different messages. In the traced run, each took a message which
    /// proves that the silent rank has started.
    open: Vec<Vertex>,
    /// Sends whose messages the receives in `open` may take instead.
    others: Vec<Vertex>,
}

impl<'a> Search<'a> {
    pub(super) fn new(analysis: &'a Analysis<'a>) -> Self {
        Self { analysis, place: None }
    }

    /// Explains why `rank` can end before `silent` has started. Labels sends on the chains of
    /// messages to `rank` that do not wait for the receive by which their rank learns of the start.
    /// Also labels receives that may take messages which do not prove the start.
    pub(super) fn explain(
        &mut self,
        mut diagnostic: Diagnostic,
        silence: &Silence<'_>,
        [rank, silent]: [u32; 2],
    ) -> Diagnostic {
        let Analysis { whole, places, .. } = self.analysis;
        // If the bound on the work is reached, the finding stays without an explanation.
        let Ok(broken) = self.search(silence, rank, silent, &mut Work::default()) else {
            return diagnostic;
        };
        for &[send, recv] in &broken.early {
            let source = whole.rank(send);
            let text =
                format!("rank {source} sends this before it knows that rank {silent} has started");
            diagnostic = places.label(diagnostic, send, text);
            let text = format!("rank {source} learns it here, and the send doesn't wait for this");
            diagnostic = places.label(diagnostic, recv, text);
        }
        for &recv in &broken.open {
            let text =
                format!("this may take a message that doesn't tell that rank {silent} has started");
            diagnostic = places.label(diagnostic, recv, text);
        }
        for &send in &broken.others {
            let text =
                format!("rank {} sends a message that may be taken instead", whole.rank(send));
            diagnostic = places.label(diagnostic, send, text);
        }
        let mut notes: Vec<String> = diagnostic.note.take().into_iter().collect();
        if let Some(&[send, recv]) = broken.early.first() {
            notes.push(format!("{} doesn't wait for {}", places.name(send), places.action(recv)));
        }
        if let ([recv, ..], [send, ..]) = (&*broken.open, &*broken.others) {
            notes.push(format!(
                "{} may take the message of {}",
                places.name(*recv),
                places.name(*send)
            ));
        }
        if !notes.is_empty() {
            diagnostic = diagnostic.note(notes.join("; "));
        }
        diagnostic
    }

    /// Goes back from `rank`, breadth first, along messages that can be sent although `silent`
    /// never starts. Returns the faults on these chains of messages.
    fn search(
        &mut self,
        silence: &Silence<'_>,
        rank: u32,
        silent: u32,
        work: &mut Work,
    ) -> Result<Broken, TooMuchWork> {
        let whole = self.analysis.whole;
        let mut without = silence.without(silent, work)?;
        let mut broken = Broken::default();
        let mut seen = FxHashSet::from_iter([rank]);
        let mut todo = VecDeque::from([rank]);
        while let Some(rank) = todo.pop_front() {
            for recv in whole.vertices_of(rank).filter(|&vertex| whole.is_recv(vertex)) {
                self.add_open(&mut broken, silence, &without, recv);
                for send in silence.senders(&without, recv) {
                    work.add(1)?;
                    let learns = self.learning_receive(silence, &mut without, send, work)?;
                    if learns.is_some() {
                        for &awaited in silence.needs().set(silence.needs().of(send)) {
                            self.add_open(&mut broken, silence, &without, awaited);
                        }
                    }
                    match learns {
                        Some(recv) if recv < send => broken.early.push([send, recv]),
                        learns => {
                            if let Some(recv) = learns
                                && broken.later.len() < SENDS_MAX
                            {
                                broken.later.push([send, recv]);
                            }
                            if seen.insert(whole.rank(send)) {
                                todo.push_back(whole.rank(send));
                            }
                        }
                    }
                    if broken.early.len() == SENDS_MAX {
                        return Ok(broken.finished());
                    }
                }
            }
        }
        Ok(broken.finished())
    }

    /// Adds `recv` to `broken` if its message in the traced run proves the start of the silent
    /// rank, but other messages fit too. Also adds the sends of these other messages.
    fn add_open(
        &self,
        broken: &mut Broken,
        silence: &Silence<'_>,
        without: &Without,
        recv: Vertex,
    ) {
        let told_by = self.analysis.trace.partner[recv.index()];
        let is_told = broken.open.contains(&recv) || broken.open.len() == SENDS_MAX;
        if !silence.is_open(recv) || without.has_started(told_by) || is_told {
            return;
        }
        broken.open.push(recv);
        let mut others = silence.senders(without, recv);
        others.truncate(SENDS_MAX - broken.others.len());
        broken.others.extend(others);
    }

    /// Returns the receive by which the rank of `send` learns that the silent rank has started. It
    /// is the first receive that can't end before that start. Returns `None` if the rank of `send`
    /// can end although the silent rank never starts.
    fn learning_receive(
        &mut self,
        silence: &Silence<'_>,
        without: &mut Without,
        send: Vertex,
        work: &mut Work,
    ) -> Result<Option<Vertex>, TooMuchWork> {
        let Analysis { whole, trace, .. } = self.analysis;
        let place = self.place.get_or_insert_with(|| {
            let mut place = vec![0; whole.len()];
            (0..).zip(&trace.order).for_each(|(at, vertex)| place[vertex.index()] = at);
            place
        });
        let rank = whole.rank(send);
        let first =
            |recvs: &mut dyn Iterator<Item = Vertex>| recvs.min_by_key(|recv| place[recv.index()]);
        work.add(whole.vertices_of(rank).size_hint().0)?;
        let stuck =
            |&vertex: &Vertex| self.analysis.whole.is_recv(vertex) && !without.has_ended(vertex);
        if let Some(recv) = first(&mut whole.vertices_of(rank).filter(stuck)) {
            return Ok(Some(recv));
        }
        if silence.ends(without, rank, work)? {
            return Ok(None);
        }
        let needs = silence.needs();
        let awaited = needs.set(needs.of(send));
        let rest = needs.set(needs.of_rank(rank)).iter().copied();
        Ok(first(&mut rest.filter(|recv| awaited.binary_search(recv).is_err())))
    }
}

impl Broken {
    /// Removes duplicates. Uses the pairs in `later` only if `early` is empty.
    fn finished(mut self) -> Self {
        if self.early.is_empty() {
            self.early.append(&mut self.later);
        }
        self.early.sort_unstable();
        self.early.dedup();
        self.others.sort_unstable();
        self.others.dedup();
        self
    }
}
