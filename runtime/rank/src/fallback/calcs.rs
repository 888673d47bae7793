//! Times the `calc` actions that the kernel leaves to the process as fallback operations. Other
//! actions go on while a `calc` action is under way, as in an engine.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

/// The `calc` actions of a run that have not ended. Those that name the same processor run one
/// after the other.
#[derive(Debug, Default)]
pub(super) struct Calcs {
    /// The end time of each action in nanoseconds, and the action.
    ends: BinaryHeap<Reverse<(u64, u32)>>,
    /// The time in nanoseconds at which each processor becomes free.
    free_at: HashMap<u16, u64>,
}

impl Calcs {
    pub(super) fn start(&mut self, action: u32, duration_ns: u64, cpu: u16, now_ns: u64) {
        let free_at = self.free_at.entry(cpu).or_default();
        let begin = if duration_ns == 0 { now_ns } else { now_ns.max(*free_at) };
        let end = begin.saturating_add(duration_ns);
        if duration_ns > 0 {
            *free_at = end;
        }
        self.ends.push(Reverse((end, action)));
    }

    /// Returns the time until the next `calc` action ends; `None` if none is under way.
    pub(super) fn left(&self, now_ns: u64) -> Option<Duration> {
        let Reverse((end, _)) = self.ends.peek()?;
        Some(Duration::from_nanos(end.saturating_sub(now_ns)))
    }

    /// Removes and returns a `calc` action that has ended; `None` if none has.
    pub(super) fn due(&mut self, now_ns: u64) -> Option<u32> {
        let Reverse((end, _)) = self.ends.peek()?;
        if *end > now_ns {
            return None;
        }
        self.ends.pop().map(|Reverse((_, action))| action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_runs_one_at_a_time() {
        let mut calcs = Calcs::default();
        calcs.start(1, 100, 0, 1000);
        calcs.start(2, 50, 0, 1010);
        calcs.start(3, 120, 1, 1000);
        calcs.start(4, 0, 0, 1020);
        assert_eq!(calcs.left(1020), Some(Duration::ZERO));
        assert_eq!((calcs.due(1020), calcs.due(1020)), (Some(4), None));
        assert_eq!(calcs.left(1020), Some(Duration::from_nanos(80)));
        assert_eq!((calcs.due(1099), calcs.due(1100), calcs.due(1120)), (None, Some(1), Some(3)));
        assert_eq!((calcs.due(1149), calcs.due(1150), calcs.due(9999)), (None, Some(2), None));
        assert_eq!(calcs.left(0), None);
    }
}
