//! Compiles and starts collectives. Their schedules come from the algorithms of `goal-collectives`.
//! A collective is persistent, or a cache keeps it for later calls.
#![allow(unsafe_code)] // hands on the contract of a start

use crate::boards::LINES;
use crate::communicator::Communicator;
use crate::compile;
use crate::error::{Error, ErrorCode, Result};
use crate::group::Group;
use crate::linkable::Call;
use crate::progress::RankCore;
use crate::raw::{Schedule, Ticket};
use crate::table::{decisions, published};
use goal_asm::Nisa;
use goal_collectives::{
    Algorithm, Blocks, GenerateError, Request, RequestError, TableError, algorithm,
};
use goal_engine::linked::{Link, Unlinkable};
use goal_lang::{Body, CollectiveKind, Datatype, Function, ProgramBuilder, Space};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The placeholder for the address of the input in a generated graph, until the graph gets a table
/// of buffers. [`OUTPUT`] is the placeholder for the output.
const INPUT: u64 = 1 << 60;
const OUTPUT: u64 = 1 << 62;

/// A collective on buffers of the program, in MPI's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Collective {
    /// The collective.
    pub kind: CollectiveKind,
    /// The number of elements in a block: in a rank's input, or in the input's part for each rank.
    pub count: u64,
    /// The type of the elements.
    pub datatype: Datatype,
    /// The operation, for collectives that combine inputs.
    pub function: Function,
    /// The root, for collectives that have one.
    pub root: u32,
    /// True if the input lies where the output will be (`MPI_IN_PLACE`).
    pub in_place: bool,
}

/// A collective that this process can start any number of times, on any buffers.
#[derive(Debug)]
pub struct Persistent {
    schedule: Schedule,
    algorithm: &'static Algorithm,
    in_place: bool,
}

impl Collective {
    /// Returns the size of a block in bytes, if all blocks are equal.
    fn block(&self) -> u64 {
        match self.kind {
            CollectiveKind::Barrier => 0,
            _ => self.count.saturating_mul(self.datatype.width()),
        }
    }

    fn request(&self, blocks: &Blocks, communicator: &Communicator) -> Result<Request> {
        let neighbors = communicator.neighbors().filter(|_| self.kind.has_neighbors()).cloned();
        if self.kind.has_neighbors() && neighbors.is_none() {
            let text = "the communicator has no graph of neighbours (GOAL_Comm_create_graph)";
            return Err(Error::new(ErrorCode::Argument, text));
        }
        Ok(Request {
            root: self.root,
            count: self.count,
            blocks: blocks.clone(),
            neighbors,
            nodes: communicator.nodes().cloned(),
            datatype: self.datatype,
            function: self.function,
            input: (!self.in_place).then_some(INPUT),
            output: OUTPUT,
            ..Request::new(self.kind, communicator.size())
        })
    }

    /// Compiles the collective for `communicator` by the algorithm `name`. Without a name, the
    /// table of decisions selects the algorithm. All ranks must use the same algorithm.
    ///
    /// # Errors
    /// The collective is not defined for these arguments, there is no such algorithm, or the
    /// algorithm does not support them.
    pub fn compile(&self, communicator: &Communicator, name: Option<&str>) -> Result<Persistent> {
        self.compile_blocks(&Blocks::Equal, communicator, name)
    }

    /// Compiles the collective for blocks that differ in size or place: MPI's collectives whose
    /// names end with v, and `MPI_Reduce_scatter`. `blocks` has the blocks that this rank knows.
    /// All ranks must call this, even ranks whose own blocks are equal.
    ///
    /// # Errors
    /// As for [`compile`](Self::compile). Also if `blocks` does not fit the collective, or received
    /// blocks overlap.
    pub fn compile_blocks(
        &self,
        blocks: &Blocks,
        communicator: &Communicator,
        name: Option<&str>,
    ) -> Result<Persistent> {
        let (mut schedule, algorithm) = self.compiled(blocks, communicator, name)?;
        schedule.count_starts(self.kind.name(), self.starts_of(blocks, algorithm.name)?);
        let shared = Group::current()?.shared();
        let call = Call {
            kind: self.kind,
            count: self.count,
            datatype: self.datatype,
            function: self.function,
            root: self.root,
            has_equal_blocks: *blocks == Blocks::Equal,
            algorithm,
            ranks: &communicator.all_in_group(),
            is_allowed: shared.attached.links_programs(),
        };
        if call.is_linkable() {
            // The places of messages must not depend on which ranks work in place.
            let in_place = self.kind == CollectiveKind::Barrier;
            let in_place = vec![in_place; communicator.size() as usize];
            let all = self.of_all_ranks(communicator, algorithm, &in_place);
            if let Some(link) = all.ok().and_then(|all| Link::in_one_block(&all, &LINES).ok())
                && let Some(set) = shared.with(|core| Ok(core.set_of(communicator)))?
            {
                let signature = call.signature();
                let linked = schedule.linked_form(&link, (signature, signature.into()), set);
                schedule.set_linked(linked.map_err(|Unlinkable| {
                    let text = "the links of a collective differ between ranks";
                    Error::new(ErrorCode::Internal, text)
                })?);
            }
        }
        Ok(Persistent { schedule, algorithm, in_place: self.in_place })
    }

    /// Returns the schedules of all ranks. `in_place` has an entry for each rank: true if the rank
    /// works in place.
    pub(crate) fn of_all_ranks(
        &self,
        communicator: &Communicator,
        algorithm: &Algorithm,
        in_place: &[bool],
    ) -> Result<Arc<Nisa>> {
        let mut program = ProgramBuilder::default();
        for (rank, &in_place) in (0..).zip(in_place) {
            let theirs = Self { in_place, ..*self };
            let request = theirs.request(&Blocks::Equal, communicator)?;
            let mut body = algorithm.body(&request, rank).map_err(|error| of_generate(&error))?;
            theirs.make_table(&mut body);
            let body = program.body(body);
            program.rank(body, None);
        }
        compile::nisa_of(program.finish())
    }

    /// Returns the counter of how often this collective was started by `algorithm`, for the reports
    /// of the launcher.
    pub(crate) fn starts_of(&self, blocks: &Blocks, algorithm: &str) -> Result<&'static AtomicU64> {
        let block = (*blocks == Blocks::Equal).then(|| self.block());
        let attached = &Group::current()?.shared().attached;
        Ok(attached.starts_of(self.kind.name(), algorithm, block))
    }

    /// Compiles the collective for the library's own messages. The reports of the launcher do not
    /// count its starts.
    pub(crate) fn compile_uncounted(&self, communicator: &Communicator) -> Result<Schedule> {
        Ok(self.compiled(&Blocks::Equal, communicator, None)?.0)
    }

    fn compiled(
        &self,
        blocks: &Blocks,
        communicator: &Communicator,
        name: Option<&str>,
    ) -> Result<(Schedule, &'static Algorithm)> {
        let group = Group::current()?;
        let request = self.request(blocks, communicator)?;
        let algorithm = match name {
            Some(name) => algorithm(self.kind, name).ok_or_else(|| {
                Error::new(ErrorCode::Argument, format!("{} has no algorithm {name}", self.kind))
            })?,
            None => choose(&request).map_err(|error| from_table(&error))?,
        };
        let mut body =
            algorithm.body(&request, communicator.rank()).map_err(|error| of_generate(&error))?;
        compile::renumber(&mut body, communicator);
        let bases = self.make_table(&mut body);
        let seed = group.shared().attached.job().seed();
        let code = compile::schedule(body, group.in_job(), group.num_ranks(), seed)?;
        Ok((Schedule::from_table(code, communicator.clone(), bases)?, algorithm))
    }

    /// Lets the actions of `body` work on a table of buffers: the input, unless the collective
    /// works in place, and the output. Returns the placeholder addresses of these buffers.
    fn make_table(&self, body: &mut Body) -> Vec<u64> {
        let (mut input, mut output) = (INPUT, OUTPUT);
        for action in &body.actions {
            body.visit_pieces(action, |piece| {
                if piece.space == Space::Memory {
                    let end = if piece.addr < OUTPUT { &mut input } else { &mut output };
                    *end = (*end).max(piece.addr + piece.size);
                }
            });
        }
        let buffers = [INPUT..input, OUTPUT..output];
        let buffers = if self.in_place { &buffers[1..] } else { &buffers };
        body.make_table(buffers).expect("it names no other memory")
    }

    /// Starts the collective on buffers at the addresses `input` and `output`. Compiles it at the
    /// first call with these arguments, and keeps it for later calls.
    ///
    /// # Errors
    /// As for [`compile`](Self::compile) and [`Persistent::start`].
    ///
    /// # Safety
    /// As for [`Persistent::start`].
    pub unsafe fn start(
        &self,
        communicator: &Communicator,
        input: usize,
        output: usize,
    ) -> Result<Ticket> {
        // SAFETY: as the caller says.
        unsafe { self.start_blocks(&Blocks::Equal, communicator, input, output) }
    }
}

impl Persistent {
    /// Returns the algorithm by which the collective was compiled.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// Returns the schedule. Its declared buffers are the input, unless the collective works in
    /// place, and the output.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Returns the schedule, so that the caller can change it before its first start.
    pub(crate) fn schedule_mut(&mut self) -> &mut Schedule {
        &mut self.schedule
    }

    /// Returns the schedule, and drops the rest.
    pub fn into_schedule(self) -> Schedule {
        self.schedule
    }

    /// Starts the collective on buffers at the addresses `input` and `output`. If it works in
    /// place, `input` is ignored.
    ///
    /// # Errors
    /// A buffer that this rank needs is missing, or the job can't go on.
    ///
    /// # Safety
    /// Until the run has ended, the buffers stay readable and writable, with the sizes that MPI
    /// defines. Meanwhile nobody writes the input, and nobody accesses the output.
    #[inline]
    pub unsafe fn start(&self, input: usize, output: usize) -> Result<Ticket> {
        let shared = Group::current()?.shared();
        // SAFETY: as the caller says.
        shared.with(|core| unsafe { self.start_with(core, input, output) })
    }

    /// Starts the collective as [`start`](Self::start) does, for a caller that holds the engine
    /// lock.
    ///
    /// # Errors
    /// As for [`start`](Self::start).
    ///
    /// # Safety
    /// As for [`start`](Self::start).
    #[inline]
    pub(crate) unsafe fn start_with(
        &self,
        core: &mut RankCore,
        input: usize,
        output: usize,
    ) -> Result<Ticket> {
        let both = [input, output];
        let buffers = if self.in_place { &both[1..] } else { &both };
        // SAFETY: as the caller says.
        unsafe { self.schedule.start_with(core, Some(buffers)) }
    }
}

/// Returns the algorithm that the table of decisions selects for a request. A table from
/// measurements may have no rule for blocks of different sizes or for neighbours. In this case the
/// table of published thresholds decides. All ranks come to the same decision.
fn choose(request: &Request) -> std::result::Result<&'static Algorithm, TableError> {
    match decisions().choose(request) {
        Err(TableError::NoRule(kind))
            if request.blocks != Blocks::Equal || kind.has_neighbors() =>
        {
            Ok(published().choose(request)?.0)
        }
        chosen => Ok(chosen?.0),
    }
}

#[cold]
fn from_table(error: &TableError) -> Error {
    let code = match error {
        TableError::Request(request) => code_of(request),
        _ => ErrorCode::Unsupported,
    };
    Error::new(code, error.to_string())
}

#[cold]
fn of_generate(error: &GenerateError) -> Error {
    let code = match error {
        GenerateError::Request(request) => code_of(request),
        _ => ErrorCode::Argument,
    };
    Error::new(code, error.to_string())
}

fn code_of(error: &RequestError) -> ErrorCode {
    match error {
        RequestError::Root { .. } | RequestError::Neighbor { .. } => ErrorCode::Rank,
        RequestError::NotAssociative { .. } | RequestError::Illegal(..) => ErrorCode::Operation,
        RequestError::Size | RequestError::OwnBlock { .. } => ErrorCode::Count,
        RequestError::BlocksOverlap(_) | RequestError::Overlap { .. } => ErrorCode::Buffer,
        _ => ErrorCode::Argument,
    }
}
