//! Collectives on the memory of Python objects.
//!
//! The sizes of blocks follow from the arrays by MPI's rules (version 4, chapter 6), or from lists
//! of counts. Before anything runs, the arrays are compared with the bytes that this rank's
//! schedule uses.

use crate::blocks::{Listed, blocks};
use crate::buffer::{Export, datatype};
use crate::error::{argument, raised};
use crate::function;
use crate::group::Communicator;
use crate::life;
use crate::operand::{common_element, operation};
use crate::schedule::{Code, Compiled, Schedule};
use goal::{Blocks, Collective, CollectiveKind as Kind, Datatype, ErrorCode, Function, Op};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use std::sync::Arc;

/// The arrays of a call.
struct Arrays {
    input: Option<Export>,
    output: Option<Export>,
}

/// Returns a collective on these arrays: one to send and one to receive. The first is `None` if the
/// collective works in place, or if this rank sends nothing. The second is `None` if this rank
/// receives nothing. The arrays of other ranks must fit. The operation is a name, or the number of
/// a registered function. If blocks differ, `lists` has the counts and displacements of the blocks
/// to send and of those to receive.
#[pyfunction]
#[pyo3(name = "_collective", signature = (comm, kind, arrays, op, root, lists = None))]
pub(crate) fn collective(
    py: Python<'_>,
    comm: &Bound<'_, Communicator>,
    kind: &str,
    arrays: (Option<Bound<'_, PyAny>>, Option<Bound<'_, PyAny>>),
    op: &Bound<'_, PyAny>,
    root: i64,
    lists: Option<Listed>,
) -> PyResult<Schedule> {
    let kind = *Kind::ALL
        .iter()
        .find(|known| known.name() == kind)
        .ok_or_else(|| argument(py, &format!("there is no collective {kind:?}")))?;
    let communicator = comm.get();
    let (rank, size) = (communicator.inner().rank(), communicator.inner().size());
    let root = u32::try_from(root).ok().filter(|&root| root < size).ok_or_else(|| {
        raised(py, ErrorCode::Rank, &format!("the root is rank {root}, and there are {size}"))
    })?;
    let is_root = rank == root;
    // Arrays that only the root has.
    let (send, recv) = arrays;
    let send = send.filter(|_| kind != Kind::Scatter || is_root);
    let recv = recv.filter(|_| !matches!(kind, Kind::Reduce | Kind::Gather) || is_root);
    let input = send.map(|send| Export::new(&send, false, "send")).transpose()?;
    let output = recv.map(|recv| Export::new(&recv, true, "recv")).transpose()?;
    let mut arrays = Arrays { input, output };
    arrays.check(py, kind, is_root, communicator.inner())?;
    // The root of a scatter that keeps its part where it is gets it in hidden memory too.
    let in_place = arrays.input.is_none()
        && !kind.has_neighbors()
        && !matches!(kind, Kind::Barrier | Kind::Scatter);
    let (unit, datatype, function) = arrays.operation(py, kind, op)?;
    let (count, blocks) = match &lists {
        None => (arrays.count(py, kind, communicator.inner(), unit)?, Blocks::Equal),
        Some(lists) => {
            let own = if kind == Kind::Scatter { &arrays.output } else { &arrays.input };
            let own = own.as_ref().map_or(0, |own| (own.len() / own.width()) as u64);
            let own = (!in_place).then_some(own);
            let inner = communicator.inner();
            (0, blocks(py, kind, lists, inner, root, own, arrays.scales(unit))?)
        }
    };
    let wanted = Collective { kind, count, datatype, function, root, in_place };
    let collective = life::detached(py, || communicator.collective(&wanted, &blocks))?;
    let lengths = collective.schedule().buffers();
    let output_length = lengths.last().copied().unwrap_or(0);
    let input_length = if in_place { 0 } else { lengths.first().copied().unwrap_or(0) };
    if arrays.output.is_none() && output_length > 0 {
        // A part of the root's own, or memory that the algorithm needs at other ranks.
        let hidden = PyByteArray::new(py, &vec![0; output_length as usize]);
        arrays.output = Some(Export::new(hidden.as_any(), true, "recv")?);
    }
    for (export, length, name) in
        [(&arrays.input, input_length, "send"), (&arrays.output, output_length, "recv")]
    {
        let bytes = export.as_ref().map_or(0, Export::len) as u64;
        if bytes < length {
            let text = format!("{name} has {bytes} bytes, and rank {rank} needs {length}");
            return Err(raised(py, ErrorCode::Buffer, &text));
        }
    }
    let address = |export: &Option<Export>| export.as_ref().map_or(0, Export::address);
    let (input, output) = (address(&arrays.input), address(&arrays.output));
    let ends = (input as u64 + input_length, output as u64 + output_length);
    if input_length > 0 && output_length > 0 && (input as u64) < ends.1 && (output as u64) < ends.0
    {
        let text = "send and recv have bytes in common: give goal.IN_PLACE as send, with the input \
                    in recv";
        return Err(raised(py, ErrorCode::Buffer, text));
    }
    let exports = [arrays.input, arrays.output].into_iter().flatten().map(Arc::new).collect();
    Ok(Compiled::schedule(
        Code::Collective { collective, input, output },
        exports,
        output_length > 0,
    ))
}

impl Arrays {
    /// Checks that the arrays are there that this rank needs.
    fn check(
        &self,
        py: Python<'_>,
        kind: Kind,
        is_root: bool,
        communicator: &goal::Communicator,
    ) -> PyResult<()> {
        let neighbors = communicator.neighbors();
        let needs_send = match kind {
            Kind::Reduce | Kind::Gather => !is_root,
            Kind::Scatter => is_root,
            _ if kind.has_neighbors() => neighbors.is_some_and(|all| !all.destinations.is_empty()),
            _ => false,
        };
        let needs_recv = match kind {
            Kind::Barrier => false,
            Kind::Reduce | Kind::Gather => is_root,
            Kind::Scatter => !is_root,
            _ if kind.has_neighbors() => neighbors.is_some_and(|all| !all.sources.is_empty()),
            _ => true,
        };
        for (is_missing, name) in [
            (needs_send && self.input.is_none(), "send"),
            (needs_recv && self.output.is_none(), "recv"),
        ] {
            if is_missing {
                let part = if is_root { "the root" } else { "a rank that is not the root" };
                let part = if kind.has_root() { part } else { "every rank" };
                let text = format!("{kind}: {part} gives an array as {name}");
                return Err(raised(py, ErrorCode::Buffer, &text));
            }
        }
        Ok(())
    }

    /// Returns the bytes of a unit that is counted, its type and the operation.
    fn operation(
        &self,
        py: Python<'_>,
        kind: Kind,
        op: &Bound<'_, PyAny>,
    ) -> PyResult<(u64, Datatype, Function)> {
        let both = [&self.input, &self.output].into_iter().flatten();
        if kind.combines() {
            let element = common_element(py, both, None)?;
            let function = match op.extract::<i64>() {
                Ok(number) => Function::User(function::number(py, number)?),
                Err(_) => {
                    let op = operation(py, &op.extract::<String>()?, element)?;
                    Function::Predefined(op, element.datatype)
                }
            };
            return Ok((element.datatype.width(), element.datatype, function));
        }
        let types: Vec<_> = both
            .filter_map(|export| datatype(&export.format(), export.width()))
            .filter(|(datatype, _)| datatype.width() > 1)
            .collect();
        if types.len() == 2 && types[0] != types[1] {
            let [send, recv] =
                [types[0], types[1]].map(|(datatype, _)| datatype.name().to_lowercase());
            let text = format!("send has elements of {send}, and recv of {recv}");
            return Err(raised(py, ErrorCode::Datatype, &text));
        }
        Ok((1, Datatype::UInt8, Function::Predefined(Op::Sum, Datatype::UInt8)))
    }

    /// Returns the units of an element: of what is sent, and of what is received.
    fn scales(&self, unit: u64) -> [u64; 2] {
        let width = |export: &Option<Export>| export.as_ref().map(|export| export.width() as u64);
        let (sent, received) = (width(&self.input), width(&self.output));
        [sent.or(received), received.or(sent)].map(|width| width.unwrap_or(unit) / unit)
    }

    /// Returns the units of a block, if all blocks are equal.
    fn count(
        &self,
        py: Python<'_>,
        kind: Kind,
        communicator: &goal::Communicator,
        unit: u64,
    ) -> PyResult<u64> {
        let size = communicator.size() as usize;
        let (sources, destinations) = match communicator.neighbors() {
            Some(all) => (all.sources.len(), all.destinations.len()),
            None => (0, 0),
        };
        // The array that states the number of elements, and its number of blocks.
        let (export, blocks) = match (&self.input, &self.output) {
            (None, None) => return Ok(1),
            (Some(input), output) => match (kind, output) {
                (Kind::Scatter | Kind::ReduceScatter, Some(output)) => (output, 1),
                (Kind::Scatter | Kind::Alltoall, _) => (input, size),
                (Kind::NeighborAlltoall, _) if destinations > 0 => (input, destinations),
                (Kind::NeighborAlltoall, Some(output)) => (output, sources),
                _ => (input, 1),
            },
            (None, Some(output)) => match kind {
                Kind::Gather | Kind::Allgather | Kind::Alltoall | Kind::ReduceScatter => {
                    (output, size)
                }
                _ if kind.has_neighbors() => (output, sources),
                _ => (output, 1),
            },
        };
        // A rank without neighbours has no block.
        let blocks = blocks.max(1);
        let elements = export.len() / export.width();
        if elements % blocks != 0 {
            let text = format!("{elements} elements are not {blocks} blocks of equal size");
            return Err(raised(py, ErrorCode::Count, &text));
        }
        Ok((elements / blocks * export.width()) as u64 / unit)
    }
}
