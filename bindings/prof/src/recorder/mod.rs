//! Records the calls of MPI of one rank, and writes lines of GOAL.

mod point_to_point;
mod write;

use crate::collective::{Collective, Expansions, Prepared};
use crate::communicators::{COMM_SELF, COMM_WORLD, Communicator, Communicators, NoPlace};
use crate::lines::Line;
use crate::matching::Matching;
use crate::order::{Edge, Threads};
use crate::output::Output;
use crate::requests::{Operation, Requests, Template};
use crate::settings::Settings;
use crate::tags::{Ids, TagError, Tags, WINDOW};
use std::io::{self, Write};
use std::sync::Arc;

/// The reason why a rank records no more.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The file can't be written.
    #[error(
        "the file can't be written: {0}; make room, raise `ulimit -f`, or set GOALPROF_DIR to \
         another folder"
    )]
    Write(#[from] io::Error),
    /// A message can't get a tag of GOAL.
    #[error(transparent)]
    Tag(#[from] TagError),
    /// A call used a communicator that is not recorded.
    #[error(
        "{0} is called on a communicator that is not followed: one between groups, or made by \
         MPI_Comm_idup; leave that part out with MPI_Pcontrol(0)"
    )]
    Communicator(&'static str),
    /// A call named a rank that its communicator does not have.
    #[error("{0}: there is no rank {1} in the communicator")]
    Rank(&'static str, u32),
    /// No algorithm fits a collective.
    #[error("a collective can't be expanded: {0}")]
    Collective(String),
    /// The place of a collective belongs to an earlier collective that has not ended.
    #[error(
        "{0}: a collective begins at least {WINDOW} collectives after another one of its \
         communicator that has not ended, or is not freed if it is persistent; there are no tags \
         for it: complete or free the earlier one before, or leave that part out with \
         MPI_Pcontrol(0)"
    )]
    Outstanding(&'static str),
    /// The MPI library does not report what a receive took.
    #[error(
        "{0}: this MPI library does not tell what the call received; leave that part out with \
         MPI_Pcontrol(0)"
    )]
    Status(&'static str),
    /// No more memory could be allocated.
    #[error("the program's memory has ended; raise `ulimit -v` or the limit of its group")]
    Memory,
    /// The caller reported a fault of its own.
    #[error("{0}")]
    Caller(String),
}

/// A message as its sender describes it.
#[derive(Debug, Clone, Copy)]
pub struct SentMessage {
    /// MPI's handle of the communicator.
    pub communicator: u64,
    /// The destination's rank in the communicator; `None` for `MPI_PROC_NULL`.
    pub to: Option<u32>,
    /// The tag.
    pub tag: u32,
    /// The number of bytes.
    pub bytes: u64,
    /// True if the send ends even if nobody receives (`MPI_Bsend`).
    pub buffered: bool,
}

/// The end of an operation, as the MPI status describes it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Status {
    /// The rank of the source in the communicator. `None` for `MPI_PROC_NULL`, and if no message
    /// came.
    pub from: Option<u32>,
    /// The tag.
    pub tag: u32,
    /// The number of bytes.
    pub bytes: u64,
    /// True if the operation was cancelled or has failed.
    pub cancelled: bool,
}

/// The recorder of one rank. The caller gives each thread of the program a small number.
pub struct Recorder<W> {
    settings: Settings,
    rank: u32,
    tags: Tags,
    output: Output<W>,
    next_label: u64,
    threads: Threads,
    communicators: Communicators,
    requests: Requests,
    matching: Matching,
    expansions: Expansions,
    /// A buffer for the dependencies of an action.
    edges: Vec<Edge>,
    is_on: bool,
    /// False while the program does not use MPI, that is, after [`finish`](Self::finish).
    is_open: bool,
    fault: Option<Fault>,
    notes: Vec<String>,
    noted: Vec<&'static str>,
}

impl<W: Write> Recorder<W> {
    /// Starts the text of a rank. `world` and `own` are the MPI handles of `MPI_COMM_WORLD` and
    /// `MPI_COMM_SELF`.
    pub fn new(settings: Settings, rank: u32, ranks: u32, world: u64, own: u64, to: W) -> Self {
        let tags = Tags::new(settings.tag_bits);
        let mut output = Output::new(to);
        let head = format!(
            "# Written by goal-prof: rank {rank} of {ranks}, {} bits of a tag for MPI's tag.\n\
             num_ranks {ranks}\nrank {rank} {{\n",
            settings.tag_bits
        );
        output.text().extend_from_slice(head.as_bytes());
        let mut communicators = Communicators::new(tags.communicators());
        let all: Vec<u32> = (0..ranks).collect();
        communicators.add(world, COMM_WORLD, rank, &all);
        communicators.add(own, COMM_SELF, 0, &[rank]);
        Self {
            is_on: settings.records,
            is_open: true,
            settings,
            rank,
            tags,
            output,
            next_label: 0,
            threads: Threads::default(),
            communicators,
            requests: Requests::default(),
            matching: Matching::default(),
            expansions: Expansions::default(),
            edges: Vec::new(),
            fault: None,
            notes: Vec::new(),
            noted: Vec::new(),
        }
    }

    /// Returns the fault that ended the recording, if there was one.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Ends the recording, but not the program. Only the first fault is kept.
    pub fn fail(&mut self, fault: Fault) {
        if self.fault.is_some() || !self.is_open {
            return;
        }
        self.requests = Requests::default();
        if !matches!(fault, Fault::Write(_)) {
            // The closing brace is missing, so that no reader takes the file for complete.
            let why = format!("# Cut off by goal-prof: {fault}\n");
            self.output.text().extend_from_slice(why.as_bytes());
            let _ = self.output.write();
        }
        self.fault = Some(fault);
    }

    /// Adds a note for the user, unless the same note was added before.
    pub fn note(&mut self, what: &'static str) {
        if !self.noted.contains(&what) {
            self.noted.push(what);
            self.notes.push(what.to_owned());
        }
    }

    /// Takes the notes for the user that were added since the last call.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Turns the recording on or off, as `MPI_Pcontrol(1)` and `MPI_Pcontrol(0)` do. If the
    /// recording turns on, the next computation of `thread` begins at `now_ns`.
    pub fn turn(&mut self, thread: usize, on: bool, now_ns: u64) {
        if on && !self.is_on {
            self.threads.of(thread).left_ns = Some(now_ns);
        }
        self.is_on = on;
    }

    /// Writes the buffered text to the file.
    pub fn flush(&mut self) {
        if self.fault.is_none()
            && let Err(error) = self.output.write()
        {
            self.fail(error.into());
        }
    }

    /// Begins a new thread with this number. A thread that has ended may have had it.
    pub fn begin_thread(&mut self, thread: usize) {
        self.threads.begin(thread);
    }

    /// Notes that a thread has ended.
    pub fn end_thread(&mut self, thread: usize) {
        self.attempt(|recorder| {
            recorder.write_calc(thread);
            if recorder.threads.end(thread) {
                let join = recorder.label();
                recorder.threads.take_ended(&mut recorder.edges, join);
                recorder.write_action(join, Line::Nop);
            }
            // A thread that makes no calls for long would wait for more and more ended threads.
            for other in 0..recorder.threads.count() {
                recorder.join_if_many(other);
            }
            Ok(())
        });
    }

    /// Begins a call of MPI. The time since the last call of the thread was computation.
    pub fn enter(&mut self, thread: usize, now_ns: u64) {
        if self.fault.is_some() {
            return;
        }
        if self.orders_threads() {
            self.threads.meet(thread);
        }
        self.join_if_many(thread);
        let is_on = self.is_on;
        let thread = self.threads.of(thread);
        if let (Some(left), true) = (thread.left_ns, is_on) {
            thread.calc_ns = thread.calc_ns.saturating_add(now_ns.saturating_sub(left));
        }
    }

    /// Returns true if the actions of threads are ordered. They are not if threads may call MPI at
    /// the same time. Then an action may have ended before another thread's call only by chance.
    fn orders_threads(&self) -> bool {
        self.settings.orders_threads.unwrap_or(true)
    }

    /// Ends a call of MPI.
    pub fn leave(&mut self, thread: usize, now_ns: u64) {
        self.threads.of(thread).left_ns = Some(now_ns);
    }

    /// Returns the set of communicator numbers that are free at this rank, a bit for each. The
    /// members of a new communicator combine their sets with a bitwise and.
    pub fn free_ids(&mut self) -> &[u64] {
        self.communicators.free_ids()
    }

    /// Adds a communicator. `common` is the combination of the members' sets
    /// ([`free_ids`](Self::free_ids)). `me` is the rank of this process in the communicator, and
    /// `world` has the rank of each member in `MPI_COMM_WORLD`.
    pub fn add_communicator(&mut self, handle: u64, common: &[u64], me: u32, world: &[u32]) {
        match Ids::lowest(common) {
            // Another thread has taken the number since this thread looked for free ones.
            Some(id) if !self.communicators.is_free(id) => {
                let why = "two threads made communicators at the same time, which have no numbers \
                           then; make one after the other";
                self.fail(Fault::Caller(why.to_owned()));
            }
            Some(id) => self.communicators.add(handle, id, me, world),
            None => {
                let most = self.tags.communicators();
                self.fail(TagError::Communicators { most }.into());
            }
        }
    }

    /// Returns the number of a communicator, or `None` if it is not recorded.
    pub fn communicator(&self, handle: u64) -> Option<u32> {
        self.communicators.find(handle).map(|communicator| communicator.id)
    }

    /// Forgets a communicator that the program has freed. Does nothing if another one has its
    /// handle by now.
    pub fn remove_communicator(&mut self, handle: u64, number: u32) {
        if self.communicator(handle) == Some(number) {
            self.communicators.remove(handle);
        }
    }

    /// Records a collective that has ended.
    pub fn collective(&mut self, thread: usize, handle: u64, name: &'static str, of: Collective) {
        self.attempt(|recorder| {
            let Some(prepared) = recorder.prepare(handle, name, of)? else { return Ok(()) };
            let end = recorder.write_collective(thread, &prepared)?;
            if let Some(end) = end {
                recorder.threads.follow(thread, Edge::Requires(end));
            }
            Ok(())
        });
    }

    /// Records a non-blocking collective that has started.
    pub fn start_collective(
        &mut self,
        thread: usize,
        request: u64,
        handle: u64,
        name: &'static str,
        of: Collective,
    ) {
        self.attempt(|recorder| {
            let prepared = recorder.prepare(handle, name, of)?;
            let operation = match prepared {
                Some(prepared) => recorder.begin_collective(thread, Arc::new(prepared))?,
                None => Operation::Nothing,
            };
            recorder.requests.add(thread, request, operation);
            Ok(())
        });
    }

    /// Records the preparation of a persistent collective.
    pub fn init_collective(
        &mut self,
        request: u64,
        handle: u64,
        name: &'static str,
        of: Collective,
    ) {
        self.attempt(|recorder| {
            // The recording may be on when the request is started later.
            let prepared = recorder.prepare_always(handle, name, of, true)?;
            recorder.requests.add_persistent(request, Template::Collective(Arc::new(prepared)));
            Ok(())
        });
    }

    /// Counts a collective. Expands it if the recording is on, and returns `None` otherwise.
    fn prepare(
        &mut self,
        handle: u64,
        name: &'static str,
        of: Collective,
    ) -> Result<Option<Prepared>, Fault> {
        if !self.is_on {
            // All members must count the same collectives, even if some do not record them.
            let _ = self.communicators.begin(handle, false);
            return Ok(None);
        }
        self.prepare_always(handle, name, of, false).map(Some)
    }

    fn prepare_always(
        &mut self,
        handle: u64,
        name: &'static str,
        of: Collective,
        is_persistent: bool,
    ) -> Result<Prepared, Fault> {
        let Self { communicators, expansions, settings, notes, .. } = self;
        let place = communicators.begin(handle, is_persistent).map_err(|error| match error {
            NoPlace::Communicator => Fault::Communicator(name),
            NoPlace::Taken => Fault::Outstanding(name),
        })?;
        let expansion = expansions
            .of(of, &place.communicator, settings, |note| notes.push(note))
            .map_err(Fault::Collective)?;
        Ok(Prepared { place, expansion })
    }

    fn begin_collective(&mut self, thread: usize, of: Arc<Prepared>) -> Result<Operation, Fault> {
        Ok(match self.write_collective(thread, &of)? {
            Some(label) => Operation::Collective { label, _of: of },
            None => Operation::Nothing,
        })
    }

    /// Writes the last computation of each thread and all outstanding operations. Then closes the
    /// rank's block.
    pub fn finish(&mut self) {
        self.attempt(|recorder| {
            for thread in 0..recorder.threads.count() {
                recorder.write_calc(thread);
            }
            recorder.write_outstanding()?;
            recorder.output.text().extend_from_slice(b"}\n");
            recorder.output.finish()?;
            Ok(())
        });
        self.is_open = false;
    }

    /// Opens another block of the rank, as the program uses MPI again. The computation of threads
    /// begins at `now_ns`.
    pub fn resume(&mut self, thread: usize, now_ns: u64) {
        self.is_open = true;
        self.attempt(|recorder| {
            let head = format!("rank {} {{\n", recorder.rank);
            recorder.output.text().extend_from_slice(head.as_bytes());
            recorder.threads.leave_all(now_ns);
            recorder.threads.of(thread).left_ns = Some(now_ns);
            Ok(())
        });
    }

    /// Writes all outstanding operations, but leaves the block open, as the program ends without
    /// `MPI_Finalize`.
    pub fn abandon(&mut self, why: &str) {
        self.attempt(|recorder| {
            recorder.write_outstanding()?;
            let line = format!("# Cut off by goal-prof: {why}\n");
            recorder.output.text().extend_from_slice(line.as_bytes());
            recorder.output.write()?;
            Ok(())
        });
    }

    /// Returns the rank in `MPI_COMM_WORLD`.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Calls `step`, unless there was a fault or the block is closed. A fault of `step` ends the
    /// recording.
    fn attempt(&mut self, step: impl FnOnce(&mut Self) -> Result<(), Fault>) {
        if self.fault.is_some() || !self.is_open {
            return;
        }
        let done = step(self).and_then(|()| Ok(self.output.write_if_full()?));
        if let Err(fault) = done {
            self.fail(fault);
        }
    }

    fn find(&self, handle: u64, name: &'static str) -> Result<&Arc<Communicator>, Fault> {
        self.communicators.find(handle).ok_or(Fault::Communicator(name))
    }
}
