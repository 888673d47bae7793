//! Communicators from lists of ranks.
#![allow(unsafe_code)] // exported names, arrays of the caller

use crate::arguments::{array, count, rank};
use crate::border::{border, group, status};
use crate::table::{Kind, Table};
use crate::types::GOAL_Comm;
use goal::{Communicator, Error, ErrorCode, Result};
use std::ffi::c_int;
use std::sync::Arc;

/// The number of the communicator of all ranks (`GOAL_COMM_WORLD`).
const WORLD: usize = 1;

pub(crate) static COMMUNICATORS: Table<Communicator> = Table::new(Kind::Communicator);

/// Returns the communicator of a handle.
pub(crate) fn communicator(GOAL_Comm(number): GOAL_Comm) -> Result<Arc<Communicator>> {
    if number == WORLD {
        return Ok(Arc::new(group()?.world().clone()));
    }
    COMMUNICATORS.get(number)
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
        let list = unsafe { array(ranks, count(n, "n")?, "ranks")? };
        let list: Result<Vec<u32>> =
            (0..).zip(list).map(|(at, &entry)| rank(entry, &format!("ranks[{at}]"))).collect();
        let made = group()?.communicator(&parent, &list?)?;
        Ok(GOAL_Comm(COMMUNICATORS.add(made)?))
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
        COMMUNICATORS.remove(comm.0, |_| None)
    })
}
