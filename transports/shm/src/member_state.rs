//! The member state of a rank in a job that grows and shrinks: joining, member, left or gone.
//!
//! ```text
//! launcher starts it ──▶ joining ──a rank accepts it──▶ member ──it leaves──▶ left
//!                           └─────its process ends────▶ gone
//! ```
//!
//! The ranks that the job starts with are members, and so are ranks that a running rank starts by a
//! call. Two communicators may accept a rank at the same moment, and the rank's process may end at
//! that moment too. One atomic exchange of the rank's state decides.

use std::sync::atomic::{AtomicU32, Ordering};

/// The member state of a rank.
#[derive(Debug, Default)]
#[repr(C)]
pub struct MemberState(AtomicU32);

const MEMBER: u32 = 0;
const JOINING: u32 = 1;
const LEFT: u32 = 2;
const GONE: u32 = 3;

impl MemberState {
    /// Makes a new rank a member if `is_member`, or else a rank that waits to be accepted. The
    /// launcher calls this before it starts the rank's process.
    pub fn begin(&self, is_member: bool) {
        self.0.store(if is_member { MEMBER } else { JOINING }, Ordering::SeqCst);
    }

    /// Makes a rank that waits a member. Returns true for the one caller that accepts it.
    pub fn accept(&self) -> bool {
        self.change(JOINING, MEMBER)
    }

    /// States that a rank which waits to be accepted has ended. Returns false if the rank has been
    /// accepted before.
    pub fn give_up(&self) -> bool {
        self.change(JOINING, GONE)
    }

    /// States that a new rank has ended before it took part. The launcher calls this.
    pub fn take_back(&self) {
        self.0.store(GONE, Ordering::SeqCst);
    }

    /// States that the rank has left. Its process calls this.
    pub fn leave(&self) {
        self.change(MEMBER, LEFT);
    }

    /// Returns true if the rank waits to be accepted.
    pub fn is_joining(&self) -> bool {
        self.0.load(Ordering::SeqCst) == JOINING
    }

    /// Returns true if the rank takes part in the job, or took part until it left.
    pub fn is_member(&self) -> bool {
        matches!(self.0.load(Ordering::SeqCst), MEMBER | LEFT)
    }

    /// Returns true if the rank takes part in the job now.
    pub fn takes_part(&self) -> bool {
        self.0.load(Ordering::SeqCst) == MEMBER
    }

    /// Returns true if the rank has left.
    pub fn has_left(&self) -> bool {
        self.0.load(Ordering::SeqCst) == LEFT
    }

    /// Returns true if the rank ended before it was accepted.
    pub fn is_gone(&self) -> bool {
        self.0.load(Ordering::SeqCst) == GONE
    }

    fn change(&self, from: u32, to: u32) -> bool {
        self.0.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_accepts_a_rank() {
        let rank = MemberState::default();
        assert!(rank.takes_part() && !rank.accept());
        rank.begin(false);
        assert!(rank.is_joining() && !rank.is_member());
        assert!(rank.accept() && !rank.accept() && !rank.give_up());
        rank.leave();
        assert!(rank.has_left() && rank.is_member() && !rank.takes_part() && !rank.accept());
    }

    #[test]
    fn a_rank_that_has_ended_is_not_accepted() {
        let rank = MemberState::default();
        rank.begin(false);
        assert!(rank.give_up() && !rank.accept() && rank.is_gone() && !rank.is_member());
    }
}
