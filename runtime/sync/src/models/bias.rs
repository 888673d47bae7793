//! Models of a mutex with a bias. Full fences stand for the asymmetric pair, as P1202 proposes for
//! the memory model. A light and a heavy fence order as two full fences do.
#![allow(unsafe_code)] // the value that the lock guards

use super::{explore, shared};
use crate::bias::{Bias, Taken};
use crate::sync::{Ordering, SharedCell, fence};
use loom::sync::Mutex;
use loom::thread;
use std::num::NonZeroU64;

/// A fence of a model: a full one, or none.
#[derive(Clone, Copy)]
enum Fence {
    Full,
    None,
}

impl Fence {
    fn pass(self) {
        match self {
            Self::Full => fence(Ordering::SeqCst),
            Self::None => {}
        }
    }
}

struct Locked {
    bias: Bias,
    mutex: Mutex<()>,
    value: SharedCell<u64>,
    light: Fence,
    heavy: Fence,
}

impl Locked {
    /// Adds 1 to the value in the thread with the name `me`, as the lock of the library does.
    fn add(&self, me: u64) {
        let me = NonZeroU64::new(me).unwrap();
        // SAFETY: loom compares all accesses.
        let add = || unsafe { self.value.with_mut(|value| *value += 1) };
        if self.bias.enter(me, || self.light.pass()) {
            add();
            self.bias.leave_barred();
            assert!(!self.bias.enter(me, || self.light.pass()));
            return self.bias.leave();
        }
        let held = self.mutex.lock().unwrap();
        loop {
            match self.bias.take(me, || self.heavy.pass()) {
                Taken::ByBias => {
                    drop(held);
                    add();
                    return self.bias.leave();
                }
                Taken::ByMutex => return add(),
                Taken::Busy => thread::yield_now(),
            }
        }
    }
}

/// Thread 1 owns the bias. It and `others` take the lock `times` times each.
fn run(name: &str, others: u64, times: u64, (light, heavy): (Fence, Fence)) {
    explore(name, Some(3), move || {
        let (mutex, value) = (Mutex::new(()), SharedCell::default());
        let locked = shared(Locked { bias: Bias::default(), mutex, value, light, heavy });
        locked.bias.offer();
        locked.add(1);
        let spawn = |me: u64| {
            let locked = locked.clone();
            thread::spawn(move || (0..times).for_each(|_| locked.add(me)))
        };
        let spawned: Vec<_> = (2..2 + others).map(spawn).collect();
        (0..times).for_each(|_| locked.add(1));
        spawned.into_iter().for_each(|thread| thread.join().unwrap());
        // SAFETY: as above.
        unsafe { locked.value.with(|value| assert_eq!(*value, 1 + (1 + others) * times)) };
    });
}

/// The owner and another thread exclude each other, and each sees what the other did.
#[test]
fn the_bias_ends() {
    run("the bias of a mutex ends", 1, 2, (Fence::Full, Fence::Full));
}

/// One of two threads ends the bias, while the other one waits for the mutex.
#[test]
fn one_of_two_ends_the_bias() {
    run("one of two threads ends a bias", 2, 1, (Fence::Full, Fence::Full));
}

/// The owner enters as the other thread does, because it looks before it has stored.
#[test]
#[should_panic = "Causality violation"]
fn the_light_fence_is_needed() {
    run("no light fence", 1, 1, (Fence::None, Fence::Full));
}

/// The other thread looks before it has stored that there is no owner.
#[test]
#[should_panic = "Causality violation"]
fn the_heavy_fence_is_needed() {
    run("no heavy fence", 1, 1, (Fence::Full, Fence::None));
}
