//! Lets short collectives run without the engine: their messages lie on boards, at places that all
//! ranks know.
//!
//! A communicator gets a set of boards, one of each rank, at its first collective that can be
//! linked. [`Directory`](goal_shm::Directory) tells all ranks the same set, or that there is none.
//!
//! A board has two rings of lines. All ranks count the lines of a ring alike. A start of a linked
//! schedule advances the position by the most lines that any rank writes, on every rank. So a rank
//! knows where the messages of its peers will be, without a word from them.
//!
//! A rank may write a line again when all ranks have ended the runs of the lap before. Each rank
//! publishes the position up to which its runs have ended, several times in a lap.
//!
//! **Runs of several blocks** take the lines of all their blocks when they start, so all ranks give
//! equal positions to the runs that start later. Each block waits for room by itself, and a rank
//! publishes the ends of blocks as it does those of runs. A later run on the long ring writes when
//! all ranks have read nearly all blocks. It can't keep the blocks waiting: a rank that waits for
//! it polls all its open runs. Collectives of few lines use the short ring, so they do not wait.

use crate::boards::{Boards, OnBoard, OneRing, Positions, on_board, quarter};
use crate::error::{Error, ErrorCode, Result};
use crate::linkable::{RANKS_MAX, kind_of};
use goal_engine::WORLD;
use goal_engine::linked::{Mismatch, Next, Ring, Run};
use goal_job::Wait;
use goal_lang::CollectiveKind;
use goal_rank::program::Attached;
use goal_rank::progress::Watched;
use goal_shm::directory::{FIRST, Place, SETS};
use goal_shm::{BOARD_RANKS, Status};
use goal_sync::board;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The looks for a message if ranks do not share processors: about 50 microseconds.
const LOOKS: u32 = 2000;
/// The looks between two questions whether another thread wants the lock.
const LOOKS_ALONE: u32 = 64;
/// The most looks if the program has a function for idle threads: about a microsecond.
pub(crate) const LOOKS_BEFORE_IDLE: u32 = 80;
/// The looks without a yield if ranks share processors. The writer may have the same one.
const LOOKS_CROWDED: u32 = 4;
/// The looks with a yield after each, if ranks share processors. They take less time than a sleep
/// and a wakeup.
const YIELDS: u32 = 64;
/// The looks for a message before the processor pauses between two looks. Looks in close succession
/// take the cell's line away from its writer.
const LOOKS_WITHOUT_PAUSE: u32 = 32;

/// Looks at the word of a cell until it is `wanted`, or `looks` has reached `until`. Returns true
/// if it is.
#[inline(always)]
fn await_word(word: &AtomicU64, wanted: u64, looks: &mut u32, until: u32) -> bool {
    // Acquire: pairs with the Release store of the writer.
    while word.load(Ordering::Acquire) != wanted {
        *looks += 1;
        if *looks >= until {
            return false;
        }
        pause(*looks);
    }
    true
}

/// Pauses the processor after the first [`LOOKS_WITHOUT_PAUSE`] looks.
#[inline(always)]
fn pause(looks: u32) {
    if looks >= LOOKS_WITHOUT_PAUSE {
        std::hint::spin_loop();
    }
}

/// The boards of a communicator, and the positions on them. Its size is a power of two.
#[repr(align(256))]
struct OfCommunicator {
    boards: Boards,
    rings: [Positions; 2],
}

/// The ranks of a communicator.
#[derive(Default)]
struct Members {
    /// The ranks, with their numbers in the job.
    in_job: Box<[u32]>,
    /// The number of this process's rank.
    me: usize,
}

/// This rank's linked runs.
pub(crate) struct Links {
    /// The communicators by set.
    communicators: [OfCommunicator; SETS],
    members: [Members; SETS],
    /// The set of each communicator that has asked for one, by its number; `None` if it has none.
    sets: FxHashMap<u64, Option<u8>>,
    /// The sets that have a communicator.
    in_use: Vec<usize>,
    /// The number of open runs whose peers wait for later calls of this rank.
    relays: u32,
    /// True if peers should hear of the ends of blocks, and other runs are open. Then
    /// [`publish_all`](Self::publish_all) finds out how much has ended.
    pub(crate) owes_ends: bool,
    /// True if a run of several blocks has gone on and not ended, since somebody set this to false.
    pub(crate) has_moved: bool,
    /// The looks of a waiting rank before it waits in the usual way.
    looks: u32,
    /// The looks in close succession after the first one.
    more_looks: u32,
    /// The further looks with a yield of the processor between two of them.
    yields: u32,
    /// The status of this rank, in which the launcher sees that the job moves.
    status: &'static Status,
}

impl Links {
    /// Returns the links of this process's rank.
    pub(crate) fn new(attached: &Attached) -> Self {
        let (segment, me, ranks) = (attached.job().segment, attached.rank(), attached.size());
        if attached.links_programs() && (2..=RANKS_MAX as u32).contains(&ranks) && me < ranks {
            segment.populate_board(me, FIRST as u32);
        }
        let communicators = std::array::from_fn(|set| {
            // A rank without boards never uses this one.
            let own = segment.board_of(me.min(BOARD_RANKS - 1), set as u32);
            let boards = Boards { own, all: Box::default(), segment, napping: segment.napping() };
            OfCommunicator { boards, rings: Default::default() }
        });
        let settings = &attached.job().settings;
        let (looks, yields) = match settings.spec.wait {
            Wait::Block => (1, 0),
            _ if settings.crowded => (LOOKS_CROWDED, YIELDS),
            _ => (LOOKS, 0),
        };
        Self {
            communicators,
            members: Default::default(),
            sets: FxHashMap::default(),
            in_use: Vec::new(),
            relays: 0,
            owes_ends: false,
            has_moved: false,
            looks,
            more_looks: looks.min(LOOKS_WITHOUT_PAUSE) - 1,
            yields,
            status: segment.status(me),
        }
    }

    /// Returns the set of boards of a communicator; `None` if it has none. All its ranks get equal
    /// answers. `in_job` has the communicator's ranks in the job. `me` is the number that this
    /// process's rank has in the communicator.
    pub(crate) fn set_of(&mut self, number: u64, in_job: &[u32], me: u32) -> Option<u8> {
        if let Some(&set) = self.sets.get(&number) {
            return set;
        }
        let segment = self.communicators[FIRST].boards.segment;
        let place = match number {
            WORLD => Some(Place { set: FIRST, bases: [0, 0] }),
            _ => segment.directory().place_of(number),
        };
        // A set that another communicator of this rank has means that a peer has broken the words.
        let place = place.filter(|place| self.communicators[place.set].boards.all.is_empty());
        if let Some(Place { set, bases: [short, long] }) = place {
            let of = &mut self.communicators[set];
            let board = |&rank: &u32| segment.board_of(rank, set as u32);
            of.boards.all = in_job.iter().map(board).collect();
            if set == FIRST {
                in_job.iter().for_each(|&rank| segment.map_board(rank, FIRST as u32));
            }
            let rings = [(Ring::Short, short), (Ring::Long, long)];
            of.rings = rings.map(|(ring, base)| Positions::from_base(ring, base));
            self.in_use.push(set);
            self.members[set] = Members { in_job: in_job.into(), me: me as usize };
        }
        let set = place.map(|place| place.set as u8);
        self.sets.insert(number, set);
        set
    }

    /// Frees the boards of a communicator, if it has any. All its runs have ended on this rank.
    pub(crate) fn leave(&mut self, number: u64) {
        let Some(set) = self.sets.remove(&number).flatten().map(usize::from) else { return };
        let OfCommunicator { boards, rings } = &mut self.communicators[set];
        debug_assert!(rings.iter().all(|positions| positions.open == 0), "a run goes on");
        let ranks = std::mem::take(&mut boards.all).len();
        self.in_use.retain(|&used| used != set);
        if set != FIRST {
            let ends = [rings[0].next, rings[1].next];
            boards.segment.directory().leave(set, ranks as u64, ends);
        }
    }

    /// Frees the boards of all communicators, because this rank leaves the job.
    pub(crate) fn leave_all(&mut self) {
        let numbers: Vec<u64> = self.sets.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.leave(number));
    }

    /// Forgets all communicators and their runs, after a loss. The launcher empties the boards and
    /// the directory.
    pub(crate) fn forget(&mut self) {
        self.sets.clear();
        self.in_use.clear();
        self.relays = 0;
        for of in &mut self.communicators {
            (of.boards.all, of.rings) = Default::default();
        }
    }

    /// Starts a run, which takes the next lines of its ring.
    pub(crate) fn start(&mut self, run: &mut Run) {
        if run.is_long() {
            return self.start_long(run);
        }
        let ring = run.ring();
        let positions = &mut self.communicators[run.board()].rings[ring as usize];
        run.start(positions.take(on_board(ring), run.lines()));
        self.relays += u32::from(run.has_relay());
        // Peers must hear of the lines of a rank that has nothing to do.
        if run.has_ended() {
            self.note_end(run);
        }
    }

    /// Starts a tiny run, and writes its message. Returns the ranks that the caller must wake, by
    /// [`wake`](Self::wake), and true if the run has ended. Returns `None`, without an effect, if
    /// the run is not tiny, or if something else has to be done first.
    #[inline(always)]
    pub(crate) fn start_tiny(&mut self, run: &mut Run) -> Option<(u64, bool)> {
        if !run.is_tiny() || self.relays != 0 {
            return None;
        }
        let OfCommunicator { boards, rings: [positions, _] } =
            &mut self.communicators[run.board() % SETS];
        let base = positions.take_alone(run.lines())?;
        let readers = run.start_tiny(&OneRing::<false>(boards), base);
        let has_ended = run.has_ended();
        if has_ended {
            note_tiny_end(positions, run.lines(), boards, self.status);
        }
        Some((boards.sleepers(readers), has_ended))
    }

    /// Starts a run as [`start_tiny`](Self::start_tiny) or [`start_and_put`](Self::start_and_put)
    /// does. Returns true if the run has ended. Returns `None`, without an effect, if peers have to
    /// be told of ends first, or wait for what other runs pass on.
    #[inline(always)]
    pub(crate) fn start_quickly(&mut self, run: &mut Run) -> Option<bool> {
        let Some((sleepers, has_ended)) = self.start_tiny(run) else {
            return self.start_and_put(run);
        };
        if sleepers != 0 {
            self.wake(sleepers);
        }
        Some(has_ended)
    }

    /// Wakes these ranks.
    #[cold]
    pub(crate) fn wake(&self, sleepers: u64) {
        self.communicators[FIRST].boards.wake(sleepers);
    }

    /// Reads the messages of a tiny run that have come, or come now. Returns true if the run has
    /// ended. Returns false if a message does not come after the first looks, and if the run is not
    /// tiny.
    #[inline(always)]
    pub(crate) fn read_tiny(&mut self, run: &mut Run) -> bool {
        if !run.is_tiny() {
            return false;
        }
        let OfCommunicator { boards, rings: [positions, _] } =
            &mut self.communicators[run.board() % SETS];
        let (signature, more_looks) = (run.signature(), self.more_looks);
        let has_ended = run.read_tiny(&OneRing::<false>(boards), |place| {
            let (word, wanted) = place.word(signature);
            // Acquire: pairs with the Release store of the writer.
            let has_come = || word.load(Ordering::Acquire) == wanted;
            has_come() || (0..more_looks).any(|_| has_come())
        });
        if has_ended {
            note_tiny_end(positions, run.lines(), boards, self.status);
        }
        has_ended
    }

    /// Starts a run of several blocks, which takes the lines of all blocks.
    #[cold]
    fn start_long(&mut self, run: &mut Run) {
        run.rewind();
        let ring = on_board(run.ring());
        let positions = &mut self.communicators[run.board()].rings[run.ring() as usize];
        run.start(positions.take(ring, run.lines()));
        positions.next = run.end_of_blocks(|at, lines| ring.fit(at, lines));
        self.relays += 1;
        if run.has_ended() && !run.next_block(|at, lines| ring.fit(at, lines)) {
            self.note_end(run);
        }
    }

    /// Starts a run as [`start`](Self::start) does, and executes what needs no message. Returns
    /// true if the run has ended. Returns `None`, without an effect, if peers have to be told of
    /// ends first, or wait for what other runs pass on.
    #[inline(always)]
    pub(crate) fn start_and_put(&mut self, run: &mut Run) -> Option<bool> {
        let OfCommunicator { boards, rings: [positions, _] } = &mut self.communicators[run.board()];
        if !run.is_simple() || self.relays != 0 || positions.are_behind(Ring::Short) {
            return self.start_and_execute(run);
        }
        run.start(positions.take(board::Ring::Short, run.lines()));
        if run.end() > positions.writable {
            return Some(self.execute_first(run));
        }
        run.put_first(&OneRing::<false>(boards));
        Some(run.has_ended() && self.note_end(run))
    }

    /// Starts a run as [`start_and_put`](Self::start_and_put) does.
    #[inline(never)]
    fn start_and_execute(&mut self, run: &mut Run) -> Option<bool> {
        if self.is_behind(run) || self.has_relays() {
            return None;
        }
        self.start(run);
        Some(self.execute_first(run))
    }

    /// Executes what needs no message. Returns true if the run has ended.
    #[inline(never)]
    fn execute_first(&mut self, run: &mut Run) -> bool {
        let first = run.initial();
        if first == 0 {
            return run.has_ended();
        }
        // No message is looked for, so this meets no other collective.
        self.execute(run, first) == Ok(true)
    }

    /// Executes what can be executed of a run that has started. Returns true if it has ended.
    ///
    /// # Errors
    /// A peer has called another collective.
    #[inline(always)]
    pub(crate) fn poll(&mut self, run: &mut Run) -> std::result::Result<bool, Mismatch> {
        self.execute(run, u64::MAX)
    }

    /// Executes those of the operations in the mask `which` that need not wait.
    #[inline(always)]
    fn execute(&mut self, run: &mut Run, which: u64) -> std::result::Result<bool, Mismatch> {
        match run.ring() {
            Ring::Short => self.execute_in::<false>(run, which),
            Ring::Long => self.execute_in::<true>(run, which),
        }
    }

    #[inline(never)]
    fn execute_in<const LONG: bool>(
        &mut self,
        run: &mut Run,
        which: u64,
    ) -> std::result::Result<bool, Mismatch> {
        if run.has_ended() {
            return Ok(true);
        }
        if LONG && run.is_long() {
            return self.execute_blocks(run);
        }
        let ring = if LONG { Ring::Long } else { Ring::Short };
        let number = run.board();
        let of = &self.communicators[number];
        if run.end() > of.rings[LONG as usize].writable && run.linked().readers() != 0 {
            self.look_for_room(number, ring);
        }
        let OfCommunicator { boards, rings } = &self.communicators[number];
        let writable = rings[LONG as usize].writable;
        let has_ended = run.execute(&OneRing::<LONG>(boards), writable, which)?;
        Ok(has_ended && self.note_end(run))
    }

    /// Executes what can be executed of a run of several blocks.
    #[inline(never)]
    fn execute_blocks(&mut self, run: &mut Run) -> std::result::Result<bool, Mismatch> {
        let (number, ring, ended) = (run.board(), on_board(Ring::Long), run.ended());
        loop {
            let writable = self.communicators[number].rings[Ring::Long as usize].writable;
            if run.end() > writable && run.linked().readers() != 0 {
                self.look_for_room(number, Ring::Long);
            }
            let OfCommunicator { boards, rings } = &self.communicators[number];
            let writable = rings[Ring::Long as usize].writable;
            if !run.execute_ready(&OneRing::<true>(boards), writable)? {
                self.has_moved |= run.ended() != ended;
                return Ok(false);
            }
            if !run.next_block(|at, lines| ring.fit(at, lines)) {
                return Ok(self.note_end(run));
            }
            self.note_block(run);
        }
    }

    /// Notes that all blocks before the current one have ended.
    fn note_block(&mut self, run: &Run) {
        let (number, ended) = (run.board(), run.base());
        let positions = &self.communicators[number].rings[Ring::Long as usize];
        self.status.process_state.note_move();
        if ended - positions.published >= quarter(Ring::Long) {
            match positions.open {
                1 => self.publish(number, Ring::Long, ended),
                // An earlier run may be open.
                _ => self.owes_ends = true,
            }
        }
    }

    /// Looks for the messages of a run, for as long as they usually take. Returns true if the run
    /// has ended.
    #[inline(always)]
    pub(crate) fn spin(
        &mut self,
        run: &mut Run,
        looks_max: u32,
        is_wanted: impl Fn() -> bool,
    ) -> bool {
        let (mut looks, most) = (0, self.looks.min(looks_max));
        while looks < most && run.is_simple() {
            let boards = &self.communicators[run.board()].boards;
            let (signature, until) = (run.signature(), most.min(looks + LOOKS_ALONE));
            let has_come = |place: &OnBoard<false>| {
                let (word, wanted) = place.word(signature);
                await_word(word, wanted, &mut looks, until)
            };
            match run.read_next(&OneRing::<false>(boards), has_come) {
                Next::Read if run.has_ended() => return self.note_end(run),
                Next::Read => {}
                Next::Missing if is_wanted() => return false,
                // There may be room now for what the run has to write.
                Next::Missing => match self.poll(run) {
                    Ok(true) => return true,
                    Ok(false) => {}
                    Err(_) => return false,
                },
                Next::Other => break,
            }
        }
        self.spin_slowly(run, looks, most, is_wanted)
    }

    /// Goes on with [`spin`](Self::spin) in a run of any kind, after some looks.
    #[inline(never)]
    fn spin_slowly(
        &mut self,
        run: &mut Run,
        mut looks: u32,
        most: u32,
        is_wanted: impl Fn() -> bool,
    ) -> bool {
        if run.is_long() {
            return self.spin_blocks(run, most, is_wanted);
        }
        while looks < most {
            pause(looks);
            looks += 1;
            let first = run.first_pending();
            let polled = match self.execute(run, first) {
                // A message may depend on one that this rank has to pass on.
                Ok(false) if run.first_pending() == first => self.poll(run),
                executed => executed,
            };
            match polled {
                Ok(true) => return true,
                Ok(false) if looks.is_multiple_of(LOOKS_ALONE) && is_wanted() => return false,
                Ok(false) => {}
                // The usual way meets the error again, and tells it.
                Err(_) => return false,
            }
        }
        self.yields > 0 && self.spin_and_yield(run, is_wanted)
    }

    /// Looks for the messages of a run of several blocks. Each message that comes begins a new
    /// count of looks.
    fn spin_blocks(&mut self, run: &mut Run, most: u32, is_wanted: impl Fn() -> bool) -> bool {
        let (mut looks, mut all_looks, mut ended) = (0, 0u32, run.ended());
        while looks < most {
            pause(looks);
            (looks, all_looks) = (looks + 1, all_looks.wrapping_add(1));
            match self.poll(run) {
                Ok(true) => return true,
                // The usual way knows all open runs, and tells up to where they have ended.
                Ok(false) if self.owes_ends => return false,
                Ok(false) if all_looks.is_multiple_of(LOOKS_ALONE) && is_wanted() => return false,
                Ok(false) if run.ended() != ended => (looks, ended) = (0, run.ended()),
                Ok(false) => {}
                Err(_) => return false,
            }
        }
        self.yields > 0 && self.spin_and_yield(run, is_wanted)
    }

    /// Looks for the messages of a run, and yields the processor between two looks. Other ranks may
    /// need it to write them. Returns true if the run has ended.
    #[cold]
    fn spin_and_yield(&mut self, run: &mut Run, is_wanted: impl Fn() -> bool) -> bool {
        let (mut left, mut ended) = (self.yields, run.ended());
        while left > 0 {
            match self.poll(run) {
                Ok(true) => return true,
                Ok(false) if is_wanted() => return false,
                Ok(false) => std::thread::yield_now(),
                Err(_) => return false,
            }
            left -= 1;
            if run.is_long() && run.ended() != ended {
                (left, ended) = (self.yields, run.ended());
            }
        }
        false
    }

    /// Returns true if a run has not ended.
    #[inline]
    pub(crate) fn has_open_runs(&self) -> bool {
        let is_open = |&set: &usize| self.communicators[set].rings.iter().any(|of| of.open != 0);
        self.in_use.iter().any(is_open)
    }

    /// Returns true if peers wait for what an open run passes on in later calls of this rank.
    #[inline(always)]
    pub(crate) fn has_relays(&self) -> bool {
        self.relays != 0
    }

    /// Returns true if peers wait so for a single run.
    pub(crate) fn has_one_relay(&self) -> bool {
        self.relays == 1
    }

    /// Executes what can be executed of these runs. Other ranks may wait for what a run writes, or
    /// for the lines of a run that ends.
    ///
    /// # Errors
    /// One of them has met another collective or schedule. All others were executed.
    pub(crate) fn advance<'r>(&mut self, runs: impl Iterator<Item = &'r mut Run>) -> Result<()> {
        let mut advanced = Ok(());
        for run in runs {
            if let Err(mismatch) = self.poll(run) {
                advanced = Err(self.of_mismatch(&mismatch, run));
            }
        }
        advanced
    }

    /// Notes that a run has ended. Returns true.
    #[inline(always)]
    fn note_end(&mut self, run: &Run) -> bool {
        let (number, ring) = (run.board(), run.ring());
        let positions = &mut self.communicators[number].rings[ring as usize];
        self.status.process_state.note_move();
        positions.open -= 1;
        positions.ended += run.lines();
        self.relays -= u32::from(run.has_relay());
        if positions.open == 0 && positions.next - positions.published >= quarter(ring) {
            let ended = positions.next;
            self.publish(number, ring, ended);
        }
        true
    }

    #[cold]
    fn publish(&mut self, number: usize, ring: Ring, ended: u64) {
        let OfCommunicator { boards, rings } = &mut self.communicators[number];
        let positions = &mut rings[ring as usize];
        (positions.published, positions.ended) = (ended, 0);
        boards.publish(on_board(ring), ended);
    }

    /// Tells peers up to which positions all runs of this rank have ended. `running` has the runs
    /// that go on. An end is told at once only if no other run is open. So this is called before
    /// the rank sleeps, and from time to time while runs overlap.
    #[cold]
    pub(crate) fn publish_all<'r>(&mut self, running: impl Iterator<Item = &'r mut Run>) {
        self.owes_ends = false;
        let next = |of: &OfCommunicator| [of.rings[0].next, of.rings[1].next];
        let mut ended = self.communicators.each_ref().map(next);
        for run in running.filter(|run| !run.has_ended()) {
            let first = &mut ended[run.board()][run.ring() as usize];
            *first = run.base().min(*first);
        }
        for (number, ended) in ended.into_iter().enumerate() {
            for (ring, ended) in [Ring::Short, Ring::Long].into_iter().zip(ended) {
                let positions = &mut self.communicators[number].rings[ring as usize];
                positions.ended = 0;
                if ended > positions.published {
                    self.publish(number, ring, ended);
                }
            }
        }
    }

    /// Returns true if runs overlap on the ring of a run, and peers do not know of the ends of many
    /// of them.
    #[inline(always)]
    pub(crate) fn is_behind(&self, run: &Run) -> bool {
        let ring = run.ring();
        self.communicators[run.board()].rings[ring as usize].are_behind(ring)
    }

    #[cold]
    fn look_for_room(&mut self, number: usize, ring: Ring) {
        let me = self.members[number].me;
        let of_board = on_board(ring);
        let OfCommunicator { boards, rings } = &mut self.communicators[number];
        let peers = boards.all.iter().enumerate().filter(|&(rank, _)| rank != me);
        let read = peers.map(|(_, board)| board.consumed(of_board)).min();
        // Peers that have told nothing yet may have words of an earlier communicator.
        let read = read.unwrap_or(u64::MAX);
        rings[ring as usize].raise_writable(of_board, read);
    }

    /// Returns what these runs wait for, so that a sleep of the rank ends when it comes.
    pub(crate) fn awaited<'r>(
        &self,
        runs: impl Iterator<Item = &'r mut Run>,
    ) -> Vec<Watched<'static>> {
        let mut watched = Vec::new();
        for run in runs {
            let set = run.board();
            let (boards, me) = (&self.communicators[set].boards, self.members[set].me);
            let ring = on_board(run.ring());
            run.awaited(|writer, position| {
                let cell = boards.all[writer as usize].word_at(ring, position);
                watched.push(Watched::message(cell, board::word(position, run.signature())));
            });
            if run.waits_for_room() {
                let needed = run.end().saturating_sub(ring.lines());
                let peers = boards.all.iter().enumerate().filter(|&(rank, _)| rank != me);
                let words = peers.map(|(_, board)| board.consumed_at(ring));
                let (late, told): (Vec<_>, Vec<_>) =
                    words.partition(|word| word.load(Ordering::Acquire) < needed);
                // If all peers have told their ends since the run was looked at, nothing else would
                // end a sleep. A word that has its value already keeps this rank awake.
                let words = if late.is_empty() { told } else { late };
                watched.extend(words.into_iter().map(|word| Watched::room(word, needed)));
            }
        }
        watched
    }

    /// Returns the error of a run that met another collective or schedule.
    #[cold]
    pub(crate) fn of_mismatch(&self, mismatch: &Mismatch, run: &Run) -> Error {
        let Mismatch { writer, signature } = *mismatch;
        let rank = self.members[run.board()].in_job[writer as usize];
        let (own, other) = (kind_of(run.signature()), kind_of(signature));
        let called = |kind: Option<CollectiveKind>| match kind {
            Some(kind) => format!("called {kind}"),
            None => "started a linked schedule".to_owned(),
        };
        let does = called(other);
        let differs = match own == other {
            true if own.is_some() => format!("{does} with another count, type, operation or root"),
            true => "started another linked schedule than this rank".to_owned(),
            false => format!("{does} where this rank {}", called(own)),
        };
        let rule = match (own, other) {
            (Some(_), Some(_)) => "call the same collectives",
            _ => "start the same collectives and linked schedules",
        };
        let text = format!("rank {rank} {differs}: all ranks must {rule} in the same order");
        Error::new(ErrorCode::Failed, text)
    }
}

/// Notes that a tiny run has ended.
#[inline(always)]
fn note_tiny_end(positions: &mut Positions, lines: u64, boards: &Boards, status: &Status) {
    status.process_state.note_move();
    positions.open -= 1;
    if positions.open != 0 {
        positions.ended += lines;
    } else if positions.next - positions.published >= quarter(Ring::Short) {
        (positions.published, positions.ended) = (positions.next, 0);
        boards.publish(board::Ring::Short, positions.next);
    }
}
