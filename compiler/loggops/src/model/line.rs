//! The ranks of a share: their processors, interfaces, and queues of jobs.

use super::nodes::{Node, Nodes, Queue};
use super::wild::Wild;
use crate::channels::NONE;
use crate::source::Actions;
use crate::workload::{Kind, Record};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// The time and what decides between jobs that can start then: when they were ready, then actions
/// before messages, then their number.
pub(super) type Key = (u64, u64, bool, u32);

/// A queue of jobs that need one processor and one side of one interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class {
    /// The place of the processor. [`NONE`] if the jobs need no processor.
    pub(super) cpu: u32,
    /// The place of the interface's side. [`NONE`] if the jobs need no interface.
    pub(super) side: u32,
    pub(super) takes_messages: bool,
}

/// The classes of a rank with one processor and one interface, by number. Jobs of the last one post
/// receives.
const PLAIN: [Class; 4] = [
    Class { cpu: 0, side: NONE, takes_messages: false },
    Class { cpu: 0, side: 1, takes_messages: false },
    Class { cpu: 0, side: 2, takes_messages: true },
    Class { cpu: NONE, side: NONE, takes_messages: false },
];

/// A rank.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// The earliest time at which one of its jobs can start. `u64::MAX` without a job.
    pub(super) wake: u64,
    /// The latest end of an action.
    pub(super) finish: u64,
    /// By place of a plain rank, the time at which it is free.
    free: [u64; 3],
    /// By class of a plain rank, its jobs.
    pub(super) queues: [Queue; 4],
    /// The number of its first action.
    pub(super) first: u32,
    /// The number among the special ranks. [`NONE`] for a plain one.
    pub(super) special: u32,
}

impl Line {
    pub(super) fn new(first: u32, special: u32) -> Self {
        Self { wake: u64::MAX, finish: 0, free: [0; 3], queues: [Queue::EMPTY; 4], first, special }
    }

    /// Returns the key and the class of the next job of a plain rank.
    #[inline]
    pub(super) fn first_job(&self, nodes: &Nodes) -> Option<(Key, u32)> {
        let mut first: Option<(Key, u32)> = None;
        for (number, class) in PLAIN.iter().enumerate() {
            let head = self.queues[number].head;
            if head != NONE {
                let key = key(class, &self.free, nodes.at(head));
                if first.is_none_or(|(known, _)| key < known) {
                    first = Some((key, number as u32));
                }
            }
        }
        first
    }

    /// Returns the class of a plain rank for an action, or for the message of a receive.
    #[inline]
    pub(super) fn class_of(kind: Kind) -> u32 {
        match kind {
            Kind::Calc | Kind::Local | Kind::Dummy => 0,
            Kind::Send => 1,
            Kind::Recv => 2,
        }
    }
}

/// The class of a plain rank whose jobs post receives.
pub(super) const POSTS: u32 = 3;

/// Returns the key of a class's first job.
#[inline]
fn key(class: &Class, free: &[u64], head: &Node) -> Key {
    let mut start = head.time;
    for place in [class.cpu, class.side] {
        if place != NONE {
            start = start.max(free[place as usize]);
        }
    }
    (start, head.time, class.takes_messages, head.number)
}

/// The processors, interfaces and classes of special ranks that have equal ones.
#[derive(Debug)]
struct Layout {
    /// The last one posts receives.
    classes: Vec<Class>,
    /// By kind, processor and interface of an action.
    of: FxHashMap<Use, u32>,
    places: u32,
}

/// The kind, the processor and the interface of an action.
type Use = (Kind, u16, u8);

fn use_of(record: &Record) -> Use {
    match record.kind {
        Kind::Send | Kind::Recv => (record.kind, record.cpu, record.nic),
        Kind::Calc | Kind::Local | Kind::Dummy => (Kind::Calc, record.cpu, 0),
    }
}

/// A rank with several processors or interfaces, or with wildcards.
#[derive(Debug)]
pub(super) struct Special {
    layout: Arc<Layout>,
    /// By place, the time at which it is free.
    free: Vec<u64>,
    /// By class, its jobs.
    queues: Vec<Queue>,
    /// By class, its entry in `order`. It is never later than its first job.
    entries: Vec<Option<Key>>,
    order: BinaryHeap<Reverse<(Key, u32)>>,
    pub(super) wild: Option<Box<Wild>>,
    /// True if the receives name different processors or interfaces.
    pub(super) has_unlike_receives: bool,
}

impl Special {
    fn class(&self, class: u32) -> Class {
        self.layout.classes[class as usize]
    }

    /// Returns the class of an action, or of the message of a receive.
    pub(super) fn class_of(&self, record: &Record) -> u32 {
        self.layout.of[&use_of(record)]
    }

    /// Returns the class of the messages of a rank whose receives name equal places.
    pub(super) fn class_of_messages(&self) -> u32 {
        let classes = &self.layout.classes;
        classes.iter().position(|class| class.takes_messages).map_or(NONE, |at| at as u32)
    }

    /// Returns the class whose jobs post receives.
    fn posts(&self) -> u32 {
        self.queues.len() as u32 - 1
    }

    fn key_of(&self, class: u32, nodes: &Nodes) -> Key {
        key(&self.class(class), &self.free, nodes.at(self.queues[class as usize].head))
    }

    fn enter(&mut self, class: u32, nodes: &Nodes) {
        let key = self.key_of(class, nodes);
        if self.entries[class as usize].is_none_or(|known| key < known) {
            self.entries[class as usize] = Some(key);
            self.order.push(Reverse((key, class)));
        }
    }

    fn first_job(&mut self, nodes: &Nodes) -> Option<(Key, u32)> {
        while let Some(&Reverse((key, class))) = self.order.peek() {
            let is_entry = self.entries[class as usize] == Some(key);
            let has_jobs = self.queues[class as usize].head != NONE;
            if is_entry && has_jobs && self.key_of(class, nodes) == key {
                return Some((key, class));
            }
            self.order.pop();
            if is_entry {
                self.entries[class as usize] = None;
                if has_jobs {
                    self.enter(class, nodes);
                }
            }
        }
        None
    }
}

/// The ranks of a share.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) lines: Vec<Line>,
    pub(super) specials: Vec<Special>,
    layouts: FxHashMap<Vec<Use>, Arc<Layout>>,
}

/// A class and the job of it that starts.
pub(super) struct Started {
    pub(super) class: Class,
    pub(super) node: u32,
}

impl Lines {
    pub(super) fn with_capacity(ranks: usize) -> Self {
        let lines = Vec::with_capacity(ranks);
        Self { lines, specials: Vec::new(), layouts: FxHashMap::default() }
    }

    /// Adds a rank whose actions begin at number `first`.
    pub(super) fn add<R: Actions>(&mut self, rank: impl Fn() -> R, first: u32, shape: Shape) {
        let special = if shape.is_plain() { NONE } else { self.specials.len() as u32 };
        self.lines.push(Line::new(first, special));
        if !shape.is_plain() {
            self.add_special(rank(), shape);
        }
    }

    fn add_special(&mut self, rank: impl Actions, shape: Shape) {
        let (mut uses, mut known) = (Vec::new(), rustc_hash::FxHashSet::default());
        for (_, record) in rank.records() {
            if record.kind != Kind::Dummy && known.insert(use_of(&record)) {
                uses.push(use_of(&record));
            }
        }
        let receives = uses.iter().filter(|&&(kind, ..)| kind == Kind::Recv).count();
        let layout = self.layouts.entry(uses).or_insert_with_key(|uses| Layout::new(uses).into());
        let classes = layout.classes.len();
        self.specials.push(Special {
            free: vec![0; layout.places as usize],
            layout: Arc::clone(layout),
            queues: vec![Queue::EMPTY; classes],
            entries: vec![None; classes],
            order: BinaryHeap::new(),
            wild: shape.has_wildcard.then(|| Box::new(Wild::new(rank))),
            has_unlike_receives: receives > 1,
        });
    }

    /// Returns the special part of a rank.
    #[inline]
    pub(super) fn special(&mut self, rank: usize) -> Option<&mut Special> {
        match self.lines[rank].special {
            NONE => None,
            special => Some(&mut self.specials[special as usize]),
        }
    }

    /// Returns the key and the class of a rank's next job.
    #[inline]
    pub(super) fn first_job(&mut self, rank: usize, nodes: &Nodes) -> Option<(Key, u32)> {
        match self.lines[rank].special {
            NONE => self.lines[rank].first_job(nodes),
            special => self.specials[special as usize].first_job(nodes),
        }
    }

    /// Adds a job to a class. Returns the time at which the first job of the class can start, and
    /// that job's number.
    #[inline]
    pub(super) fn push(
        &mut self,
        rank: usize,
        class: u32,
        node: u32,
        nodes: &mut Nodes,
    ) -> (u64, u32) {
        let line = &mut self.lines[rank];
        if line.special == NONE {
            let queue = &mut line.queues[class as usize];
            nodes.push(queue, node);
            let head = nodes.at(queue.head);
            let (start, _, _, number) = key(&PLAIN[class as usize], &line.free, head);
            return (start, number);
        }
        let special = &mut self.specials[line.special as usize];
        nodes.push(&mut special.queues[class as usize], node);
        special.enter(class, nodes);
        let (start, _, _, number) = special.key_of(class, nodes);
        (start, number)
    }

    /// Adds a receive to those that are to be posted.
    pub(super) fn push_post(&mut self, rank: usize, node: u32, nodes: &mut Nodes) {
        let class = self.special(rank).map_or(POSTS, |special| special.posts());
        self.push(rank, class, node, nodes);
    }

    /// Returns the class of an action, or of the message of a receive.
    #[inline]
    pub(super) fn class_of(&mut self, rank: usize, record: &Record) -> u32 {
        match self.special(rank) {
            None => Line::class_of(record.kind),
            Some(special) => special.class_of(record),
        }
    }

    /// Removes the first job of a class.
    #[inline]
    pub(super) fn pop(&mut self, rank: usize, class: u32, nodes: &mut Nodes) -> Started {
        let line = &mut self.lines[rank];
        if line.special == NONE {
            let node = nodes.pop(&mut line.queues[class as usize]);
            return Started { class: PLAIN[class as usize], node };
        }
        let special = &mut self.specials[line.special as usize];
        let node = nodes.pop(&mut special.queues[class as usize]);
        Started { class: special.class(class), node }
    }

    /// Holds a place of a rank until a time.
    #[inline]
    pub(super) fn hold(&mut self, rank: usize, place: u32, until: u64) {
        let line = &mut self.lines[rank];
        match line.special {
            NONE => line.free[place as usize] = until,
            special => self.specials[special as usize].free[place as usize] = until,
        }
    }
}

impl Layout {
    /// Numbers places in the order in which actions name them.
    fn new(uses: &[Use]) -> Self {
        let (mut classes, mut of) = (Vec::new(), FxHashMap::default());
        let mut places: FxHashMap<(u8, u16), u32> = FxHashMap::default();
        for &(kind, cpu, nic) in uses {
            let mut place = |part, number| {
                let next = places.len() as u32;
                *places.entry((part, number)).or_insert(next)
            };
            let cpu_place = place(0, cpu);
            let side = match kind {
                Kind::Send => place(1, u16::from(nic)),
                Kind::Recv => place(2, u16::from(nic)),
                Kind::Calc | Kind::Local | Kind::Dummy => NONE,
            };
            of.insert((kind, cpu, nic), classes.len() as u32);
            let takes_messages = kind == Kind::Recv;
            classes.push(Class { cpu: cpu_place, side, takes_messages });
        }
        classes.push(Class { cpu: NONE, side: NONE, takes_messages: false });
        Self { classes, of, places: places.len() as u32 }
    }
}

/// The properties that make a rank special.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shape {
    pub(super) has_wildcard: bool,
    /// True if an action names another processor or interface than the first one.
    pub(super) has_places: bool,
}

impl Shape {
    /// Returns the shape of a rank.
    pub(super) fn of(rank: impl Actions) -> Self {
        let mut shape = Self::default();
        rank.records().for_each(|(_, record)| shape.add(&record));
        shape
    }

    #[inline]
    pub(super) fn add(&mut self, record: &Record) {
        let is_any = |number| number == goal_lang::ANY;
        self.has_wildcard |=
            record.kind == Kind::Recv && (is_any(record.peer) || is_any(record.tag));
        self.has_places |= record.cpu != 0 || record.nic != 0;
    }

    /// Returns true if the rank has one processor and one interface, and no wildcards.
    pub(super) fn is_plain(self) -> bool {
        !self.has_wildcard && !self.has_places
    }
}
