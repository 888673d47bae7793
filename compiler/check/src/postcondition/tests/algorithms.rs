//! Collectives as programs, by the algorithms of goal-collectives. Every rank executes one action
//! after the other, so that a program stays without races if an action is changed, lost or done
//! twice.

use crate::{Blocks, Collective};
use goal_collectives::{Algorithm, Request};
use goal_lang::{
    Action, BodyBuilder, CollectiveKind, Datatype, Function, Op, Payload, Piece, Placement,
    Program, ProgramBuilder, Space,
};

/// A program as a list of actions for each rank.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) collective: Collective,
    pub(super) ranks: Vec<Vec<Action>>,
    /// By rank, its table of pieces.
    pieces: Vec<Vec<Piece>>,
}

/// The parameters of a case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameters {
    pub(super) ranks: u32,
    pub(super) root: u32,
    pub(super) count: u64,
    pub(super) op: Op,
    pub(super) datatype: Datatype,
    pub(super) in_place: bool,
}

/// The algorithms whose actions can be executed one after the other.
pub(super) fn algorithms() -> impl Iterator<Item = &'static Algorithm> {
    // The root of linear-sync tells a rank to send when its receive has started, not ended.
    goal_collectives::ALGORITHMS.iter().filter(|algorithm| algorithm.name != "linear-sync")
}

impl Case {
    /// Returns a case without actions.
    pub(super) fn new(collective: Collective, ranks: u32) -> Self {
        let ranks = ranks as usize;
        Self { collective, ranks: vec![Vec::new(); ranks], pieces: vec![Vec::new(); ranks] }
    }

    /// Returns the program of an algorithm; `None` if the algorithm does not take the parameters.
    pub(super) fn from_algorithm(algorithm: &Algorithm, parameters: &Parameters) -> Option<Self> {
        let Parameters { ranks, root, count, op, datatype, in_place } = *parameters;
        let kind = algorithm.kind;
        let function = Function::Predefined(op, datatype);
        let bytes = u64::from(ranks.max(2)) * count * datatype.width();
        let (input, output) = if in_place { (None, 8) } else { (Some(0), bytes) };
        let root = if kind.has_root() { root } else { 0 };
        let request = Request {
            root,
            count,
            datatype,
            function,
            input,
            output,
            segment: datatype.width(),
            ..Request::new(kind, ranks)
        };
        let collective = Collective {
            kind,
            root,
            function,
            datatype,
            count: (kind != CollectiveKind::Barrier).then_some(count),
            blocks: Blocks::Equal,
            neighbors: None,
            input,
            output,
        };
        let program = algorithm.program(&request).ok()?;
        let mut case = Self::new(collective, ranks);
        // Scratch memory lies behind the memory that the program uses, where all is 0 at first. So
        // a read of bytes that nothing wrote causes no second finding.
        let memory = (0..ranks).map(|rank| program.body_of(rank).extent(Space::Memory)).max()?;
        let base = memory.max(2 * bytes).next_multiple_of(16);
        for rank in 0..ranks {
            let body = program.body_of(rank);
            let pieces = body.pieces.iter().map(|&piece| in_memory(piece, base));
            case.pieces[rank as usize] = pieces.collect();
            let actions = body.actions.iter().map(|&action| without_scratch(action, base));
            case.ranks[rank as usize] = actions.collect();
        }
        Some(case)
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

    /// The program.
    pub(super) fn program(&self) -> Program {
        let mut program = ProgramBuilder::default();
        for (actions, pieces) in self.ranks.iter().zip(&self.pieces) {
            let mut body = BodyBuilder::default();
            // The places in the table of pieces stay the same.
            body.pieces(pieces);
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

/// Moves a piece of scratch memory to the memory from `base` on.
fn in_memory(piece: Piece, base: u64) -> Piece {
    match piece.space {
        Space::Memory => piece,
        Space::Scratch => Piece { addr: piece.addr + base, space: Space::Memory, ..piece },
    }
}

fn without_scratch(mut action: Action, base: u64) -> Action {
    // Actions are in order without tags, and a message to another rank finds a receive there.
    if let Action::Send { tag, .. } | Action::Recv { tag, .. } = &mut action {
        *tag = 0;
    }
    match &mut action {
        Action::Send { payload: Payload::Buffer(piece), .. }
        | Action::Recv { payload: Payload::Buffer(piece), .. } => *piece = in_memory(*piece, base),
        Action::Exec { spaces, a, b, .. } => {
            for (space, addr) in spaces.iter_mut().zip([a, b]) {
                if std::mem::replace(space, Space::Memory) == Space::Scratch {
                    *addr += base;
                }
            }
        }
        _ => {}
    }
    action
}
