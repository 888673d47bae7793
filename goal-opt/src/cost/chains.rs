//! The longest chains of dependencies and messages through all ranks.

use super::CostError;
use super::local::local_ns;
use crate::machine::Machine;
use crate::whole::{Run, Vertex, Whole};
use goal_lang::{Action, Program};

/// The longest chains through all ranks of a program: by the number of actions, and by time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Chains {
    /// The number of actions on the longest chain, and the rank on which the chain ends. A receive
    /// comes after its send.
    pub depth: Chain<u64>,
    /// The time of the longest chain in nanoseconds, and the rank on which it ends.
    pub critical_path_ns: Chain<f64>,
}

/// The length of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Chain<T> {
    /// The length.
    pub length: T,
    /// The first rank on which a chain of this length ends.
    pub rank: u32,
}

impl<T: PartialOrd> Chain<T> {
    fn consider(&mut self, length: T, rank: u32) {
        if length > self.length || length == self.length && rank < self.rank {
            *self = Self { length, rank };
        }
    }
}

/// Measures the longest chains. The time is the least that a program takes on a machine with any
/// number of processors and interfaces, if no send waits for its receive. A message takes
/// [`Machine::message_ns`] from the start of its send to the end of its receive. A local action
/// takes the same time as in a [prediction](super::predict). If wildcards or missing orders leave
/// open which message a receive takes, one of the possible messages counts. Linear in actions and
/// edges.
///
/// # Errors
/// If the program has too many actions, or if it does not end, however large the messages that are
/// sent at once.
pub fn longest_chains(program: &Program, machine: &Machine) -> Result<Chains, CostError> {
    let whole = Whole::new(program)?;
    let trace = Run::new(&whole).finish(u64::MAX);
    if !trace.is_complete() {
        let stuck = whole.len() - trace.order.len();
        return Err(CostError::Stuck(stuck as u64, u64::MAX));
    }
    let mut walk = Walk::new(&whole, &trace.partner, machine);
    walk.run();
    Ok(walk.longest)
}

/// The longest chains to the start or the end of an action.
#[derive(Debug, Clone, Copy)]
struct Known {
    depth: u64,
    ns: f64,
}

impl Known {
    fn max(self, other: Self) -> Self {
        Self { depth: self.depth.max(other.depth), ns: self.ns.max(other.ns) }
    }
}

/// Marks an action that has started in a table of unmet dependencies.
const STARTED: u32 = u32::MAX;

struct Walk<'w, 'p> {
    whole: &'w Whole<'p>,
    partner: &'w [Vertex],
    machine: &'w Machine,
    /// By vertex, the number of unmet dependencies, or [`STARTED`].
    missing: Vec<u32>,
    /// By vertex, the longest chains to its start that are known so far.
    started: Vec<Known>,
    ready: Vec<Vertex>,
    longest: Chains,
}

impl<'w, 'p> Walk<'w, 'p> {
    fn new(whole: &'w Whole<'p>, partner: &'w [Vertex], machine: &'w Machine) -> Self {
        let mut missing = vec![0; whole.len()];
        for vertex in whole.vertices() {
            for waiter in whole.requires(vertex).chain(whole.irequires(vertex)) {
                missing[waiter.index()] += 1;
            }
        }
        Self {
            whole,
            partner,
            machine,
            ready: whole.vertices().filter(|vertex| missing[vertex.index()] == 0).collect(),
            missing,
            started: vec![Known { depth: 1, ns: 0.0 }; whole.len()],
            longest: Chains::default(),
        }
    }

    fn run(&mut self) {
        while let Some(vertex) = self.ready.pop() {
            self.start(vertex);
        }
    }

    fn start(&mut self, vertex: Vertex) {
        self.missing[vertex.index()] = STARTED;
        let (whole, machine, known) = (self.whole, self.machine, self.started[vertex.index()]);
        for waiter in whole.irequires(vertex) {
            self.release(waiter, known);
        }
        let partner = self.partner[vertex.index()].some();
        let partner = partner.filter(|partner| self.missing[partner.index()] == STARTED);
        match *whole.action(vertex) {
            Action::Send { .. } => {
                let rest = whole.message_size(vertex).saturating_sub(1) as f64;
                let own_ns = machine.overhead_ns + rest * machine.overhead_per_byte_ns;
                self.end(vertex, Known { ns: known.ns + own_ns, ..known });
                if let Some(recv) = partner {
                    self.meet(vertex, recv);
                }
            }
            Action::Recv { .. } => {
                if let Some(send) = partner {
                    self.meet(send, vertex);
                }
            }
            ref action => {
                let own_ns = local_ns(whole.body(vertex), action, machine);
                self.end(vertex, Known { ns: known.ns + own_ns, ..known });
            }
        }
    }

    /// Ends a receive when both ends of its message have started.
    fn meet(&mut self, send: Vertex, recv: Vertex) {
        let [Known { depth, ns }, own] = [send, recv].map(|vertex| self.started[vertex.index()]);
        let message_ns = self.machine.message_ns(self.whole.message_size(send));
        self.end(recv, own.max(Known { depth: depth + 1, ns: ns + message_ns }));
    }

    fn end(&mut self, vertex: Vertex, known: Known) {
        let rank = self.whole.rank(vertex);
        self.longest.depth.consider(known.depth, rank);
        self.longest.critical_path_ns.consider(known.ns, rank);
        for waiter in self.whole.requires(vertex) {
            self.release(waiter, known);
        }
    }

    /// Removes one unmet dependency of `vertex`. `before` has the longest chains to the event that
    /// `vertex` waited for.
    fn release(&mut self, vertex: Vertex, before: Known) {
        let known = &mut self.started[vertex.index()];
        *known = known.max(Known { depth: before.depth + 1, ..before });
        self.missing[vertex.index()] -= 1;
        if self.missing[vertex.index()] == 0 {
            self.ready.push(vertex);
        }
    }
}
