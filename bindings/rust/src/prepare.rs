//! Prepares collectives, and schedules from files, for any number of runs. The kernels of the job's
//! hosts may execute these runs, so the ranks exchange proposals.

use crate::collective::{Collective, Persistent};
use crate::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result};
use crate::exchange::exchange;
use crate::group::Group;
use crate::offload::{Offer, Proposal, Refusal, WORDS, Way};
use crate::raw::Schedule;
use goal_asm::nisa::{Operation, Record};
use goal_asm::{Nisa, VerifyError};
use goal_collectives::Blocks;
use goal_engine::memory::Region;
use goal_lang::Function;
use goal_lang::limits::{Limit, Limits};
use std::sync::Arc;

impl Collective {
    /// Prepares the collective for any number of runs. Compiles it as
    /// [`compile_blocks`](Self::compile_blocks) does, by the algorithm that the table of decisions
    /// selects. If the kernels of the job run schedules, offers the collective to them. All ranks
    /// of the communicator call this, in the same order as they prepare other schedules. It returns
    /// when all ranks have called it. `call` names the caller's function in reports about a rank
    /// that waits for ever.
    ///
    /// # Errors
    /// As for [`compile`](Self::compile), or the job can't go on.
    pub fn prepare(
        &self,
        blocks: &Blocks,
        communicator: &Communicator,
        call: &str,
    ) -> Result<Persistent> {
        let mut persistent = self.compile_blocks(blocks, communicator, None)?;
        let algorithm = persistent.algorithm();
        let Self { kind, count, datatype, function, root, in_place } = *self;
        let datatype = datatype.name();
        // Ranks may have registered the same function under different numbers.
        let (operation, number) = match function {
            Function::Predefined(op, datatype) => (format!("{op:?} {datatype:?}"), None),
            Function::User(number) => ("user".to_owned(), Some(number)),
        };
        let identity = format!("{kind} {count} {datatype} {operation} {root} {}", algorithm.name);
        let refusal = match function {
            _ if kind.has_neighbors() => Some(Refusal::Neighbors),
            _ if *blocks != Blocks::Equal => Some(Refusal::Lists),
            _ => None,
        };
        let nisa = |in_place: &[bool]| self.of_all_ranks(communicator, algorithm, in_place);
        let identity = identity.as_bytes();
        let offer = Offer { identity, refusal, in_place, function: number, nisa: &nisa };
        let Some(way) = way(communicator, &offer, call)? else { return Ok(persistent) };
        let schedule = persistent.schedule_mut();
        if way.is_ok() {
            let name = format!("bpf-{}", algorithm.name);
            schedule.count_starts(self.kind.name(), self.starts_of(blocks, &name)?);
        }
        schedule.go(way);
        Ok(persistent)
    }
}

impl Schedule {
    /// Verifies the bytes of a NISA file, and loads the schedule of this process's rank. The file
    /// must have as many ranks as the communicator. The schedule works on `memory`. Without
    /// `memory` it works on memory of its own, and each run starts with zeros and the file's
    /// initial values.
    ///
    /// The file may come from somebody else, so its schedule has no other effects. It uses only
    /// this memory, and calls only the registered functions with the numbers `functions`. The
    /// default [`Limits`] apply to the file, but `memory` has no limit.
    ///
    /// If the kernels of the job run schedules, all ranks of the communicator must load the same
    /// file. They must do so in the same order as they prepare other schedules, and this returns
    /// when all have loaded it. `call` names the caller's function in reports about a rank that
    /// waits for ever.
    ///
    /// # Errors
    /// The file is not valid, is for another number of ranks, needs more memory or exceeds a limit.
    /// Or it calls a function that is not in `functions`.
    pub fn load(
        bytes: Vec<u8>,
        communicator: &Communicator,
        memory: Option<Region>,
        functions: &[u32],
        call: &str,
    ) -> Result<Self> {
        let mut limits = Limits::default();
        if memory.is_some() {
            limits.memory_bytes_max = u64::MAX;
        }
        let nisa = Nisa::load(Arc::new(bytes), &limits).map_err(|error| refused(&error))?;
        let nisa = Arc::new(nisa);
        refuse_calls(&nisa, communicator, functions)?;
        let mut schedule = Self::from_file(Arc::clone(&nisa), communicator, memory)?;
        let of_all = |_: &[bool]| Ok(Arc::clone(&nisa));
        let (identity, in_place) = (nisa.bytes(), memory.is_none());
        let (refusal, function) = (None, None);
        let offer = Offer { identity, refusal, in_place, function, nisa: &of_all };
        if let Some(way) = way(communicator, &offer, call)? {
            schedule.go(way);
        }
        Ok(schedule)
    }
}

/// Returns the library's error for a file that the verifier refused.
fn refused(error: &VerifyError) -> Error {
    let (mut code, mut text) = (ErrorCode::File, error.to_string());
    if let Some(limit) = error.diagnostic().limit {
        code = ErrorCode::Limit;
        if limit == Limit::Memory {
            text.push_str(": give it memory of the program, which has no limit");
        }
    }
    Error::new(code, text)
}

/// Checks that the section of this rank calls only functions with numbers in `functions`.
fn refuse_calls(nisa: &Nisa, communicator: &Communicator, functions: &[u32]) -> Result<()> {
    let own = communicator.rank();
    // A file for another number of ranks is refused later, with another text.
    if own >= nisa.num_ranks() {
        return Ok(());
    }
    let called = |record: Record<'_>| match record.operation() {
        Operation::User { function, .. } if !functions.contains(&function) => Some(function),
        _ => None,
    };
    let numbered = (0..).zip(nisa.section(own).records());
    let mut refused = numbered.filter_map(|(at, (_, record))| Some((at, called(record)?)));
    let Some((at, function)) = refused.next() else { return Ok(()) };
    let at: u64 = at;
    let text = format!(
        "rank {own}, action number {at} calls function {function}, and a file calls only what the program allows it to (GOAL_Allow_func)"
    );
    Err(Error::new(ErrorCode::Operation, text))
}

/// Offers a schedule to the kernels. All ranks of the communicator call this, and it returns when
/// all have called it. Returns how the schedule runs; `None` if the kernels run no schedules.
///
/// # Errors
/// The job can't go on.
fn way(communicator: &Communicator, offer: &Offer<'_>, call: &str) -> Result<Option<Way>> {
    let Some(offload) = &Group::current()?.shared().offload else { return Ok(None) };
    let (own, _busy) = match offload.begin(communicator, offer) {
        Ok(begun) => begun,
        Err(why) => return Ok(Some(Err(why))),
    };
    let all = exchange(communicator, &own.to_words(), call)?;
    let all: Vec<Proposal> = all.chunks_exact(WORDS).map(Proposal::from_words).collect();
    Ok(Some(offload.decide(communicator, offer, &own, &all)))
}
