//! Graphs over the memory of Python objects.

use crate::buffer::Export;
use crate::error::{IntoPy, argument, raised};
use crate::function;
use crate::group::{Communicator, communicator_of};
use crate::life;
use crate::operand::{Operand, Scratch, common_element, operation};
use crate::schedule::{Code, Compiled, Schedule};
use goal::raw::{self, Data};
use goal::{ANY, Datatype, ErrorCode, Op};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Scratch memory of a graph is given out in multiples of this number of bytes.
const SCRATCH_ALIGN: u64 = 64;

/// An action of a graph.
#[pyclass(module = "goal", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Vertex {
    graph: u64,
    vertex: raw::Vertex,
}

#[pymethods]
impl Vertex {
    /// The place among the actions of its graph, from 0 on.
    #[getter]
    fn index(&self) -> u64 {
        (self.vertex.to_number() & u64::from(u32::MAX)) - 1
    }

    fn __repr__(&self) -> String {
        format!("<goal.Vertex {}>", self.index())
    }
}

/// Actions of this rank, and which of them must end before which may start. `Group.graph` makes it.
///
/// Buffers are objects with the buffer protocol (numpy arrays, bytearrays, memoryviews), contiguous
/// and, where an action writes them, writable; parts of scratch memory; or lists of these. A graph
/// and its schedules keep them.
#[pyclass(module = "goal")]
pub(crate) struct Graph {
    id: u64,
    graph: raw::Graph,
    scratch: u64,
    exports: Vec<Arc<Export>>,
    /// For each object, the places of its exports.
    known: HashMap<usize, Vec<usize>>,
    writes: bool,
}

impl Graph {
    fn keep(&mut self, exports: Vec<Export>, writes: bool) {
        self.writes |= writes && !exports.is_empty();
        for export in exports {
            let known = self.known.entry(export.owner()).or_default();
            if !known.iter().any(|&at| self.exports[at].is_same(&export)) {
                known.push(self.exports.len());
                self.exports.push(Arc::new(export));
            }
        }
    }

    /// Returns the vertices of an `after`.
    fn befores(&self, after: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<raw::Vertex>> {
        let Some(after) = after else { return Ok(Vec::new()) };
        if let Ok(vertex) = after.cast::<Vertex>() {
            return Ok(vec![self.own(vertex)?]);
        }
        let mut all = Vec::new();
        for vertex in after.try_iter()? {
            all.push(self.own(vertex?.cast::<Vertex>()?)?);
        }
        Ok(all)
    }

    fn own(&self, vertex: &Bound<'_, Vertex>) -> PyResult<raw::Vertex> {
        let known = vertex.get();
        if known.graph != self.id {
            let text = "the vertex is of another graph";
            return Err(raised(vertex.py(), ErrorCode::Vertex, text));
        }
        Ok(known.vertex)
    }

    /// Adds an action and its dependencies. Nothing is added if one of the arguments is wrong.
    fn add<const N: usize>(
        &mut self,
        py: Python<'_>,
        after: Option<&Bound<'_, PyAny>>,
        operands: [(Operand, bool); N],
        action: impl FnOnce(&mut raw::Graph, [Data<'_>; N]) -> goal::Result<raw::Vertex>,
    ) -> PyResult<Vertex> {
        let befores = self.befores(after)?;
        let data = std::array::from_fn(|at| operands[at].0.data());
        let vertex = action(&mut self.graph, data).into_py(py)?;
        for before in befores {
            self.graph.requires(before, vertex).into_py(py)?;
        }
        for (operand, writes) in operands {
            self.keep(operand.exports, writes);
        }
        Ok(Vertex { graph: self.id, vertex })
    }

    fn operand(&self, object: &Bound<'_, PyAny>, writes: bool, name: &str) -> PyResult<Operand> {
        Operand::new(object, self.id, writes, name)
    }
}

/// Returns a number of 32 bits.
fn number(py: Python<'_>, value: i64, what: &str, code: ErrorCode) -> PyResult<u32> {
    u32::try_from(value).map_err(|_| raised(py, code, &format!("there is no {what} {value}")))
}

#[pymethods]
impl Graph {
    #[new]
    #[pyo3(signature = (comm = None))]
    fn new(py: Python<'_>, comm: Option<&Bound<'_, Communicator>>) -> PyResult<Self> {
        // Relaxed: only the number matters.
        static GRAPHS: AtomicU64 = AtomicU64::new(0);
        let communicator = communicator_of(py, comm)?;
        Ok(Self {
            id: GRAPHS.fetch_add(1, Ordering::Relaxed),
            graph: raw::Graph::new(&communicator),
            scratch: 0,
            exports: Vec::new(),
            known: HashMap::new(),
            writes: false,
        })
    }

    /// Adds a message to rank `to`.
    #[pyo3(signature = (data, to, tag = 0, *, after = None))]
    fn send(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        to: i64,
        tag: i64,
        after: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vertex> {
        let to = number(py, to, "rank", ErrorCode::Rank)?;
        let tag = number(py, tag, "tag", ErrorCode::Tag)?;
        let data = self.operand(data, false, "data")?;
        self.add(py, after, [(data, false)], |graph, [data]| graph.send(data, to, tag))
    }

    /// Adds the receipt of a message of rank `source`, which has the size of the buffer. `source`
    /// and `tag` may be `goal.ANY`.
    #[pyo3(signature = (data, source, tag = 0, *, after = None))]
    fn recv(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        source: i64,
        tag: i64,
        after: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vertex> {
        let source = number(py, source, "rank", ErrorCode::Rank)?;
        let tag = number(py, tag, "tag", ErrorCode::Tag)?;
        let data = self.operand(data, true, "data")?;
        self.add(py, after, [(data, true)], |graph, [data]| graph.recv(data, source, tag))
    }

    /// Adds a local operation: `out = a op b`, element by element. The operands may be the same
    /// bytes, and must not overlap partly. The type is that of the buffers' elements, or `dtype`.
    #[pyo3(signature = (op, a, b, out, *, dtype = None, after = None))]
    #[allow(clippy::too_many_arguments)] // the arguments of the operation
    fn op(
        &mut self,
        py: Python<'_>,
        op: &str,
        a: &Bound<'_, PyAny>,
        b: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        after: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vertex> {
        let [a, b] = [self.operand(a, false, "a")?, self.operand(b, false, "b")?];
        let out = self.operand(out, true, "out")?;
        let exports = [&a, &b, &out].into_iter().flat_map(|operand| &operand.exports);
        let element = common_element(py, exports, dtype)?;
        let op = operation(py, op, element)?;
        if op == Op::Copy {
            return Err(argument(py, "a copy has one operand: use Graph.copy"));
        }
        self.add(py, after, [(a, false), (b, false), (out, true)], |graph, [a, b, out]| {
            graph.local_op(op, element.datatype, a, b, out)
        })
    }

    /// Adds a copy of the bytes of `data` to `out`.
    #[pyo3(signature = (data, out, *, after = None))]
    fn copy(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
        after: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vertex> {
        let [data, out] = [self.operand(data, false, "data")?, self.operand(out, true, "out")?];
        self.add(py, after, [(data, false), (out, true)], |graph, [data, out]| {
            graph.local_op(Op::Copy, Datatype::UInt8, data, data, out)
        })
    }

    /// Adds an operation that stores the time in seconds, as a float of 8 bytes.
    #[pyo3(signature = (out, *, after = None))]
    fn wtime(
        &mut self,
        py: Python<'_>,
        out: &Bound<'_, PyAny>,
        after: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vertex> {
        let out = self.operand(out, true, "out")?;
        let piece = out.piece(py, "out")?;
        self.add(py, after, [(out, true)], |graph, _| graph.wtime(piece))
    }

    /// Adds a call of a function that `Group.register` has registered. It gets both buffers as
    /// views of bytes, and may change both.
    #[pyo3(signature = (function, a, b, *, after = None))]
    fn call(
        &mut self,
        py: Python<'_>,
        function: i64,
        a: &Bound<'_, PyAny>,
        b: &Bound<'_, PyAny>,
        after: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vertex> {
        let function = function::number(py, function)?;
        let [a, b] = [self.operand(a, true, "a")?, self.operand(b, true, "b")?];
        self.add(py, after, [(a, true), (b, true)], |graph, [a, b]| graph.user(function, a, b))
    }

    /// Adds a computation of `nanoseconds` nanoseconds, for models of applications. It keeps no
    /// processor busy.
    #[pyo3(signature = (nanoseconds, *, after = None))]
    fn calc(
        &mut self,
        py: Python<'_>,
        nanoseconds: i64,
        after: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vertex> {
        let nanos = u64::try_from(nanoseconds).map_err(|_| {
            raised(py, ErrorCode::Count, &format!("a computation of {nanoseconds} nanoseconds"))
        })?;
        self.add(py, after, [], |graph, []| graph.calc(nanos))
    }

    /// Adds an action that does nothing and only carries dependencies.
    #[pyo3(signature = (*, after = None))]
    fn nop(&mut self, py: Python<'_>, after: Option<&Bound<'_, PyAny>>) -> PyResult<Vertex> {
        self.add(py, after, [], |graph, []| graph.nop())
    }

    /// Returns further scratch memory, which each run gets for itself. Its content is not defined
    /// at the start of a run. A slice of it names a part.
    fn scratch(&mut self, py: Python<'_>, bytes: i64) -> PyResult<Scratch> {
        let bytes = u64::try_from(bytes).map_err(|_| {
            raised(py, ErrorCode::Count, &format!("scratch memory of {bytes} bytes"))
        })?;
        let offset = self.scratch;
        let end = bytes.checked_next_multiple_of(SCRATCH_ALIGN);
        let end = end.and_then(|bytes| offset.checked_add(bytes)).ok_or_else(|| {
            raised(py, ErrorCode::Count, "scratch memory of more than 2^64 bytes")
        })?;
        self.scratch = end;
        self.graph.allocate_scratch(end);
        Ok(Scratch { graph: self.id, offset, bytes })
    }

    /// Adds a dependency: `after` may start only when `before` is complete.
    fn requires(
        &mut self,
        py: Python<'_>,
        before: &Bound<'_, Vertex>,
        after: &Bound<'_, Vertex>,
    ) -> PyResult<()> {
        let [before, after] = [self.own(before)?, self.own(after)?];
        self.graph.requires(before, after).into_py(py)
    }

    /// Adds a dependency: `after` may start only when `before` has started.
    fn requires_start(
        &mut self,
        py: Python<'_>,
        before: &Bound<'_, Vertex>,
        after: &Bound<'_, Vertex>,
    ) -> PyResult<()> {
        let [before, after] = [self.own(before)?, self.own(after)?];
        self.graph.requires_start(before, after).into_py(py)
    }

    /// Compiles the graph. It stays as it is, and can be changed and compiled again.
    fn compile(&self, py: Python<'_>) -> PyResult<Schedule> {
        let graph = &self.graph;
        let code = life::detached(py, || raw::Schedule::compile(graph))?;
        Ok(Compiled::schedule(Code::Own(code), self.exports.clone(), self.writes))
    }

    /// Returns the graph as the text of this rank in the language GOAL. Each array has bytes of its
    /// own in the rank's memory there.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let graph = &self.graph;
        life::detached(py, || graph.text())
    }

    /// The number of actions.
    fn __len__(&self) -> usize {
        self.graph.len()
    }

    fn __repr__(&self) -> String {
        format!("<goal.Graph of {} actions>", self.graph.len())
    }
}

const _: () = assert!(ANY == u32::MAX);
