//! The requests that the arguments of `goalc gen` describe.

use super::super::collective::function;
use super::arguments::Arguments;
use goal_collectives::{ALGORITHMS, Algorithm, Blocks, GenerateError, Nodes, Request};
use goal_lang::{Body, CollectiveKind, Neighbors};
use goalc::driver::Error;
use std::sync::Arc;

/// The requests of all ranks.
pub(super) struct Requests {
    /// The parts that all ranks share.
    request: Request,
    blocks: goal_check::Blocks,
    /// By rank; missing ones have none. `None` for collectives without neighbours.
    neighbors: Option<Arc<[Neighbors]>>,
}

impl Requests {
    pub(super) fn new(
        arguments: &Arguments,
        kind: CollectiveKind,
        ranks: u32,
    ) -> Result<Self, Error> {
        let request = request(arguments, kind, ranks)?;
        let blocks = blocks(arguments, &request)?;
        let neighbors = arguments.blocks.neighbors(kind)?;
        let given = neighbors.as_ref().map_or(0, |all| all.len());
        if given > ranks as usize {
            let message = format!("--edges has rank {}, and there are {ranks} ranks", given - 1);
            return Err(Error::Usage(message));
        }
        Ok(Self { request, blocks, neighbors })
    }

    /// Returns the request of a rank.
    pub(super) fn of_rank(&self, rank: u32) -> Request {
        let at = rank as usize;
        let neighbors = self.neighbors.as_ref().map(|all| all.get(at).cloned().unwrap_or_default());
        let blocks = match &self.blocks {
            goal_check::Blocks::Equal => Blocks::Equal,
            goal_check::Blocks::Each(list) => Blocks::Each(list.clone()),
            goal_check::Blocks::Pairs(pairs) => match pairs.get(at).cloned() {
                Some([send, recv]) => Blocks::Pairs { send, recv },
                // The rank has no neighbours.
                None => Blocks::Equal,
            },
        };
        Request { blocks, neighbors, ..self.request.clone() }
    }

    /// Returns the graph of a rank. `first` is the request of rank 0, which was checked.
    pub(super) fn body(
        &self,
        algorithm: &Algorithm,
        first: &Request,
        rank: u32,
    ) -> Result<Body, GenerateError> {
        // Ranks with one request need one check, which looks at the blocks of all of them.
        let is_shared =
            self.neighbors.is_none() && !matches!(self.blocks, goal_check::Blocks::Pairs(_));
        match is_shared {
            true => algorithm.checked_body(first, rank),
            false => algorithm.body(&self.of_rank(rank), rank),
        }
    }
}

fn request(arguments: &Arguments, kind: CollectiveKind, ranks: u32) -> Result<Request, Error> {
    let default = Request::new(kind, ranks);
    let is_barrier = kind == CollectiveKind::Barrier;
    let (op, root) = (arguments.op.is_some(), arguments.root.is_some());
    let (input, output) = (arguments.input.is_some(), arguments.output.is_some());
    let meaningless = [
        ("root", root && !kind.has_root()),
        ("op", op && !kind.combines()),
        ("type", arguments.datatype.is_some() && is_barrier),
        ("count", arguments.count != 1 && is_barrier),
        ("in", input && is_barrier),
        ("out", output && is_barrier),
    ];
    if let Some((name, _)) = meaningless.into_iter().find(|&(_, is_given)| is_given) {
        return Err(Error::Usage(format!(
            "--{name} means nothing for {} {kind}: leave it out",
            kind.article()
        )));
    }
    let datatype = arguments.datatype.unwrap_or(default.datatype);
    Ok(Request {
        root: arguments.root.unwrap_or(default.root),
        count: arguments.count,
        datatype,
        function: function(kind, arguments.op, datatype)?,
        input: arguments.input,
        output: arguments.output.unwrap_or(default.output),
        segment: arguments.segment.unwrap_or(default.segment),
        degree: arguments.degree.unwrap_or(default.degree),
        nodes: nodes(arguments, ranks)?,
        inner: level("inner", arguments.inner.as_deref())?,
        outer: level("outer", arguments.outer.as_deref())?,
        ..default
    })
}

/// The most ranks whose nodes are held in memory.
const PLACED_RANKS_MAX: u32 = 1 << 24;

fn nodes(arguments: &Arguments, ranks: u32) -> Result<Option<Arc<Nodes>>, Error> {
    let nodes = match (&arguments.nodes, arguments.per_node) {
        (Some(map), _) => Nodes::new(map),
        (None, Some(_)) if ranks > PLACED_RANKS_MAX => {
            let message = format!("--per-node is for at most {PLACED_RANKS_MAX} ranks");
            return Err(Error::Usage(message));
        }
        (None, Some(per_node)) => Nodes::from_size(ranks, per_node),
        (None, None) => return Ok(None),
    };
    Ok(Some(Arc::new(nodes)))
}

/// Returns the name of the algorithm of a level, as the table of algorithms has it. Refuses names
/// that it does not have.
fn level(option: &str, name: Option<&str>) -> Result<Option<&'static str>, Error> {
    let Some(name) = name else { return Ok(None) };
    let found = ALGORITHMS.iter().find(|algorithm| algorithm.name == name);
    let unknown = || Error::Usage(format!("--{option}: there is no algorithm {name}"));
    found.map(|algorithm| Some(algorithm.name)).ok_or_else(unknown)
}

/// Returns the blocks that the arguments describe. In place, two ranks of an alltoall must send
/// each other equally large blocks.
fn blocks(arguments: &Arguments, request: &Request) -> Result<goal_check::Blocks, Error> {
    let blocks = arguments.blocks.blocks(request.kind)?;
    if let (goal_check::Blocks::Pairs(pairs), CollectiveKind::Alltoall) = (&blocks, request.kind) {
        if pairs.len() != request.ranks as usize {
            let (given, ranks) = (pairs.len(), request.ranks);
            let message = format!("--counts is for {given} ranks, and there are {ranks}");
            return Err(Error::Usage(message));
        }
        let uneven = pairs.iter().position(|[send, recv]| send.counts() != recv.counts());
        if let Some(rank) = uneven.filter(|_| request.input.is_none()) {
            let message = format!(
                "in place, ranks send each other as many elements as they get, which rank {rank} does not: give --in, or other --counts"
            );
            return Err(Error::Usage(message));
        }
    }
    Ok(blocks)
}
