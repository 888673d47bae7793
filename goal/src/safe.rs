//! Graphs, schedules and runs of the safe interface.
#![allow(unsafe_code)] // starts schedules on memory that buffers guard

use crate::buffer::{Buffer, Element, Memory, Slice};
use crate::collective::{Collective, Persistent};
use crate::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result};
use crate::graph;
use crate::group::Group;
use crate::progress::is_fatal;
use crate::raw::{self, Data, Ticket, Vertex};
use crate::slots::{Sleeper, wake};
use goal_collectives::Blocks;
use goal_lang::{CollectiveKind, Datatype, Function, Op, Piece};
use goal_run::job::Mode;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Bytes of a schedule's scratch memory, which each run gets for itself. Their content is not
/// defined at the start of a run.
pub fn scratch(offset: u64, bytes: u64) -> Slice<'static> {
    Slice { piece: graph::scratch(offset, bytes), memory: None, datatype: None }
}

/// The memory of a schedule: each with true if an action writes it.
type Memories = Vec<(Arc<Memory>, bool)>;

/// Actions of this rank on [`Buffer`]s, and the dependencies between them.
pub struct Graph {
    graph: raw::Graph,
    memories: Memories,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a graph of {} actions", self.graph.len())
    }
}

impl Graph {
    /// Creates an empty graph whose ranks count in `communicator`.
    pub fn new(communicator: &Communicator) -> Self {
        Self { graph: raw::Graph::new(communicator), memories: Memories::new() }
    }

    /// Adds a message to a rank.
    ///
    /// # Errors
    /// There is no such rank or tag.
    pub fn send<'b>(&mut self, data: impl Into<Slice<'b>>, to: u32, tag: u32) -> Result<Vertex> {
        let data = self.take(data.into(), false);
        self.graph.send(Data::One(data), to, tag)
    }

    /// Adds the receipt of a message, which has the size of the buffer. `from` and `tag` may be
    /// [`ANY`](crate::ANY).
    ///
    /// # Errors
    /// There is no such rank.
    pub fn recv<'b>(&mut self, data: impl Into<Slice<'b>>, from: u32, tag: u32) -> Result<Vertex> {
        let data = self.take(data.into(), true);
        self.graph.recv(Data::One(data), from, tag)
    }

    /// Adds a message of several pieces, one behind the other.
    ///
    /// # Errors
    /// There is no such rank or tag.
    pub fn send_pieces(&mut self, data: &[Slice<'_>], to: u32, tag: u32) -> Result<Vertex> {
        let data = self.take_all(data, false);
        self.graph.send(Data::Many(&data), to, tag)
    }

    /// Adds the receipt of a message into several pieces, which have no byte in common.
    ///
    /// # Errors
    /// There is no such rank, or pieces overlap.
    pub fn recv_pieces(&mut self, data: &[Slice<'_>], from: u32, tag: u32) -> Result<Vertex> {
        let data = self.take_all(data, true);
        self.graph.recv(Data::Many(&data), from, tag)
    }

    /// Adds a local operation: `result = a op b`, element by element. The operands may be the same
    /// elements, and must not overlap partly. At least one of them is of a buffer, whose type
    /// counts.
    ///
    /// # Errors
    /// The operation is not defined for the type, the operands differ in size or type, or they
    /// overlap.
    pub fn combine<'b>(
        &mut self,
        op: Op,
        a: impl Into<Slice<'b>>,
        b: impl Into<Slice<'b>>,
        result: impl Into<Slice<'b>>,
    ) -> Result<Vertex> {
        let (a, b, result) = (a.into(), b.into(), result.into());
        let datatype = datatype_of(&[a, b, result])?;
        let [a, b] = [a, b].map(|operand| Data::One(self.take(operand, false)));
        let result = Data::One(self.take(result, true));
        self.graph.local_op(op, datatype, a, b, result)
    }

    /// Adds a copy.
    ///
    /// # Errors
    /// The two differ in size or overlap partly.
    pub fn copy<'b>(
        &mut self,
        from: impl Into<Slice<'b>>,
        to: impl Into<Slice<'b>>,
    ) -> Result<Vertex> {
        let from = Data::One(self.take(from.into(), false));
        let to = Data::One(self.take(to.into(), true));
        self.graph.local_op(Op::Copy, Datatype::UInt8, from, from, to)
    }

    /// Adds an operation that stores the time in seconds.
    ///
    /// # Errors
    /// The slice has not one element.
    pub fn wtime(&mut self, at: Slice<'_>) -> Result<Vertex> {
        let at = self.take(at, true);
        self.graph.wtime(at)
    }

    /// Adds a call of a function of [`Group::register`]. It may change both buffers.
    ///
    /// # Errors
    /// The two overlap partly.
    pub fn call<'b>(
        &mut self,
        function: u32,
        a: impl Into<Slice<'b>>,
        b: impl Into<Slice<'b>>,
    ) -> Result<Vertex> {
        let [a, b] = [a.into(), b.into()].map(|data| Data::One(self.take(data, true)));
        self.graph.user(function, a, b)
    }

    /// Adds an action that takes so many nanoseconds, as a computation would.
    ///
    /// # Errors
    /// The graph is full.
    pub fn calc(&mut self, nanos: u64) -> Result<Vertex> {
        self.graph.calc(nanos)
    }

    /// Adds an action that only carries dependencies.
    ///
    /// # Errors
    /// The graph is full.
    pub fn nop(&mut self) -> Result<Vertex> {
        self.graph.nop()
    }

    /// Adds a dependency: `target` may start only when `prerequisite` is complete.
    ///
    /// # Errors
    /// One of them is not a vertex of this graph, or both are the same.
    pub fn requires(&mut self, prerequisite: Vertex, target: Vertex) -> Result<()> {
        self.graph.requires(prerequisite, target)
    }

    /// Adds a dependency: `target` may start only when `prerequisite` has started.
    ///
    /// # Errors
    /// As for [`requires`](Self::requires).
    pub fn requires_start(&mut self, prerequisite: Vertex, target: Vertex) -> Result<()> {
        self.graph.requires_start(prerequisite, target)
    }

    /// Sets the bytes of scratch memory.
    pub fn allocate_scratch(&mut self, bytes: u64) {
        self.graph.allocate_scratch(bytes);
    }

    /// Compiles the graph. It stays as it is and can be compiled again.
    ///
    /// # Errors
    /// Dependencies form a circle, or a limit is exceeded.
    pub fn compile(&self) -> Result<Schedule> {
        let schedule = raw::Schedule::compile(&self.graph)?;
        Ok(Schedule { runs: Runs::Graph(schedule), memories: Arc::new(self.memories.clone()) })
    }

    /// Returns the program of this process's rank as text, before any pass. Buffers lie one behind
    /// the other there.
    ///
    /// # Errors
    /// An action names more scratch memory than there is.
    pub fn text(&self) -> Result<String> {
        self.graph.text()
    }

    fn take(&mut self, data: Slice<'_>, writes: bool) -> Piece {
        note(&mut self.memories, data.memory, writes);
        data.piece
    }

    fn take_all(&mut self, data: &[Slice<'_>], writes: bool) -> Vec<Piece> {
        data.iter().map(|&data| self.take(data, writes)).collect()
    }
}

fn note(memories: &mut Memories, memory: Option<&Arc<Memory>>, writes: bool) {
    let Some(memory) = memory else { return };
    match memories.iter_mut().find(|(known, _)| Arc::ptr_eq(known, memory)) {
        Some((_, known)) => *known |= writes,
        None => memories.push((Arc::clone(memory), writes)),
    }
}

fn datatype_of(operands: &[Slice<'_>]) -> Result<Datatype> {
    let mut datatypes = operands.iter().filter_map(|operand| operand.datatype);
    let first = datatypes.next().ok_or_else(|| {
        Error::new(ErrorCode::Datatype, "an operation needs a buffer, whose type counts")
    })?;
    match datatypes.find(|&other| other != first) {
        None => Ok(first),
        Some(other) => {
            let text = format!("the operands are of {} and {}", first.name(), other.name());
            Err(Error::new(ErrorCode::Datatype, text))
        }
    }
}

/// A compiled graph or collective, which can be run any number of times.
#[derive(Debug)]
pub struct Schedule {
    runs: Runs,
    memories: Arc<Memories>,
}

#[derive(Debug)]
enum Runs {
    Graph(raw::Schedule),
    Collective { collective: Persistent, input: usize, output: usize },
}

impl Schedule {
    /// Starts the schedule and executes the part of it that can be done at once. All ranks of the
    /// communicator start its schedules in the same order.
    ///
    /// # Errors
    /// [`ErrorCode::Busy`] if a buffer is used, or the job can't go on.
    pub fn run(&self) -> Result<Run> {
        for (at, (memory, writes)) in self.memories.iter().enumerate() {
            if let Err(error) = memory.acquire(*writes) {
                release(&self.memories[..at]);
                return Err(error);
            }
        }
        let started = match &self.runs {
            // SAFETY: the memory is taken, and stays so until the run has ended; buffers live in
            // `memories`, which the run keeps.
            Runs::Graph(schedule) => unsafe { schedule.start() },
            Runs::Collective { collective, input, output } => {
                // SAFETY: as above; the sizes were checked when it was made.
                unsafe { collective.start(*input, *output) }
            }
        };
        let ticket = started.inspect_err(|error| {
            if is_fatal(error.code()) {
                // Peers may use the memory already, so it is never freed.
                std::mem::forget(Arc::clone(&self.memories));
            } else {
                release(&self.memories);
            }
        })?;
        Ok(Run { ticket, memories: Some(Arc::clone(&self.memories)), sleeper: None })
    }

    /// The name of the algorithm, if it is a collective.
    pub fn algorithm(&self) -> Option<&'static str> {
        match &self.runs {
            Runs::Graph(_) => None,
            Runs::Collective { collective, .. } => Some(collective.algorithm().name),
        }
    }
}

fn release(memories: &[(Arc<Memory>, bool)]) {
    memories.iter().for_each(|(memory, writes)| memory.release(*writes));
}

/// A run of a schedule. As a [`Future`] it is ready when the run has ended; if schedules make
/// progress only in calls ([`Mode::Caller`]), the future makes it when it is polled, and asks to be
/// polled again at once.
///
/// If it is dropped before, the run goes on, and its buffers stay taken until it has ended.
#[must_use = "a run that nobody waits for makes progress only in other calls"]
#[derive(Debug)]
pub struct Run {
    ticket: Ticket,
    /// The memory that it uses; `None` once it has ended.
    memories: Option<Arc<Memories>>,
    /// The task that is woken at its end.
    sleeper: Option<Arc<Sleeper>>,
}

impl Run {
    /// Returns true if the run has ended. Makes a bounded amount of progress if it has not.
    ///
    /// # Errors
    /// The job can't go on.
    pub fn test(&mut self) -> Result<bool> {
        let has_ended = raw::test(self.ticket)?;
        if has_ended {
            self.end();
        }
        Ok(has_ended)
    }

    /// Waits until the run has ended.
    ///
    /// # Errors
    /// The job can't go on.
    pub fn wait(mut self) -> Result<()> {
        raw::wait(self.ticket, "Run::wait")?;
        self.end();
        Ok(())
    }

    fn end(&mut self) {
        if let Some(memories) = self.memories.take() {
            release(&memories);
        }
    }
}

impl Future for Run {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        match self.test() {
            Ok(true) => return Poll::Ready(Ok(())),
            Err(error) => return Poll::Ready(Err(error)),
            Ok(false) => {}
        }
        // In mode `thread` the rank's thread wakes the task; in others it makes progress by polls.
        let is_known = self.sleeper.is_some();
        let sleeper = Arc::clone(self.sleeper.get_or_insert_default());
        *sleeper.lock() = Some(context.waker().clone());
        if !is_known && let Err(error) = raw::wake_when_ended(self.ticket, Arc::clone(&sleeper)) {
            return Poll::Ready(Err(error));
        }
        if !matches!(Group::current().map(Group::progress), Ok(Mode::Thread)) {
            wake(&sleeper);
        }
        Poll::Pending
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(memories) = self.memories.take() {
            // If the job can't go on, peers may still use the memory, so it is never freed.
            let kept = Arc::clone(&memories);
            let end = move |has_ended| {
                if has_ended {
                    release(&memories);
                } else {
                    std::mem::forget(memories);
                }
            };
            if raw::when_ended(self.ticket, Box::new(end)).is_err() {
                std::mem::forget(kept);
            }
        }
    }
}

impl Group {
    /// Returns a buffer of zeros.
    ///
    /// # Errors
    /// There are more elements than memory has.
    pub fn zeros<T: Element>(self, len: usize) -> Result<Buffer<T>> {
        Buffer::zeros(self, len)
    }

    /// Returns a buffer with these elements.
    ///
    /// # Errors
    /// There is no memory.
    pub fn buffer<T: Element>(self, elements: &[T]) -> Result<Buffer<T>> {
        let buffer = Buffer::zeros(self, elements.len())?;
        buffer.write()?.copy_from_slice(elements);
        Ok(buffer)
    }

    /// Returns an empty graph of the group's communicator of all ranks.
    pub fn graph(self) -> Graph {
        Graph::new(self.world())
    }

    /// Returns a collective of `communicator` on these buffers. Without an input it works in place.
    /// `root` counts for collectives that have one, `op` for those that combine. `count` is the
    /// number of elements of a block: of a rank's input, or of its part for each rank.
    ///
    /// # Errors
    /// The collective is not defined for these arguments, or a buffer is too small.
    pub fn collective<T: Element>(
        self,
        communicator: &Communicator,
        arguments: &Arguments<'_, T>,
    ) -> Result<Schedule> {
        self.collective_of_blocks(communicator, arguments, &Blocks::Equal)
    }

    /// Returns a collective whose blocks differ in size or place, as far as this rank knows them
    /// (MPI's collectives whose names end with v, and `MPI_Reduce_scatter`): of a gather or a
    /// scatter the root knows all blocks, and the others their own one. `count` is not looked at.
    ///
    /// ```no_run
    /// # use goal::{Arguments, BlockList, Blocks, CollectiveKind, Group, Op};
    /// # fn main() -> goal::Result<()> {
    /// # let group = Group::init()?;
    /// // Rank r gives r elements. The blocks lie one behind the other, with one element between.
    /// let counts: Vec<u64> = (0..u64::from(group.size())).collect();
    /// let places: Vec<u64> = counts.iter().map(|r| r * (r + 1) / 2).collect();
    /// let own = group.buffer(&vec![group.rank(); group.rank() as usize])?;
    /// let all = group.zeros::<u32>(counts.iter().sum::<u64>() as usize + counts.len())?;
    /// let blocks = BlockList::at(counts, places).expect("there are as many places as counts");
    /// let arguments = Arguments {
    ///     kind: CollectiveKind::Allgather,
    ///     count: 0,
    ///     op: Op::Sum,
    ///     root: 0,
    ///     input: Some(&own),
    ///     output: Some(&all),
    /// };
    /// let allgather =
    ///     group.collective_of_blocks(group.world(), &arguments, &Blocks::Each(blocks))?;
    /// allgather.run()?.wait()?;
    /// # group.finalize()
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`collective`](Self::collective); the blocks are not those of this collective, or
    /// those that are received overlap.
    pub fn collective_of_blocks<T: Element>(
        self,
        communicator: &Communicator,
        arguments: &Arguments<'_, T>,
        blocks: &Blocks,
    ) -> Result<Schedule> {
        let Arguments { kind, count, op, root, input, output } = *arguments;
        let datatype = T::DATATYPE;
        let function = Function::Predefined(op, datatype);
        let in_place = input.is_none();
        let collective =
            Collective { kind, count: count as u64, datatype, function, root, in_place };
        let collective = collective.compile_blocks(blocks, communicator, None)?;
        let lengths: Vec<u64> = collective.schedule().buffers().to_vec();
        let buffers: Vec<&Buffer<T>> = input.into_iter().chain(output).collect();
        let mut memories = Memories::new();
        let mut addresses = [0; 2];
        for (at, &length) in lengths.iter().enumerate() {
            let is_output = at + 1 == lengths.len();
            let buffer = if is_output { output } else { input };
            let name = if is_output { "output" } else { "input" };
            let bytes = buffer.map_or(0, |buffer| (buffer.len() * size_of::<T>()) as u64);
            if bytes < length {
                let text = format!("the {name} has {bytes} bytes, and this rank needs {length}");
                return Err(Error::new(ErrorCode::Buffer, text));
            }
            addresses[usize::from(is_output)] =
                buffer.map_or(0, |buffer| buffer.memory().address());
            note(&mut memories, buffer.filter(|_| length > 0).map(Buffer::memory), is_output);
        }
        let is_same = |pair: &[&Buffer<T>]| Arc::ptr_eq(pair[0].memory(), pair[1].memory());
        if buffers.windows(2).any(is_same) {
            let text = "input and output are the same buffer: leave the input out for a collective in place";
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        let [input, output] = addresses;
        let runs = Runs::Collective { collective, input, output };
        Ok(Schedule { runs, memories: Arc::new(memories) })
    }
}

/// The arguments of a collective, in MPI's terms.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'b, T> {
    /// The collective.
    pub kind: CollectiveKind,
    /// The elements of a block.
    pub count: usize,
    /// The operation, for collectives that combine inputs.
    pub op: Op,
    /// The root, for collectives that have one.
    pub root: u32,
    /// The input; `None` if it lies where the output will be (`MPI_IN_PLACE`), or there is none.
    pub input: Option<&'b Buffer<T>>,
    /// The output; `None` if this rank has none.
    pub output: Option<&'b Buffer<T>>,
}
