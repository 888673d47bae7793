//! Queues of jobs, linked through the jobs: pairing heaps (Fredman, Sedgewick, Sleator, Tarjan,
//! 1986). A job is in one heap at most, so two links a job serve for all heaps.

use crate::channels::NONE;

/// The links and the keys of all jobs. A job's key is its time, then its number.
#[derive(Debug)]
pub(crate) struct Heaps {
    links: Vec<Link>,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    time: u64,
    child: u32,
    sibling: u32,
}

impl Heaps {
    pub(crate) fn new(jobs: usize) -> Self {
        Self { links: vec![Link { time: 0, child: NONE, sibling: NONE }; jobs] }
    }

    #[inline]
    pub(crate) fn time(&self, job: u32) -> u64 {
        self.links[job as usize].time
    }

    #[inline]
    pub(crate) fn set_time(&mut self, job: u32, time: u64) {
        self.links[job as usize].time = time;
    }

    fn is_before(&self, a: u32, b: u32) -> bool {
        (self.time(a), a) < (self.time(b), b)
    }

    /// Joins two heaps, neither of them empty. Returns the first job of both.
    fn join(&mut self, a: u32, b: u32) -> u32 {
        let (first, second) = if self.is_before(a, b) { (a, b) } else { (b, a) };
        self.links[second as usize].sibling = self.links[first as usize].child;
        self.links[first as usize].child = second;
        first
    }

    /// Adds a job with no links to the heap whose first job is `head`. Returns the first job.
    #[inline]
    pub(crate) fn push(&mut self, head: u32, job: u32) -> u32 {
        if head == NONE { job } else { self.join(head, job) }
    }

    /// Removes the first job of a heap. Returns the next one, or [`NONE`].
    pub(crate) fn pop(&mut self, head: u32) -> u32 {
        let mut rest = std::mem::replace(&mut self.links[head as usize].child, NONE);
        // Joins pairs from the left, and chains the results backwards through their siblings.
        let mut pairs = NONE;
        while rest != NONE {
            let first = rest;
            let second = std::mem::replace(&mut self.links[first as usize].sibling, NONE);
            let pair = if second == NONE {
                rest = NONE;
                first
            } else {
                rest = std::mem::replace(&mut self.links[second as usize].sibling, NONE);
                self.join(first, second)
            };
            self.links[pair as usize].sibling = pairs;
            pairs = pair;
        }
        let mut head = NONE;
        while pairs != NONE {
            let pair = pairs;
            pairs = std::mem::replace(&mut self.links[pair as usize].sibling, NONE);
            head = self.push(head, pair);
        }
        head
    }
}
