//! The group of ranks that this process belongs to, and its communicators.

use crate::error::{IntoPy, argument, raised};
use crate::life;
use goal::Named;
use goal::{Blocks, Collective, ErrorCode, Group, Mode, Persistent};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The most collectives that a communicator keeps for further calls.
const CACHED_MAX: usize = 256;

type Cache = HashMap<(Collective, Blocks), Arc<Persistent>>;

/// Ranks of the group, numbered anew, with a matching space of their own. `Group.communicator`
/// makes it.
#[pyclass(module = "goal", frozen)]
pub(crate) struct Communicator {
    inner: goal::Communicator,
    cache: Mutex<Cache>,
}

impl Communicator {
    fn from_inner(inner: goal::Communicator) -> Self {
        Self { inner, cache: Mutex::default() }
    }

    pub(crate) fn inner(&self) -> &goal::Communicator {
        &self.inner
    }

    /// Returns the compiled collective, which is kept for further calls.
    pub(crate) fn collective(
        &self,
        collective: &Collective,
        blocks: &Blocks,
    ) -> goal::Result<Arc<Persistent>> {
        let lock = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (*collective, blocks.clone());
        if let Some(kept) = lock().get(&key) {
            return Ok(Arc::clone(kept));
        }
        let kept = Arc::new(collective.compile_blocks(blocks, &self.inner, None)?);
        let mut cache = lock();
        let dropped =
            if cache.len() < CACHED_MAX { None } else { Some(std::mem::take(&mut *cache)) };
        let dropped = (dropped, cache.insert(key, Arc::clone(&kept)));
        drop(cache);
        // Schedules take the lock of the rank's end when they are dropped.
        drop(dropped);
        Ok(kept)
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        let cache = std::mem::take(self.cache.get_mut().unwrap_or_else(PoisonError::into_inner));
        if life::is_forked() {
            std::mem::forget(cache);
        } else {
            life::dropping(move || drop(cache));
        }
    }
}

#[pymethods]
impl Communicator {
    /// Makes a communicator of `ranks`, which count in `parent`, by default in the group. Each rank
    /// in the list calls this with the same list. No message is exchanged.
    #[new]
    #[pyo3(signature = (ranks = None, parent = None))]
    fn new(
        py: Python<'_>,
        ranks: Option<Vec<u32>>,
        parent: Option<&Bound<'_, Communicator>>,
    ) -> PyResult<Self> {
        let parent = communicator_of(py, parent)?;
        let Some(ranks) = ranks else { return Ok(Self::from_inner(parent)) };
        life::detached(py, || Group::current()?.communicator(&parent, &ranks)).map(Self::from_inner)
    }

    /// This process's rank in it.
    #[getter]
    fn rank(&self) -> u32 {
        self.inner.rank()
    }

    /// The number of ranks.
    #[getter]
    fn size(&self) -> u32 {
        self.inner.size()
    }

    /// The ranks in the group of its ranks.
    #[getter]
    fn ranks(&self) -> Vec<u32> {
        (0..self.inner.size()).filter_map(|rank| self.inner.in_group(rank)).collect()
    }

    /// The ranks that this rank gets data from in collectives of neighbours; None without a graph.
    #[getter]
    fn sources(&self) -> Option<Vec<u32>> {
        self.inner.neighbors().map(|neighbors| neighbors.sources.to_vec())
    }

    /// The ranks that this rank sends data to in collectives of neighbours; None without a graph.
    #[getter]
    fn destinations(&self) -> Option<Vec<u32>> {
        self.inner.neighbors().map(|neighbors| neighbors.destinations.to_vec())
    }

    fn __repr__(&self) -> String {
        format!("<goal.Communicator: rank {} of {}>", self.inner.rank(), self.inner.size())
    }
}

/// Returns the communicator of an argument, by default that of all ranks.
///
/// # Errors
/// There is no group.
pub(crate) fn communicator_of(
    py: Python<'_>,
    comm: Option<&Bound<'_, Communicator>>,
) -> PyResult<goal::Communicator> {
    let group = life::detached(py, Group::current)?;
    Ok(comm.map_or_else(|| group.world().clone(), |comm| comm.get().inner.clone()))
}

/// Makes a communicator of all ranks of `parent` with a graph, in which this rank has these
/// neighbours.
#[pyfunction]
#[pyo3(name = "_graph_communicator")]
pub(crate) fn graph_communicator(
    py: Python<'_>,
    sources: Vec<i64>,
    destinations: Vec<i64>,
    parent: Option<&Bound<'_, Communicator>>,
) -> PyResult<Communicator> {
    let parent = communicator_of(py, parent)?;
    let ranks = |list: &[i64], name: &str| -> PyResult<Vec<u32>> {
        let rank = |(at, &rank): (usize, &i64)| {
            let text = format!("{name} {at} is {rank}, which is no rank");
            u32::try_from(rank).map_err(|_| raised(py, ErrorCode::Rank, &text))
        };
        list.iter().enumerate().map(rank).collect()
    };
    let (sources, destinations) =
        (ranks(&sources, "source")?, ranks(&destinations, "destination")?);
    let made = life::detached(py, || {
        Group::current()?.graph_communicator(&parent, &sources, &destinations)
    });
    made.map(Communicator::from_inner)
}

/// Joins the group. `progress` is how schedules make progress while a program computes, by default
/// as the launcher says. `among` has the rank, the number of ranks, and a function that gives each
/// rank the bytes of all, if another library has joined the processes. Returns the rank and the
/// number of ranks.
#[pyfunction]
#[pyo3(name = "_init", signature = (progress = None, among = None))]
pub(crate) fn init(
    py: Python<'_>,
    progress: Option<&str>,
    among: Option<(u32, u32, Py<PyAny>)>,
) -> PyResult<(u32, u32)> {
    let mode = match progress {
        None => None,
        Some("caller") => Some(Mode::Caller),
        Some("thread") => Some(Mode::Thread),
        Some(other) => {
            let text =
                format!("there is no mode of progress {other:?}: give \"caller\" or \"thread\"");
            return Err(argument(py, &text));
        }
    };
    life::detached(py, || {
        let group = match &among {
            None => Group::init()?,
            Some((rank, size, allgather)) => Group::init_among(*rank, *size, &mut |own| {
                let all = Python::attach(|py| -> PyResult<Vec<Vec<u8>>> {
                    allgather.call1(py, (PyBytes::new(py, own),))?.extract(py)
                });
                all.map_err(|error| error.to_string())
            })?,
        };
        if let Some(mode) = mode {
            group.set_progress(mode)?;
        }
        Ok((group.rank(), group.size()))
    })
}

/// Leaves the group. Returns when all ranks have called this.
#[pyfunction]
#[pyo3(name = "_finalize")]
pub(crate) fn finalize(py: Python<'_>) -> PyResult<()> {
    life::detached(py, || Group::current()?.finalize())
}

/// Returns how schedules make progress.
#[pyfunction]
#[pyo3(name = "_progress")]
pub(crate) fn progress(py: Python<'_>) -> PyResult<&'static str> {
    Ok(Group::current().into_py(py)?.progress().name())
}

/// Returns true if the group was joined, also when it is finalized by now.
#[pyfunction]
pub(crate) fn is_initialized() -> bool {
    Group::is_initialized()
}

/// Returns true if the group is finalized.
#[pyfunction]
pub(crate) fn is_finalized() -> bool {
    Group::is_finalized()
}
