//! The windows of shares that are simulated by several threads.

use super::hooks::{Noise, Observer};
use super::share::Share;
use super::store::Store;
use super::threads::{Meeting, NO_WINDOW};
use crate::source::Source;
use std::sync::atomic::Ordering;

impl Meeting {
    /// Simulates all windows of a share.
    pub(super) fn run<P: Source, N: Noise, O: Observer, S: Store>(
        &self,
        number: usize,
        share: &mut Share<'_, P, N, O, S>,
        progress: &impl Fn(u64),
    ) {
        let (mut ranks, mut ended) = (Vec::new(), 0);
        for half in [0, 1].into_iter().cycle() {
            let (effects, windows) = (&self.effects[half], &self.windows[half]);
            let window = share.next_window().unwrap_or(NO_WINDOW);
            windows[number].store(window, Ordering::Relaxed);
            if share.fault.is_some() {
                self.has_failed[half].store(true, Ordering::Relaxed);
            }
            for (to, outgoing) in share.outgoing.iter_mut().enumerate() {
                std::mem::swap(&mut *effects.at(number, to), outgoing);
            }
            share.outgoing_min = u64::MAX;
            let go_on = self.barrier.wait() && !self.has_failed[half].load(Ordering::Relaxed);
            let window = windows.iter().map(|window| window.load(Ordering::Relaxed)).min();
            let Some(window) = window.filter(|&window| go_on && window != NO_WINDOW) else {
                return;
            };
            for from in 0..effects.shares {
                let mut effects = effects.at(from, number);
                share.apply(&effects);
                effects.clear();
            }
            share.simulate_window(window, &mut ranks);
            let new = share.ended - std::mem::replace(&mut ended, share.ended);
            let of_all = self.ended.fetch_add(new, Ordering::Relaxed) + new;
            if number == 0 {
                progress(of_all);
            }
        }
    }
}
