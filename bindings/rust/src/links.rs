//! Lets collectives on the group's world run without the engine: their messages lie on boards, at
//! places that all ranks know.
//!
//! A board has two rings of lines. All ranks count the lines of a ring alike. A start of a linked
//! schedule advances the position by the most lines that any rank writes, on every rank. So a rank
//! knows where the messages of its peers will be, without a word from them.
//!
//! A rank may write a line again when all ranks have ended the runs of the lap before. Each rank
//! publishes the position up to which its runs have ended, several times in a lap.

use crate::error::{Error, ErrorCode};
use goal_asm::Nisa;
use goal_collectives::Algorithm;
use goal_engine::linked::{Lanes, Lines, Link, Look, Mismatch, Ring, Run};
use goal_job::Wait;
use goal_lang::{CollectiveKind, Datatype, Function, Op};
use goal_rank::program::Attached;
use goal_rank::progress::Watched;
use goal_shm::{BOARDS, Segment, Status};
use goal_sync::board::{self, Board};
use goal_sync::napping::Napping;
use std::sync::atomic::Ordering;

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

/// The most ranks of a group whose collectives are linked. Each rank looks at the cells of all
/// others, so more ranks would gain nothing.
const RANKS_MAX: u32 = 16;

/// A call of a collective, as far as it decides about a link. All ranks have equal values: MPI
/// demands equal arguments, and the rest follows from the communicator and from the job.
pub(crate) struct Call<'c> {
    pub(crate) kind: CollectiveKind,
    pub(crate) count: u64,
    pub(crate) datatype: Datatype,
    pub(crate) function: Function,
    pub(crate) root: u32,
    /// True if all blocks are equal.
    pub(crate) has_equal_blocks: bool,
    pub(crate) algorithm: &'c Algorithm,
    /// The number of ranks of the communicator.
    pub(crate) ranks: u32,
    /// The number of the communicator among those of all ranks of the world in their order; `None`
    /// for other communicators.
    pub(crate) twin: Option<u64>,
    /// True if the job links collectives.
    pub(crate) is_allowed: bool,
}

impl Call<'_> {
    /// Returns the number of the boards on which the collective is linked. Returns `None` if it
    /// runs in the engine. All ranks decide alike.
    pub(crate) fn board(&self) -> Option<u8> {
        let is_function_known = match self.function {
            Function::Predefined(op, _) => op != Op::Div,
            Function::User(_) => false,
        };
        let is_linked = self.is_allowed
            && self.algorithm.has_one_round
            && is_function_known
            && self.has_equal_blocks
            && !self.kind.has_neighbors()
            && (2..=RANKS_MAX).contains(&self.ranks);
        let number = self.twin.filter(|_| is_linked)?;
        (number < u64::from(BOARDS)).then_some(number as u8)
    }

    /// Returns the signature of the collective, which lies in the cell of each of its messages. Two
    /// ranks that call different collectives find different signatures. The highest bits have the
    /// kind. The lowest bit is set.
    pub(crate) fn signature(&self) -> u16 {
        let function = match self.function {
            Function::Predefined(op, datatype) if self.kind.combines() => {
                (op as u64) << 8 | datatype as u64
            }
            _ => 0,
        };
        let (datatype, name) = (self.datatype as u64, self.algorithm.name.len() as u64);
        let parts = [self.count, datatype, function, self.root.into(), name];
        let mixed = parts.iter().fold(0u64, |mixed, part| {
            (mixed ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
        });
        (self.kind as u16) << 12 | (mixed >> 52) as u16 | 1
    }
}

/// Returns the collective of a signature.
pub(crate) fn kind_of(signature: u16) -> Option<CollectiveKind> {
    CollectiveKind::ALL.into_iter().find(|&kind| kind as u16 == signature >> 12)
}

/// Returns the places of the messages of a file's schedules; `None` if they can't be linked.
pub(crate) fn link(nisa: &Nisa) -> Option<Link> {
    let rings = [board::Ring::Short.lines(), board::Ring::Long.lines()];
    Link::new(nisa, &Lines { rings, of: |bytes| board::lines(bytes as usize) })
}

/// Returns a ring as boards name it.
#[inline(always)]
const fn on_board(ring: Ring) -> board::Ring {
    match ring {
        Ring::Short => board::Ring::Short,
        Ring::Long => board::Ring::Long,
    }
}

/// Returns the lines after which a rank tells its peers of ends: a quarter of those that small runs
/// use of the ring.
#[inline(always)]
const fn quarter(ring: Ring) -> u64 {
    match ring {
        Ring::Short => board::Ring::Short.lines() / 4,
        Ring::Long => board::Ring::Long.lines() / 16,
    }
}

/// The boards of the ranks of the world.
pub(crate) struct Boards {
    own: Board<'static>,
    all: Box<[Board<'static>]>,
    segment: &'static Segment,
    napping: Napping<'static>,
}

/// A ring of the boards: the short one, or the long one if `LONG`.
struct OneRing<'b, const LONG: bool>(&'b Boards);

impl<const LONG: bool> OneRing<'_, LONG> {
    const RING: board::Ring = if LONG { board::Ring::Long } else { board::Ring::Short };
}

impl<const LONG: bool> Lanes for OneRing<'_, LONG> {
    #[inline(always)]
    #[allow(unsafe_code)] // this rank's board
    fn put(
        &self,
        position: u64,
        signature: u16,
        len: usize,
        readers: u64,
        fill: impl FnOnce(&mut [u8]),
    ) {
        let Boards { own, segment, napping, .. } = self.0;
        // SAFETY: only this rank writes to its board, one call at a time, under the engine lock.
        // The caller has seen that all readers have read the lines.
        unsafe { own.put(Self::RING, position, signature, len, fill) };
        // The ranks of the world are the first of the job, and at most 64.
        napping.wake(0, readers, |rank| {
            segment.mailbox(rank).wake();
        });
    }

    #[inline(always)]
    fn look(&self, writer: u32, position: u64, signature: u16) -> Look {
        match self.0.all[writer as usize].look(Self::RING, position, signature) {
            board::Look::Arrived => Look::Arrived,
            board::Look::Missing => Look::Missing,
            board::Look::Other(signature) => Look::Other(signature),
        }
    }

    #[inline(always)]
    #[allow(unsafe_code)] // a message that has arrived
    fn read<R>(&self, writer: u32, position: u64, len: usize, read: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: the message has arrived, and its writer does not write there again before this
        // rank has published that its run has ended.
        read(unsafe { self.0.all[writer as usize].payload(Self::RING, position, len) })
    }
}

/// The positions of a ring.
#[derive(Default)]
struct Positions {
    /// The position of the next start.
    next: u64,
    /// All peers have read what lay on the lines before this position.
    writable: u64,
    /// The position up to which peers know that runs have ended here.
    published: u64,
    /// The number of runs that have started and not ended.
    open: u32,
}

/// The boards of a communicator, and the positions on them.
struct OfCommunicator {
    boards: Boards,
    rings: [Positions; 2],
}

/// This rank's linked runs.
pub(crate) struct Links {
    communicators: [OfCommunicator; BOARDS as usize],
    me: u32,
    /// The looks of a waiting rank before it waits in the usual way.
    looks: u32,
    /// The further looks with a yield of the processor between two of them.
    yields: u32,
    /// The status of this rank, in which the launcher sees that the job moves.
    status: &'static Status,
}

impl Links {
    /// Returns the links of this process's rank.
    pub(crate) fn new(attached: &Attached) -> Self {
        let (segment, me, ranks) = (attached.job().segment, attached.rank(), attached.size());
        if attached.links_programs() && (2..=RANKS_MAX).contains(&ranks) {
            segment.populate_board(me, 0);
        }
        let communicators = std::array::from_fn(|number| {
            let board = |rank| segment.board_of(rank, number as u32);
            let all = (0..ranks.min(RANKS_MAX)).map(board).collect();
            let boards = Boards { own: board(me), all, segment, napping: segment.napping() };
            OfCommunicator { boards, rings: Default::default() }
        });
        let settings = &attached.job().settings;
        let (looks, yields) = match settings.spec.wait {
            Wait::Block => (1, 0),
            _ if settings.crowded => (LOOKS_CROWDED, YIELDS),
            _ => (LOOKS, 0),
        };
        Self { communicators, me, looks, yields, status: segment.status(me) }
    }

    /// Starts a run, which takes the next lines of its ring.
    #[inline(always)]
    pub(crate) fn start(&mut self, run: &mut Run) {
        let linked = run.linked();
        let (ring, lines) = (linked.ring(), linked.lines());
        let positions = &mut self.communicators[linked.board()].rings[ring as usize];
        let base = on_board(ring).fit(positions.next, lines);
        positions.next = base + lines;
        positions.open += u32::from(!linked.is_empty());
        run.start(base, base + lines);
    }

    /// Starts a run as [`start`](Self::start) does, and executes what needs no message. Returns
    /// true if the run has ended. Returns `None`, without an effect, if peers have to be told of
    /// ends first.
    #[inline(always)]
    pub(crate) fn start_and_put(&mut self, run: &mut Run) -> Option<bool> {
        let of = &self.communicators[run.linked().board()];
        if of.rings[run.linked().ring() as usize].open != 0 && self.is_behind() {
            return None;
        }
        self.start(run);
        let first = run.initial();
        if first == 0 {
            return Some(run.has_ended());
        }
        let is_short = run.linked().ring() == Ring::Short;
        let OfCommunicator { boards, rings } = &self.communicators[run.linked().board()];
        if !is_short || !first.is_power_of_two() || run.end() > rings[0].writable {
            // No message is looked for, so this meets no other collective.
            return Some(self.execute(run, first) == Ok(true));
        }
        let (lane, at) = (OneRing::<false>(boards), first.trailing_zeros());
        let _ = run.execute_one(&lane, rings[0].writable, at);
        if run.has_ended() {
            self.note_end(run);
        }
        Some(run.has_ended())
    }

    /// Executes what can be executed of a run that has started. Returns true if it has ended.
    ///
    /// # Errors
    /// A peer has called another collective.
    #[inline(always)]
    pub(crate) fn poll(&mut self, run: &mut Run) -> Result<bool, Mismatch> {
        self.execute(run, u64::MAX)
    }

    /// Executes those of the operations in the mask `which` that need not wait.
    #[inline(always)]
    fn execute(&mut self, run: &mut Run, which: u64) -> Result<bool, Mismatch> {
        match run.linked().ring() {
            Ring::Short => self.execute_in::<false>(run, which),
            Ring::Long => self.execute_in::<true>(run, which),
        }
    }

    #[inline(never)]
    fn execute_in<const LONG: bool>(
        &mut self,
        run: &mut Run,
        which: u64,
    ) -> Result<bool, Mismatch> {
        if run.has_ended() {
            return Ok(true);
        }
        let ring = if LONG { Ring::Long } else { Ring::Short };
        let number = run.linked().board();
        let of = &self.communicators[number];
        if run.end() > of.rings[LONG as usize].writable && run.linked().readers() != 0 {
            self.look_for_room(number, ring);
        }
        let OfCommunicator { boards, rings } = &self.communicators[number];
        let writable = rings[LONG as usize].writable;
        let has_ended = run.execute(&OneRing::<LONG>(boards), writable, which)?;
        if has_ended {
            self.note_end(run);
        }
        Ok(has_ended)
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
        while looks < most {
            let polled = match run.first_awaited() {
                Some((at, writer, position)) => {
                    let until = most.min(looks + LOOKS_ALONE);
                    if !self.await_word(run, writer, position, &mut looks, until) {
                        if looks >= most || is_wanted() {
                            break;
                        }
                        continue;
                    }
                    self.take(run, at)
                }
                None => {
                    looks += 1;
                    self.poll(run)
                }
            };
            match polled {
                Ok(true) => return true,
                Ok(false) => {}
                // The usual way meets the error again, and tells it.
                Err(_) => return false,
            }
        }
        self.yields > 0 && self.spin_and_yield(run, is_wanted)
    }

    /// Executes the operation `at`, whose message has come. Returns true if the run has ended.
    #[inline(always)]
    fn take(&mut self, run: &mut Run, at: u32) -> Result<bool, Mismatch> {
        let ring = run.linked().ring();
        if ring == Ring::Long {
            return self.execute(run, 1 << at);
        }
        let OfCommunicator { boards, rings } = &self.communicators[run.linked().board()];
        run.execute_one(&OneRing::<false>(boards), rings[0].writable, at)?;
        let has_ended = run.has_ended();
        if has_ended {
            self.note_end(run);
        }
        Ok(has_ended)
    }

    /// Looks at the cell of a message until it has come, or `looks` has reached `until`.
    /// Returns true if the message has come.
    #[inline(always)]
    fn await_word(
        &self,
        run: &Run,
        writer: u32,
        position: u64,
        looks: &mut u32,
        until: u32,
    ) -> bool {
        let ring = on_board(run.linked().ring());
        let boards = &self.communicators[run.linked().board()].boards;
        let word = boards.all[writer as usize].word_at(ring, position);
        let wanted = board::word(position, run.signature());
        while word.load(Ordering::Acquire) != wanted {
            *looks += 1;
            if *looks >= until {
                return false;
            }
            if *looks >= LOOKS_WITHOUT_PAUSE {
                std::hint::spin_loop();
            }
        }
        true
    }

    /// Looks for the messages of a run, and yields the processor between two looks. Other ranks may
    /// need it to write them. Returns true if the run has ended.
    #[cold]
    fn spin_and_yield(&mut self, run: &mut Run, is_wanted: impl Fn() -> bool) -> bool {
        for _ in 0..self.yields {
            match self.poll(run) {
                Ok(true) => return true,
                Ok(false) if is_wanted() => return false,
                Ok(false) => std::thread::yield_now(),
                Err(_) => return false,
            }
        }
        false
    }

    /// Returns true if a run has not ended.
    #[inline]
    pub(crate) fn has_open_runs(&self) -> bool {
        let mut rings = self.communicators.iter().flat_map(|of| &of.rings);
        rings.any(|positions| positions.open != 0)
    }

    /// Executes what can be executed of these runs. Other ranks may wait for what a run writes, or
    /// for the lines of a run that ends. Returns false if a run has met another collective.
    pub(crate) fn advance<'r>(&mut self, mut runs: impl Iterator<Item = &'r mut Run>) -> bool {
        runs.all(|run| self.poll(run).is_ok())
    }

    /// Notes that a run has ended.
    #[inline(always)]
    fn note_end(&mut self, run: &Run) {
        let (number, ring) = (run.linked().board(), run.linked().ring());
        let positions = &mut self.communicators[number].rings[ring as usize];
        self.status.process_state.note_move();
        positions.open -= 1;
        if positions.open == 0 && positions.next - positions.published >= quarter(ring) {
            let ended = positions.next;
            self.publish(number, ring, ended);
        }
    }

    #[cold]
    fn publish(&mut self, number: usize, ring: Ring, ended: u64) {
        let OfCommunicator { boards, rings } = &mut self.communicators[number];
        rings[ring as usize].published = ended;
        boards.own.consume(on_board(ring), ended);
    }

    /// Tells peers up to which positions the runs have ended here. `running` are the runs that have
    /// not ended. Called before this rank sleeps, and when runs overlap, since then the end of one
    /// run alone tells nothing.
    #[cold]
    pub(crate) fn publish_all<'r>(&mut self, running: impl Iterator<Item = &'r mut Run>) {
        let next = |of: &OfCommunicator| [of.rings[0].next, of.rings[1].next];
        let mut ended = self.communicators.each_ref().map(next);
        for run in running.filter(|run| !run.has_ended()) {
            let first = &mut ended[run.linked().board()][run.linked().ring() as usize];
            *first = run.base().min(*first);
        }
        for (number, ended) in ended.into_iter().enumerate() {
            for (ring, ended) in [Ring::Short, Ring::Long].into_iter().zip(ended) {
                if ended > self.communicators[number].rings[ring as usize].published {
                    self.publish(number, ring, ended);
                }
            }
        }
    }

    /// Returns true if runs overlap, and peers do not know of the ends of many runs.
    #[inline(always)]
    pub(crate) fn is_behind(&self) -> bool {
        let is_behind = |(ring, positions): (Ring, &Positions)| {
            positions.open != 0 && positions.next - positions.published >= 2 * quarter(ring)
        };
        let of_all = self.communicators.iter();
        of_all.flat_map(|of| [Ring::Short, Ring::Long].into_iter().zip(&of.rings)).any(is_behind)
    }

    #[cold]
    fn look_for_room(&mut self, number: usize, ring: Ring) {
        let me = self.me as usize;
        let of_board = on_board(ring);
        let OfCommunicator { boards, rings } = &mut self.communicators[number];
        let peers = boards.all.iter().enumerate().filter(|&(rank, _)| rank != me);
        let read = peers.map(|(_, board)| board.consumed(of_board)).min();
        rings[ring as usize].writable = read.map_or(u64::MAX, |read| read + of_board.lines());
    }

    /// Returns what these runs wait for, so that a sleep of the rank ends when it comes.
    pub(crate) fn awaited<'r>(
        &self,
        runs: impl Iterator<Item = &'r mut Run>,
    ) -> Vec<Watched<'static>> {
        let mut watched = Vec::new();
        for run in runs {
            let boards = &self.communicators[run.linked().board()].boards;
            let ring = on_board(run.linked().ring());
            run.awaited(|writer, position| {
                let cell = boards.all[writer as usize].word_at(ring, position);
                watched.push(Watched::message(cell, board::word(position, run.signature())));
            });
            if run.waits_for_room() {
                let needed = run.end().saturating_sub(ring.lines());
                let late = boards.all.iter().enumerate().filter(|&(rank, board)| {
                    rank != self.me as usize && board.consumed(ring) < needed
                });
                watched
                    .extend(late.map(|(_, board)| Watched::room(board.consumed_at(ring), needed)));
            }
        }
        watched
    }
}

/// Returns the error of a run that met another collective.
#[cold]
pub(crate) fn of_mismatch(mismatch: &Mismatch, run: &Run) -> Error {
    let Mismatch { writer, signature } = *mismatch;
    let name = |signature| kind_of(signature).map_or("a collective", CollectiveKind::name);
    let (own, other) = (name(run.signature()), name(signature));
    let differs = match own == other {
        true => format!("{own} with another count, type, operation or root"),
        false => format!("{other} where this rank called {own}"),
    };
    let text = format!(
        "rank {writer} called {differs}: all ranks must call the same collectives in the same order"
    );
    Error::new(ErrorCode::Failed, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use goal_collectives::algorithm;

    fn call() -> Call<'static> {
        Call {
            kind: CollectiveKind::Allreduce,
            count: 3,
            datatype: Datatype::Int32,
            function: Function::Predefined(Op::Sum, Datatype::Int32),
            root: 0,
            has_equal_blocks: true,
            algorithm: algorithm(CollectiveKind::Allreduce, "flat").expect("there is one"),
            ranks: 2,
            twin: Some(1),
            is_allowed: true,
        }
    }

    #[test]
    fn what_is_equal_on_all_ranks_decides() {
        assert_eq!(call().board(), Some(1));
        let ring = algorithm(CollectiveKind::Allreduce, "ring").expect("there is one");
        let in_engine = [
            Call { algorithm: ring, ..call() },
            Call { function: Function::User(1), ..call() },
            Call { has_equal_blocks: false, ..call() },
            Call { kind: CollectiveKind::NeighborAllgather, ..call() },
            Call { ranks: 1, ..call() },
            Call { ranks: RANKS_MAX + 1, ..call() },
            Call { twin: None, ..call() },
            Call { twin: Some(BOARDS.into()), ..call() },
            Call { is_allowed: false, ..call() },
        ];
        assert!(in_engine.iter().all(|call| call.board().is_none()));
    }

    #[test]
    fn different_calls_have_different_signatures() {
        let signature = call().signature();
        assert_eq!(kind_of(signature), Some(CollectiveKind::Allreduce));
        let others = [
            Call { kind: CollectiveKind::Bcast, ..call() },
            Call { count: 4, ..call() },
            Call { root: 1, ..call() },
            Call { datatype: Datatype::Int64, ..call() },
            Call { function: Function::Predefined(Op::Max, Datatype::Int32), ..call() },
        ];
        assert!(others.iter().all(|call| call.signature() != signature));
        assert_ne!(signature, 0);
    }
}
