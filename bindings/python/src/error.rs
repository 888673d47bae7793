//! Errors of the toolchain as the exception `goal.Error`.

use goal::{Error, ErrorCode};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Calls of the C interface that texts name, and the same in Python.
const NAMES: &[(&str, &str)] = &[
    ("GOAL_Allow_func", "functions of goal.load"),
    ("GOAL_AllocateScratchpad", "Graph.scratch"),
    ("GOAL_Comm_create_graph", "Group.graph_communicator"),
    ("GOAL_Init", "goal.init"),
    ("GOAL_Reg_func", "Group.register"),
    ("GOAL_Run", "Schedule.run"),
    ("GOAL_Wait", "Run.wait"),
];

/// Returns the exception with this text.
pub(crate) fn raised(py: Python<'_>, code: ErrorCode, text: &str) -> PyErr {
    static ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let mut text = text.to_owned();
    for (c, python) in NAMES {
        if text.contains(c) {
            text = text.replace(c, python);
        }
    }
    match ERROR.import(py, "goal._error", "Error") {
        Ok(class) => PyErr::from_type(class.clone(), (text, code.name())),
        Err(error) => error,
    }
}

/// Returns an exception for a wrong argument.
pub(crate) fn argument(py: Python<'_>, text: &str) -> PyErr {
    raised(py, ErrorCode::Argument, text)
}

/// A result that becomes one of Python.
pub(crate) trait IntoPy<T> {
    /// Returns the value, or the exception.
    fn into_py(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> IntoPy<T> for goal::Result<T> {
    fn into_py(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error: Error| raised(py, error.code(), &error.to_string()))
    }
}
