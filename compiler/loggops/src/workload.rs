//! A program as the models read it: one record an action, ranks end to end.

use goal_lang::{ANY, Action, ActionId, Body, Payload, Placement, Program};

/// The kinds of actions that a model distinguishes, in the order in which LogGOPSim sorts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A message to a rank.
    Send = 1,
    /// The receipt of a message.
    Recv = 2,
    /// Work of a processor, without a message.
    Calc = 3,
    /// A local operation that states no time. The peers take it as a computation.
    Local = 4,
    /// Nothing: only dependencies. The peers take it as a computation of no time.
    Dummy = 5,
}

/// An action with what a model needs of it.
#[derive(Debug, Clone, Copy)]
pub struct Record {
    /// The bytes of a message, the nanoseconds of a computation, or the picoseconds of a local
    /// operation.
    pub size: u64,
    /// The other rank of a message, or [`ANY`](goal_lang::ANY). The number of a marker.
    pub peer: u32,
    /// The tag of a message or a marker, or [`ANY`](goal_lang::ANY).
    pub tag: u32,
    /// The position of the first dependent among all edges.
    first_edge: u32,
    /// The position of the first dependent that waits for the start only.
    first_start_edge: u32,
    /// The number of dependencies that the action waits for.
    pub missing: u32,
    /// The processor.
    pub cpu: u16,
    /// The network interface.
    pub nic: u8,
    /// The kind.
    pub kind: Kind,
}

impl Record {
    /// Returns an action with the number of its dependencies. `local_ps` is the time of an
    /// operation that states none, in picoseconds.
    fn new(
        body: &Body,
        action: &Action,
        missing: u32,
        local_ps: &impl Fn(&Body, &Action) -> u64,
    ) -> Self {
        let size = |payload| match payload {
            Payload::Pattern { size } => size,
            other => body.payload_size(other),
        };
        let (kind, size, peer, tag, placement) = match *action {
            Action::Send { payload, to, tag, placement } => {
                (Kind::Send, size(payload), to, tag, placement)
            }
            Action::Recv { payload, from, tag, placement } => {
                (Kind::Recv, size(payload), from, tag, placement)
            }
            Action::Calc { nanos, placement } => (Kind::Calc, nanos, 0, 0, placement),
            Action::Nop | Action::Wtime { .. } => (Kind::Dummy, 0, 0, 0, Placement::default()),
            Action::Marker { to, tag, .. } => (Kind::Dummy, 0, to, tag, Placement::default()),
            ref local => (Kind::Local, local_ps(body, local), 0, 0, Placement::default()),
        };
        Self {
            size,
            peer,
            tag,
            first_edge: 0,
            first_start_edge: 0,
            missing,
            cpu: placement.cpu,
            nic: placement.nic,
            kind,
        }
    }

    /// Returns true for an action that has a peer.
    pub(crate) fn is_message(&self) -> bool {
        matches!(self.kind, Kind::Send | Kind::Recv)
    }

    /// Returns true for a receive from any rank or with any tag.
    pub(crate) fn has_wildcard(&self) -> bool {
        self.kind == Kind::Recv && (self.peer == ANY || self.tag == ANY)
    }

    /// Returns true for a marker. It is a dummy, and simulators tell its time.
    pub fn is_marker(&self) -> bool {
        self.kind == Kind::Dummy && self.peer > 0
    }

    /// Returns an action with the number of its dependencies. Peer and tag of one that is neither a
    /// message nor a marker are 0.
    #[inline]
    pub fn of(
        kind: Kind,
        size: u64,
        (peer, tag): (u32, u32),
        missing: u32,
        placement: Placement,
    ) -> Self {
        let Placement { cpu, nic } = placement;
        Self { size, peer, tag, first_edge: 0, first_start_edge: 0, missing, cpu, nic, kind }
    }

    /// Returns the processor time of an action that is no message, in whole nanoseconds.
    pub fn nanos(&self) -> u64 {
        if self.kind == Kind::Local { self.size / 1000 } else { self.size }
    }

    /// Returns the processor time of an action that is no message, in picoseconds.
    pub(crate) fn picos(&self) -> u64 {
        if self.kind == Kind::Local { self.size } else { self.size.saturating_mul(1000) }
    }
}

/// The actions of all ranks. An action's number counts over all ranks, rank 0 first.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The actions, and one more record that ends the edges of the last one.
    records: Vec<Record>,
    /// The number of each rank's first action; one more entry for the end.
    firsts: Vec<u32>,
    /// Dependents, each action's in the order in which they were stated.
    edges: Vec<u32>,
    /// The actions that wait for nothing, each rank's in the order in which they were stated.
    roots: Vec<u32>,
    first_roots: Vec<u32>,
    /// Processors a rank.
    pub cpus: usize,
    /// Network interfaces a rank.
    pub nics: usize,
}

/// The reason why a program has no [`Workload`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the program has {actions} actions and {edges} dependencies; a model takes fewer than 2^31 of each"
)]
pub struct TooLarge {
    /// The actions of all ranks.
    pub actions: u64,
    /// The dependencies of all ranks.
    pub edges: u64,
}

/// Makes a [`Workload`]: rank by rank, action by action.
#[derive(Debug, Default)]
pub struct WorkloadBuilder {
    records: Vec<Record>,
    firsts: Vec<u32>,
    edges: Vec<u32>,
    roots: Vec<u32>,
    first_roots: Vec<u32>,
    placement_max: Placement,
}

impl WorkloadBuilder {
    /// Makes room for actions and dependencies.
    pub fn with_capacity(actions: usize, edges: usize) -> Self {
        Self {
            records: Vec::with_capacity(actions + 1),
            edges: Vec::with_capacity(edges),
            ..Self::default()
        }
    }

    /// Begins the next rank.
    pub fn begin_rank(&mut self) {
        self.firsts.push(self.records.len() as u32);
        self.first_roots.push(self.roots.len() as u32);
    }

    /// Adds an action of the rank that has begun. `waiters` wait for its end, and `start_waiters`
    /// wait for its start. Both are actions of that rank.
    pub fn push(
        &mut self,
        record: Record,
        waiters: impl Iterator<Item = u32>,
        start_waiters: impl Iterator<Item = u32>,
    ) {
        self.placement_max.cpu = self.placement_max.cpu.max(record.cpu);
        self.placement_max.nic = self.placement_max.nic.max(record.nic);
        let first = self.firsts.last().copied().unwrap_or_default();
        // A count that is too large for 32 bits is refused at the end.
        let first_edge = self.edges.len() as u32;
        self.edges.extend(waiters.map(|waiter| first.wrapping_add(waiter)));
        let first_start_edge = self.edges.len() as u32;
        self.edges.extend(start_waiters.map(|waiter| first.wrapping_add(waiter)));
        self.records.push(Record { first_edge, first_start_edge, ..record });
    }

    /// Adds an action of the current rank to the list of those that wait for nothing. The list has
    /// the stated order.
    pub fn push_root(&mut self, root: u32) {
        self.roots.push(self.firsts.last().copied().unwrap_or_default().wrapping_add(root));
    }

    /// Returns the workload.
    ///
    /// # Errors
    /// If there are too many actions or dependencies.
    pub fn finish(mut self) -> Result<Workload, TooLarge> {
        let (actions, edges) = (self.records.len() as u64, self.edges.len() as u64);
        if actions.max(edges) >= 1 << 31 {
            return Err(TooLarge { actions, edges });
        }
        self.firsts.push(actions as u32);
        self.first_roots.push(self.roots.len() as u32);
        let end = edges as u32;
        self.records.push(Record {
            size: 0,
            peer: 0,
            tag: 0,
            first_edge: end,
            first_start_edge: end,
            missing: 0,
            cpu: 0,
            nic: 0,
            kind: Kind::Calc,
        });
        let Self { records, firsts, edges, roots, first_roots, placement_max } = self;
        let [cpus, nics] =
            [placement_max.cpu, placement_max.nic.into()].map(|highest| usize::from(highest) + 1);
        Ok(Workload { records, firsts, edges, roots, first_roots, cpus, nics })
    }
}

impl Workload {
    /// Lists the actions of all ranks of a program. `local_ps` gives the picoseconds of a local
    /// operation, which states no time.
    ///
    /// # Errors
    /// If the program has too many actions or dependencies.
    pub fn new(
        program: &Program,
        local_ps: impl Fn(&Body, &Action) -> u64,
    ) -> Result<Self, TooLarge> {
        let (mut actions, mut edges) = (0_u64, 0_u64);
        for rank in 0..program.num_ranks() {
            let body = program.body_of(rank);
            actions += body.len() as u64;
            edges += (body.stated_requires().len() + body.stated_irequires().len()) as u64;
        }
        if actions.max(edges) >= 1 << 31 {
            return Err(TooLarge { actions, edges });
        }
        let mut builder = WorkloadBuilder::with_capacity(actions as usize, edges as usize);
        let mut missing = Vec::new();
        for rank in 0..program.num_ranks() {
            builder.begin_rank();
            let body = program.body_of(rank);
            let (requires, irequires) = (body.stated_requires(), body.stated_irequires());
            missing.clear();
            missing.resize(body.len(), 0);
            for id in body.ids() {
                for waiter in requires.row(id).iter().chain(irequires.row(id)) {
                    missing[waiter.index()] += 1;
                }
            }
            for id in body.ids() {
                let number = |waiter: &ActionId| waiter.0;
                let (action, missing) = (body.action(id), missing[id.index()]);
                builder.push(
                    Record::new(body, action, missing, &local_ps),
                    requires.row(id).iter().map(number),
                    irequires.row(id).iter().map(number),
                );
            }
            let stated = body.debug.order.as_ref().map_or(&[][..], |order| &order.roots);
            if stated.is_empty() {
                let roots = missing.iter().zip(0..).filter(|&(&missing, _)| missing == 0);
                roots.for_each(|(_, root)| builder.push_root(root));
            } else {
                stated.iter().for_each(|root| builder.push_root(root.0));
            }
        }
        builder.finish()
    }

    /// Number of ranks.
    pub fn num_ranks(&self) -> usize {
        self.firsts.len() - 1
    }

    /// Number of actions.
    pub fn len(&self) -> usize {
        self.records.len() - 1
    }

    /// Returns true if no rank has an action.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of markers.
    pub fn num_markers(&self) -> usize {
        self.records.iter().filter(|record| record.is_marker()).count()
    }

    /// Number of receives with a wildcard.
    pub fn num_wildcards(&self) -> u64 {
        self.records.iter().filter(|record| record.has_wildcard()).count() as u64
    }

    /// Returns an action.
    #[inline]
    pub fn record(&self, action: u32) -> &Record {
        &self.records[action as usize]
    }

    /// Returns the numbers of a rank's actions.
    pub fn actions(&self, rank: u32) -> std::ops::Range<u32> {
        self.firsts[rank as usize]..self.firsts[rank as usize + 1]
    }

    /// Returns the rank of an action.
    pub fn rank_of(&self, action: u32) -> u32 {
        self.firsts.partition_point(|&first| first <= action) as u32 - 1
    }

    /// Returns the actions of a rank that wait for nothing, in the order in which they were stated.
    pub fn roots(&self, rank: u32) -> &[u32] {
        let [first, end] = [rank, rank + 1].map(|rank| self.first_roots[rank as usize] as usize);
        &self.roots[first..end]
    }

    /// Returns the actions that wait for the end of an action, in the order in which they were
    /// stated.
    #[inline]
    pub fn waiters(&self, action: u32) -> &[u32] {
        let record = self.record(action);
        &self.edges[record.first_edge as usize..record.first_start_edge as usize]
    }

    /// Returns the actions that wait for the start of an action, in the order in which they were
    /// stated.
    #[inline]
    pub fn start_waiters(&self, action: u32) -> &[u32] {
        let first = self.record(action).first_start_edge as usize;
        &self.edges[first..self.records[action as usize + 1].first_edge as usize]
    }
}
