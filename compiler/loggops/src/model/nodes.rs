//! What is under way, and queues of it: pairing heaps (Fredman, Sedgewick, Sleator, Tarjan, 1986).

use crate::channels::NONE;

/// An action from its first met dependency on, or a message from its arrival on, until its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// The time at which it is ready. Of a receive that is posted and a message that is taken in,
    /// the time of that.
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
}

impl Node {
    /// Returns an action that waits for `missing` dependencies.
    pub(super) fn action(number: u32, time: u64, missing: u32) -> Self {
        Self { time, size: 0, number, from: 0, detail: missing, child: NONE, sibling: NONE }
    }

    /// Returns a message that arrives.
    pub(super) fn message(send: u32, time: u64, size: u64, from: u32, detail: u32) -> Self {
        Self { time, size, number: send, from, detail, child: NONE, sibling: NONE }
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

    /// Adds a node to the heap whose first node is `head`. Returns the first node.
    #[inline]
    pub(super) fn push(&mut self, head: u32, node: u32) -> u32 {
        if head == NONE { node } else { self.join(head, node) }
    }

    /// Removes the first node of a heap. Returns the next one, or [`NONE`].
    #[inline]
    pub(super) fn pop(&mut self, head: u32) -> u32 {
        let rest = std::mem::replace(&mut self.at_mut(head).child, NONE);
        if rest == NONE { NONE } else { self.join_all(rest) }
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
            head = self.push(head, pair);
        }
        head
    }
}
