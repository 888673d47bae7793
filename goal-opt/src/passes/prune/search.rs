//! Reduction by a search backwards from every action, for wide bodies with short dependencies.

use super::incoming::{Implied, Incoming, Link};
use crate::marks::Marks;

/// Bound on the edges that are followed backwards from one action.
pub(super) const STEPS_MAX: usize = 2048;
/// Bound on the edges that are followed backwards from all actions of a body: this number, and
/// [`STEPS_PER_EDGE`] for each of its edges.
const STEPS: usize = 1 << 18;
const STEPS_PER_EDGE: usize = 8;

/// Marks the implied dependencies, as far as the bounds allow. Returns the number of actions whose
/// search was cut short.
pub(super) fn mark_implied(incoming: &Incoming, implied: &mut Implied) -> usize {
    let latest = |place| incoming.of(place).iter().map(|link| link.source).max().unwrap_or(0);
    let edges: usize = (0..incoming.len()).map(|place| incoming.of(place).len()).sum();
    let mut search = Search {
        incoming,
        wanted_from: vec![(u32::MAX, 0); incoming.len()],
        open: Marks::new(incoming.len()),
        latest: (0..incoming.len()).map(latest).collect(),
        steps_left: STEPS.saturating_add(edges.saturating_mul(STEPS_PER_EDGE)),
        wanted: Vec::new(),
    };
    (0..incoming.len()).filter(|&place| !search.look_back(place as u32, implied)).count()
}

/// A prerequisite of the current action, with its dependencies: one of each kind at most.
#[derive(Clone, Copy)]
struct Wanted {
    source: u32,
    by_end: Option<Link>,
    by_start: Option<Link>,
    implied_end: bool,
    implied_start: bool,
}

impl Wanted {
    /// Returns true if all dependencies on the prerequisite are known to be implied.
    fn is_settled(&self) -> bool {
        (self.by_end.is_none() || self.implied_end)
            && (self.by_start.is_none() || self.implied_start)
    }
}

struct Search<'a> {
    incoming: &'a Incoming,
    /// By position of an action in topological order, the position of its last prerequisite.
    latest: Vec<u32>,
    /// By position, the last action that had this one as a prerequisite, and the index of this one
    /// in `wanted`.
    wanted_from: Vec<(u32, u32)>,
    /// Positions that were reached and not followed back yet. The largest is next, as prerequisites
    /// have smaller positions.
    open: Marks,
    steps_left: usize,
    /// The prerequisites of the current action, in topological order.
    wanted: Vec<Wanted>,
}

impl Search<'_> {
    /// Marks the dependencies of an action that its others imply. Returns false if a bound cut the
    /// search short.
    fn look_back(&mut self, place: u32, implied: &mut Implied) -> bool {
        let links = self.incoming.of(place as usize);
        if links.len() < 2 {
            return true;
        }
        self.collect(links);
        for (index, wanted) in self.wanted.iter().enumerate() {
            self.wanted_from[wanted.source as usize] = (place, index as u32);
            self.open.insert(wanted.source as usize);
        }
        let mut steps = STEPS_MAX.min(self.steps_left);
        // The index in `wanted` of the first prerequisite that is not decided. Positions before it
        // need no search.
        let mut first = 0;
        let mut complete = true;
        let mut last = place as usize;
        while let Some(at) = self.open.last_up_to(last) {
            self.open.remove(at);
            last = at;
            let at = at as u32;
            while first < self.wanted.len() && self.wanted[first].is_settled() {
                first += 1;
            }
            let Some(earliest) = self.wanted.get(first).map(|wanted| wanted.source) else { break };
            if at <= earliest {
                break;
            }
            if self.latest[at as usize] < earliest {
                continue;
            }
            let links = self.incoming.of(at as usize);
            if links.len() > steps {
                complete = false;
                break;
            }
            steps -= links.len();
            self.steps_left -= links.len();
            for link in links.iter().filter(|link| link.source >= earliest) {
                if self.wanted_from[link.source as usize].0 == place {
                    let wanted =
                        &mut self.wanted[self.wanted_from[link.source as usize].1 as usize];
                    wanted.implied_start = true;
                    wanted.implied_end |= link.by_end;
                }
                self.open.insert(link.source as usize);
            }
        }
        while let Some(left) = self.open.last_up_to(last) {
            self.open.remove(left);
            last = left;
        }
        for wanted in &self.wanted {
            let end = wanted.by_end.filter(|_| wanted.implied_end);
            let start = wanted.by_start.filter(|_| wanted.implied_start);
            end.into_iter().chain(start).for_each(|link| implied.mark(link));
        }
        complete
    }

    /// Collects the prerequisites of the current action. A dependency on an end implies one on the
    /// start of the same action.
    fn collect(&mut self, links: &[Link]) {
        self.wanted.clear();
        self.wanted.extend(links.iter().map(|&link| Wanted {
            source: link.source,
            by_end: Some(link).filter(|link| link.by_end),
            by_start: Some(link).filter(|link| !link.by_end),
            implied_end: false,
            implied_start: false,
        }));
        self.wanted.sort_by_key(|wanted| (wanted.source, wanted.by_start.is_some()));
        self.wanted.dedup_by(|start, end| {
            let same = start.source == end.source;
            if same {
                (end.by_start, end.implied_start) = (start.by_start, true);
            }
            same
        });
    }
}
