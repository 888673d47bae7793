//! Gives typed access to the areas of the shared segment.
#![allow(unsafe_code)] // hands out references and regions over the mapping

use super::bell::Bells;
use super::claims::{Claim, Claims, Part};
use super::counts::RankCounts;
use super::layout::{BOARD, FAILURE_BYTES, Layout, RankLayout, WAITS_BYTES};
use super::mapping::Mapping;
use super::rank_count::{RANK_COUNT_AT, RankCount};
use super::starts::{Started, Starts};
use super::status::{State, Status};
use goal_engine::memory::{Cells, Region, Span};
use goal_sync::SharedWords;
use goal_sync::board::{self, Board};
use goal_sync::directory::Directory;
use goal_sync::endpoint::Endpoint;
use goal_sync::helpers::{self, Helpers, Marks};
use goal_sync::mailbox::{self, Mailbox};
use goal_sync::napping::{Fences, Napping};
use goal_sync::pool::Rings;
use goal_sync::start_barrier::StartBarrier;
use goal_sync::tasks::{self, TASKS, Tasks};
use goal_sync::turn::Turn;
use std::io;
use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use zerocopy::{FromBytes, IntoBytes};

/// The mapped segment with its layout.
#[derive(Debug)]
pub struct Segment {
    mapping: Mapping,
    layout: Layout,
    bells: Bells,
    claims: Claims,
    /// The fences of this process, for [`Segment::napping`].
    fences: Fences,
}

impl Segment {
    /// Creates a segment of zeros.
    ///
    /// # Errors
    /// The system's error.
    pub fn create(layout: Layout) -> io::Result<Self> {
        let segment = Self::over(Mapping::create(layout.len)?, layout);
        segment.rank_count().set_ranks(segment.num_started());
        Ok(segment)
    }

    /// Maps the segment behind an inherited descriptor. `layout` must equal the layout that the
    /// segment was created with, because the contracts of the unsafe functions here bind all
    /// processes together.
    ///
    /// # Errors
    /// The system's error; [`io::ErrorKind::InvalidInput`] if the descriptor is not of a memory
    /// file with the size of the layout, or if its size may change.
    pub fn open(fd: OwnedFd, layout: Layout) -> io::Result<Self> {
        Ok(Self::over(Mapping::open(fd, layout.len)?, layout))
    }

    fn over(mapping: Mapping, layout: Layout) -> Self {
        let claims = Claims::new(layout.ranks.len());
        // A memory dump of the process would touch every page of the reserve.
        if let Some(reserve) = layout.reserve() {
            mapping.leave_out_of_dumps(&reserve);
        }
        Self { mapping, layout, bells: Bells::default(), claims, fences: Fences::default() }
    }

    /// The memory file, which other processes of the job inherit.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.mapping.fd()
    }

    /// Claims a part of a rank for one owner in this process. The claim ends when it is dropped.
    /// Returns `None` if the part has an owner.
    pub fn claim(&self, rank: u32, part: Part) -> Option<Claim> {
        self.claims.claim(rank, part)
    }

    /// Creates a bell for each of `ranks`, which ascend. The launcher calls this before it starts
    /// the ranks, whose processes inherit the descriptors.
    ///
    /// # Errors
    /// The system's error.
    pub fn create_bells(&mut self, ranks: impl Iterator<Item = u32>) -> io::Result<()> {
        self.bells = Bells::new(ranks)?;
        Ok(())
    }

    /// Sets the bells that this process has inherited, each with its rank.
    pub fn inherit_bells(&mut self, bells: Vec<(u32, OwnedFd)>) {
        self.bells = bells.into_iter().collect();
    }

    /// Chooses the fences between writers of cells and ranks that nap: see [`Fences::choose`]. The
    /// process of a rank calls this once, and before it writes a cell.
    pub fn choose_fences(&mut self, is_crowded: bool) {
        self.fences = Fences::choose(is_crowded);
    }

    /// Returns the descriptors of all bells, ascending by rank.
    pub fn bells(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.bells.all()
    }

    /// Returns the current number of ranks, including ranks that were added since the start of the
    /// job.
    pub fn num_ranks(&self) -> u32 {
        self.rank_count().ranks().min(self.capacity())
    }

    /// Returns the number of ranks at the start of the job.
    pub fn num_started(&self) -> u32 {
        self.layout.started as u32
    }

    /// Returns the most ranks that the segment has room for.
    pub fn capacity(&self) -> u32 {
        self.layout.ranks.len() as u32
    }

    /// Returns the rank count in the segment. Only the launcher changes its number of ranks.
    #[inline]
    pub fn rank_count(&self) -> &RankCount {
        self.words(RANK_COUNT_AT)
    }

    /// Returns the offsets of a rank's areas in the segment.
    #[inline]
    pub fn rank(&self, rank: u32) -> &RankLayout {
        &self.layout.ranks[rank as usize]
    }

    /// The start barrier.
    #[inline]
    pub fn start_barrier(&self) -> &StartBarrier {
        self.words(0)
    }

    /// A rank's status.
    pub fn status(&self, rank: u32) -> &Status {
        self.words(self.rank(rank).status)
    }

    /// Returns the lock that a process holds while it acts for a rank.
    #[inline]
    pub fn turn(&self, rank: u32) -> &Turn {
        self.words(self.rank(rank).turn)
    }

    /// Returns the bitmaps of the ranks that need help and of the ranks that sleep.
    #[inline]
    pub fn helpers(&self) -> Helpers<'_> {
        Helpers::new(self.bitmap(0), self.bitmap(1))
    }

    /// Returns the set of ranks that sleep until a cell of a board gets its word.
    #[inline]
    pub fn napping(&self) -> Napping<'_> {
        Napping::new(self.bitmap(2), self.fences)
    }

    /// Returns the set of ranks that sleep until a peer has read what lies on their boards.
    #[inline]
    pub fn awaiting_room(&self) -> Napping<'_> {
        Napping::new(self.bitmap(3), self.fences)
    }

    #[inline]
    fn bitmap(&self, number: usize) -> &[Marks] {
        let lines = helpers::lines(self.layout.ranks.len());
        self.array(self.layout.helpers + number * lines * size_of::<Marks>(), lines)
    }

    /// Returns a rank's first board.
    #[inline]
    pub fn board(&self, rank: u32) -> Board<'_> {
        self.board_of(rank, 0)
    }

    /// Returns a rank's board in the set `number` of the [directory](Segment::directory). Only the
    /// first [`BOARD_RANKS`](super::BOARD_RANKS) ranks have boards.
    ///
    /// # Panics
    /// If there is no such board.
    #[inline]
    pub fn board_of(&self, rank: u32, number: u32) -> Board<'_> {
        Board::new(self.words(self.board_range(rank, number).start))
    }

    /// Returns the directory, which tells the boards of each communicator.
    pub fn directory(&self) -> Directory<'_> {
        Directory::new(self.words(self.layout.directory))
    }

    /// Returns a rank's mailbox, for its senders and for observers.
    #[inline]
    pub fn mailbox(&self, rank: u32) -> Mailbox<'_> {
        let at = self.rank(rank).mailbox;
        let slots = self.array(at + size_of::<mailbox::Control>(), self.layout.slots);
        Mailbox::new(self.words(at), slots, self.bells.of(rank))
    }

    /// Returns a rank's endpoint: its mailbox, its table of rings, and all rings.
    pub fn endpoint(&self, rank: u32) -> Endpoint<'_> {
        let table = self.array(self.rank(rank).table, self.layout.ranks.len());
        Endpoint::new(self.mailbox(rank), self.rings(), table)
    }

    fn rings(&self) -> Rings<'_> {
        let rings = &self.layout.rings;
        // SAFETY: the layout gives these bytes to the rings alone, and no method lends them in
        // another way.
        let bytes = unsafe { self.mapping.bytes(&rings.bytes) };
        Rings::new(self.words(rings.pool), self.array(rings.ends, rings.rings), bytes)
    }

    /// Returns the tasks: operations that several ranks work on.
    #[inline]
    pub(crate) fn tasks(&self) -> Tasks<'_> {
        let at = self.layout.tasks;
        let slots = self.array(at + size_of::<tasks::Control>(), TASKS);
        Tasks::new(self.words(at), slots)
    }

    /// Returns the words at `offset`, where an area of the layout begins. That area is always used
    /// as a `T`.
    #[inline]
    fn words<T: SharedWords>(&self, offset: usize) -> &T {
        // SAFETY: areas don't overlap, and each is lent as one type. Elsewhere in this module they
        // are read by atomic loads, or reached by unsafe functions whose contracts exclude other
        // users.
        unsafe { self.mapping.words(offset) }
    }

    /// Returns the `len` values at `offset`, where an area of the layout begins. That area is
    /// always used as an array of `T`.
    #[inline]
    fn array<T: SharedWords>(&self, offset: usize, len: usize) -> &[T] {
        // SAFETY: as in `words`.
        unsafe { self.mapping.array(offset, len) }
    }

    /// Returns the offset of bytes in the segment; `None` for bytes that lie elsewhere.
    pub(crate) fn place_of(&self, bytes: Span) -> Option<u64> {
        let place = bytes.address().checked_sub(self.mapping.range(0, 0).as_ptr() as usize)?;
        (place + bytes.len() <= self.mapping.len()).then_some(place as u64)
    }

    /// Returns the `len` bytes at `place`; `None` if they don't begin in the memory or scratch
    /// memory of `rank`.
    ///
    /// # Panics
    /// If the bytes begin in such a memory and end outside of it.
    pub(crate) fn bytes_at(&self, rank: u32, place: u64, len: u64) -> Option<Span> {
        let rank = self.rank(rank);
        let areas = [&rank.memory, &rank.scratch];
        let area = areas.into_iter().find(|area| area.contains(&(place as usize)))?;
        // SAFETY: this only names the bytes. Code that accesses them through the span has to keep
        // the contract of `Region::new`.
        let region = unsafe { self.region(area) };
        Some(region.span(place - area.start as u64, len))
    }

    /// Returns an area as a region, for example a rank's memory.
    ///
    /// # Safety
    /// The area is `memory`, `scratch` or `engine` of a rank. The region is not used after the
    /// segment is dropped. While code in any process writes bytes of the region, no other code in
    /// this process accesses these bytes.
    pub unsafe fn region(&self, area: &Range<usize>) -> Region {
        let start = self.mapping.range(area.start, area.len());
        // SAFETY: inside the mapping, which is readable, writable and initialised; the rest is the
        // caller's promise.
        unsafe { Region::new(start.as_ptr(), area.len()) }
    }

    /// Returns an area as cells: as many values of `T` as fit.
    ///
    /// # Safety
    /// The area is part of a data area of a rank, such as `instance`. The cells are not used after
    /// the segment is dropped, and have one owner at a time, in all processes.
    pub unsafe fn cells<T: FromBytes + Copy>(&self, area: &Range<usize>) -> Cells<T> {
        let start = self.mapping.range(area.start, area.len()).cast::<T>();
        assert!(start.is_aligned());
        // SAFETY: as for `region`, and aligned; every bit pattern is a value of `T`.
        unsafe { Cells::new(start.as_ptr(), area.len() / size_of::<T>()) }
    }

    /// Returns a copy of the values in an area. If a rank in another process changes them during
    /// the call, the copy may mix old and new bytes.
    ///
    /// # Safety
    /// No thread of this process writes the area during the call. A running engine would be such a
    /// thread.
    pub unsafe fn copy_of<T: FromBytes + IntoBytes + Copy>(&self, area: &Range<usize>) -> Vec<T> {
        let mut words = vec![T::new_zeroed(); area.len() / size_of::<T>()];
        self.mapping.load(area.start, words.as_mut_bytes());
        words
    }

    /// Makes up to `bytes_max` bytes of a rank's areas resident: its mailbox, the state of its
    /// instance, its memory and its scratch memory. The rank calls this on its own processor,
    /// before it starts. Returns the number of bytes that are resident.
    pub fn populate(&self, rank: u32, bytes_max: u64) -> u64 {
        let RankLayout { instance, memory, scratch, .. } = self.rank(rank);
        let mailbox = self.mailbox_range(rank);
        let mut left = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        for area in [&mailbox, instance, memory, scratch] {
            let part = area.start..area.start + area.len().min(left);
            left -= self.mapping.populate(&part);
        }
        bytes_max - left as u64
    }

    /// Makes a rank's mailbox and the begin of its board resident, near the processor of the
    /// caller. Returns the number of bytes that are resident.
    pub fn populate_messages(&self, rank: u32) -> u64 {
        let areas = [self.mailbox_range(rank), self.small_range(rank)];
        areas.iter().map(|area| self.mapping.populate(area) as u64).sum()
    }

    /// Makes a whole board resident. Otherwise each page costs its first message time.
    pub fn populate_board(&self, rank: u32, number: u32) {
        self.mapping.populate(&self.board_range(rank, number));
    }

    /// Maps the parts of a board that runs of few lines use, for a reader of the board. Otherwise
    /// each page costs the reader of its first message time. The owner has made the board resident,
    /// so the pages lie on its processor's node.
    pub fn map_board(&self, rank: u32, number: u32) {
        let start = self.board_range(rank, number).start;
        for part in board::FEW_BYTES {
            self.mapping.populate(&(start + part.start..start + part.end));
        }
    }

    /// Returns the part of a rank's first board that small operations use. It is empty for a rank
    /// without boards.
    fn small_range(&self, rank: u32) -> Range<usize> {
        let Range { start, end } = self.rank(rank).boards;
        start..end.min(start + board::SMALL_BYTES)
    }

    /// Returns the place of a board.
    fn board_range(&self, rank: u32, number: u32) -> Range<usize> {
        let boards = &self.rank(rank).boards;
        let at = boards.start + (u64::from(number) * BOARD) as usize;
        let end = at + size_of::<board::Words>();
        assert!(end <= boards.end, "rank {rank} has no board {number}");
        at..end
    }

    fn mailbox_range(&self, rank: u32) -> Range<usize> {
        let at = self.rank(rank).mailbox;
        at..at + size_of::<mailbox::Control>() + self.layout.slots * size_of::<mailbox::Slot>()
    }

    /// Writes bytes at an offset in the segment.
    ///
    /// # Safety
    /// Nobody else reads or writes these bytes during the call, in any process. The bytes do not
    /// belong to the words of a mailbox, a ring or a task that is in use.
    ///
    /// # Panics
    /// If the bytes don't lie in the segment.
    pub unsafe fn write(&self, offset: usize, bytes: &[u8]) {
        // SAFETY: the caller's promise.
        unsafe { self.mapping.write(offset, bytes) }
    }

    /// Writes the text of an error into a rank's failure record, cut to the size of the record. If
    /// the record already has a text, drops the new one.
    pub fn record_failure(&self, rank: u32, text: &str) {
        if !self.status(rank).claim_failure_record() {
            return;
        }
        let text = cut(text, FAILURE_BYTES);
        self.mapping.store(self.rank(rank).failure, text);
        self.status(rank).failure_len.store(text.len() as u32, Ordering::SeqCst);
    }

    /// Writes a text that says what a rank waits for, cut to 1 KiB. The text answers the launcher's
    /// question with the number `question` ([`StartBarrier::ask_texts`]). Only one thread of the
    /// rank may call this at a time.
    pub fn tell_waits(&self, rank: u32, question: u32, text: &str) {
        let (text, process_state) = (cut(text, WAITS_BYTES), &self.status(rank).process_state);
        self.mapping.store(self.rank(rank).failure + FAILURE_BYTES, text);
        process_state.told_len.store(text.len() as u32, Ordering::SeqCst);
        process_state.tell(question);
    }

    /// Returns the text in which a rank says what it waits for, as its answer to the question with
    /// the number `question`. Returns `None` if the rank's last answer is to another question. If
    /// the rank answers another question during the call, the text may mix both answers.
    pub fn told_waits(&self, rank: u32, question: u32) -> Option<String> {
        let process_state = &self.status(rank).process_state;
        if process_state.told() != question {
            return None;
        }
        let len = process_state.told_len.load(Ordering::SeqCst) as usize;
        let mut bytes = vec![0; len.min(WAITS_BYTES)];
        self.mapping.load(self.rank(rank).failure + FAILURE_BYTES, &mut bytes);
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Records a rank's failure as [`Segment::record_failure`] does, sets the rank's state to
    /// [`State::Failed`], and wakes the launcher.
    pub fn fail(&self, rank: u32, text: &str) {
        self.record_failure(rank, text);
        self.status(rank).enter(State::Failed);
        self.start_barrier().call_launcher();
    }

    /// Stores a rank's counters in the segment.
    pub fn store_counts(&self, rank: u32, counts: &RankCounts) {
        self.mapping.store(self.rank(rank).counts, counts.as_bytes());
    }

    /// Returns a rank's counters as [`Segment::store_counts`] last stored them.
    pub fn counts(&self, rank: u32) -> RankCounts {
        let mut counts = RankCounts::default();
        self.mapping.load(self.rank(rank).counts, counts.as_mut_bytes());
        counts
    }

    /// Returns the counter of a rank's starts of a collective by one algorithm, with blocks of
    /// `block` bytes. Only one thread of the rank's process may call this at a time. If the table
    /// of counters is full, all further collectives share one counter.
    pub fn starts_of(
        &self,
        rank: u32,
        collective: &str,
        algorithm: &str,
        block: Option<u64>,
    ) -> &AtomicU64 {
        let starts: &Starts = self.words(self.rank(rank).starts);
        starts.counter(collective, algorithm, block)
    }

    /// Returns the collectives that the process of a rank has started, by algorithm and size.
    pub fn started(&self, rank: u32) -> Vec<Started> {
        let starts: &Starts = self.words(self.rank(rank).starts);
        starts.all()
    }

    /// Empties all mailboxes, rings and queues, and gives their memory back to the system.
    ///
    /// # Safety
    /// No process uses messages of this segment during the call: each rank has dropped its
    /// endpoint and its transports, or has ended.
    ///
    /// # Errors
    /// The system's error. After an error, messages of this segment can't be used any more.
    pub unsafe fn reset_messages(&self) -> io::Result<()> {
        self.layout.messages().try_for_each(|area| self.mapping.clear(&area))
    }

    /// Returns the ranks that were lost, ascending.
    pub fn lost(&self) -> impl Iterator<Item = u32> {
        (0..self.num_ranks()).filter(|&rank| self.status(rank).is_lost())
    }

    /// Returns the place of a rank's status, counters and starts of collectives, as offsets in the
    /// segment.
    pub fn status_and_counts(&self, rank: u32) -> Range<usize> {
        let RankLayout { status, starts, .. } = *self.rank(rank);
        status..starts + size_of::<Starts>()
    }

    /// Returns the place of a rank's failure record, as offsets in the segment.
    pub fn failure_record(&self, rank: u32) -> Range<usize> {
        let at = self.rank(rank).failure;
        at..at + FAILURE_BYTES
    }

    /// Returns the text in a rank's failure record; `None` if the rank is not in [`State::Failed`].
    pub fn failure_of_failed(&self, rank: u32) -> Option<String> {
        self.failure(rank).filter(|_| self.status(rank).state() == State::Failed)
    }

    /// Returns the text in a rank's failure record; `None` while the record is empty.
    pub fn failure(&self, rank: u32) -> Option<String> {
        let len = self.status(rank).failure_len.load(Ordering::SeqCst) as usize;
        if len == 0 {
            return None;
        }
        let mut bytes = vec![0; len.min(FAILURE_BYTES)];
        self.mapping.load(self.rank(rank).failure, &mut bytes);
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Returns the first bytes of a text: at most `most`, and whole characters only.
fn cut(text: &str, most: usize) -> &[u8] {
    let mut len = text.len().min(most);
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    &text.as_bytes()[..len]
}
