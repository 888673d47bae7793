//! The native part of the Python package `goal`: graphs, schedules, runs and collectives of crate
//! `goal` on any memory that Python objects export. `goal/` has the part in Python.
//!
//! Some calls may wait, or take the engine lock. They let other Python threads run meanwhile
//! ([`life::detached`]), because functions at the end of runs need the interpreter.

mod blocks;
mod buffer;
mod collective;
mod error;
mod function;
mod graph;
mod group;
mod heap;
mod life;
mod operand;
mod schedule;
mod simulation;
mod text;

use pyo3::prelude::*;

/// The native part of the package.
#[pymodule]
fn _goal(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<graph::Graph>()?;
    module.add_class::<graph::Vertex>()?;
    module.add_class::<operand::Scratch>()?;
    module.add_class::<schedule::Schedule>()?;
    module.add_class::<schedule::Run>()?;
    module.add_class::<group::Communicator>()?;
    module.add_class::<heap::Block>()?;
    module.add("ANY", goal::ANY)?;
    module.add("OPERATIONS", goal::Op::ALL.iter().map(|op| op.name()).collect::<Vec<_>>())?;
    module.add("ERROR_CODES", goal::ErrorCode::ALL.iter().map(|c| c.name()).collect::<Vec<_>>())?;
    module.add_function(wrap_pyfunction!(group::init, module)?)?;
    module.add_function(wrap_pyfunction!(group::finalize, module)?)?;
    module.add_function(wrap_pyfunction!(group::progress, module)?)?;
    module.add_function(wrap_pyfunction!(group::graph_communicator, module)?)?;
    module.add_function(wrap_pyfunction!(function::register, module)?)?;
    module.add_function(wrap_pyfunction!(group::is_initialized, module)?)?;
    module.add_function(wrap_pyfunction!(group::is_finalized, module)?)?;
    module.add_function(wrap_pyfunction!(collective::collective, module)?)?;
    module.add_function(wrap_pyfunction!(schedule::load, module)?)?;
    module.add_function(wrap_pyfunction!(text::check_texts, module)?)?;
    module.add_function(wrap_pyfunction!(text::compile_text, module)?)?;
    module.add_function(wrap_pyfunction!(simulation::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(life::close, module)?)?;
    Ok(())
}
