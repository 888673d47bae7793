//! Typed access to the areas of the segment. `unsafe`: regions over them.
#![allow(unsafe_code)]

use super::bell::Bells;
use super::claims::{Claim, Claims, Part};
use super::counts::RankCounts;
use super::endpoint::Endpoint;
use super::gate::Gate;
use super::layout::{FAILURE_BYTES, Layout, RankLayout};
use super::mailbox::{self, Mailbox};
use super::mapping::Mapping;
use super::pool::Rings;
use super::status::{State, Status};
use super::tasks::{self, TASKS, Tasks};
use super::turn::Turn;
use goal_engine::memory::{Cells, Region, Span};
use std::io;
use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;
use zerocopy::{FromBytes, IntoBytes};

/// The mapped segment with its layout.
#[derive(Debug)]
pub struct Segment {
    mapping: Mapping,
    layout: Layout,
    bells: Bells,
    claims: Claims,
}

impl Segment {
    /// A new segment, all zeros.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(layout: Layout) -> io::Result<Self> {
        Ok(Self::over(Mapping::create(layout.len)?, layout))
    }

    /// The segment behind an inherited descriptor.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(fd: OwnedFd, layout: Layout) -> io::Result<Self> {
        Ok(Self::over(Mapping::open(fd, layout.len)?, layout))
    }

    fn over(mapping: Mapping, layout: Layout) -> Self {
        let claims = Claims::new(layout.ranks.len());
        Self { mapping, layout, bells: Bells::default(), claims }
    }

    /// Claims a part of a rank for one owner in this process, until the claim is dropped. `None` if
    /// it has an owner.
    pub fn claim(&self, rank: u32, part: Part) -> Option<Claim> {
        self.claims.claim(rank, part)
    }

    /// Hangs up bells for these ranks, ascending, before they start. All their processes inherit
    /// them.
    ///
    /// # Errors
    /// The system's error.
    pub fn create_bells(&mut self, ranks: impl Iterator<Item = u32>) -> io::Result<()> {
        self.bells = Bells::new(ranks)?;
        Ok(())
    }

    /// The same for a process that has inherited them.
    pub fn inherit_bells(&mut self, bells: Vec<(u32, OwnedFd)>) {
        self.bells = bells.into_iter().collect();
    }

    /// Their descriptors, ascending by rank.
    pub fn bells(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.bells.all()
    }

    /// The mapping.
    pub fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// Number of ranks.
    pub fn num_ranks(&self) -> u32 {
        self.layout.ranks.len() as u32
    }

    /// Where a rank's areas lie.
    #[inline]
    pub fn rank(&self, rank: u32) -> &RankLayout {
        &self.layout.ranks[rank as usize]
    }

    /// The start gate.
    #[inline]
    pub fn gate(&self) -> &Gate {
        self.mapping.words(0)
    }

    /// A rank's status.
    pub fn status(&self, rank: u32) -> &Status {
        self.mapping.words(self.rank(rank).status)
    }

    /// Whose turn it is to act for a rank.
    #[inline]
    pub fn turn(&self, rank: u32) -> &Turn {
        self.mapping.words(self.rank(rank).turn)
    }

    /// A rank's mailbox, to put messages into or to look at.
    #[inline]
    pub fn mailbox(&self, rank: u32) -> Mailbox<'_> {
        let at = self.rank(rank).mailbox;
        let slots = self.mapping.array(at + size_of::<mailbox::Control>(), self.layout.slots);
        Mailbox::new(self.mapping.words(at), slots, self.bells.of(rank))
    }

    /// A rank's end of all its messages. One process at a time may use it.
    pub fn endpoint(&self, rank: u32) -> Endpoint<'_> {
        let table = self.mapping.array(self.rank(rank).table, self.layout.ranks.len());
        Endpoint::new(self.mailbox(rank), self.rings(), table)
    }

    fn rings(&self) -> Rings<'_> {
        let rings = &self.layout.rings;
        Rings::new(
            self.mapping.words(rings.pool),
            self.mapping.array(rings.ends, rings.rings),
            self.mapping.bytes(&rings.bytes),
        )
    }

    /// Operations that several ranks work on.
    #[inline]
    pub fn tasks(&self) -> Tasks<'_> {
        let at = self.layout.tasks;
        let slots = self.mapping.array(at + size_of::<tasks::Control>(), TASKS);
        Tasks::new(self.mapping.words(at), slots)
    }

    /// Where bytes lie in the segment; `None` for others.
    pub fn place_of(&self, bytes: Span) -> Option<u64> {
        let place = bytes.address().checked_sub(self.mapping.range(0, 0).as_ptr() as usize)?;
        (place + bytes.len() <= self.mapping.len()).then_some(place as u64)
    }

    /// The `len` bytes at `place`, in memory or scratch memory of a rank; `None` if they begin
    /// elsewhere.
    ///
    /// # Panics
    /// If they end elsewhere.
    pub fn bytes_at(&self, rank: u32, place: u64, len: u64) -> Option<Span> {
        let rank = self.rank(rank);
        let areas = [&rank.memory, &rank.scratch];
        let area = areas.into_iter().find(|area| area.contains(&(place as usize)))?;
        // SAFETY: this only names the bytes; whoever reaches them has the duty of `Region::new`.
        let region = unsafe { self.region(area) };
        Some(region.span(place - area.start as u64, len))
    }

    /// A rank's memory or scratch memory.
    ///
    /// # Safety
    /// The region is not used after the segment is dropped, and while somebody writes it, in this
    /// process or another, nobody else reaches the same bytes in this one.
    pub unsafe fn region(&self, area: &Range<usize>) -> Region {
        let start = self.mapping.range(area.start, area.len());
        // SAFETY: inside the mapping, which is readable, writable and initialised; the rest is as
        // the caller says.
        unsafe { Region::new(start.as_ptr(), area.len()) }
    }

    /// The words in an area, as many as fit.
    ///
    /// # Safety
    /// They are not used after the segment is dropped, and have one owner at a time, in all
    /// processes.
    pub unsafe fn cells<T: FromBytes + Copy>(&self, area: &Range<usize>) -> Cells<T> {
        let start = self.mapping.range(area.start, area.len()).cast::<T>();
        assert!(start.is_aligned());
        // SAFETY: as for `region`, and aligned; every bit pattern is a value of `T`.
        unsafe { Cells::new(start.as_ptr(), area.len() / size_of::<T>()) }
    }

    /// A copy of the words in an area, which its rank may be changing meanwhile.
    pub fn copy_of<T: FromBytes + IntoBytes + Copy>(&self, area: &Range<usize>) -> Vec<T> {
        let mut words = vec![T::new_zeroed(); area.len() / size_of::<T>()];
        self.mapping.copy_out(area.start, words.as_mut_bytes());
        words
    }

    /// Leaves a text where the launcher finds it, cut to the record's size. The first text stays.
    pub fn record_failure(&self, rank: u32, text: &str) {
        if !self.status(rank).claim_failure_record() {
            return;
        }
        let mut len = text.len().min(FAILURE_BYTES);
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        self.mapping.copy_in(self.rank(rank).failure, &text.as_bytes()[..len]);
        self.status(rank).failure_len.store(len as u32, Ordering::SeqCst);
    }

    /// Leaves the text of an error as [`Segment::record_failure`] does, and ends in [`State::Failed`], which
    /// stays.
    pub fn fail(&self, rank: u32, text: &str) {
        self.record_failure(rank, text);
        self.status(rank).enter(State::Failed);
        self.gate().call_launcher();
    }

    /// Leaves what a rank counted.
    pub fn store_counts(&self, rank: u32, counts: &RankCounts) {
        self.mapping.copy_in(self.rank(rank).counts, counts.as_bytes());
    }

    /// What a rank counted, when it told so last.
    pub fn counts(&self, rank: u32) -> RankCounts {
        let mut counts = RankCounts::default();
        self.mapping.copy_out(self.rank(rank).counts, counts.as_mut_bytes());
        counts
    }

    /// Where a rank's status and what it counted lie.
    pub fn status_and_counts(&self, rank: u32) -> Range<usize> {
        let RankLayout { status, counts, .. } = *self.rank(rank);
        status..counts + size_of::<RankCounts>()
    }

    /// Where a rank's failure record lies.
    pub fn failure_record(&self, rank: u32) -> Range<usize> {
        let at = self.rank(rank).failure;
        at..at + FAILURE_BYTES
    }

    /// The text that a rank left that has failed.
    pub fn failure_of_failed(&self, rank: u32) -> Option<String> {
        self.failure(rank).filter(|_| self.status(rank).state() == State::Failed)
    }

    /// The text that a failed rank left.
    pub fn failure(&self, rank: u32) -> Option<String> {
        let len = self.status(rank).failure_len.load(Ordering::SeqCst) as usize;
        if len == 0 {
            return None;
        }
        let mut bytes = vec![0; len.min(FAILURE_BYTES)];
        self.mapping.copy_out(self.rank(rank).failure, &mut bytes);
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}
