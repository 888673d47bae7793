//! A run without data in which every send waits for its receive.

use super::doubt::Doubt;

/// The kind of an action that is no message.
pub(super) const LOCAL: u32 = 0;
/// The bit of a dependent that waits for the start of an action, and not for its end.
pub(super) const START: u32 = 1 << 31;
/// Stands for no action.
const NONE: u32 = u32::MAX;

/// The actions of all ranks, end to end, and the actions that wait for each.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// By action, the dependencies that have not been met. Once it has started, the next action in
    /// the queue of its channel.
    missing: Vec<u32>,
    /// By action, [`LOCAL`], or the channel and the direction of a message.
    kinds: Vec<u32>,
    /// By action, the end of its dependents.
    ends: Vec<u32>,
    waiters: Vec<u32>,
}

impl Graph {
    pub(super) fn with_capacity(actions: u64) -> Self {
        let table = || Vec::with_capacity(usize::try_from(actions.min(1 << 31)).unwrap_or(0));
        Self { missing: table(), kinds: table(), ends: table(), waiters: Vec::new() }
    }

    pub(super) fn len(&self) -> u32 {
        self.missing.len() as u32
    }

    /// Adds an action that waits for the next one, with its number behind `first`.
    pub(super) fn edge(&mut self, first: u32, waiter: u32, kind: u32) -> Result<(), Doubt> {
        let number = first.checked_add(waiter).filter(|&number| number < START);
        self.waiters.push(number.ok_or(Doubt::TooLarge)? | kind);
        Ok(())
    }

    /// Adds the next action.
    pub(super) fn action(&mut self, missing: u32, kind: u32) -> Result<(), Doubt> {
        if self.missing.len() >= START as usize - 1 || self.waiters.len() >= START as usize {
            return Err(Doubt::TooLarge);
        }
        self.missing.push(missing);
        self.kinds.push(kind);
        self.ends.push(self.waiters.len() as u32);
        Ok(())
    }

    /// Returns the actions that wait for an action. [`START`] is set for those that wait for its
    /// start.
    pub(super) fn waiters(&self, action: u32) -> &[u32] {
        let start = action.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.waiters[start as usize..self.ends[action as usize] as usize]
    }

    /// Runs all actions. Returns the number of those that never end.
    pub(super) fn run(mut self, channels: u32) -> u64 {
        let mut queues = vec![Queue { head: NONE, tail: NONE }; channels as usize];
        let mut ready: Vec<u32> =
            (0..self.len()).filter(|&action| self.missing[action as usize] == 0).collect();
        let mut left = u64::from(self.len());
        while let Some(action) = ready.pop() {
            self.release(action, START, &mut ready);
            let kind = self.kinds[action as usize];
            if kind == LOCAL {
                left -= 1;
                self.release(action, 0, &mut ready);
                continue;
            }
            let queue = &mut queues[(kind >> 1) as usize - 1];
            let Queue { head, tail } = *queue;
            if head != NONE && self.kinds[head as usize] != kind {
                queue.head = self.missing[head as usize];
                left -= 2;
                self.release(head, 0, &mut ready);
                self.release(action, 0, &mut ready);
                continue;
            }
            match head {
                NONE => queue.head = action,
                _ => self.missing[tail as usize] = action,
            }
            queue.tail = action;
            self.missing[action as usize] = NONE;
        }
        left
    }

    /// Takes a dependency from the actions that wait for the start or the end of an action.
    fn release(&mut self, action: u32, kind: u32, ready: &mut Vec<u32>) {
        let start = action.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        for at in start..self.ends[action as usize] {
            let waiter = self.waiters[at as usize];
            if waiter & START == kind {
                let waiter = waiter & !START;
                let missing = &mut self.missing[waiter as usize];
                *missing -= 1;
                if *missing == 0 {
                    ready.push(waiter);
                }
            }
        }
    }
}

/// The sends or the receives of a channel that have started and wait for the other end, in order.
#[derive(Debug, Clone, Copy)]
struct Queue {
    head: u32,
    tail: u32,
}
