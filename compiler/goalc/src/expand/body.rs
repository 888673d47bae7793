//! The graph of one rank with messages in place of its collective statements.

use super::expanded::Part;
use super::plan::{ExpandError, Plan, lanes};
use goal_lang::{
    Action, ActionId, Body, CollectiveForm, CollectiveInstance, Csr, Edge, Instances, Payload,
    Placement, Program, StatedEdges, StatedOrder,
};

/// The meaning of a statement: a member of a collective, or an end of a message.
#[derive(Clone, Copy)]
enum Role {
    Member { instance: u32, member: u32 },
    Sends(u32),
    Receives(u32),
}

/// The parts of all statements.
pub(super) struct Expansion<'a> {
    program: &'a Program,
    instances: &'a Instances,
    plan: &'a Plan,
    /// By rank and statement.
    roles: Vec<Vec<Role>>,
}

/// A graph under construction.
#[derive(Default)]
struct Graph {
    body: Body,
    requires: Vec<Edge>,
    irequires: Vec<Edge>,
    /// By action of the former body, the first and the last of its actions.
    ends: Vec<(ActionId, ActionId)>,
}

impl<'a> Expansion<'a> {
    pub(super) fn new(program: &'a Program, instances: &'a Instances, plan: &'a Plan) -> Self {
        let statements = |rank| program.body_of(rank).collectives.len();
        let mut roles: Vec<Vec<Role>> = (0..program.num_ranks())
            .map(|rank| vec![Role::Sends(u32::MAX); statements(rank)])
            .collect();
        let mut set = |member: goal_lang::Member, role| {
            roles[member.rank as usize][member.statement as usize] = role;
        };
        for (at, instance) in instances.collectives.iter().enumerate() {
            for (number, &member) in instance.members.iter().enumerate() {
                set(member, Role::Member { instance: at as u32, member: number as u32 });
            }
        }
        for (at, message) in instances.messages.iter().enumerate() {
            set(message.sender, Role::Sends(at as u32));
            set(message.receiver, Role::Receives(at as u32));
        }
        Self { program, instances, plan, roles }
    }

    /// Returns the graph of a rank, and the actions of each statement.
    pub(super) fn body(&self, rank: u32) -> Result<(Body, Vec<Part>), ExpandError> {
        let old = self.program.body_of(rank);
        let mut graph = Graph::default();
        graph.body.pieces.clone_from(&old.pieces);
        graph.body.scratch = old.scratch;
        graph.body.buffers.clone_from(&old.buffers);
        let mut parts = Vec::with_capacity(old.collectives.len());
        let mut statements = old.collectives.iter().zip(&self.roles[rank as usize]).peekable();
        for id in old.ids() {
            let stated = statements.next_if(|(stated, _)| stated.action == id);
            let ends = match stated {
                None => graph.one(*old.action(id)),
                Some((stated, &role)) => {
                    let ends = self.statement(&mut graph, role, placement(stated.form));
                    parts.push(Part { first: ends.0, last: ends.1, origin: self.origin(role) });
                    ends
                }
            };
            graph.ends.push(ends);
            graph.name(old, id);
        }
        Ok((graph.finish(old), parts))
    }

    /// Returns the index of a statement's collective or message among the origins.
    fn origin(&self, role: Role) -> u32 {
        match role {
            Role::Member { instance, .. } => instance,
            Role::Sends(at) | Role::Receives(at) => self.instances.collectives.len() as u32 + at,
        }
    }

    /// Adds the actions of a statement. Returns the first and the last of them.
    fn statement(
        &self,
        graph: &mut Graph,
        role: Role,
        placement: Placement,
    ) -> (ActionId, ActionId) {
        let (instance, member) = match role {
            Role::Member { instance, member } => (instance as usize, member),
            Role::Sends(at) => {
                let message = &self.instances.messages[at as usize];
                let payload = Payload::Pattern { size: message.size };
                let (to, tag) = (message.receiver.rank, self.plan.first_message + at);
                return graph.one(Action::Send { payload, to, tag, placement });
            }
            Role::Receives(at) => {
                let message = &self.instances.messages[at as usize];
                let payload = Payload::Pattern { size: message.size };
                let (from, tag) = (message.sender.rank, self.plan.first_message + at);
                return graph.one(Action::Recv { payload, from, tag, placement });
            }
        };
        let (at, tag) = self.plan.collectives[instance];
        let expanded = &self.plan.expanded[at];
        let body = expanded.algorithm.checked_body(&expanded.request, member);
        let body = body.expect("the plan has made it before");
        let instance = &self.instances.collectives[instance];
        let lane = Lane { instance, member, lanes: lanes(instance), tag, tags: expanded.tags };
        graph.add(&body, |action| lane.renamed(&body, action, placement))
    }
}

/// A member of a collective: its numbers of ranks and tags.
struct Lane<'a> {
    instance: &'a CollectiveInstance,
    member: u32,
    /// The most members on one rank.
    lanes: u32,
    tag: u32,
    /// The tags between two members.
    tags: u32,
}

impl Lane<'_> {
    /// Returns an action of the member with ranks in place of members, and with tags of the
    /// program. A local operation becomes a dummy.
    fn renamed(&self, body: &Body, action: &Action, placement: Placement) -> Action {
        let pattern = |payload| Payload::Pattern { size: body.payload_size(payload) };
        match *action {
            Action::Send { payload, to, tag, .. } => {
                let tag = self.tag(self.member, to, tag);
                Action::Send { payload: pattern(payload), to: self.rank(to), tag, placement }
            }
            Action::Recv { payload, from, tag, .. } => {
                let tag = self.tag(from, self.member, tag);
                Action::Recv { payload: pattern(payload), from: self.rank(from), tag, placement }
            }
            _ => Action::Nop,
        }
    }

    fn rank(&self, member: u32) -> u32 {
        self.instance.members[member as usize].rank
    }

    /// Returns the number of a member among those on its rank.
    fn lane(&self, member: u32) -> u32 {
        if self.lanes == 1 {
            return 0;
        }
        // Only communicators have several members on a rank, and their members ascend.
        let rank = self.rank(member);
        member - self.instance.members.partition_point(|other| other.rank < rank) as u32
    }

    fn tag(&self, from: u32, to: u32, tag: u32) -> u32 {
        self.tag + (self.lane(from) * self.lanes + self.lane(to)) * self.tags + tag
    }
}

impl Graph {
    fn push(&mut self, action: Action) -> ActionId {
        let id = ActionId::new(self.body.actions.len());
        self.body.actions.push(action);
        id
    }

    fn one(&mut self, action: Action) -> (ActionId, ActionId) {
        let id = self.push(action);
        (id, id)
    }

    /// Adds the actions of `body` between two dummies.
    fn add(&mut self, body: &Body, rename: impl Fn(&Action) -> Action) -> (ActionId, ActionId) {
        let entry = self.push(Action::Nop);
        if body.is_empty() {
            return (entry, entry);
        }
        let shift = self.body.actions.len();
        let moved = |id: ActionId| ActionId::new(id.index() + shift);
        self.body.actions.extend(body.actions.iter().map(rename));
        let exit = self.push(Action::Nop);
        let waits = body.indegrees();
        for id in body.ids() {
            if waits[id.index()] == 0 {
                self.requires.push(Edge { waiter: moved(id), prerequisite: entry });
            }
            if body.requires.row(id).is_empty() {
                self.requires.push(Edge { waiter: exit, prerequisite: moved(id) });
            }
        }
        let inner = |edge: Edge| Edge {
            waiter: moved(edge.waiter),
            prerequisite: moved(edge.prerequisite),
        };
        self.requires.extend(body.requires.edges().map(inner));
        self.irequires.extend(body.irequires.edges().map(inner));
        (entry, exit)
    }

    /// Gives the actions of the former action `id` their names and places. The last one gets the
    /// label.
    fn name(&mut self, old: &Body, id: ActionId) {
        let debug = &mut self.body.debug;
        let new = self.body.actions.len();
        if !old.debug.labels.is_empty() {
            while debug.labels.len() + 1 < new {
                debug.labels.push("");
            }
            debug.labels.push(old.debug.labels.get(id).unwrap_or_default());
        }
        if let Some(&place) = old.debug.actions.get(id.index()) {
            debug.actions.resize(new, place);
        }
    }

    /// Returns the body, with the dependencies of the former one in their stated order.
    fn finish(self, old: &Body) -> Body {
        let Self { mut body, mut requires, mut irequires, ends } = self;
        let rows = |stated: StatedEdges<'_>, waits_for_end: bool| {
            let mut edges = Vec::new();
            for id in old.ids() {
                let (first, last) = ends[id.index()];
                let prerequisite = if waits_for_end { last } else { first };
                let waiters = stated.row(id).iter().map(|waiter| ends[waiter.index()].0);
                edges.extend(waiters.map(|waiter| Edge { waiter, prerequisite }));
            }
            edges
        };
        requires.extend(rows(old.stated_requires(), true));
        irequires.extend(rows(old.stated_irequires(), false));
        let mut order = StatedOrder::default();
        (body.requires, _, order.requires) = Csr::stated(body.len(), &requires, &[]);
        (body.irequires, _, order.irequires) = Csr::stated(body.len(), &irequires, &[]);
        body.debug.order = order.boxed();
        body
    }
}

fn placement(form: CollectiveForm) -> Placement {
    match form {
        CollectiveForm::Group { placement, .. } => placement,
        CollectiveForm::Nccl { .. } => Placement::default(),
    }
}
