//! A bias of a mutex to one thread, its owner. The owner takes the lock without the mutex.
//!
//! A mutex costs an atomic operation on entry and another one on leaving. Each of them waits until
//! all earlier stores of the thread have left the processor. The owner of a bias only stores that
//! it is inside, and looks if it is still the owner.
//!
//! Another thread first takes the mutex, and then ends the bias: it stores that there is no owner,
//! and waits until the owner is not inside. From then on all threads use the mutex. Each side
//! stores one word and then loads the other side's word, so both need a fence between. The fences
//! are asymmetric: the owner's is light and orders nothing but the compiler. The other one is
//! heavy, as `membarrier(2)` is, and orders what all threads of the process do.
//!
//! ```
//! use goal_sync::bias::{Bias, Taken};
//! use std::num::NonZeroU64;
//! use std::sync::atomic::{Ordering, compiler_fence};
//!
//! let bias = Bias::new();
//! let me = NonZeroU64::MIN;
//! let light = || compiler_fence(Ordering::SeqCst);
//! bias.offer();
//! // This thread holds the mutex.
//! assert_eq!(bias.take(me, || unreachable!("there is no owner yet")), Taken::ByBias);
//! bias.leave();
//! assert!(bias.enter(me, light));
//! bias.leave();
//! ```

use super::sync::{AtomicU32, AtomicU64, Ordering};
use std::num::NonZeroU64;

/// All threads use the mutex. A bias of zero bytes is in this phase.
const OFF: u32 = 0;
/// The next thread that takes the mutex becomes the owner.
const OFFERED: u32 = 1;
/// A thread is the owner.
const OWNED: u32 = 2;
/// There is no owner any more, but the last owner may still be inside.
const ENDING: u32 = 3;

/// The owner has not the lock.
const OUTSIDE: u32 = 0;
/// The owner has the lock.
const INSIDE: u32 = 1;
/// The owner has not the lock, and takes it by the mutex only.
const BARRED: u32 = 2;

/// The bias of a mutex, and the words by which its owner and other threads exclude each other.
///
/// Threads have names, which are any numbers except 0. No two threads have a name at a time. A new
/// thread may get the name of an owner that has ended, if all accesses of the old thread happen
/// before those of the new one. Then the new thread is the owner.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Bias {
    /// The name of the owner; 0 if there is none.
    owner: AtomicU64,
    /// [`OUTSIDE`], [`INSIDE`] or [`BARRED`]. Only the owner writes this word.
    in_use: AtomicU32,
    /// Only the holder of the mutex uses this word, except for [`Bias::forget`].
    phase: AtomicU32,
}

/// The way in which a thread with the mutex has the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It owns the bias from now on, and is inside. It releases the mutex.
    ByBias,
    /// By the mutex, which it keeps as long as it has the lock.
    ByMutex,
    /// Not yet: the last owner is inside.
    Busy,
}

impl Bias {
    /// Creates a bias that nobody gets before [`Bias::offer`]. All its bytes are 0.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        let [in_use, phase] = [AtomicU32::new(OUTSIDE), AtomicU32::new(OFF)];
        Self { owner: AtomicU64::new(0), in_use, phase }
    }

    /// Lets the next thread that takes the mutex become the owner. Nobody uses the mutex meanwhile,
    /// and this is called once.
    pub fn offer(&self) {
        self.phase.store(OFFERED, Ordering::Relaxed);
    }

    /// Takes the lock if the thread `me` is the owner, and is neither inside nor barred. Returns
    /// true if it has.
    #[inline(always)]
    pub fn enter(&self, me: NonZeroU64, light: impl FnOnce()) -> bool {
        let is_owner = || self.owner.load(Ordering::Relaxed) == me.get();
        if !is_owner() || self.in_use.load(Ordering::Relaxed) != OUTSIDE {
            return false;
        }
        self.in_use.store(INSIDE, Ordering::Relaxed);
        light();
        // Only this thread's own accesses came before, so the load need not acquire them.
        if is_owner() {
            return true;
        }
        self.leave();
        false
    }

    /// Releases the lock. The caller is the owner, or was the owner when it took the lock.
    #[inline(always)]
    pub fn leave(&self) {
        // Release: pairs with the Acquire load in `take`.
        self.in_use.store(OUTSIDE, Ordering::Release);
    }

    /// Releases the lock as [`leave`](Self::leave) does, and bars the owner: it can't
    /// [`enter`](Self::enter) before it has called `leave`.
    pub fn leave_barred(&self) {
        // Release: as above.
        self.in_use.store(BARRED, Ordering::Release);
    }

    /// Takes the lock in the thread `me`, which holds the mutex. If there is an owner, ends the
    /// bias.
    pub fn take(&self, me: NonZeroU64, heavy: impl FnOnce()) -> Taken {
        match self.phase.load(Ordering::Relaxed) {
            OFF => return Taken::ByMutex,
            OFFERED => {
                self.phase.store(OWNED, Ordering::Relaxed);
                self.in_use.store(INSIDE, Ordering::Relaxed);
                self.owner.store(me.get(), Ordering::Relaxed);
                return Taken::ByBias;
            }
            OWNED => {
                self.owner.store(0, Ordering::Relaxed);
                heavy();
                self.phase.store(ENDING, Ordering::Relaxed);
            }
            _ => {}
        }
        // Once the old owner was seen outside behind the fence, it does not get inside any more. It
        // may still store `INSIDE` here for a moment, so nobody looks again.
        if self.in_use.load(Ordering::Acquire) == INSIDE {
            return Taken::Busy;
        }
        self.phase.store(OFF, Ordering::Relaxed);
        Taken::ByMutex
    }

    /// Forgets the owner, in a process that has copied the words of another one.
    pub fn forget(&self) {
        self.owner.store(0, Ordering::Relaxed);
        self.in_use.store(OUTSIDE, Ordering::Relaxed);
        self.phase.store(OFF, Ordering::Relaxed);
    }
}
