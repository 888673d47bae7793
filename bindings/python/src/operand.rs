//! The arguments of actions: buffers, scratch memory, lists of them, types and operations.

use crate::buffer::{Export, datatype};
use crate::error::{argument, raised};
use goal::raw::{Data, memory, scratch};
use goal::{Datatype, ErrorCode, Op};
use goal_lang::Piece;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyTuple};

/// Scratch memory of a graph, which each run gets for itself; `Graph.scratch` makes it. A slice of
/// it names a part.
#[pyclass(module = "goal", frozen)]
pub(crate) struct Scratch {
    /// The graph.
    pub(crate) graph: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

#[pymethods]
impl Scratch {
    fn __len__(&self) -> usize {
        self.bytes as usize
    }

    fn __getitem__(&self, part: &Bound<'_, PySlice>) -> PyResult<Self> {
        let part = part.indices(self.bytes as isize)?;
        if part.step != 1 {
            return Err(PyIndexError::new_err("a part of scratch memory is consecutive: step 1"));
        }
        let bytes = (part.stop - part.start).max(0) as u64;
        Ok(Self { graph: self.graph, offset: self.offset + part.start as u64, bytes })
    }

    fn __repr__(&self) -> String {
        format!("<goal.Scratch: {} bytes at {}>", self.bytes, self.offset)
    }
}

/// The type of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) datatype: Datatype,
    pub(crate) is_bool: bool,
}

/// An argument of an action.
pub(crate) struct Operand {
    pieces: Vec<Piece>,
    is_list: bool,
    /// The exported memory.
    pub(crate) exports: Vec<Export>,
}

impl Operand {
    /// Takes an argument: a buffer, scratch memory of the graph, or a list of these.
    ///
    /// # Errors
    /// It is none of these, or exports no such memory.
    pub(crate) fn new(
        object: &Bound<'_, PyAny>,
        graph: u64,
        writes: bool,
        name: &str,
    ) -> PyResult<Self> {
        let is_list = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
        let mut operand = Self { pieces: Vec::new(), is_list, exports: Vec::new() };
        if is_list {
            for (number, part) in object.try_iter()?.enumerate() {
                operand.add(&part?, graph, writes, &format!("piece {number} of {name}"))?;
            }
        } else {
            operand.add(object, graph, writes, name)?;
        }
        Ok(operand)
    }

    fn add(
        &mut self,
        object: &Bound<'_, PyAny>,
        graph: u64,
        writes: bool,
        name: &str,
    ) -> PyResult<()> {
        if let Ok(part) = object.cast::<Scratch>() {
            let part = part.get();
            if part.graph != graph {
                let text = format!("{name} is scratch memory of another graph");
                return Err(raised(object.py(), ErrorCode::Buffer, &text));
            }
            self.pieces.push(scratch(part.offset, part.bytes));
            return Ok(());
        }
        let export = Export::new(object, writes, name)?;
        self.pieces.push(memory(export.address(), export.len() as u64));
        self.exports.push(export);
        Ok(())
    }

    /// The bytes.
    pub(crate) fn data(&self) -> Data<'_> {
        if self.is_list { Data::Many(&self.pieces) } else { Data::One(self.pieces[0]) }
    }

    /// The bytes, which must be consecutive.
    ///
    /// # Errors
    /// It is a list.
    pub(crate) fn piece(&self, py: Python<'_>, name: &str) -> PyResult<Piece> {
        if self.is_list {
            return Err(argument(py, &format!("{name} is a list: give one buffer")));
        }
        Ok(self.pieces[0])
    }
}

/// Returns the type of the elements of an object.
///
/// # Errors
/// Schedules do not compute with it.
pub(crate) fn element(py: Python<'_>, export: &Export) -> PyResult<Element> {
    let format = export.format();
    let found = datatype(&format, export.width());
    let (datatype, is_bool) = found.ok_or_else(|| {
        let text = format!(
            "elements with the format {format:?} are none that schedules compute with: give \
             integers of 1, 2, 4 or 8 bytes, or floats of 4 or 8, in the order of this machine"
        );
        raised(py, ErrorCode::Datatype, &text)
    })?;
    Ok(Element { datatype, is_bool })
}

/// Returns the type that a `dtype` names: a string, or an object with a name as those of numpy.
///
/// # Errors
/// There is no such type.
pub(crate) fn named_element(dtype: &Bound<'_, PyAny>) -> PyResult<Element> {
    let name = match dtype.extract::<String>() {
        Ok(name) => name,
        Err(_) => match dtype.getattr("name").or_else(|_| dtype.getattr("__name__")) {
            Ok(name) => name.extract()?,
            Err(_) => dtype.str()?.to_string(),
        },
    };
    let is_bool = name == "bool";
    let wanted = if is_bool { "uint8" } else { name.as_str() };
    let found = Datatype::ALL.iter().find(|known| known.name().eq_ignore_ascii_case(wanted));
    let datatype = *found.ok_or_else(|| {
        let names: Vec<String> =
            Datatype::ALL.iter().map(|known| known.name().to_lowercase()).collect();
        let text = format!("there is no type {name:?}: types are {}", names.join(", "));
        raised(dtype.py(), ErrorCode::Datatype, &text)
    })?;
    Ok(Element { datatype, is_bool })
}

/// Returns the type of all elements of several operands: the given one, or that of the buffers.
///
/// # Errors
/// They differ, or there is no buffer.
pub(crate) fn common_element<'a>(
    py: Python<'_>,
    exports: impl Iterator<Item = &'a Export>,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<Element> {
    if let Some(dtype) = dtype {
        return named_element(dtype);
    }
    let mut first: Option<Element> = None;
    for export in exports {
        let found = element(py, export)?;
        match first {
            None => first = Some(found),
            Some(first) if first.datatype == found.datatype => {}
            Some(first) => {
                let text = format!(
                    "the buffers have elements of {} and {}",
                    first.datatype.name().to_lowercase(),
                    found.datatype.name().to_lowercase()
                );
                return Err(raised(py, ErrorCode::Datatype, &text));
            }
        }
    }
    first.ok_or_else(|| {
        let text = "the type of the elements is not known: give dtype, or a buffer that has one";
        raised(py, ErrorCode::Datatype, text)
    })
}

/// Returns the operation with a name.
///
/// # Errors
/// There is none, or not for truth values.
pub(crate) fn operation(py: Python<'_>, name: &str, element: Element) -> PyResult<Op> {
    let found = Op::ALL.iter().find(|op| op.name() == name);
    let op = *found.ok_or_else(|| {
        let names: Vec<&str> = Op::ALL.iter().map(|op| op.name()).collect();
        let text = format!("there is no operation {name:?}: operations are {}", names.join(", "));
        raised(py, ErrorCode::Operation, &text)
    })?;
    if element.is_bool && matches!(op, Op::Sum | Op::Prod | Op::Sub | Op::Div) {
        let text = format!("{name} of truth values is none: use lor, land or lxor, or integers");
        return Err(raised(py, ErrorCode::Operation, &text));
    }
    Ok(op)
}
