//! The rank's side of a schedule in the kernel: memory that it shares with the kernel, the start of
//! runs, and the word that shows their end.
//!
//! A rank needs its descriptors and no further rights. Threat: a rank can write any bytes to the
//! maps behind them. The maps belong to the ranks of its host, which trust each other. The engine
//! takes all bytes in these maps as plain numbers.

use crate::install::Member;
use crate::layout::StatusEntry;
use crate::limits::{EPOCH_MAX, page};
use crate::sys::Mapping;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The descriptors that the process of a rank needs. They may be passed to another process.
#[derive(Debug)]
pub struct Descriptors {
    /// The map of memory.
    pub memory: OwnedFd,
    /// The map of the states of parts.
    pub status: OwnedFd,
    /// The map of the rings of actions that are handed over.
    pub handed: OwnedFd,
    /// The socket by which the rank sends starts and returns of actions. It also receives the
    /// rank's completion events.
    pub socket: OwnedFd,
}

/// An error of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// An integer was divided by zero.
    #[error("action {action} of the part divides element {element} by zero")]
    Division {
        /// The number of the action in the part, as in [`PartImage::origins`](crate::PartImage).
        action: u32,
        /// The number of the element that was divided.
        element: u32,
    },
}

/// A rank of a schedule in the kernel.
#[derive(Debug)]
pub struct Rank {
    member: Member,
    memory: Mapping,
    status: Arc<Mapping>,
    /// The offset of the rank's state in `status`.
    status_at: usize,
    socket: Arc<OwnedFd>,
    epoch: u32,
    /// The ring of actions that the kernel hands over; `None` if the part has no such actions.
    ring: Option<Mapping>,
    /// The offset of the ring's first entry in `ring`.
    ring_at: usize,
    /// The number of actions that were ever taken from the ring.
    taken: u64,
}

/// The longest sleep of a rank before it looks at its state again. The completion event that should
/// wake it may get lost.
pub(crate) const SLEEP_MAX: Duration = Duration::from_millis(20);

impl Rank {
    /// Opens a rank's part of a schedule in the kernel.
    ///
    /// # Errors
    /// The system refuses a mapping.
    pub fn new(descriptors: Descriptors, member: Member) -> io::Result<Self> {
        let Descriptors { memory, status, handed, socket } = descriptors;
        let part = member.part as usize;
        let offset = part * size_of::<StatusEntry>();
        // An entry may lie across two pages, unless it is on the map's last one.
        let whole = page();
        let page = offset / whole * whole;
        let end = (offset + size_of::<StatusEntry>()).next_multiple_of(whole);
        let status = Arc::new(Mapping::new(status, page as u64, end - page)?);
        Self::over(member, memory, (status, offset - page), handed, Arc::new(socket))
    }

    /// Opens a rank's part whose state lies at the offset `status_at` of the mapping `status`.
    pub(crate) fn over(
        member: Member,
        memory: impl AsFd,
        (status, status_at): (Arc<Mapping>, usize),
        handed: impl AsFd,
        socket: Arc<OwnedFd>,
    ) -> io::Result<Self> {
        let whole = page();
        let length = (member.part_bytes.max(1) as usize).next_multiple_of(whole);
        let memory = Mapping::new(memory, member.memory_at.into(), length)?;
        let ring = 8 * member.first_action as usize;
        let ring_page = ring / whole * whole;
        let ring_end = (ring + 8 * member.actions as usize).next_multiple_of(whole);
        let mapped = (member.handed > 0)
            .then(|| Mapping::new(handed, ring_page as u64, ring_end - ring_page))
            .transpose()?;
        let mut rank = Self {
            member,
            memory,
            status,
            status_at,
            socket,
            epoch: 0,
            ring: mapped,
            ring_at: ring - ring_page,
            taken: 0,
        };
        rank.epoch = rank.word(offset_of!(StatusEntry, done)).load(Ordering::Acquire);
        rank.taken = rank.long(offset_of!(StatusEntry, handed)).load(Ordering::Acquire);
        Ok(rank)
    }

    /// Returns the number of the part.
    pub fn part(&self) -> u32 {
        self.member.part
    }

    /// Returns the number of the last run that was started, from 1 on.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    fn word(&self, field: usize) -> &std::sync::atomic::AtomicU32 {
        self.status.word(self.status_at + field)
    }

    fn long(&self, field: usize) -> &std::sync::atomic::AtomicU64 {
        self.status.long(self.status_at + field)
    }

    /// Takes an action that the engine has handed over. Returns `None` if no action waits. The
    /// caller must do its operation on the part's memory and [give the action
    /// back](Self::give_back).
    pub fn take_handed(&mut self) -> Option<u32> {
        let action = self.next_handed()?;
        self.taken += 1;
        Some(action)
    }

    /// Returns the number of actions of the part that were ever taken from the ring.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    fn next_handed(&self) -> Option<u32> {
        let slot = (self.taken % u64::from(self.member.actions)) as usize;
        let entry = self.ring.as_ref()?.long(self.ring_at + 8 * slot).load(Ordering::Acquire);
        ((entry >> 32) as u32 == (self.taken + 1) as u32).then_some(entry as u32)
    }

    /// Gives back an action of the run in progress whose operation is done.
    ///
    /// # Errors
    /// The system has no room for the frame; the call may be repeated.
    pub fn give_back(&mut self, action: u32) -> io::Result<()> {
        let returned = || self.long(offset_of!(StatusEntry, returned)).load(Ordering::Acquire);
        let before = returned();
        let frame = self.member.give_back(self.epoch, action);
        // As with a start, the system may report a frame as dropped although the engine has taken
        // it.
        let sent = send(&self.socket, &frame, SendFlags::empty());
        if returned() == before {
            sent?;
            return Err(io::Error::other("the engine did not take an action back"));
        }
        Ok(())
    }

    /// Copies bytes into the part's memory, in which the operands of handed-over actions lie.
    ///
    /// # Panics
    /// If the bytes do not lie in the part's memory.
    pub fn write_part(&mut self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= self.member.part_bytes as usize, "beyond the part's memory");
        self.memory.write(at, bytes);
    }

    /// Copies bytes out of the part's memory.
    ///
    /// # Panics
    /// If the bytes do not lie in the part's memory.
    pub fn read_part(&self, at: usize, bytes: &mut [u8]) {
        assert!(at + bytes.len() <= self.member.part_bytes as usize, "beyond the part's memory");
        self.memory.read(at, bytes);
    }

    /// Returns the bytes of the rank's memory.
    pub fn len(&self) -> usize {
        self.member.memory_bytes as usize
    }

    /// Returns true if the rank has no memory.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies bytes into the rank's memory. No run may be in progress.
    ///
    /// # Panics
    /// If the bytes do not lie in the memory.
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= self.len(), "beyond the rank's memory");
        self.memory.write(at, bytes);
    }

    /// Copies bytes out of the rank's memory. No run may be in progress.
    ///
    /// # Panics
    /// If the bytes do not lie in the memory.
    pub fn read(&self, at: usize, bytes: &mut [u8]) {
        assert!(at + bytes.len() <= self.len(), "beyond the rank's memory");
        self.memory.read(at, bytes);
    }

    /// Starts the next run. The one before must have ended.
    ///
    /// # Errors
    /// The system has no room for the frame, and the call may be repeated; or the schedule has run
    /// [`EPOCH_MAX`] times.
    pub fn start(&mut self) -> io::Result<()> {
        let epoch = next(self.epoch)?;
        let frame = self.member.start(epoch);
        // The engine takes the frame during this call. The system may report the frame as dropped
        // nevertheless.
        let sent = send(&self.socket, &frame, SendFlags::empty());
        let started = self.word(offset_of!(StatusEntry, started)).load(Ordering::Acquire);
        if started != epoch {
            sent?;
            return Err(io::Error::other(
                "the engine did not take the start of a run; another program at its interface may have (bpftool net lists them)",
            ));
        }
        self.epoch = epoch;
        Ok(())
    }

    /// Returns true if the last run that was started has ended. Reads two words.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn test(&self) -> Result<bool, RunError> {
        if self.word(offset_of!(StatusEntry, done)).load(Ordering::Acquire) == self.epoch {
            return Ok(true);
        }
        if self.word(offset_of!(StatusEntry, error)).load(Ordering::Acquire) == 0 {
            return Ok(false);
        }
        let action = self.word(offset_of!(StatusEntry, action)).load(Ordering::Relaxed);
        let element = self.word(offset_of!(StatusEntry, element)).load(Ordering::Relaxed);
        Err(RunError::Division { action, element })
    }

    /// Returns the time at which the last run ended in the kernel, in nanoseconds of the monotonic
    /// clock. At this time the results were in the rank's memory, even if the process looked later.
    /// The run must have ended.
    pub fn ended_ns(&self) -> u64 {
        let at = offset_of!(StatusEntry, ended);
        // No run is in progress, so nobody changes the two halves.
        let [low, high] = [at, at + 4].map(|at| u64::from(self.word(at).load(Ordering::Relaxed)));
        if cfg!(target_endian = "little") { low | high << 32 } else { high | low << 32 }
    }

    /// Asks for a frame to the socket when the run ends. This is for callers that wait for several
    /// descriptors. They must call [`Rank::test`] after this call, and again at least every 20 ms.
    pub fn announce(&self) {
        // Sequentially consistent with the test behind it, as the engine's side is.
        self.word(offset_of!(StatusEntry, waiting)).swap(1, Ordering::SeqCst);
    }

    /// Ends [`Rank::announce`], and discards the frames that came.
    pub fn disarm(&self) {
        self.word(offset_of!(StatusEntry, waiting)).store(0, Ordering::Release);
        let mut frame = [0; 64];
        while recv(&self.socket, &mut frame, RecvFlags::DONTWAIT).is_ok_and(|(_, len)| len > 0) {}
    }

    /// Sleeps until the last run that was started has ended. Returns false if `limit` passes before
    /// that, or if an action is handed over.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn wait(&mut self, limit: Duration) -> Result<bool, RunError> {
        if self.test()? {
            return Ok(true);
        }
        let start = Instant::now();
        self.announce();
        let outcome = loop {
            let outcome = self.test();
            let left = limit.saturating_sub(start.elapsed());
            if outcome != Ok(false) || left.is_zero() || self.next_handed().is_some() {
                break outcome;
            }
            let nap = left.min(SLEEP_MAX).as_nanos() as i64;
            let nap = Timespec { tv_sec: 0, tv_nsec: nap };
            // A signal or a stray frame only leads to another look.
            let _ = poll(&mut [PollFd::new(&*self.socket, PollFlags::IN)], Some(&nap));
            let mut frame = [0; 64];
            let _ = recv(&self.socket, &mut frame, RecvFlags::DONTWAIT);
        };
        self.disarm();
        outcome
    }
}

/// Returns the number of the run that follows run `epoch`.
///
/// # Errors
/// Run `epoch` was the last one that a schedule may have.
fn next(epoch: u32) -> io::Result<u32> {
    match epoch {
        EPOCH_MAX.. => Err(io::Error::other(format!(
            "the schedule has run {EPOCH_MAX} times in the kernel, which is the most: prepare it again"
        ))),
        _ => Ok(epoch + 1),
    }
}

impl AsFd for Rank {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_says_that_it_has_run_for_the_last_time() {
        assert_eq!(next(0).unwrap(), 1);
        assert_eq!(next(EPOCH_MAX - 1).unwrap(), EPOCH_MAX);
        for epoch in [EPOCH_MAX, u32::MAX] {
            let text = next(epoch).unwrap_err().to_string();
            assert!(text.starts_with("the schedule has run 4294967280 times"), "{text}");
        }
    }
}
