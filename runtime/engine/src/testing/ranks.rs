//! Tests a transport: runs random programs on engines over it.

use super::{WithSelf, add_bytes, nisa, state};
use crate::transport::Transport;
use crate::{Calc, Engine, Handle, Options, Schedule, Seed, Storage, sends};
use goal_asm::Nisa;
use goal_lang::Program;
use std::sync::Arc;

/// Returns options whose eager limit depends on a seed.
pub fn options(seed: u64) -> Options {
    let eager_limit = [0, 100, 5000, 16 << 10, 1 << 20][seed as usize % 5];
    Options { eager_limit, calc: Calc::Scaled(1.0), ..Options::default() }
}

/// Returns the room in bytes for first messages, which depends on a seed.
pub fn first_room(seed: u64) -> u64 {
    [0, 1 << 10, 8 << 10][seed as usize % 3]
}

/// A rank that runs its part of a program.
pub struct Rank<T: Transport> {
    pub engine: Engine<'static, T>,
    pub handle: Handle,
}

impl<T: Transport> Rank<T> {
    /// Starts the part of a rank. Requests of others are bounded as in a job.
    pub fn start(nisa: &Arc<Nisa>, rank: u32, transport: T, options: Options) -> Self {
        let mut engine = Engine::new(rank, transport, options, state());
        engine.register(1, Box::new(add_bytes));
        let bound = Arc::clone(nisa);
        engine.bound_requests(move |source| sends(&bound, source, rank));
        let schedule = Arc::new(Schedule::new(Arc::clone(nisa), rank, Seed::default()));
        let handle = engine.start(&schedule, 0, Storage::new(&schedule));
        Self { engine, handle }
    }

    pub fn has_ended(&self) -> bool {
        self.engine.test(&self.handle)
    }

    /// Returns the memory of a rank that has ended and received all of its messages.
    pub fn memory(mut self) -> Vec<u8> {
        assert_eq!(self.engine.stats().unreceived, 0);
        self.engine.finish(self.handle).memory().to_vec()
    }
}

/// Starts a program on ranks. `transports` has each rank's transport to the other ranks.
pub fn start<T: Transport>(
    program: &Program,
    options: Options,
    transports: impl IntoIterator<Item = T>,
) -> Vec<Rank<WithSelf<T>>> {
    let nisa = nisa(program);
    let ranks = (0..nisa.num_ranks()).zip(transports);
    let start = |(rank, others)| Rank::start(&nisa, rank, WithSelf::new(rank, others), options);
    ranks.map(start).collect()
}
