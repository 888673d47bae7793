//! Collectives: schedules by the algorithms of `goal-collectives`, persistent or from a cache.
#![allow(unsafe_code)] // hands on the contract of a start

use crate::communicator::Communicator;
use crate::compile;
use crate::error::{Error, ErrorCode, Result};
use crate::group::Group;
use crate::raw::{Schedule, Ticket};
use crate::table::decisions;
use goal_collectives::{Algorithm, GenerateError, Request, RequestError, TableError, algorithm};
use goal_lang::{CollectiveKind, Datatype, Function, Space};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// The addresses at which graphs of collectives are generated, before they get a table of buffers.
const INPUT: u64 = 1 << 60;
const OUTPUT: u64 = 1 << 62;

/// The most collectives that are kept for further calls.
const CACHED_MAX: usize = 1024;

/// A collective on buffers of the program, in MPI's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Collective {
    /// The collective.
    pub kind: CollectiveKind,
    /// The elements of a block: of a rank's input, or of its part for each rank.
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
    fn request(&self, communicator: &Communicator) -> Request {
        Request {
            root: self.root,
            count: self.count,
            datatype: self.datatype,
            function: self.function,
            input: (!self.in_place).then_some(INPUT),
            output: OUTPUT,
            ..Request::new(self.kind, communicator.size())
        }
    }

    /// Compiles the collective for a communicator: by the named algorithm, or by the one that the
    /// table of decisions names. All ranks must take the same.
    ///
    /// # Errors
    /// The collective is not defined for these arguments, there is no such algorithm, or it is not
    /// right for them.
    pub fn compile(&self, communicator: &Communicator, name: Option<&str>) -> Result<Persistent> {
        let group = Group::current()?;
        let request = self.request(communicator);
        let algorithm = match name {
            Some(name) => algorithm(self.kind, name).ok_or_else(|| {
                Error::new(ErrorCode::Argument, format!("{} has no algorithm {name}", self.kind))
            })?,
            None => decisions().choose(&request).map_err(|error| of_table(&error))?.0,
        };
        let mut body =
            algorithm.body(&request, communicator.rank()).map_err(|error| of_generate(&error))?;
        compile::renumber(&mut body, communicator);
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
        let bases = body.make_table(buffers).expect("it names no other memory");
        let seed = group.shared().attached.job().seed();
        let code = compile::schedule(body, group.rank(), group.size(), seed)?;
        let schedule = Schedule::of_table(code, communicator.clone(), bases)?;
        Ok(Persistent { schedule, algorithm, in_place: self.in_place })
    }

    /// Starts the collective on these buffers. It is compiled at the first call with these
    /// arguments, and kept for further ones.
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
        let kept = cached(self, communicator)?;
        // SAFETY: as the caller says.
        unsafe { kept.start(input, output) }
    }
}

impl Persistent {
    /// The algorithm that it was compiled by.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// The schedule. Its declared buffers are the input, unless it works in place, and the output.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Returns the schedule alone.
    pub fn into_schedule(self) -> Schedule {
        self.schedule
    }

    /// Starts the collective on an input and an output at these addresses; if it works in place,
    /// only the output counts.
    ///
    /// # Errors
    /// A buffer that this rank needs is missing, or the job can't go on.
    ///
    /// # Safety
    /// Until the run has ended, the buffers stay readable and writable, with the sizes that MPI
    /// defines, nobody writes the input, and nobody accesses the output.
    #[inline]
    pub unsafe fn start(&self, input: usize, output: usize) -> Result<Ticket> {
        let both = [input, output];
        let buffers = if self.in_place { &both[1..] } else { &both };
        // SAFETY: as the caller says.
        unsafe { self.schedule.start_on(Some(buffers)) }
    }
}

type Key = (u32, Collective);

fn cached(collective: &Collective, communicator: &Communicator) -> Result<Arc<Persistent>> {
    static CACHE: OnceLock<Mutex<FxHashMap<Key, Arc<Persistent>>>> = OnceLock::new();
    let cache = CACHE.get_or_init(Mutex::default);
    let key = (communicator.id(), *collective);
    if let Some(kept) = cache.lock().get(&key) {
        return Ok(Arc::clone(kept));
    }
    let kept = Arc::new(collective.compile(communicator, None)?);
    let dropped = {
        let mut cache = cache.lock();
        let dropped = if cache.len() >= CACHED_MAX {
            std::mem::take(&mut *cache)
        } else {
            FxHashMap::default()
        };
        (dropped, cache.insert(key, Arc::clone(&kept)))
    };
    // Schedules take the core's lock when they are dropped.
    drop(dropped);
    Ok(kept)
}

#[cold]
fn of_table(error: &TableError) -> Error {
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
        RequestError::Root { .. } => ErrorCode::Rank,
        RequestError::NotAssociative { .. } | RequestError::Illegal(..) => ErrorCode::Operation,
        RequestError::Size => ErrorCode::Count,
        _ => ErrorCode::Argument,
    }
}
