//! A mutex that its first user takes without an atomic operation, until another thread wants it.
//!
//! [`Bias`] says how the owner of the bias and other threads exclude each other. The fence of the
//! other threads is `membarrier(2)`. A thread has the address in its thread pointer as its name. A
//! new thread may get the thread pointer of one that has ended, and then owns its bias too. That is
//! sound, because the C library reuses a control block only when its thread has ended. What the old
//! thread did happens before what the new one does. If the old thread has ended inside, the mutex
//! is held for ever, as every mutex is.
//!
//! There is no bias, and all threads use the mutex, if the system has no `membarrier` or forbids
//! it. The same holds on machines where the thread pointer is not known.
//!
//! Threat: a program forbids `membarrier` itself, after it has joined the group. Then a thread that
//! ends the bias waits for much longer than a store stays in a processor.
#![allow(unsafe_code)] // lends the value, and reads the thread pointer

use goal_sync::bias::{Bias, Taken};
use parking_lot::{Condvar, Mutex, MutexGuard};
use rustix::thread::{MembarrierCommand, membarrier};
use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::num::NonZeroU64;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{Ordering, compiler_fence, fence};
use std::thread;
use std::time::{Duration, Instant};

/// The time that a thread waits instead of a `membarrier` that the system refuses.
const INSTEAD_OF_BARRIER: Duration = Duration::from_millis(10);

/// The number of times that a thread yields to the last owner of the bias before it sleeps.
const YIELDS: u32 = 16;

/// The time between two looks whether the last owner of the bias has left.
const LOOK_AGAIN: Duration = Duration::from_micros(20);

/// A mutex with a bias.
pub(crate) struct BiasedMutex<T> {
    bias: &'static Bias,
    mutex: Mutex<()>,
    value: UnsafeCell<T>,
}

// SAFETY: the bias and the mutex lend the value to one thread at a time.
unsafe impl<T: Send> Sync for BiasedMutex<T> {}

/// Offers the bias to the first thread that takes the mutex, if the system and the machine have
/// what it needs.
pub(crate) fn offer(bias: &Bias) {
    if HAS_THREAD_POINTER && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok() {
        bias.offer();
    }
}

impl<T> BiasedMutex<T> {
    /// Creates a mutex for `value`, with the words of its bias. No other mutex may use these words.
    pub(crate) fn new(value: T, bias: &'static Bias) -> Self {
        Self { bias, mutex: Mutex::new(()), value: UnsafeCell::new(value) }
    }

    /// Takes the lock if this thread owns the bias and does not have the lock. Otherwise returns
    /// `None`, and the caller uses another method.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Option<Held<'_, T>> {
        let light = || compiler_fence(Ordering::SeqCst);
        self.bias.enter(name(), light).then(|| Held { lock: self, guard: None })
    }

    /// Takes the lock, however long it takes.
    pub(crate) fn lock(&self) -> Held<'_, T> {
        self.enter().unwrap_or_else(|| self.lock_by_mutex())
    }

    /// Takes the lock as [`lock`](Self::lock) does, and ends the bias.
    #[cold]
    pub(crate) fn lock_by_mutex(&self) -> Held<'_, T> {
        let held = self.take(self.mutex.lock(), None);
        held.expect("without a deadline, this waits until the owner has left")
    }

    /// Takes the lock if no thread has it.
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<Held<'_, T>> {
        self.enter().or_else(|| self.try_lock_by_mutex())
    }

    #[inline(never)]
    fn try_lock_by_mutex(&self) -> Option<Held<'_, T>> {
        self.take(self.mutex.try_lock()?, Some(Duration::ZERO))
    }

    /// Takes the lock. Gives up after about `patience`.
    pub(crate) fn try_lock_for(&self, patience: Duration) -> Option<Held<'_, T>> {
        if let Some(held) = self.enter() {
            return Some(held);
        }
        let begin = Instant::now();
        let guard = self.mutex.try_lock_for(patience)?;
        self.take(guard, Some(patience.saturating_sub(begin.elapsed())))
    }

    /// Takes the lock in a thread that holds the mutex. If the last owner of the bias is inside,
    /// waits for `patience`; without `patience`, until it has left.
    #[inline]
    fn take<'a>(
        &'a self,
        guard: MutexGuard<'a, ()>,
        patience: Option<Duration>,
    ) -> Option<Held<'a, T>> {
        match self.bias.take(name(), end_bias) {
            Taken::ByMutex => Some(Held { lock: self, guard: Some(guard) }),
            Taken::ByBias => Some(Held { lock: self, guard: None }),
            Taken::Busy => self.await_owner(guard, patience),
        }
    }

    /// Waits until the last owner of the bias has left.
    #[cold]
    fn await_owner<'a>(
        &'a self,
        guard: MutexGuard<'a, ()>,
        patience: Option<Duration>,
    ) -> Option<Held<'a, T>> {
        let begin = Instant::now();
        let mut looks = 0;
        while self.bias.take(name(), end_bias) == Taken::Busy {
            if patience.is_some_and(|patience| begin.elapsed() >= patience) {
                return None;
            }
            match looks < YIELDS {
                true => thread::yield_now(),
                false => thread::sleep(LOOK_AGAIN),
            }
            looks += 1;
        }
        Some(Held { lock: self, guard: Some(guard) })
    }
}

/// Waits until all threads of the process have passed a full fence.
#[cold]
fn end_bias() {
    fence(Ordering::SeqCst);
    if membarrier(MembarrierCommand::PrivateExpedited).is_err() {
        thread::sleep(INSTEAD_OF_BARRIER);
    }
    fence(Ordering::SeqCst);
}

/// A held [`BiasedMutex`], by which this thread uses the value. The drop of this value releases the
/// lock.
pub(crate) struct Held<'a, T> {
    lock: &'a BiasedMutex<T>,
    /// The guard of the mutex; `None` if this thread is inside as the owner of the bias.
    guard: Option<MutexGuard<'a, ()>>,
}

impl<T> Held<'_, T> {
    /// Releases the lock. If another thread sleeps until it gets the lock, that thread gets it now.
    #[inline(always)]
    pub(crate) fn unlock_fair(self) {
        let mut held = ManuallyDrop::new(self);
        match held.guard.take() {
            None => held.lock.bias.leave(),
            Some(guard) => MutexGuard::unlock_fair(guard),
        }
    }

    /// Releases the lock as [`unlock_fair`](Self::unlock_fair) does, calls `f`, and takes the lock
    /// again. Calls of `f` can't take the lock by the bias.
    pub(crate) fn unlocked_fair(&mut self, f: impl FnOnce()) {
        match &mut self.guard {
            Some(guard) => MutexGuard::unlocked_fair(guard, f),
            None => {
                self.lock.bias.leave_barred();
                let _again = TakeAgain(self);
                f();
            }
        }
    }

    /// Releases the lock, sleeps until `condition` is notified, and takes the lock again. It may
    /// return early.
    pub(crate) fn wait(&mut self, condition: &Condvar) {
        match &mut self.guard {
            Some(guard) => condition.wait(guard),
            // Only a thread without the bias notifies this one, so the bias ends now.
            None => {
                self.lock.bias.leave();
                let mut again = ManuallyDrop::new(self.lock.lock_by_mutex());
                self.guard = again.guard.take();
            }
        }
    }
}

/// Takes a lock again when it is dropped, even by a panic. The owner of the bias is barred until
/// then.
struct TakeAgain<'h, 'a, T>(&'h mut Held<'a, T>);

impl<T> Drop for TakeAgain<'_, '_, T> {
    fn drop(&mut self) {
        self.0.lock.bias.leave();
        let mut again = ManuallyDrop::new(self.0.lock.lock());
        self.0.guard = again.guard.take();
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this thread has the lock.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.guard.is_none() {
            self.lock.bias.leave();
        }
    }
}

/// True if [`name`] returns a number that no other thread has.
const HAS_THREAD_POINTER: bool =
    cfg!(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)));

/// Returns the address in the thread pointer, which is the name of this thread.
#[inline(always)]
fn name() -> NonZeroU64 {
    let pointer: u64;
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: this reads the first word of the control block, which has the block's own address.
    unsafe {
        std::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nostack, preserves_flags, readonly));
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: this reads a register.
    unsafe {
        std::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, preserves_flags, nomem));
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    {
        pointer = 1;
    }
    // SAFETY: every thread has a control block.
    unsafe { NonZeroU64::new_unchecked(pointer) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutex(is_offered: bool) -> BiasedMutex<u64> {
        let bias: &'static Bias = Box::leak(Box::default());
        if is_offered {
            offer(bias);
        }
        BiasedMutex::new(0, bias)
    }

    fn in_thread<R: Send>(f: impl FnOnce() -> R + Send) -> R {
        thread::scope(|scope| scope.spawn(f).join().unwrap())
    }

    #[test]
    fn only_the_first_thread_enters_and_only_once() {
        let mutex = mutex(true);
        assert!(mutex.enter().is_none());
        drop(mutex.lock());
        // Without `membarrier` nobody ever enters.
        let Some(held) = mutex.enter() else { return };
        assert!(mutex.enter().is_none());
        assert!(in_thread(|| mutex.enter().is_none()));
        held.unlock_fair();
        assert!(mutex.enter().is_some());
        assert!(in_thread(|| mutex.enter().is_none()));
        let mut held = mutex.enter().expect("nobody has it");
        held.unlocked_fair(|| assert!(mutex.enter().is_none()));
        drop(held);
        assert!(mutex.enter().is_some());
    }

    #[test]
    fn a_thread_that_does_not_get_the_lock_ends_the_bias() {
        for is_offered in [true, false] {
            let mutex = mutex(is_offered);
            let mut held = mutex.lock();
            *held = 1;
            assert!(in_thread(|| mutex.try_lock().is_none()));
            assert!(in_thread(|| mutex.try_lock_for(LOOK_AGAIN * 100).is_none()));
            held.unlock_fair();
            assert!(mutex.enter().is_none());
            assert_eq!(in_thread(|| mutex.try_lock().map(|held| *held)), Some(1));
            assert!(mutex.try_lock_for(LOOK_AGAIN).is_some());
        }
    }

    #[test]
    fn threads_exclude_each_other() {
        const TIMES: u64 = 1000;
        for (is_offered, threads) in [(true, 1), (true, 3), (false, 3)] {
            let mutex = mutex(is_offered);
            drop(mutex.lock());
            let add = || {
                let mut held = mutex.lock();
                let before = *held;
                if before.is_multiple_of(100) {
                    thread::yield_now();
                }
                *held = before + 1;
            };
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| (0..TIMES).for_each(|_| add()));
                }
                (0..TIMES).for_each(|_| add());
            });
            assert_eq!(*mutex.lock(), (1 + threads) * TIMES);
        }
    }

    #[test]
    fn the_owner_passes_the_lock_on() {
        for is_offered in [true, false] {
            let mutex = mutex(is_offered);
            let condition = Condvar::new();
            let mut held = mutex.lock();
            thread::scope(|scope| {
                scope.spawn(|| {
                    *mutex.lock() = 1;
                    condition.notify_all();
                });
                while *held == 0 {
                    held.unlocked_fair(thread::yield_now);
                }
                scope.spawn(|| {
                    *mutex.lock() = 2;
                    condition.notify_all();
                });
                while *held == 1 {
                    held.wait(&condition);
                }
            });
            assert_eq!(*held, 2);
        }
    }

    #[test]
    fn a_panic_without_the_lock_takes_it_again() {
        use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
        for is_offered in [true, false] {
            let mutex = mutex(is_offered);
            let mut held = mutex.lock();
            let panics = || {
                assert!(in_thread(|| mutex.try_lock().is_some()));
                panic_any(());
            };
            let unlocked = catch_unwind(AssertUnwindSafe(|| held.unlocked_fair(panics)));
            assert!(unlocked.is_err());
            assert!(in_thread(|| mutex.try_lock().is_none()));
            held.unlock_fair();
            assert!(in_thread(|| mutex.try_lock().is_some()));
        }
    }

    #[test]
    fn the_owner_can_wait_for_a_notification() {
        let mutex = mutex(true);
        let condition = Condvar::new();
        let mut held = mutex.lock();
        thread::scope(|scope| {
            scope.spawn(|| {
                *mutex.lock() = 1;
                condition.notify_all();
            });
            while *held == 0 {
                held.wait(&condition);
            }
        });
        assert!(mutex.enter().is_none());
    }
}
