//! Schedules and their runs.
#![allow(unsafe_code)] // schedules run on the memory that exports hold

use crate::buffer::Export;
use crate::error::{IntoPy, argument, raised};
use crate::function;
use crate::group::{Communicator, communicator_of};
use crate::life;
use goal::raw::{self, Ticket};
use goal::{ErrorCode, Group, Mode, Persistent};
use goal_engine::memory::Region;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ptr::with_exposed_provenance_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A compiled schedule.
pub(crate) enum Code {
    /// Of a graph or a file.
    Own(raw::Schedule),
    /// A collective, on these addresses.
    Collective { collective: Arc<Persistent>, input: usize, output: usize },
}

impl Code {
    fn schedule(&self) -> &raw::Schedule {
        match self {
            Code::Own(schedule) => schedule,
            Code::Collective { collective, .. } => collective.schedule(),
        }
    }
}

/// A compiled schedule and the memory that its runs use.
pub(crate) struct Compiled {
    /// `None` only while it is dropped.
    code: Option<Code>,
    /// The memory, which stays exported.
    exports: Vec<Arc<Export>>,
    /// True if runs write memory of the program, so that two at a time would write the same.
    writes: bool,
    /// The last run, if they do. No function of the program is called with the lock.
    last: Mutex<Last>,
}

/// The last run of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Last {
    /// There is none that goes on.
    #[default]
    None,
    /// A thread is about to start it.
    Starting,
    Started(Ticket),
}

impl Compiled {
    pub(crate) fn schedule(code: Code, exports: Vec<Arc<Export>>, writes: bool) -> Schedule {
        let code = Some(code);
        Schedule(Arc::new(Self { code, exports, writes, last: Mutex::default() }))
    }

    fn code(&self) -> &Code {
        self.code.as_ref().expect("it is taken when this is dropped")
    }

    fn start(&self) -> goal::Result<Ticket> {
        if !self.writes {
            return self.start_next();
        }
        self.claim()?;
        let started = self.start_next();
        *self.last() = started.as_ref().map_or(Last::None, |&ticket| Last::Started(ticket));
        started
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks that this thread starts the next run.
    ///
    /// # Errors
    /// The last one has not ended.
    fn claim(&self) -> goal::Result<()> {
        loop {
            let seen = *self.last();
            // The test may call a function of the program, which may start the schedule.
            let is_busy = match seen {
                Last::None => false,
                Last::Starting => true,
                Last::Started(last) => !raw::test(last)?,
            };
            if is_busy {
                let text = "the schedule writes the buffers of a run that has not ended: wait for \
                            that run first (GOAL_Wait)";
                return Err(goal::Error::new(ErrorCode::Busy, text));
            }
            let mut last = self.last();
            if *last == seen {
                *last = Last::Starting;
                return Ok(());
            }
        }
    }

    fn start_next(&self) -> goal::Result<Ticket> {
        match self.code() {
            // SAFETY: the exports keep the memory until the run has ended, since the run keeps
            // them, unless the program moves it by force. The program does neither that nor touch
            // arrays of a run, as the documentation demands; if it touches them, bytes are not
            // defined, and nothing else.
            Code::Own(schedule) => unsafe { schedule.start(None) },
            Code::Collective { collective, input, output } => {
                // SAFETY: as above; the sizes were checked when it was made.
                unsafe { collective.start(*input, *output) }
            }
        }
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        let code = self.code.take();
        if life::is_forked() {
            std::mem::forget(code);
        } else {
            life::dropping(move || drop(code));
        }
    }
}

/// A compiled graph, collective or file, which can be run any number of times. It keeps the arrays
/// that its runs use.
#[pyclass(module = "goal", frozen)]
pub(crate) struct Schedule(Arc<Compiled>);

#[pymethods]
impl Schedule {
    /// Starts the schedule, and executes the part of it that can be done at once. All ranks of the
    /// communicator start its schedules in the same order.
    ///
    /// Until the run has ended, the program must not write the arrays that it reads, and must not
    /// touch the arrays that it writes.
    fn run(&self, py: Python<'_>) -> PyResult<Run> {
        let compiled = &self.0;
        compiled.exports.iter().try_for_each(|export| export.check(py))?;
        let ticket = life::detached(py, || compiled.start())?;
        Ok(Run { ticket, kept: Mutex::new(Some(Arc::clone(compiled))) })
    }

    /// Links a short schedule, so that its later runs need no engine. All ranks of the communicator
    /// call this, each with a schedule that it has compiled or loaded for it, in the same order as
    /// its collectives. It returns when all have called it.
    ///
    /// Returns None if the schedule is linked now, or the reason as a text if it runs as before.
    /// All ranks get the same result. All ranks start the linked schedules and the collectives of a
    /// communicator in the same order.
    #[pyo3(signature = (comm = None))]
    fn link(
        &self,
        py: Python<'_>,
        comm: Option<&Bound<'_, Communicator>>,
    ) -> PyResult<Option<String>> {
        let communicator = communicator_of(py, comm)?;
        let code = self.0.code();
        let linked =
            life::detached(py, || raw::link(Ok(code.schedule()), &communicator, "Schedule.link"))?;
        function::seen()?;
        Ok(linked.err().map(String::from))
    }

    /// Returns the compiled graph as the text of this rank in the language GOAL.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let code = self.0.code();
        life::detached(py, || Ok(code.schedule().text()))
    }

    /// The number of actions.
    #[getter]
    fn actions(&self) -> u32 {
        self.0.code().schedule().actions()
    }

    /// The name of the algorithm, if this is a collective.
    #[getter]
    fn algorithm(&self) -> Option<&'static str> {
        match self.0.code() {
            Code::Own(_) => None,
            Code::Collective { collective, .. } => Some(collective.algorithm().name),
        }
    }

    fn __repr__(&self) -> String {
        let actions = self.actions();
        match self.algorithm() {
            None => format!("<goal.Schedule of {actions} actions>"),
            Some(algorithm) => format!("<goal.Schedule of {actions} actions by {algorithm}>"),
        }
    }
}

/// A run of a schedule. `await run` waits for it in asyncio.
///
/// If it is dropped before it has ended, the run goes on and keeps its arrays.
#[pyclass(module = "goal", frozen)]
pub(crate) struct Run {
    ticket: Ticket,
    /// The memory that it uses; `None` once it has ended.
    kept: Mutex<Option<Arc<Compiled>>>,
}

impl Run {
    fn end(&self) {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(kept);
    }

    fn has_ended(&self) -> bool {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

#[pymethods]
impl Run {
    /// Returns true if the run has ended. Makes a bounded amount of progress if it has not.
    fn test(&self, py: Python<'_>) -> PyResult<bool> {
        if self.has_ended() {
            return Ok(true);
        }
        let ticket = self.ticket;
        let has_ended = life::detached(py, || raw::test(ticket))?;
        function::seen()?;
        if has_ended {
            self.end();
        }
        Ok(has_ended)
    }

    /// Waits until the run has ended. Other Python threads run meanwhile. `call` is the name by
    /// which reports on ranks that wait for ever call it.
    #[pyo3(signature = (call = "Run.wait"))]
    fn wait(&self, py: Python<'_>, call: &str) -> PyResult<()> {
        if self.has_ended() {
            return Ok(());
        }
        let ticket = self.ticket;
        life::detached(py, || raw::wait(ticket, call))?;
        function::seen()?;
        self.end();
        Ok(())
    }

    /// Calls `function` once when the run has ended. If the run has ended already, this happens at
    /// once. Otherwise it happens in the call that notices the end, or in a thread of the package
    /// in mode `thread`. An exception that the function raises is reported on standard error.
    fn when_ended(&self, py: Python<'_>, function: Py<PyAny>) -> PyResult<()> {
        if !function.bind(py).is_callable() {
            return Err(argument(py, "the function can't be called"));
        }
        let ticket = self.ticket;
        let call = move |_| {
            let mut function = Some(function);
            let called = life::in_python(|py| {
                let function = function.take().expect("it is called once");
                if let Err(error) = function.call0(py) {
                    error.write_unraisable(py, Some(function.bind(py)));
                }
            });
            if called.is_none() {
                std::mem::forget(function);
            }
        };
        life::detached(py, || raw::when_ended(ticket, Box::new(call)))
    }

    fn __await__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        let py = slf.py();
        let is_thread = Group::current().into_py(py)?.progress() == Mode::Thread;
        let steps = py.import("goal._await")?.getattr("steps")?;
        steps.call1((slf, is_thread))
    }

    fn __repr__(&self) -> &'static str {
        if self.has_ended() { "<goal.Run, ended>" } else { "<goal.Run>" }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let kept = self.kept.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(kept) = kept else { return };
        if life::is_forked() {
            std::mem::forget(kept);
            return;
        }
        let ticket = self.ticket;
        life::dropping(move || {
            // If the job can't go on, peers may still use the memory, so it is never freed.
            let longer = Arc::clone(&kept);
            let end = move |has_ended: bool| {
                if !has_ended {
                    std::mem::forget(kept);
                }
            };
            if raw::when_ended(ticket, Box::new(end)).is_err() {
                std::mem::forget(longer);
            }
        });
    }
}

/// Loads the schedule of this rank from a NISA file, or from its bytes, which are verified. A file
/// has as many ranks as the communicator. The schedule works on `memory`, or, without it, on memory
/// of its own that starts with the file's initial values. It calls no registered function but those
/// in `functions`.
#[pyfunction]
#[pyo3(
    signature = (file, comm = None, memory = None, functions = Vec::new()),
    text_signature = "(file, comm=None, memory=None, functions=())"
)]
pub(crate) fn load(
    py: Python<'_>,
    file: &Bound<'_, PyAny>,
    comm: Option<&Bound<'_, Communicator>>,
    memory: Option<&Bound<'_, PyAny>>,
    functions: Vec<u32>,
) -> PyResult<Schedule> {
    let (bytes, path) = if let Ok(bytes) = file.cast::<PyBytes>() {
        (bytes.as_bytes().to_vec(), None)
    } else {
        let path: std::path::PathBuf = file.extract()?;
        let read = py.detach(|| raw::read_nisa(&path));
        let named = |error| raised(py, ErrorCode::File, &format!("{}: {error}", path.display()));
        (read.map_err(named)?, Some(path))
    };
    let communicator = communicator_of(py, comm)?;
    let export = memory.map(|memory| Export::new(memory, true, "memory")).transpose()?;
    let place = export.as_ref().map(|export| (export.address(), export.len()));
    let code = life::detached(py, || {
        let region = place.map(|(address, len)| {
            // SAFETY: the schedule keeps the export, and each run the schedule.
            unsafe { Region::new(with_exposed_provenance_mut(address), len) }
        });
        let loaded = raw::Schedule::load(bytes, &communicator, region, &functions, "load");
        loaded.map_err(|error| match &path {
            Some(path) => goal::Error::new(error.code(), format!("{}: {error}", path.display())),
            None => error,
        })
    })?;
    let writes = export.is_some();
    Ok(Compiled::schedule(Code::Own(code), export.map(Arc::new).into_iter().collect(), writes))
}
