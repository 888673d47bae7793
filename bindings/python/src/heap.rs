//! Memory that the ranks of a host share, for numpy arrays.

use crate::error::raised;
use crate::life;
use goal::{ErrorCode, Group};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Memory of the job's shared heap, which numpy takes as an array of bytes. It is freed with the
/// last array over it.
#[pyclass(module = "goal._goal", name = "_Block", frozen)]
pub(crate) struct Block {
    address: usize,
    bytes: usize,
}

#[pymethods]
impl Block {
    #[new]
    fn new(py: Python<'_>, bytes: i64) -> PyResult<Self> {
        let bytes = usize::try_from(bytes).map_err(|_| {
            raised(py, ErrorCode::Count, &format!("an array of {bytes} bytes can't be"))
        })?;
        let block = life::detached(py, || {
            let block = Group::current()?.allocate(bytes)?;
            Ok(block.as_ptr().expose_provenance())
        });
        Ok(Self { address: block?, bytes })
    }

    /// The memory, as numpy's array interface describes it.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (self.bytes,))?;
        interface.set_item("typestr", "|u1")?;
        interface.set_item("data", (self.address, false))?;
        Ok(interface)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // A fork has the heap in common with its parent, and after the end nothing needs the room.
        if !life::is_forked()
            && let Ok(group) = Group::current()
        {
            let _ = group.free(self.address);
        }
    }
}
