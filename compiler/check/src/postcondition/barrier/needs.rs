//! Computes, for each action, the receives that must have taken a message before the action starts.
//! Counts receives that may take several messages. Also counts receives whose message one of the
//! former may take.
//!
//! For example, an action waits for two receives from any source. When both have ended, they have
//! taken two messages, whichever receive took which. So the action can't start if only one message
//! was sent that fits them.

use crate::analysis::Analysis;
use goal_lang::{ANY, Action};
use goal_opt::whole::{Vertex, Whole};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The most steps of all searches for messages that receives may take.
const WORK_MAX: usize = 1 << 28;

/// The number of steps that searches may still take.
#[derive(Debug)]
pub(super) struct Work {
    left: usize,
}

/// The error that a search would take more than [`WORK_MAX`] steps.
#[derive(Debug)]
pub(super) struct TooMuchWork;

impl Default for Work {
    fn default() -> Self {
        Self { left: WORK_MAX }
    }
}

impl Work {
    /// Subtracts `steps` from the steps that are left. Returns [`TooMuchWork`] if fewer are left.
    pub(super) fn add(&mut self, steps: usize) -> Result<(), TooMuchWork> {
        self.left = self.left.checked_sub(steps).ok_or(TooMuchWork)?;
        Ok(())
    }
}

/// The number of a set of receives in [`Needs`]. All receives of a set are of one rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct SetId(u32);

impl SetId {
    /// The empty set.
    pub(super) const EMPTY: SetId = SetId(0);

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The sets of receives that actions wait for. Only counted receives are in them: receives that may
/// take several messages, and receives whose message a receive of the first kind may take.
pub(super) struct Needs {
    /// By number, the receives of the set in ascending order.
    sets: Vec<Rc<[Vertex]>>,
    numbers: FxHashMap<Rc<[Vertex]>, SetId>,
    /// By vertex, the counted receives that must have taken a message before the action starts.
    of: Vec<SetId>,
    /// By rank, all of its counted receives.
    of_rank: Vec<SetId>,
}

impl Needs {
    /// Computes the sets of all actions. `partner` has, by vertex, the other end of each message
    /// that every run matches alike. Linear if `partner` has all messages.
    pub(super) fn new(
        analysis: &Analysis<'_>,
        partner: &[Vertex],
        work: &mut Work,
    ) -> Result<Self, TooMuchWork> {
        let whole = analysis.whole;
        let mut needs = Self {
            sets: Vec::new(),
            numbers: FxHashMap::default(),
            of: vec![SetId::EMPTY; whole.len()],
            of_rank: vec![SetId::EMPTY; whole.program.ranks.len()],
        };
        needs.intern(Vec::new());
        for rank in 0..whole.program.num_ranks() {
            let counted = counted(whole, partner, rank);
            if !counted.is_empty() {
                needs.gather(analysis, rank, &counted, work)?;
                needs.of_rank[rank as usize] = needs.intern(counted);
            }
        }
        Ok(needs)
    }

    /// Returns true if some rank has counted receives.
    pub(super) fn has_open(&self) -> bool {
        self.sets.len() > 1
    }

    /// The counted receives that must have taken a message before an action starts.
    pub(super) fn of(&self, vertex: Vertex) -> SetId {
        self.of[vertex.index()]
    }

    /// All counted receives of a rank.
    pub(super) fn of_rank(&self, rank: u32) -> SetId {
        self.of_rank[rank as usize]
    }

    /// The receives of a set, in ascending order.
    pub(super) fn set(&self, id: SetId) -> &[Vertex] {
        &self.sets[id.index()]
    }

    pub(super) fn num_sets(&self) -> usize {
        self.sets.len()
    }

    /// Computes the sets of a rank's actions, in an order that the dependencies allow.
    fn gather(
        &mut self,
        analysis: &Analysis<'_>,
        rank: u32,
        counted: &[Vertex],
        work: &mut Work,
    ) -> Result<(), TooMuchWork> {
        let whole = analysis.whole;
        let first = whole.vertices_of(rank).next().expect("a rank with receives").index();
        let mut missing = whole.program.body_of(rank).indegrees();
        // By action, the sets collected from its prerequisites. `taken` has receives that have
        // taken a message, `posted` has receives that are posted.
        let mut taken: Vec<Vec<SetId>> = vec![Vec::new(); missing.len()];
        let mut posted = taken.clone();
        let mut ready: Vec<Vertex> =
            whole.vertices_of(rank).filter(|vertex| missing[vertex.index() - first] == 0).collect();
        while let Some(vertex) = ready.pop() {
            let at = vertex.index() - first;
            let need = self.union(std::mem::take(&mut taken[at]), &[], work)?;
            let before = self.union(std::mem::take(&mut posted[at]), &[], work)?;
            self.of[vertex.index()] = need;
            let (mut after, mut after_start) = (need, before);
            if counted.binary_search(&vertex).is_ok() {
                // An earlier receive that accepts every message of `vertex` must have taken a
                // message, too. Without one, it would have taken the message of `vertex`.
                let earlier = self.set(before).iter().copied();
                let mut own: Vec<Vertex> =
                    earlier.filter(|&recv| covers(whole, recv, vertex)).collect();
                own.push(vertex);
                after = self.union(vec![need], &own, work)?;
                after_start = self.union(vec![before], &[vertex], work)?;
            }
            let requires = whole.requires(vertex).map(|waiter| (waiter, after));
            for (waiter, taken_then) in
                requires.chain(whole.irequires(vertex).map(|waiter| (waiter, need)))
            {
                let waiting = waiter.index() - first;
                taken[waiting].push(taken_then);
                posted[waiting].push(after_start);
                missing[waiting] -= 1;
                if missing[waiting] == 0 {
                    ready.push(waiter);
                }
            }
        }
        Ok(())
    }

    /// Returns the number of the union of `sets` and the receives `more`.
    fn union(
        &mut self,
        mut sets: Vec<SetId>,
        more: &[Vertex],
        work: &mut Work,
    ) -> Result<SetId, TooMuchWork> {
        sets.sort_unstable();
        sets.dedup();
        if let ([set], []) = (&*sets, more) {
            return Ok(*set);
        }
        work.add(sets.iter().map(|&set| self.set(set).len()).sum::<usize>() + more.len() + 1)?;
        let mut all = more.to_vec();
        sets.iter().for_each(|&set| all.extend_from_slice(self.set(set)));
        all.sort_unstable();
        all.dedup();
        Ok(self.intern(all))
    }

    /// Returns the number of a set, and adds the set if it is new. `set` must be sorted.
    fn intern(&mut self, set: Vec<Vertex>) -> SetId {
        let set: Rc<[Vertex]> = set.into();
        let next = SetId(self.sets.len() as u32);
        let id = *self.numbers.entry(Rc::clone(&set)).or_insert(next);
        if id == next {
            self.sets.push(set);
        }
        id
    }
}

/// Returns the counted receives of a rank: receives without a partner, and receives whose message a
/// receive without a partner may take.
fn counted(whole: &Whole<'_>, partner: &[Vertex], rank: u32) -> Vec<Vertex> {
    let mut open = FxHashSet::default();
    for vertex in whole.vertices_of(rank) {
        if let Action::Recv { from, tag, .. } = *whole.action(vertex)
            && partner[vertex.index()] == Vertex::NONE
        {
            open.insert((from, tag));
        }
    }
    if open.is_empty() {
        return Vec::new();
    }
    let counts = |&vertex: &Vertex| match *whole.action(vertex) {
        Action::Recv { .. } => partner[vertex.index()].some().is_none_or(|send| {
            let Action::Send { tag, .. } = *whole.action(send) else { unreachable!("a send") };
            let source = whole.rank(send);
            [(source, tag), (ANY, tag), (source, ANY), (ANY, ANY)]
                .iter()
                .any(|taker| open.contains(taker))
        }),
        _ => false,
    };
    whole.vertices_of(rank).filter(counts).collect()
}

/// Returns true if the receive `wide` accepts every message that `narrow` accepts.
fn covers(whole: &Whole<'_>, wide: Vertex, narrow: Vertex) -> bool {
    match (*whole.action(wide), *whole.action(narrow)) {
        (Action::Recv { from, tag, .. }, Action::Recv { from: source, tag: wanted, .. }) => {
            (from == ANY || from == source) && (tag == ANY || tag == wanted)
        }
        _ => false,
    }
}

/// Returns true if each receive can have a message of its own (a bipartite matching by augmenting
/// paths). `may_take(recv, send)` is true for the allowed pairs.
pub(super) fn can_all_take(
    recvs: &[Vertex],
    sends: &[Vertex],
    may_take: impl Fn(Vertex, Vertex) -> bool,
    work: &mut Work,
) -> Result<bool, TooMuchWork> {
    const NONE: usize = usize::MAX;
    if recvs.len() > sends.len() {
        return Ok(false);
    }
    // `taker` has, by send, the receive that the send is matched with. `taken` has, by receive, its
    // send.
    let (mut taker, mut taken) = (vec![NONE; sends.len()], vec![NONE; recvs.len()]);
    for root in 0..recvs.len() {
        // Searches breadth first, along matched sends, for a send that is free.
        let mut reached_from = vec![NONE; sends.len()];
        let mut open = vec![root];
        let mut next = 0;
        let mut free = None;
        while let Some(&recv) = open.get(next)
            && free.is_none()
        {
            next += 1;
            work.add(sends.len())?;
            for send in 0..sends.len() {
                if reached_from[send] == NONE && may_take(recvs[recv], sends[send]) {
                    reached_from[send] = recv;
                    if taker[send] == NONE {
                        free = Some(send);
                        break;
                    }
                    open.push(taker[send]);
                }
            }
        }
        let Some(mut send) = free else { return Ok(false) };
        loop {
            let recv = reached_from[send];
            let before = std::mem::replace(&mut taken[recv], send);
            taker[send] = recv;
            if recv == root {
                break;
            }
            send = before;
        }
    }
    Ok(true)
}

/// Returns true if `recv` may take the message of `send`. A receive with a partner takes only the
/// message of its partner.
pub(super) fn may_take(
    analysis: &Analysis<'_>,
    partner: &[Vertex],
    recv: Vertex,
    send: Vertex,
) -> bool {
    match partner[recv.index()].some() {
        Some(partner) => partner == send,
        None => analysis.whole.envelope_fits(send, recv),
    }
}
