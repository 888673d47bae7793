//! Defines the functions of communicators.
#![allow(unsafe_code)] // exported names, arrays of the caller

use crate::arguments::{array, array_mut, count, rank};
use crate::border::{border, group, status};
use crate::table::{Kind, Table, Used};
use crate::types::GOAL_Comm;
use goal::raw::{forget_calls, tidy};
use goal::{Communicator, Error, ErrorCode, Neighbors, Result};
use std::ffi::c_int;
use std::ops::Deref;

/// The number of the communicator of all ranks (`GOAL_COMM_WORLD`).
const WORLD: usize = 1;

pub(crate) static COMMUNICATORS: Table<Communicator> = Table::new(Kind::Communicator);

/// The communicator that a handle names: `GOAL_COMM_WORLD`, or one that the program has made.
pub(crate) enum Named {
    World(&'static Communicator),
    Made(Used<'static, Communicator>),
}

impl Deref for Named {
    type Target = Communicator;

    #[inline]
    fn deref(&self) -> &Communicator {
        match self {
            Named::World(world) => world,
            Named::Made(made) => made,
        }
    }
}

/// Returns the communicator that a handle names.
#[inline]
pub(crate) fn communicator(GOAL_Comm(number): GOAL_Comm) -> Result<Named> {
    if number == WORLD {
        return Ok(Named::World(group()?.world()));
    }
    COMMUNICATORS.get(number).map(Named::Made)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_Comm_create(
    parent: GOAL_Comm,
    ranks: *const c_int,
    n: c_int,
) -> GOAL_Comm {
    border("GOAL_Comm_create", || {
        let parent = communicator(parent)?;
        // SAFETY: the caller passes `n` ranks.
        let list = unsafe { ranks_of(ranks, n, ["ranks", "n"])? };
        let made = group()?.communicator(&parent, &list)?;
        Ok(GOAL_Comm(COMMUNICATORS.add(made)?))
    })
}

/// Returns the ranks in `list`. `names` has the names of the list and of its length for errors.
///
/// # Safety
/// If the list is not NULL, it has `n` ranks.
unsafe fn ranks_of(list: *const c_int, n: c_int, names: [&str; 2]) -> Result<Vec<u32>> {
    let [name, of_n] = names;
    // SAFETY: as the caller says.
    let list = unsafe { array(list, count(n, of_n)?, name)? };
    (0..).zip(list).map(|(at, &entry)| rank(entry, &format!("{name}[{at}]"))).collect()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_Comm_create_graph(
    parent: GOAL_Comm,
    sources: *const c_int,
    indegree: c_int,
    destinations: *const c_int,
    outdegree: c_int,
) -> GOAL_Comm {
    border("GOAL_Comm_create_graph", || {
        let parent = communicator(parent)?;
        // SAFETY: the caller passes `indegree` ranks.
        let sources = unsafe { ranks_of(sources, indegree, ["sources", "indegree"])? };
        // SAFETY: the caller passes `outdegree` ranks.
        let destinations =
            unsafe { ranks_of(destinations, outdegree, ["destinations", "outdegree"])? };
        let made = group()?.graph_communicator(&parent, &sources, &destinations)?;
        Ok(GOAL_Comm(COMMUNICATORS.add(made)?))
    })
}

/// Returns the number of neighbours that `of` reads from the graph of a communicator.
fn degree(comm: GOAL_Comm, of: impl Fn(&Neighbors) -> usize) -> Result<c_int> {
    let communicator = communicator(comm)?;
    let neighbors = communicator.neighbors().ok_or_else(|| {
        let text = "the communicator has no graph of neighbours (GOAL_Comm_create_graph)";
        Error::new(ErrorCode::Argument, text)
    })?;
    Ok(of(neighbors) as c_int)
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Comm_indegree(comm: GOAL_Comm) -> c_int {
    border("GOAL_Comm_indegree", || degree(comm, |neighbors| neighbors.sources.len()))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Comm_outdegree(comm: GOAL_Comm) -> c_int {
    border("GOAL_Comm_outdegree", || degree(comm, |neighbors| neighbors.destinations.len()))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Comm_shrink(comm: GOAL_Comm) -> GOAL_Comm {
    border("GOAL_Comm_shrink", || {
        let left = group()?.shrink(&*communicator(comm)?)?;
        Ok(GOAL_Comm(COMMUNICATORS.add(left)?))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_Comm_lost(comm: GOAL_Comm, ranks: *mut c_int, n: c_int) -> c_int {
    border("GOAL_Comm_lost", || {
        let lost = group()?.lost(&*communicator(comm)?);
        // SAFETY: the caller passes room for `n` ranks.
        let out = unsafe { array_mut(ranks, count(n, "n")?, "ranks")? };
        for (out, &rank) in out.iter_mut().zip(&lost) {
            *out = rank as c_int;
        }
        Ok(lost.len() as c_int)
    })
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Comm_rank(comm: GOAL_Comm) -> c_int {
    border("GOAL_Comm_rank", || Ok(communicator(comm)?.rank() as c_int))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Comm_size(comm: GOAL_Comm) -> c_int {
    border("GOAL_Comm_size", || Ok(communicator(comm)?.size() as c_int))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Comm_free(comm: GOAL_Comm) -> c_int {
    status("GOAL_Comm_free", || {
        if comm.0 == WORLD {
            group()?;
            let text = "GOAL_COMM_WORLD lasts as long as the group";
            return Err(Error::new(ErrorCode::Handle, text));
        }
        COMMUNICATORS.remove(comm.0, |_| None)?;
        forget_calls();
        tidy();
        Ok(())
    })
}
