//! Runs a program in steps that a seed chooses.

use std::collections::{BTreeMap, VecDeque};

use goal_lang::Program;

use crate::error::{Error, Failure};
use crate::matching::{Message, Queues};
use crate::options::Options;
use crate::outcome::Outcome;
use crate::state::{Started, State, Vertex};

/// Runs a program to its end.
///
/// # Errors
/// [`Error::Failure`] if an action cannot be executed, [`Error::Stuck`] if no step is possible
/// before the end.
pub fn run(program: &Program, options: &Options) -> Result<Outcome, Error> {
    let mut run = Run::new(program, options, true);
    let mut dice = Dice(options.seed);
    // Some runs prefer to start ready actions; others prefer to let messages arrive.
    let starts_of_eight = [1, 4, 7][dice.below(3)];
    loop {
        let (ready, pairs) = (run.state.ready.len(), run.arriving.len());
        if pairs == 0 && ready == 0 {
            break;
        }
        if pairs == 0 || ready > 0 && dice.below(8) < starts_of_eight {
            let vertex = run.state.ready.swap_remove(dice.below(ready));
            run.start(vertex)?;
        } else {
            let pair = run.arriving.swap_remove(dice.below(pairs));
            run.arrive(pair)?;
        }
    }
    if !run.state.is_finished() {
        return Err(run.state.stuck().into());
    }
    let unreceived = run.queues.iter().map(Queues::unexpected).sum();
    Ok(run.state.outcome(unreceived))
}

/// The state of a run, and the messages that have not arrived.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Run<'p> {
    pub(crate) state: State<'p>,
    pub(crate) queues: Vec<Queues>,
    /// The messages that have not arrived, by source and destination, in the order of their sends.
    pub(crate) under_way: BTreeMap<(u32, u32), VecDeque<Message>>,
    /// The keys of `under_way`, that is, the pairs of ranks with such messages.
    pub(crate) arriving: Vec<(u32, u32)>,
}

impl<'p> Run<'p> {
    pub(crate) fn new(program: &'p Program, options: &'p Options, record: bool) -> Self {
        Self {
            state: State::new(program, options, record),
            queues: vec![Queues::default(); program.ranks.len()],
            under_way: BTreeMap::new(),
            arriving: Vec::new(),
        }
    }

    /// Starts an action. The caller must have removed it from `state.ready`.
    pub(crate) fn start(&mut self, vertex: Vertex) -> Result<(), Failure> {
        match self.state.start(vertex)? {
            Started::Local => {}
            Started::Sent(message) => {
                let pair = (message.source, message.destination);
                let queue = self.under_way.entry(pair).or_default();
                if queue.is_empty() {
                    self.arriving.push(pair);
                }
                queue.push_back(message);
            }
            Started::Posted(envelope) => {
                if let Some(message) = self.queues[vertex.0 as usize].post(vertex.1, envelope) {
                    self.state.take(vertex, message)?;
                }
            }
        }
        Ok(())
    }

    /// Lets the next message of a pair of ranks arrive. The caller must have removed the pair from
    /// `arriving`.
    pub(crate) fn arrive(&mut self, pair: (u32, u32)) -> Result<(), Failure> {
        let queue = self.under_way.get_mut(&pair).expect("a message is under way");
        let message = queue.pop_front().expect("a message is under way");
        if queue.is_empty() {
            self.under_way.remove(&pair);
        } else {
            self.arriving.push(pair);
        }
        let rank = message.destination;
        match self.queues[rank as usize].arrive(message) {
            Some((recv, message)) => self.state.take((rank, recv), message),
            None => Ok(()),
        }
    }
}

/// A random number generator (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * bound as u128) >> 64) as usize
    }
}
