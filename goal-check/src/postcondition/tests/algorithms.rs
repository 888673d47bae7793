//! Collectives as programs. Every rank executes one action after the other.

use crate::Collective;
use goal_lang::{
    Action, BodyBuilder, CollectiveKind, Datatype, Function, Op, Payload, Piece, Placement,
    Program, ProgramBuilder, Space,
};

/// A program as a list of actions for each rank.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) collective: Collective,
    pub(super) ranks: Vec<Vec<Action>>,
}

/// The parameters of a case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameters {
    pub(super) ranks: u32,
    pub(super) root: u32,
    pub(super) count: u64,
    pub(super) op: Op,
    pub(super) datatype: Datatype,
}

/// The name of an algorithm, the parameters for which it is correct, and its constructor.
pub(super) type Algorithm = (&'static str, fn(&Parameters) -> bool, fn(&Parameters) -> Case);

/// Every algorithm.
pub(super) const ALGORITHMS: &[Algorithm] = &[
    ("bcast, flat", always, bcast_flat),
    ("bcast, chain", always, bcast_chain),
    ("bcast, binomial", always, bcast_binomial),
    ("reduce, flat", always, reduce_flat),
    ("reduce, binomial", always, reduce_binomial),
    ("allreduce, dissemination", power_of_two_or_idempotent, allreduce_dissemination),
    ("allreduce, recursive doubling", power_of_two, allreduce_recursive_doubling),
    ("allreduce, ring", always, allreduce_ring),
    ("gather, flat", always, gather_flat),
    ("gather, binomial", root_zero, gather_binomial),
    ("allgather, ring", always, allgather_ring),
    ("scatter, flat", always, scatter_flat),
    ("alltoall, pairwise", always, alltoall_pairwise),
    ("reduce-scatter, ring", always, reduce_scatter_ring),
    ("scan, chain", always, scan_chain),
    ("exscan, chain", always, exscan_chain),
    ("barrier, dissemination", always, barrier_dissemination),
    ("barrier, tree", always, barrier_tree),
];

fn always(_: &Parameters) -> bool {
    true
}

fn power_of_two(parameters: &Parameters) -> bool {
    parameters.ranks.is_power_of_two()
}

fn power_of_two_or_idempotent(parameters: &Parameters) -> bool {
    parameters.ranks.is_power_of_two()
        || matches!(parameters.op, Op::Max | Op::Min | Op::Band | Op::Bor)
}

fn root_zero(parameters: &Parameters) -> bool {
    parameters.root == 0
}

impl Case {
    fn new(kind: CollectiveKind, parameters: &Parameters, input: Option<u64>, output: u64) -> Self {
        let Parameters { ranks, root, count, op, datatype } = *parameters;
        let function = Function::Predefined(op, datatype);
        let collective = Collective {
            kind,
            root,
            function,
            datatype,
            count: Some(count),
            blocks: crate::Blocks::Equal,
            neighbors: None,
            input,
            output,
        };
        Self { collective, ranks: vec![Vec::new(); ranks as usize] }
    }

    pub(super) fn send(&mut self, rank: u32, addr: u64, size: u64, to: u32) {
        let action = Action::Send {
            payload: memory(addr, size),
            to,
            tag: 0,
            placement: Placement::default(),
        };
        self.ranks[rank as usize].push(action);
    }

    pub(super) fn recv(&mut self, rank: u32, addr: u64, size: u64, from: u32) {
        let action = Action::Recv {
            payload: memory(addr, size),
            from,
            tag: 0,
            placement: Placement::default(),
        };
        self.ranks[rank as usize].push(action);
    }

    fn copy(&mut self, rank: u32, a: u64, b: u64, size: u64) {
        self.exec(rank, Op::Copy, Datatype::UInt8, a, b, size);
    }

    fn combine(&mut self, rank: u32, a: u64, b: u64, size: u64) {
        let Function::Predefined(op, datatype) = self.collective.function else { unreachable!() };
        self.exec(rank, op, datatype, a, b, size);
    }

    fn exec(&mut self, rank: u32, op: Op, datatype: Datatype, a: u64, b: u64, size: u64) {
        let spaces = [Space::Memory; 3];
        self.ranks[rank as usize].push(Action::Exec {
            op,
            datatype,
            spaces,
            has_c: false,
            a,
            b,
            c: 0,
            size,
        });
    }

    /// The program.
    pub(super) fn program(&self) -> Program {
        let mut program = ProgramBuilder::default();
        for actions in &self.ranks {
            let mut body = BodyBuilder::default();
            let ids: Vec<_> = actions.iter().map(|&action| body.action(action)).collect();
            ids.windows(2).for_each(|pair| body.requires(pair[1], pair[0]));
            program.rank_with(body.finish());
        }
        program.finish()
    }
}

fn memory(addr: u64, size: u64) -> Payload {
    Payload::Buffer(Piece { addr, size, space: Space::Memory })
}

fn block(parameters: &Parameters) -> u64 {
    parameters.count * parameters.datatype.width()
}

/// Calls `visit` with each pair of a binomial tree as it spreads, the one nearer to the root first.
fn binomial(parameters: &Parameters, mut visit: impl FnMut(u32, u32)) {
    let Parameters { ranks, root, .. } = *parameters;
    let mut reach = 1;
    while reach < ranks {
        for near in 0..reach.min(ranks - reach) {
            visit((near + root) % ranks, (near + reach + root) % ranks);
        }
        reach *= 2;
    }
}

fn bcast_flat(parameters: &Parameters) -> Case {
    let mut case = Case::new(CollectiveKind::Bcast, parameters, None, 8);
    let size = block(parameters);
    for rank in (0..parameters.ranks).filter(|&rank| rank != parameters.root) {
        case.send(parameters.root, 8, size, rank);
        case.recv(rank, 8, size, parameters.root);
    }
    case
}

/// A chain with segments of one element.
fn bcast_chain(parameters: &Parameters) -> Case {
    let mut case = Case::new(CollectiveKind::Bcast, parameters, None, 8);
    let width = parameters.datatype.width();
    for segment in 0..parameters.count {
        for at in 1..parameters.ranks {
            let [near, far] = [at - 1, at].map(|at| (at + parameters.root) % parameters.ranks);
            case.send(near, 8 + segment * width, width, far);
            case.recv(far, 8 + segment * width, width, near);
        }
    }
    case
}

fn bcast_binomial(parameters: &Parameters) -> Case {
    let mut case = Case::new(CollectiveKind::Bcast, parameters, None, 8);
    let size = block(parameters);
    binomial(parameters, |near, far| {
        case.send(near, 8, size, far);
        case.recv(far, 8, size, near);
    });
    case
}

/// The output is apart from the input, and contains zeros at the start that belong to no input.
fn reduce_flat(parameters: &Parameters) -> Case {
    let size = block(parameters);
    let mut case = Case::new(CollectiveKind::Reduce, parameters, Some(0), 2 * size);
    let root = parameters.root;
    case.copy(root, 0, 2 * size, size);
    for rank in (0..parameters.ranks).filter(|&rank| rank != root) {
        case.send(rank, 0, size, root);
        case.recv(root, size, size, rank);
        case.combine(root, size, 2 * size, size);
    }
    case
}

fn reduce_binomial(parameters: &Parameters) -> Case {
    let mut case = Case::new(CollectiveKind::Reduce, parameters, None, 0);
    let size = block(parameters);
    let mut pairs = Vec::new();
    binomial(parameters, |near, far| pairs.push((near, far)));
    for &(near, far) in pairs.iter().rev() {
        case.send(far, 0, size, near);
        case.recv(near, size, size, far);
        case.combine(near, size, 0, size);
    }
    case
}

fn allreduce_dissemination(parameters: &Parameters) -> Case {
    let mut case = Case::new(CollectiveKind::Allreduce, parameters, None, 0);
    let (size, ranks) = (block(parameters), parameters.ranks);
    let mut distance = 1;
    while distance < ranks {
        for rank in 0..ranks {
            case.send(rank, 0, size, (rank + distance) % ranks);
        }
        for rank in 0..ranks {
            case.recv(rank, size, size, (rank + ranks - distance) % ranks);
            case.combine(rank, size, 0, size);
        }
        distance *= 2;
    }
    case
}

fn allreduce_recursive_doubling(parameters: &Parameters) -> Case {
    let mut case = Case::new(CollectiveKind::Allreduce, parameters, None, 0);
    let size = block(parameters);
    let mut distance = 1;
    while distance < parameters.ranks {
        for rank in 0..parameters.ranks {
            case.send(rank, 0, size, rank ^ distance);
            case.recv(rank, size, size, rank ^ distance);
            case.combine(rank, size, 0, size);
        }
        distance *= 2;
    }
    case
}

/// The address and the size of a chunk of a vector that is spread over the ranks.
fn chunk(parameters: &Parameters, index: u32) -> (u64, u64) {
    let (ranks, width) = (u64::from(parameters.ranks), parameters.datatype.width());
    let index = u64::from(index % parameters.ranks);
    let [from, to] = [index, index + 1].map(|at| at * parameters.count / ranks * width);
    (from, to - from)
}

fn allreduce_ring(parameters: &Parameters) -> Case {
    let mut case = Case::new(CollectiveKind::Allreduce, parameters, None, 0);
    let (size, ranks) = (block(parameters), parameters.ranks);
    for round in 0..2 * (ranks - 1) {
        for rank in 0..ranks {
            let (addr, bytes) = chunk(parameters, rank + 2 * ranks - round);
            case.send(rank, addr, bytes, (rank + 1) % ranks);
        }
        for rank in 0..ranks {
            let (addr, bytes) = chunk(parameters, rank + 2 * ranks - round - 1);
            if round < ranks - 1 {
                case.recv(rank, size, bytes, (rank + ranks - 1) % ranks);
                case.combine(rank, size, addr, bytes);
            } else {
                case.recv(rank, addr, bytes, (rank + ranks - 1) % ranks);
            }
        }
    }
    case
}

fn gather_flat(parameters: &Parameters) -> Case {
    let size = block(parameters);
    let mut case = Case::new(CollectiveKind::Gather, parameters, Some(0), size);
    let root = parameters.root;
    for rank in 0..parameters.ranks {
        let place = size + u64::from(rank) * size;
        if rank == root {
            case.copy(root, 0, place, size);
        } else {
            case.send(rank, 0, size, root);
            case.recv(root, place, size, rank);
        }
    }
    case
}

/// Each rank collects the blocks of its subtree in its own memory (thesis 5.5).
fn gather_binomial(parameters: &Parameters) -> Case {
    let size = block(parameters);
    let mut case = Case::new(CollectiveKind::Gather, parameters, Some(0), 0);
    let mut distance = 1;
    while distance < parameters.ranks {
        for near in (0..parameters.ranks - distance).step_by(2 * distance as usize) {
            let far = near + distance;
            let blocks = u64::from(distance.min(parameters.ranks - far));
            case.send(far, 0, blocks * size, near);
            case.recv(near, u64::from(distance) * size, blocks * size, far);
        }
        distance *= 2;
    }
    case
}

fn allgather_ring(parameters: &Parameters) -> Case {
    let mut case = Case::new(CollectiveKind::Allgather, parameters, None, 0);
    let (size, ranks) = (block(parameters), parameters.ranks);
    for round in 0..ranks - 1 {
        for rank in 0..ranks {
            let addr = u64::from((rank + ranks - round) % ranks) * size;
            case.send(rank, addr, size, (rank + 1) % ranks);
        }
        for rank in 0..ranks {
            let addr = u64::from((rank + 2 * ranks - round - 1) % ranks) * size;
            case.recv(rank, addr, size, (rank + ranks - 1) % ranks);
        }
    }
    case
}

fn scatter_flat(parameters: &Parameters) -> Case {
    let size = block(parameters);
    let mut case = Case::new(CollectiveKind::Scatter, parameters, None, 0);
    for rank in (0..parameters.ranks).filter(|&rank| rank != parameters.root) {
        case.send(parameters.root, u64::from(rank) * size, size, rank);
        case.recv(rank, 0, size, parameters.root);
    }
    case
}

fn alltoall_pairwise(parameters: &Parameters) -> Case {
    let (size, ranks) = (block(parameters), parameters.ranks);
    let mut case =
        Case::new(CollectiveKind::Alltoall, parameters, Some(0), u64::from(ranks) * size);
    let place = |index: u32| u64::from(index) * size;
    for rank in 0..ranks {
        case.copy(rank, place(rank), place(ranks + rank), size);
        for step in 1..ranks {
            let (to, from) = ((rank + step) % ranks, (rank + ranks - step) % ranks);
            case.send(rank, place(to), size, to);
            case.recv(rank, place(ranks + from), size, from);
        }
    }
    case
}

fn reduce_scatter_ring(parameters: &Parameters) -> Case {
    let (size, ranks) = (block(parameters), parameters.ranks);
    let all = u64::from(ranks) * size;
    let mut case = Case::new(CollectiveKind::ReduceScatter, parameters, Some(0), all + size);
    for round in 0..ranks - 1 {
        let place = |index: u32| u64::from(index % ranks) * size;
        for rank in 0..ranks {
            case.send(rank, place(rank + 2 * ranks - round - 1), size, (rank + 1) % ranks);
        }
        for rank in 0..ranks {
            case.recv(rank, all, size, (rank + ranks - 1) % ranks);
            case.combine(rank, all, place(rank + 2 * ranks - round - 2), size);
        }
    }
    for rank in 0..ranks {
        case.copy(rank, u64::from(rank) * size, all + size, size);
    }
    case
}

fn scan_chain(parameters: &Parameters) -> Case {
    let size = block(parameters);
    let mut case = Case::new(CollectiveKind::Scan, parameters, None, 0);
    for rank in 0..parameters.ranks {
        if rank > 0 {
            case.recv(rank, size, size, rank - 1);
            case.combine(rank, size, 0, size);
        }
        if rank + 1 < parameters.ranks {
            case.send(rank, 0, size, rank + 1);
        }
    }
    case
}

fn exscan_chain(parameters: &Parameters) -> Case {
    let size = block(parameters);
    let mut case = Case::new(CollectiveKind::Exscan, parameters, Some(0), size);
    for rank in 0..parameters.ranks {
        if rank > 0 {
            case.recv(rank, size, size, rank - 1);
            case.combine(rank, size, 0, size);
        }
        if rank + 1 < parameters.ranks {
            case.send(rank, 0, size, rank + 1);
        }
    }
    case
}

pub(super) fn barrier_dissemination(parameters: &Parameters) -> Case {
    let mut case = Case::new(CollectiveKind::Barrier, parameters, None, 0);
    let ranks = parameters.ranks;
    let mut distance = 1;
    while distance < ranks {
        for rank in 0..ranks {
            case.send(rank, 0, 1, (rank + distance) % ranks);
            case.recv(rank, 1, 1, (rank + ranks - distance) % ranks);
        }
        distance *= 2;
    }
    case
}

/// Messages go up a tree to rank 0 and come back down the same tree.
fn barrier_tree(parameters: &Parameters) -> Case {
    let mut case = Case::new(CollectiveKind::Barrier, parameters, None, 0);
    let mut pairs = Vec::new();
    binomial(&Parameters { root: 0, ..*parameters }, |near, far| pairs.push((near, far)));
    for &(near, far) in pairs.iter().rev() {
        case.send(far, 0, 1, near);
        case.recv(near, 1, 1, far);
    }
    for &(near, far) in &pairs {
        case.send(near, 0, 1, far);
        case.recv(far, 1, 1, near);
    }
    case
}
