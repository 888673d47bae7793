//! Expands collectives into messages, by the generators of goal-collectives.
//!
//! Messages have sizes but no addresses, and local operations become mere dependencies. So a replay
//! needs no memory. Of each collective only the part of this rank is generated.

use crate::communicators::{CollectivePlace, Communicator};
use crate::settings::Settings;
use goal_collectives::{ALGORITHMS, Algorithm, Blocks, Counts, Request, algorithm};
use goal_lang::{Action, BlockList, Body, CollectiveKind, Datatype, Function, Op};
use std::sync::Arc;

/// The most expansions that are kept for later calls.
const KEPT_MAX: usize = 64;

/// A collective as one rank calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collective {
    /// The kind of the collective.
    pub kind: CollectiveKind,
    /// The rank of the root in the communicator. 0 if the collective has no root.
    pub root: u32,
    /// The number of elements of each block.
    pub elements: Elements,
    /// The bytes of an element. An algorithm does not divide an element of 1, 2, 4 or 8 bytes.
    pub width: u64,
    /// True if the collective has no reduction, or one that commutes.
    pub commutes: bool,
}

/// The number of elements of each block, as far as this rank knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elements {
    /// All blocks have this number of elements.
    Equal(u64),
    /// The number of elements of each rank's block. The root or every rank knows all of them.
    Each(Vec<u64>),
    /// The number of elements of this rank's own block. This rank is not the root.
    Own(u64),
    /// The number of elements to each rank and from each rank.
    Pairs {
        /// To each rank.
        send: Vec<u64>,
        /// From each rank.
        recv: Vec<u64>,
    },
}

/// One action of an expansion. It names ranks of the communicator, and numbers messages from 0 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Send { bytes: u64, to: u32, message: u32 },
    Recv { bytes: u64, from: u32, message: u32 },
    Local,
}

/// The part of one rank in a collective.
#[derive(Debug, Default)]
pub(crate) struct Expansion {
    pub(crate) steps: Vec<Step>,
    /// Pairs of actions, in the order of the first: the first action waits for the end of the
    /// second.
    pub(crate) requires: Vec<(u32, u32)>,
    /// Pairs of actions, in the order of the first: the first action waits for the start of the
    /// second.
    pub(crate) irequires: Vec<(u32, u32)>,
    /// The actions that wait for no other action.
    pub(crate) first: Vec<u32>,
    /// The actions that no other action waits for.
    pub(crate) last: Vec<u32>,
}

/// A collective with its place and its expansion, ready to start.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) place: CollectivePlace,
    pub(crate) expansion: Arc<Expansion>,
}

/// The recent expansions. The last one was used last.
#[derive(Debug, Default)]
pub(crate) struct Expansions {
    kept: Vec<(Collective, u32, u32, Arc<Expansion>)>,
    /// The collectives that can't use the user's algorithm. The user was told so.
    told: Vec<CollectiveKind>,
}

impl Expansions {
    /// Returns the part of this rank in a collective. `note` gets a sentence for the user if the
    /// algorithm that the user chose can't be used.
    ///
    /// # Errors
    /// A sentence with the reason why no algorithm can be used.
    pub(crate) fn of(
        &mut self,
        collective: Collective,
        communicator: &Communicator,
        settings: &Settings,
        note: impl FnOnce(String),
    ) -> Result<Arc<Expansion>, String> {
        let (size, me) = (communicator.size(), communicator.me);
        let is_kept = |kept: &(Collective, u32, u32, _)| {
            (kept.1, kept.2) == (size, me) && kept.0 == collective
        };
        if let Some(at) = self.kept.iter().rposition(is_kept) {
            let kept = self.kept.remove(at);
            let expansion = Arc::clone(&kept.3);
            self.kept.push(kept);
            return Ok(expansion);
        }
        let request = request(&collective, size)?;
        let algorithm = self.algorithm(&request, settings, note)?;
        let body = algorithm.body(&request, me).map_err(|error| error.to_string())?;
        let expansion = Arc::new(expand(&body));
        if self.kept.len() == KEPT_MAX {
            self.kept.remove(0);
        }
        self.kept.push((collective, size, me, Arc::clone(&expansion)));
        Ok(expansion)
    }

    /// Returns the algorithm that the user chose if all ranks can use it for this request.
    /// Otherwise returns the algorithm of the table.
    fn algorithm(
        &mut self,
        request: &Request,
        settings: &Settings,
        note: impl FnOnce(String),
    ) -> Result<&'static Algorithm, String> {
        let kind = request.kind;
        let chosen = settings.algorithms.iter().find(|(of, _)| *of == kind);
        if let Some(found) = chosen.and_then(|(_, name)| algorithm(kind, name)) {
            match suits(found, request) {
                Ok(()) => return Ok(found),
                Err(error) if !self.told.contains(&kind) => {
                    self.told.push(kind);
                    note(format!("{error}; such a {kind} gets the table's algorithm"));
                }
                Err(_) => {}
            }
        }
        match settings.table.choose(request) {
            Ok((found, _)) => Ok(found),
            // A table may have no entry for a collective. Then the first suitable algorithm is
            // used.
            Err(error) => ALGORITHMS
                .iter()
                .find(|found| found.kind == kind && suits(found, request).is_ok())
                .ok_or_else(|| error.to_string()),
        }
    }
}

/// Returns an error if not all ranks can use an algorithm. All ranks must get the same result. So
/// if only the root knows all blocks, the algorithm may need at each rank only the rank's own
/// block.
fn suits(algorithm: &Algorithm, request: &Request) -> Result<(), String> {
    if request.kind.has_root() && request.blocks != Blocks::Equal && algorithm.counts != Counts::Own
    {
        return Err(format!("{} needs to know the blocks of all ranks", algorithm.name));
    }
    algorithm.check(request).map_err(|error| error.to_string())
}

/// Returns the request for an algorithm of goal-collectives.
fn request(collective: &Collective, ranks: u32) -> Result<Request, String> {
    let Collective { kind, root, elements, width, commutes } = collective;
    let (datatype, factor) = match width {
        2 => (Datatype::UInt16, 1),
        4 => (Datatype::UInt32, 1),
        8 => (Datatype::UInt64, 1),
        width => (Datatype::UInt8, *width),
    };
    let all = |counts: &[u64]| -> Option<BlockList> {
        let counts: Option<Vec<u64>> =
            counts.iter().map(|count| count.checked_mul(factor)).collect();
        counts.map(BlockList::packed)
    };
    let mut count = 0;
    let blocks = match elements {
        Elements::Equal(equal) => equal.checked_mul(factor).map(|equal| {
            count = equal;
            Blocks::Equal
        }),
        Elements::Each(counts) => all(counts).map(Blocks::Each),
        Elements::Own(own) => own.checked_mul(factor).map(Blocks::Own),
        Elements::Pairs { send, recv } => {
            all(send).zip(all(recv)).map(|(send, recv)| Blocks::Pairs { send, recv })
        }
    };
    let blocks = blocks.ok_or_else(|| format!("a {kind} has 2^64 bytes or more"))?;
    let function =
        if *commutes { Function::Predefined(Op::Sum, datatype) } else { Function::User(0) };
    // The addresses of the buffers are invented. The buffers only must not overlap.
    let input = Some(1 << 63);
    let new = Request::new(*kind, ranks);
    Ok(Request { root: *root, count, blocks, datatype, function, input, ..new })
}

/// Returns the messages and dependencies of a graph. Local operations become steps without effect.
fn expand(body: &Body) -> Expansion {
    let steps: Vec<Step> = body
        .ids()
        .map(|id| match *body.action(id) {
            Action::Send { payload, to, tag, .. } => {
                Step::Send { bytes: body.payload_size(payload), to, message: tag }
            }
            Action::Recv { payload, from, tag, .. } => {
                Step::Recv { bytes: body.payload_size(payload), from, message: tag }
            }
            _ => Step::Local,
        })
        .collect();
    if steps.iter().all(|step| *step == Step::Local) {
        return Expansion::default();
    }
    let edges = |csr: &goal_lang::Csr| {
        let mut edges: Vec<(u32, u32)> = csr
            .edges()
            .map(|edge| (edge.waiter.index() as u32, edge.prerequisite.index() as u32))
            .collect();
        edges.sort_unstable();
        edges
    };
    let (requires, irequires) = (edges(&body.requires), edges(&body.irequires));
    let mut waits = vec![false; steps.len()];
    let mut is_awaited = vec![false; steps.len()];
    for (waiter, earlier) in requires.iter().chain(&irequires) {
        waits[*waiter as usize] = true;
        // Other actions may wait only for the start of an action. Then the collective itself waits
        // for its end.
        is_awaited[*earlier as usize] |= requires.binary_search(&(*waiter, *earlier)).is_ok();
    }
    let without = |marks: &[bool]| -> Vec<u32> {
        (0..steps.len() as u32).filter(|at| !marks[*at as usize]).collect()
    };
    let (first, last) = (without(&waits), without(&is_awaited));
    Expansion { steps, requires, irequires, first, last }
}
