//! The arguments that describe the collective that a program is meant to be.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use goal_check::{Blocks, Collective};
use goal_lang::{BlockList, CollectiveKind, Datatype, Function, Neighbors, Op};
use goalc::driver::Error;
use std::sync::Arc;

#[derive(clap::Args)]
#[command(next_help_heading = "Collective")]
pub(crate) struct CollectiveArguments {
    /// Prove that the program does what MPI defines this collective to do
    #[arg(long, value_name = "NAME", value_parser = kind())]
    collective: Option<CollectiveKind>,
    /// The root [default: 0]
    #[arg(long, value_name = "RANK", requires = "collective")]
    root: Option<u32>,
    /// Operation that combines inputs: a predefined one, or user:N, which need not commute
    /// [default: sum]
    #[arg(long, value_name = "OP", requires = "collective", value_parser = operation)]
    op: Option<Operation>,
    /// Type of the elements [default: Int32 where inputs are combined, else UInt8]
    #[arg(long = "type", value_name = "TYPE", requires = "collective", value_parser = datatype())]
    datatype: Option<Datatype>,
    /// Elements of a block [default: all that the touched memory has room for]
    #[arg(long, value_name = "N", requires = "collective", conflicts_with = "counts")]
    count: Option<u64>,
    #[command(flatten)]
    blocks: BlockArguments,
    /// Address of every rank's input [default: in place, where the output will be]
    #[arg(long = "in", value_name = "ADDR", requires = "collective")]
    input: Option<u64>,
    /// Address of every rank's output [default: 0]
    #[arg(long = "out", value_name = "ADDR", requires = "collective")]
    output: Option<u64>,
}

/// The arguments that describe blocks of different sizes.
#[derive(clap::Args)]
pub(crate) struct BlockArguments {
    /// Elements of each rank's block; of alltoall, those from rank 0 to each rank, then those from
    /// rank 1, and so on; of neighbor-alltoall, those of each edge
    #[arg(long, value_name = "N,N,..", value_delimiter = ',', requires = "collective")]
    counts: Option<Vec<u64>>,
    /// Places of the blocks, in elements from the start of the buffer of all blocks [default: one
    /// behind the other]
    #[arg(long, value_name = "N,N,..", value_delimiter = ',', requires = "counts")]
    displacements: Option<Vec<u64>>,
    /// Edges of the graph of neighbours, each from a source to a destination [default: from each
    /// rank to the ranks below and above, in a ring]
    #[arg(long, value_name = "S:D,S:D,..", value_delimiter = ',', requires = "collective", value_parser = edge)]
    edges: Option<Vec<(u32, u32)>>,
}

fn edge(text: &str) -> Result<(u32, u32), &'static str> {
    let ends = text.split_once(':').and_then(|(source, destination)| {
        Some((source.parse::<u32>().ok()?, destination.parse::<u32>().ok()?))
    });
    ends.filter(|&(source, destination)| source.max(destination) <= EDGE_RANK_MAX)
        .ok_or("an edge is two ranks below 16777216, as 0:1")
}

/// The largest rank of an edge: neighbours of the ranks below it are held in memory.
const EDGE_RANK_MAX: u32 = (1 << 24) - 1;

impl BlockArguments {
    /// Returns the neighbours of each rank, up to the largest rank with an edge; `None` if no edges
    /// are given.
    pub(crate) fn neighbors(
        &self,
        kind: CollectiveKind,
    ) -> Result<Option<Arc<[Neighbors]>>, Error> {
        let Some(edges) = &self.edges else { return Ok(None) };
        if !kind.has_neighbors() {
            return Err(meaningless("edges", kind));
        }
        let ranks = edges.iter().map(|&(source, destination)| source.max(destination) + 1);
        let ranks = ranks.max().unwrap_or(0);
        Ok(Some(Neighbors::from_edges(ranks, edges).into()))
    }

    /// Returns the blocks of a collective of neighbours. `counts` has a number of elements for each
    /// rank in an allgather, and for each edge in an alltoall.
    fn blocks_of_neighbors(&self, kind: CollectiveKind, counts: &[u64]) -> Result<Blocks, Error> {
        if self.displacements.is_some() {
            return Err(meaningless("displacements", kind));
        }
        let Some(edges) = &self.edges else {
            let message = format!("--counts of {kind} are for the graph of --edges: give it, too");
            return Err(Error::Usage(message));
        };
        let ranks = edges.iter().map(|edge| edge.0.max(edge.1) + 1).max().unwrap_or(0) as usize;
        let mut all = vec![[Vec::new(), Vec::new()]; ranks];
        let (needed, of) = match kind {
            CollectiveKind::NeighborAllgather => (ranks, "rank with an edge"),
            _ => (edges.len(), "edge"),
        };
        if counts.len() != needed {
            let given = counts.len();
            let message =
                format!("--counts has {given} numbers and {needed} are needed, one for each {of}");
            return Err(Error::Usage(message));
        }
        for (number, &(source, destination)) in edges.iter().enumerate() {
            let count = match kind {
                CollectiveKind::NeighborAllgather => counts[source as usize],
                _ => {
                    all[source as usize][0].push(counts[number]);
                    counts[number]
                }
            };
            all[destination as usize][1].push(count);
        }
        if kind == CollectiveKind::NeighborAllgather {
            all.iter_mut().zip(counts).for_each(|(lists, &count)| lists[0].push(count));
        }
        Ok(Blocks::Pairs(all.into_iter().map(|lists| lists.map(BlockList::packed)).collect()))
    }

    /// Returns the blocks that the arguments describe. The blocks of an alltoall lie one behind the
    /// other.
    pub(crate) fn blocks(&self, kind: CollectiveKind) -> Result<Blocks, Error> {
        use CollectiveKind as Kind;
        let Some(counts) = &self.counts else { return Ok(Blocks::Equal) };
        if kind.has_neighbors() {
            return self.blocks_of_neighbors(kind, counts);
        }
        match (kind, &self.displacements) {
            (Kind::Alltoall, None) => matrix(counts),
            (Kind::Gather | Kind::Scatter | Kind::Allgather | Kind::ReduceScatter, None) => {
                Ok(Blocks::Each(BlockList::packed(&counts[..])))
            }
            (
                Kind::Gather | Kind::Scatter | Kind::Allgather | Kind::ReduceScatter,
                Some(places),
            ) => {
                let list = BlockList::at(&counts[..], &places[..]).map(Blocks::Each);
                list.ok_or_else(|| {
                    let (places, counts) = (places.len(), counts.len());
                    let message = format!(
                        "--displacements has {places} numbers and --counts has {counts}: give as many"
                    );
                    Error::Usage(message)
                })
            }
            (Kind::Alltoall, Some(_)) => Err(meaningless("displacements", kind)),
            _ => Err(meaningless("counts", kind)),
        }
    }
}

fn meaningless(name: &str, kind: CollectiveKind) -> Error {
    Error::Usage(format!("--{name} means nothing for {kind}: leave it out"))
}

/// Returns the blocks of an alltoall from the numbers of elements by sender and receiver.
fn matrix(counts: &[u64]) -> Result<Blocks, Error> {
    let ranks = counts.len().isqrt();
    if ranks * ranks != counts.len() {
        let message = format!(
            "--counts has {} numbers: an alltoall has one for each pair of ranks, as 4 for 2 ranks or 9 for 3",
            counts.len()
        );
        return Err(Error::Usage(message));
    }
    let lists = |rank: usize| {
        let send = &counts[rank * ranks..][..ranks];
        let recv: Vec<u64> = (0..ranks).map(|from| counts[from * ranks + rank]).collect();
        [BlockList::packed(send), BlockList::packed(recv)]
    };
    Ok(Blocks::Pairs((0..ranks).map(lists).collect()))
}

/// An operation without its datatype, which is another argument.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Predefined(Op),
    User(u32),
}

impl CollectiveArguments {
    /// Returns the collective that the program is meant to be, if one is given.
    pub(crate) fn collective(&self) -> Result<Option<Collective>, Error> {
        let Some(kind) = self.collective else { return Ok(None) };
        let is_barrier = kind == CollectiveKind::Barrier;
        let meaningless = [
            ("root", self.root.is_some() && !kind.has_root()),
            ("op", self.op.is_some() && !kind.combines()),
            ("type", self.datatype.is_some() && is_barrier),
            ("count", self.count.is_some() && is_barrier),
            ("in", self.input.is_some() && is_barrier),
            ("out", self.output.is_some() && is_barrier),
        ];
        if let Some((name, _)) = meaningless.into_iter().find(|&(_, is_given)| is_given) {
            return Err(Error::Usage(format!(
                "--{name} means nothing for --collective {kind}: leave it out"
            )));
        }
        if self.count == Some(0) {
            return Err(Error::Usage(
                "--count 0: of no elements nothing can be proved: give a number from 1 on, or leave it out"
                    .to_owned(),
            ));
        }
        let datatype = self.datatype.unwrap_or(if kind.combines() {
            Datatype::Int32
        } else {
            Datatype::UInt8
        });
        let function = function(kind, self.op, datatype)?;
        Ok(Some(Collective {
            kind,
            root: self.root.unwrap_or(0),
            function,
            datatype,
            count: self.count,
            blocks: self.blocks.blocks(kind)?,
            neighbors: self.blocks.neighbors(kind)?,
            input: self.input,
            output: self.output.unwrap_or(0),
        }))
    }
}

/// Returns the function of a collective, a sum by default.
pub(crate) fn function(
    kind: CollectiveKind,
    op: Option<Operation>,
    datatype: Datatype,
) -> Result<Function, Error> {
    match op.unwrap_or(Operation::Predefined(Op::Sum)) {
        Operation::User(number) => Ok(Function::User(number)),
        Operation::Predefined(op) if kind.combines() && !goal_lang::is_legal(op, datatype) => {
            let message =
                format!("--op {} is not defined for --type {}", op.name(), datatype.name());
            Err(Error::Usage(message))
        }
        Operation::Predefined(op) => Ok(Function::Predefined(op, datatype)),
    }
}

pub(crate) fn kind() -> impl TypedValueParser<Value = CollectiveKind> {
    named(&CollectiveKind::ALL, CollectiveKind::name)
}

pub(crate) fn datatype() -> impl TypedValueParser<Value = Datatype> {
    named(Datatype::ALL, Datatype::name)
}

/// Returns a parser of arguments that finds one of a table's entries by its name.
fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&entry| name(entry))).try_map(move |given| {
        all.iter().copied().find(|&entry| name(entry) == given).ok_or("no such name")
    })
}

pub(crate) fn operation(text: &str) -> Result<Operation, OperationError> {
    if let Some(number) = text.strip_prefix("user:") {
        return number.parse().map(Operation::User).map_err(|_| OperationError::NoNumber);
    }
    let found = combining().find(|op| op.name() == text);
    found.map(Operation::Predefined).ok_or_else(|| OperationError::Unknown {
        known: combining().map(Op::name).collect::<Vec<_>>().join(", "),
    })
}

/// Returns the predefined operations that can combine the inputs of ranks.
fn combining() -> impl Iterator<Item = Op> {
    Op::ALL.iter().copied().filter(|op| !matches!(op, Op::Copy | Op::Sub | Op::Div))
}

/// The reason why a text names no operation.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OperationError {
    #[error("give the number behind user:")]
    NoNumber,
    #[error("an associative operation is one of {known} or user:N")]
    Unknown { known: String },
}
