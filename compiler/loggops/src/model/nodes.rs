//! Actions and messages that are under way, and queues of them.
//!
//! A queue is a pairing heap (Fredman, Sedgewick, Sleator, Tarjan, 1986) of runs. A run is a list
//! with ascending keys, and its first node stands in the heap. Jobs mostly come in the order of
//! their keys. They make one run then, and both ends of the queue take constant time.

use crate::channels::NONE;

/// An action from its first met dependency on, or a message from its arrival on, until its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// The time at which it is ready. Later it is the time at which a receive was posted, or a
    /// message was taken in.
    pub(super) time: u64,
    /// The bytes of a message.
    pub(super) size: u64,
    /// The action; of a message, its send.
    pub(super) number: u32,
    /// The rank that sends a message.
    pub(super) from: u32,
    /// Of an action that waits, the dependencies that are not met. Of a message, its slot, or its
    /// tag if its receiver has wildcards.
    pub(super) detail: u32,
    /// The links of a heap. Of a node that is free, the next free one.
    child: u32,
    sibling: u32,
    /// The next node of the run.
    next: u32,
}

/// The ends of a queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queue {
    /// The first node. [`NONE`] if there is none.
    pub(super) head: u32,
    /// The last node of the run that grows. [`NONE`] if there is none.
    tail: u32,
}

impl Queue {
    pub(super) const EMPTY: Self = Self { head: NONE, tail: NONE };
}

impl Node {
    /// Returns an action that waits for `missing` dependencies.
    pub(super) fn action(number: u32, time: u64, missing: u32) -> Self {
        Self::new(time, 0, [number, 0, missing])
    }

    /// Returns a message that arrives.
    pub(super) fn message(send: u32, time: u64, size: u64, from: u32, detail: u32) -> Self {
        Self::new(time, size, [send, from, detail])
    }

    fn new(time: u64, size: u64, [number, from, detail]: [u32; 3]) -> Self {
        Self { time, size, number, from, detail, child: NONE, sibling: NONE, next: NONE }
    }
}

/// The nodes of a share of the ranks. A node is in one heap at most, so two links a node serve for
/// all heaps. A node's key is its time, then its number.
#[derive(Debug)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    /// The first free node.
    free: u32,
}

impl Nodes {
    pub(super) fn new() -> Self {
        Self { nodes: Vec::new(), free: NONE }
    }

    #[inline]
    pub(super) fn at(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    #[inline]
    pub(super) fn at_mut(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    #[inline]
    pub(super) fn add(&mut self, node: Node) -> u32 {
        if self.free == NONE {
            self.nodes.push(node);
            return self.nodes.len() as u32 - 1;
        }
        let at = self.free;
        self.free = std::mem::replace(&mut self.nodes[at as usize], node).child;
        at
    }

    /// Frees a node that is in no heap.
    #[inline]
    pub(super) fn remove(&mut self, node: u32) {
        self.nodes[node as usize].child = std::mem::replace(&mut self.free, node);
    }

    fn is_before(&self, a: u32, b: u32) -> bool {
        let key = |node: u32| (self.at(node).time, self.at(node).number);
        key(a) < key(b)
    }

    /// Joins two heaps, neither of them empty. Returns the first node of both.
    fn join(&mut self, a: u32, b: u32) -> u32 {
        let (first, second) = if self.is_before(a, b) { (a, b) } else { (b, a) };
        self.at_mut(second).sibling = self.at(first).child;
        self.at_mut(first).child = second;
        first
    }

    /// Adds a node to a queue.
    #[inline]
    pub(super) fn push(&mut self, queue: &mut Queue, node: u32) {
        if queue.tail != NONE && self.is_before(queue.tail, node) {
            self.at_mut(queue.tail).next = node;
            queue.tail = node;
            return;
        }
        // A new first node of the first run. The node behind it keeps its heap.
        if queue.head != NONE && self.is_before(node, queue.head) {
            self.at_mut(node).next = std::mem::replace(&mut queue.head, node);
            return;
        }
        if queue.tail == NONE {
            queue.tail = node;
        }
        queue.head = if queue.head == NONE { node } else { self.join(queue.head, node) };
    }

    /// Removes the first node of a queue, which has one.
    #[inline]
    pub(super) fn pop(&mut self, queue: &mut Queue) -> u32 {
        let first = queue.head;
        let Node { child, next, .. } = *self.at(first);
        queue.head = match (child, next) {
            (NONE, next) => next,
            (child, NONE) => self.join_all(child),
            (child, next) => {
                let rest = self.join_all(child);
                self.join(rest, next)
            }
        };
        if queue.tail == first {
            queue.tail = NONE;
        }
        let node = self.at_mut(first);
        (node.child, node.next) = (NONE, NONE);
        first
    }

    /// Joins heaps that are linked as siblings.
    fn join_all(&mut self, mut rest: u32) -> u32 {
        // Joins pairs from the left, and chains the results backwards through their siblings.
        let mut pairs = NONE;
        while rest != NONE {
            let first = rest;
            let second = std::mem::replace(&mut self.at_mut(first).sibling, NONE);
            let pair = if second == NONE {
                rest = NONE;
                first
            } else {
                rest = std::mem::replace(&mut self.at_mut(second).sibling, NONE);
                self.join(first, second)
            };
            self.at_mut(pair).sibling = pairs;
            pairs = pair;
        }
        let mut head = NONE;
        while pairs != NONE {
            let pair = pairs;
            pairs = std::mem::replace(&mut self.at_mut(pair).sibling, NONE);
            head = if head == NONE { pair } else { self.join(head, pair) };
        }
        head
    }
}
