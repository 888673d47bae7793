//! The algorithm and the tags of each collective, before any message is made.

use super::algorithms::{AlgorithmRefusal, Algorithms};
use super::expanded::Expanded;
use crate::limits::EXPANDED_ACTIONS_MAX;
use goal_collectives::{Blocks, Request, Table};
use goal_lang::limits::TAG_MAX;
use goal_lang::{
    ANY, Action, ActionId, BlockList, Body, CollectiveInstance, CollectiveKind, CollectiveSize,
    Datatype, Function, Instances, Member, Op, Program,
};
use rustc_hash::FxHashMap;

/// The reason why collective statements can't be expanded.
#[derive(Debug, thiserror::Error)]
pub enum ExpandError {
    /// No algorithm performs the collective.
    #[error("{kind} of {members} members: {reason}")]
    NoAlgorithm {
        /// The collective.
        kind: CollectiveKind,
        /// The number of members.
        members: usize,
        /// The first statement.
        first: Member,
        /// The reason.
        reason: AlgorithmRefusal,
    },
    /// A statement names an end of a message and not the other end.
    #[error("rank {} sends or receives a message of a communicator that does not have two members", .0.rank)]
    OtherEnd(Member),
    /// A receive of the program could take a message of a collective.
    #[error("rank {rank} receives with any tag, so it could take messages of its collectives")]
    AnyTag {
        /// The rank.
        rank: u32,
        /// The receive.
        action: ActionId,
    },
    /// There are too few tags above those of the program.
    #[error("too few tags are left above {last}, the largest one of the program: needed {needed}")]
    Tags {
        /// The number of tags.
        needed: u64,
        /// The largest tag of the program.
        last: u32,
    },
    /// The messages are too many.
    #[error("the collectives of the program become more than {EXPANDED_ACTIONS_MAX} actions")]
    TooLarge,
}

/// The members of a collective that are looked at before all others.
const SAMPLE: usize = 3;

/// The members, the bytes and the root of a collective.
type Template = (CollectiveKind, usize, CollectiveSize, u32);

/// The algorithm and the tags of each collective.
pub(super) struct Plan {
    pub(super) expanded: Vec<Expanded>,
    /// By collective, its algorithm and its first tag.
    pub(super) collectives: Vec<(usize, u32)>,
    /// The tag of the first message between two statements. Each has a tag of its own.
    pub(super) first_message: u32,
}

impl Plan {
    pub(super) fn new(
        program: &Program,
        instances: &Instances,
        algorithms: &Algorithms,
    ) -> Result<Self, ExpandError> {
        if let Some(&end) = instances.ends.first() {
            return Err(ExpandError::OtherEnd(end));
        }
        let most = u64::from(u32::MAX) - EXPANDED_ACTIONS_MAX;
        if program.bodies.iter().any(|body| body.len() as u64 > most) {
            return Err(ExpandError::TooLarge);
        }
        let last = last_tag(program)?;
        let table = Table::published();
        let mut known: FxHashMap<Template, usize> = FxHashMap::default();
        let mut expanded: Vec<Expanded> = Vec::new();
        let mut collectives = Vec::with_capacity(instances.collectives.len());
        let mut next = last.map_or(0, |last| u64::from(last) + 1);
        let mut actions = 0u64;
        for instance in &instances.collectives {
            let template = (instance.kind, instance.members.len(), instance.size, instance.root);
            let at = match known.get(&template) {
                Some(&at) => at,
                None => {
                    let room = EXPANDED_ACTIONS_MAX - actions;
                    expanded.push(of_template(instance, algorithms, &table, room)?);
                    known.insert(template, expanded.len() - 1);
                    expanded.len() - 1
                }
            };
            let found = &mut expanded[at];
            found.count += 1;
            // Two dummies a member.
            actions += found.actions + 2 * instance.members.len() as u64;
            if actions > EXPANDED_ACTIONS_MAX {
                return Err(ExpandError::TooLarge);
            }
            collectives.push((at, u32::try_from(next).unwrap_or(u32::MAX)));
            let lanes = u64::from(lanes(instance));
            next = next.saturating_add((lanes * lanes).saturating_mul(found.tags.into()));
        }
        let first_message = u32::try_from(next).unwrap_or(u32::MAX);
        next = next.saturating_add(instances.messages.len() as u64);
        if next > u64::from(TAG_MAX) + 1 {
            let (last, first) = (last.unwrap_or(0), last.map_or(0, |last| u64::from(last) + 1));
            return Err(ExpandError::Tags { needed: next - first, last });
        }
        Ok(Self { expanded, collectives, first_message })
    }
}

/// Returns the largest tag of a program. Refuses ranks with collectives whose receives have any
/// tag.
fn last_tag(program: &Program) -> Result<Option<u32>, ExpandError> {
    let mut last = None;
    let mut open: Vec<Option<ActionId>> = Vec::with_capacity(program.bodies.len());
    for body in &program.bodies {
        let has_any = |id: &ActionId| matches!(body.action(*id), Action::Recv { tag: ANY, .. });
        let is_expanded = !body.collectives.is_empty();
        open.push(is_expanded.then(|| body.ids().find(has_any)).flatten());
        last = last.max(body.actions.iter().filter_map(tag).max());
    }
    let found = program.ranks.iter().position(|entry| open[entry.body.index()].is_some());
    match found.and_then(|rank| Some((rank, open[program.ranks[rank].body.index()]?))) {
        Some((rank, action)) => Err(ExpandError::AnyTag { rank: rank as u32, action }),
        None => Ok(last),
    }
}

fn tag(action: &Action) -> Option<u32> {
    match *action {
        Action::Send { tag, .. } | Action::Recv { tag, .. } => Some(tag).filter(|&tag| tag != ANY),
        _ => None,
    }
}

/// Returns the most members that are on one rank.
pub(super) fn lanes(instance: &CollectiveInstance) -> u32 {
    let same = instance.members.chunk_by(|a, b| a.rank == b.rank);
    same.map(|members| members.len() as u32).max().unwrap_or(1)
}

/// Chooses the algorithm, and counts the actions and the tags. More than `room` actions are
/// refused.
fn of_template(
    instance: &CollectiveInstance,
    algorithms: &Algorithms,
    table: &Table,
    room: u64,
) -> Result<Expanded, ExpandError> {
    let request = request(instance);
    let refused = |reason: AlgorithmRefusal| ExpandError::NoAlgorithm {
        kind: instance.kind,
        members: instance.members.len(),
        first: instance.members[0],
        reason,
    };
    let algorithm = algorithms.choose(&request, table).map_err(refused)?;
    // The first members tell most graphs that are too large, so that not all have to be made.
    let first = (0..request.ranks).take(SAMPLE).map(|member| {
        let body = algorithm.checked_body(&request, member).map_err(|error| refused(error.into()));
        body.map(|body| body.len() as u64)
    });
    let fewest = first.collect::<Result<Vec<u64>, _>>()?.into_iter().min().unwrap_or(0);
    if fewest * u64::from(request.ranks) > 2 * EXPANDED_ACTIONS_MAX {
        return Err(ExpandError::TooLarge);
    }
    let (mut actions, mut tags) = (0, 0);
    for member in 0..request.ranks {
        let body = algorithm.checked_body(&request, member);
        let body = body.map_err(|error| refused(error.into()))?;
        actions += body.len() as u64;
        if actions > room {
            return Err(ExpandError::TooLarge);
        }
        tags = tags.max(num_tags(&body));
    }
    Ok(Expanded { algorithm, request, count: 0, actions, tags })
}

/// Returns the number of tags that a member uses. They count from 0.
fn num_tags(body: &Body) -> u32 {
    body.actions.iter().filter_map(tag).max().map_or(0, |last| last + 1)
}

/// Returns the request of a collective. Its elements are bytes.
fn request(instance: &CollectiveInstance) -> Request {
    let members = instance.members.len() as u32;
    let datatype = Datatype::UInt8;
    let (count, blocks) = match instance.size {
        CollectiveSize::Block(bytes) => (bytes, Blocks::Equal),
        CollectiveSize::Total(bytes) => {
            let (each, rest) = (bytes / u64::from(members), bytes % u64::from(members));
            let counts = (0..u64::from(members)).map(|member| each + u64::from(member < rest));
            let blocks = match rest {
                0 => Blocks::Equal,
                _ => Blocks::Each(BlockList::packed(counts.collect::<Vec<u64>>())),
            };
            (each, blocks)
        }
    };
    Request {
        root: instance.root,
        count,
        blocks,
        datatype,
        function: Function::Predefined(Op::Sum, datatype),
        ..Request::new(instance.kind, members)
    }
}
