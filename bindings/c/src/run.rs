//! Defines the functions that test if runs have ended, and that wait for their ends.
#![allow(unsafe_code)] // exported names, arrays of the caller

use crate::arguments::{array, count, present};
use crate::border::{border, border_of_core, group, status};
use crate::end::waited;
use crate::types::{GOAL_Handle, ticket};
use goal::raw::{self, Ticket, fast, wait_fast};
use goal::{Error, Result};
use std::ffi::c_int;
use std::slice;

/// The index that stands for no handle.
const UNDEFINED: c_int = -1;

/// Waits in the C function `call` until a run has ended.
#[inline]
pub(crate) fn wait(ticket: Ticket, call: &str) -> Result<()> {
    let ended = raw::wait(ticket, call);
    waited();
    ended
}

/// Waits in the C function `call` until a run that has started has ended. Returns 0 or the code of
/// the error.
#[cold]
pub(crate) fn finish(ticket: Ticket, call: &'static str) -> c_int {
    border_of_core(call, || wait(ticket, call).map(|()| 0))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Test(handle: GOAL_Handle) -> c_int {
    if let Some(ticket) = Ticket::from_number(handle.0 as u64)
        && fast().is_some_and(|mut fast| fast.test(ticket))
    {
        return 1;
    }
    border_of_core("GOAL_Test", || Ok(raw::test(ticket(handle)?)?.into()))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Wait(handle: GOAL_Handle) -> c_int {
    match Ticket::from_number(handle.0 as u64) {
        Some(ticket) => wait_fast(ticket, 0, move || wait_slowly(handle)),
        None => wait_slowly(handle),
    }
}

#[cold]
#[inline(never)]
fn wait_slowly(handle: GOAL_Handle) -> c_int {
    border_of_core("GOAL_Wait", || wait(ticket(handle)?, "GOAL_Wait").map(|()| 0))
}

/// Returns the index and the ticket of each handle in an array. Handles that are NULL are left out.
///
/// # Safety
/// As for [`array`].
unsafe fn tickets(n: c_int, handles: *const GOAL_Handle) -> Result<Vec<(c_int, Ticket)>> {
    group()?;
    // SAFETY: as the caller says.
    let handles = unsafe { array(handles, count(n, "n")?, "handles")? };
    let given = (0..).zip(handles).filter(|(_, handle)| handle.0 != 0);
    given
        .map(|(at, &handle)| {
            let ticket = ticket(handle).map_err(|error| at_place(at, &error))?;
            Ok((at, ticket))
        })
        .collect()
}

#[cold]
fn at_place(at: c_int, error: &Error) -> Error {
    Error::new(error.code(), format!("handles[{at}]: {error}"))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_Testall(n: c_int, handles: *const GOAL_Handle) -> c_int {
    border("GOAL_Testall", || {
        // SAFETY: the caller passes `n` handles.
        let tickets = unsafe { tickets(n, handles)? };
        // This comes even if all runs have ended or there is no handle, because the program may
        // wait for another run.
        raw::progress()?;
        let mut have_ended = true;
        for (at, ticket) in tickets {
            have_ended &= raw::has_ended(ticket).map_err(|error| at_place(at, &error))?;
        }
        Ok(have_ended.into())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_Waitall(n: c_int, handles: *const GOAL_Handle) -> c_int {
    status("GOAL_Waitall", || {
        // SAFETY: the caller passes `n` handles.
        for (at, ticket) in unsafe { tickets(n, handles)? } {
            wait(ticket, "GOAL_Waitall").map_err(|error| at_place(at, &error))?;
        }
        Ok(())
    })
}

/// Stores in `index` which run has ended, and sets its handle in the array to NULL. If `at` is
/// [`UNDEFINED`], no run has ended.
///
/// # Safety
/// The caller of the library passes `n` handles and an index. This function may write both.
unsafe fn found(at: c_int, n: c_int, handles: *mut GOAL_Handle, index: *mut c_int) -> Result<()> {
    if at != UNDEFINED {
        // SAFETY: as the caller says; `tickets` has checked the array.
        let handles = unsafe { slice::from_raw_parts_mut(handles, n as usize) };
        handles[at as usize] = GOAL_Handle(0);
    }
    present(index, "index")?;
    // SAFETY: as the caller says.
    unsafe { index.write(at) };
    Ok(())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_Testany(n: c_int, handles: *mut GOAL_Handle, index: *mut c_int) -> c_int {
    border("GOAL_Testany", || {
        present(index, "index")?;
        // SAFETY: the caller passes `n` handles.
        let tickets = unsafe { tickets(n, handles)? };
        raw::progress()?;
        let mut ended = if tickets.is_empty() { Some(UNDEFINED) } else { None };
        for (at, ticket) in tickets {
            if raw::has_ended(ticket).map_err(|error| at_place(at, &error))? {
                ended = Some(at);
                break;
            }
        }
        // SAFETY: the caller passes `n` handles and an index.
        unsafe { found(ended.unwrap_or(UNDEFINED), n, handles, index)? };
        Ok(ended.is_some().into())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_Waitany(n: c_int, handles: *mut GOAL_Handle, index: *mut c_int) -> c_int {
    status("GOAL_Waitany", || {
        present(index, "index")?;
        // SAFETY: the caller passes `n` handles.
        let (places, tickets): (Vec<c_int>, Vec<Ticket>) =
            unsafe { tickets(n, handles)? }.into_iter().unzip();
        let ended = match tickets.is_empty() {
            true => UNDEFINED,
            false => {
                let ended = raw::wait_any(&tickets, "GOAL_Waitany");
                waited();
                places[ended?]
            }
        };
        // SAFETY: the caller passes `n` handles and an index.
        unsafe { found(ended, n, handles, index) }
    })
}
