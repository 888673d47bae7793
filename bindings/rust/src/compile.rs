//! Compiles a graph to a schedule: runs the passes, encodes the binary form (NISA), and verifies
//! the result.

use crate::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result};
use crate::graph::Graph;
use goal_asm::{EncodeOptions, Nisa, encode};
use goal_engine::{Schedule, Seed};
use goal_lang::limits::Limits;
use goal_lang::{ANY, Action, Body, MemoryImage, Program, ProgramBuilder, Style, print};
use goal_opt::{Pipeline, Timings};
use std::sync::{Arc, OnceLock};

/// The passes for a graph of one rank. They need no knowledge of other ranks.
const PASSES: &str = "prune,join,topological";

/// The limits on a schedule from a graph: none, because its memory belongs to the program.
pub(crate) const NO_LIMITS: Limits =
    Limits { ranks_max: u32::MAX, memory_bytes_max: u64::MAX, scratch_bytes_max: u64::MAX };

/// A compiled graph, and the memory that its actions name.
#[derive(Debug, Clone)]
pub(crate) struct Compiled {
    pub(crate) schedule: Arc<Schedule>,
    /// The address of each buffer of the schedule's table. The declared buffers come first.
    pub(crate) bases: Vec<u64>,
    /// The number of declared buffers.
    pub(crate) declared: usize,
}

/// Compiles the graph of `rank` in a group of `ranks` ranks.
///
/// # Errors
/// Dependencies form a circle, a limit is exceeded, or declared buffers don't fit the actions.
pub(crate) fn compile(graph: &Graph, rank: u32, ranks: u32, seed: Seed) -> Result<Compiled> {
    let mut body = graph.body()?;
    let bases = body
        .make_table(graph.declared())
        .map_err(|error| Error::new(ErrorCode::Buffer, error.to_string()))?;
    let declared = graph.declared().len();
    let schedule = schedule(body, rank, ranks, seed)?;
    Ok(Compiled { schedule, bases, declared })
}

/// Compiles the actions of `rank`; the other ranks have none.
pub(crate) fn schedule(body: Body, rank: u32, ranks: u32, seed: Seed) -> Result<Arc<Schedule>> {
    schedule_from(body, None, rank, ranks, seed)
}

/// Compiles the actions of `rank`; the other ranks have none. `image` has the initial values of the
/// rank's memory.
pub(crate) fn schedule_from(
    body: Body,
    image: Option<MemoryImage>,
    rank: u32,
    ranks: u32,
    seed: Seed,
) -> Result<Arc<Schedule>> {
    let nisa = nisa_of(program_of(body, image, rank, ranks))?;
    Ok(Arc::new(Schedule::new(nisa, rank, seed)))
}

/// Compiles a program with the passes for graphs of one rank.
pub(crate) fn nisa_of(mut program: Program) -> Result<Arc<Nisa>> {
    goal_opt::run(&mut program, pipeline(), &mut Timings::default(), |_, _| {})
        .map_err(|error| Error::new(ErrorCode::Graph, error.to_string()))?;
    let mut bytes = Vec::new();
    let options = EncodeOptions { strip: true, threads: 1 };
    encode(&program, &options, None, &mut bytes)
        .map_err(|error| Error::new(ErrorCode::Limit, error.to_string()))?;
    let nisa = Nisa::load(Arc::new(bytes), &NO_LIMITS)
        .map_err(|error| Error::new(ErrorCode::Graph, error.to_string()))?;
    Ok(Arc::new(nisa))
}

/// Replaces the peers of all actions, which are ranks of `communicator`, by the corresponding ranks
/// of the group.
pub(crate) fn renumber(body: &mut Body, communicator: &Communicator) {
    for action in &mut body.actions {
        let (Action::Send { to: peer, .. } | Action::Recv { from: peer, .. }) = action else {
            continue;
        };
        if *peer != ANY {
            *peer = communicator.in_group(*peer).expect("the file has as many ranks");
        }
    }
}

/// Returns a program in which only `rank` has actions and initial values.
fn program_of(body: Body, image: Option<MemoryImage>, rank: u32, ranks: u32) -> Program {
    let mut program = ProgramBuilder::default();
    let image = image.map(|image| program.image(image));
    let own = program.body(body);
    let empty = program.body(Body::default());
    for other in 0..ranks {
        match other == rank {
            true => program.rank(own, image),
            false => program.rank(empty, None),
        }
    }
    program.finish()
}

/// Writes the binary form of the schedule of `rank` alone. The actions stay in their order.
///
/// # Errors
/// A limit of the format is exceeded.
pub(crate) fn write_alone(nisa: &Nisa, rank: u32, bytes: &mut Vec<u8>) -> Result<()> {
    // A graph's schedule has one other section, which is empty.
    if nisa.num_sections() <= 2 {
        bytes.extend_from_slice(nisa.bytes());
        return Ok(());
    }
    let body = nisa.decode().body_of(rank).clone();
    let options = EncodeOptions { strip: true, threads: 1 };
    encode(&program_of(body, None, rank, nisa.num_ranks()), &options, None, bytes)
        .map_err(|error| Error::new(ErrorCode::Limit, error.to_string()))
}

/// Returns the actions of `rank` as GOAL text. In the text each buffer of the table has bytes of
/// its own.
pub(crate) fn text(body: Body, rank: u32, ranks: u32) -> String {
    let mut text = Vec::new();
    let program = program_of(body.flattened(), None, rank, ranks);
    print(&program, Style::Schedgen, &mut text).expect("a vector takes every byte");
    String::from_utf8(text).expect("programs are text")
}

fn pipeline() -> &'static Pipeline {
    static PIPELINE: OnceLock<Pipeline> = OnceLock::new();
    PIPELINE.get_or_init(|| Pipeline::parse(PASSES).expect("the names of passes"))
}
