//! Functions of the program as local operations.
//!
//! A function is called while the rank's end of the job is locked, so a call of this package within
//! it could never return: it raises an exception. An object that the interpreter destroys meanwhile
//! is let go later (`life::dropping`).

use crate::error::argument;
use crate::life;
use goal::Group;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyMemoryView};
use std::sync::{Mutex, PoisonError};

/// The functions by their numbers.
static FUNCTIONS: Mutex<Vec<Py<PyAny>>> = Mutex::new(Vec::new());
/// The first exception that a function raised and nobody has seen.
static RAISED: Mutex<Option<PyErr>> = Mutex::new(None);

/// Registers a function, which computes `b = a f b`, and returns its number. The same function has
/// the same number.
#[pyfunction]
#[pyo3(name = "_register")]
pub(crate) fn register(py: Python<'_>, function: Bound<'_, PyAny>) -> PyResult<u32> {
    if !function.is_callable() {
        return Err(argument(py, "the function can't be called"));
    }
    let number = {
        let mut functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = functions.iter().position(|known| known.is(&function)) {
            return Ok(at as u32);
        }
        functions.push(function.clone().unbind());
        functions.len() as u32 - 1
    };
    let function = function.unbind();
    life::detached(py, || {
        Group::current()?.register(number, move |a, b| {
            life::in_python(|py| {
                if let Err(error) = call(py, &function, a, b) {
                    RAISED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            });
        })
    })?;
    Ok(number)
}

/// Calls a function on copies, so that what it keeps of them never becomes other memory.
fn call(py: Python<'_>, function: &Py<PyAny>, a: &mut [u8], b: &mut [u8]) -> PyResult<()> {
    let copies = [PyByteArray::new(py, a), PyByteArray::new(py, b)];
    // A bytearray with a view keeps its size.
    let [first, second] = copies.each_ref().map(|copy| PyMemoryView::from(copy.as_any()));
    let (first, second) = (first?, second?);
    function.bind(py).call1((&first, &second))?;
    a.copy_from_slice(&copies[0].to_vec());
    b.copy_from_slice(&copies[1].to_vec());
    Ok(())
}

/// Returns the number of a registered function.
///
/// # Errors
/// There is no such function.
pub(crate) fn number(py: Python<'_>, number: i64) -> PyResult<u32> {
    let count = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner).len();
    u32::try_from(number).ok().filter(|&number| (number as usize) < count).ok_or_else(|| {
        argument(py, &format!("there is no function {number}: Group.register returns numbers"))
    })
}

/// Returns the exception that a function raised, once.
///
/// # Errors
/// It is the result.
pub(crate) fn seen() -> PyResult<()> {
    match RAISED.lock().unwrap_or_else(PoisonError::into_inner).take() {
        None => Ok(()),
        Some(error) => Err(error),
    }
}
