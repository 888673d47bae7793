//! Defines the functions that compile, load, start and free schedules (ESPGOAL 2.2.6 and 2.2.7).
#![allow(unsafe_code)] // exported names, memory of the caller

use crate::arguments::{array, count, present};
use crate::border::{border, border_of_core, group, reading, status};
use crate::communicator::communicator;
use crate::end::waited;
use crate::graph::GRAPHS;
use crate::run::finish;
use crate::table::{Kind, Table};
use crate::types::{GOAL_Comm, GOAL_Graph, GOAL_Handle, GOAL_Schedule};
use crate::user::allowed;
use goal::raw::{Schedule, Ticket, fast, link, read_nisa, start_fast, tidy};
use goal::{Error, ErrorCode, Group, Result};
use goal_engine::memory::Region;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::slice;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A schedule that the program has created.
pub(crate) struct Entry {
    schedule: Schedule,
    /// The addresses of the buffers for each start. `None` if the schedule was not prepared with
    /// buffers.
    bound: Option<Box<[usize]>>,
    /// The reason why processes run the schedule, as a text for C. Set when the program asks for it
    /// first.
    reason: OnceLock<CString>,
    /// The reason why the last [`GOAL_Link`] returned 0; empty if it did not.
    not_linked: Mutex<CString>,
}

/// Returns a text for C. Leaves out zeros.
fn text_of(text: &str) -> CString {
    let mut text = text.to_owned();
    text.retain(|letter| letter != '\0');
    CString::new(text).unwrap_or_default()
}

pub(crate) static SCHEDULES: Table<Entry> = Table::new(Kind::Schedule);

/// Stores a schedule in the table, and returns its handle. `bound` has the buffers for each start;
/// `None` if the schedule starts on buffers of its own.
pub(crate) fn keep(schedule: Schedule, bound: Option<Box<[usize]>>) -> Result<GOAL_Schedule> {
    let (reason, not_linked) = (OnceLock::new(), Mutex::default());
    Ok(GOAL_Schedule(SCHEDULES.add(Entry { schedule, bound, reason, not_linked })?))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Compile(graph: GOAL_Graph) -> GOAL_Schedule {
    border("GOAL_Compile", || {
        let entry = GRAPHS.get(graph.0)?;
        let schedule = Schedule::compile(&entry.lock().graph)?;
        keep(schedule, None)
    })
}

/// Returns a region of the program's memory; `None` if `memory` is NULL.
fn region(memory: *mut c_void, bytes: usize) -> Option<Region> {
    // SAFETY: the header states that the caller's memory lasts as long as the schedule, and who may
    // use it during a run.
    (!memory.is_null()).then(|| unsafe { Region::new(memory.cast(), bytes) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_Load(
    path: *const c_char,
    comm: GOAL_Comm,
    memory: *mut c_void,
    bytes: usize,
) -> GOAL_Schedule {
    border("GOAL_Load", || {
        let communicator = communicator(comm)?;
        // SAFETY: the caller passes a string.
        let path = unsafe { CStr::from_ptr(present(path, "path")?) };
        let path = OsStr::from_bytes(path.to_bytes());
        let file = read_nisa(path.as_ref()).map_err(|error| {
            Error::new(ErrorCode::File, format!("{}: {error}", path.to_string_lossy()))
        })?;
        let memory = region(memory, bytes);
        let schedule = Schedule::load(file, &communicator, memory, &allowed(), "GOAL_Load");
        let named =
            |error: Error| Error::new(error.code(), format!("{}: {error}", path.to_string_lossy()));
        keep(schedule.map_err(named)?, None)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_LoadMemory(
    nisa: *const c_void,
    nisa_bytes: usize,
    comm: GOAL_Comm,
    memory: *mut c_void,
    bytes: usize,
) -> GOAL_Schedule {
    border("GOAL_LoadMemory", || {
        let communicator = communicator(comm)?;
        let start = present(nisa.cast::<u8>(), "nisa")?;
        // SAFETY: the caller passes `nisa_bytes` bytes.
        let file = unsafe { slice::from_raw_parts(start, nisa_bytes) }.to_vec();
        let memory = region(memory, bytes);
        let call = "GOAL_LoadMemory";
        keep(Schedule::load(file, &communicator, memory, &allowed(), call)?, None)
    })
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_IsScheduleValid(sched: GOAL_Schedule) -> c_int {
    (!Group::is_fork() && SCHEDULES.get(sched.0).is_ok()).into()
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_MakeScheduleReusable(sched: GOAL_Schedule) -> c_int {
    status("GOAL_MakeScheduleReusable", || SCHEDULES.get(sched.0).map(drop))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_FreeSchedule(sched: GOAL_Schedule) -> c_int {
    status("GOAL_FreeSchedule", || {
        SCHEDULES.remove(sched.0, |Entry { schedule, bound, reason, not_linked }| {
            let failed = schedule.free().err();
            failed.map(|(error, schedule)| (error, Entry { schedule, bound, reason, not_linked }))
        })?;
        tidy();
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_IsOffloaded(sched: GOAL_Schedule) -> c_int {
    border("GOAL_IsOffloaded", || Ok(SCHEDULES.get(sched.0)?.schedule.offload().is_ok().into()))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Offload_reason(sched: GOAL_Schedule) -> *const c_char {
    reading(|| {
        let entry = SCHEDULES.get(sched.0)?;
        let text = || text_of(entry.schedule.offload().err().unwrap_or_default());
        Ok(entry.reason.get_or_init(text).as_ptr())
    })
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Link(sched: GOAL_Schedule, comm: GOAL_Comm) -> c_int {
    border("GOAL_Link", || {
        let communicator = communicator(comm)?;
        // A rank without a schedule takes part too, since the others wait for it.
        let entry = SCHEDULES.get(sched.0);
        let schedule = entry.as_ref().map(|entry| &entry.schedule).map_err(Clone::clone);
        let linked = link(schedule, &communicator, "GOAL_Link");
        waited();
        let (linked, entry) = (linked?, entry?);
        let reason = text_of(linked.as_ref().err().map_or("", |why| why));
        *entry.not_linked.lock().unwrap_or_else(PoisonError::into_inner) = reason;
        Ok(linked.is_ok().into())
    })
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Link_reason(sched: GOAL_Schedule) -> *const c_char {
    reading(|| {
        let entry = SCHEDULES.get(sched.0)?;
        Ok(entry.not_linked.lock().unwrap_or_else(PoisonError::into_inner).as_ptr())
    })
}

pub(crate) fn handle(ticket: Ticket) -> GOAL_Handle {
    GOAL_Handle(ticket.to_number() as usize)
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Run(sched: GOAL_Schedule) -> GOAL_Handle {
    // SAFETY: as below.
    unsafe { start_fast(sched.0, handle, move || run_slowly(sched)) }
}

#[cold]
#[inline(never)]
fn run_slowly(sched: GOAL_Schedule) -> GOAL_Handle {
    border_of_core("GOAL_Run", || {
        let entry = SCHEDULES.get(sched.0)?;
        // SAFETY: the header states the duties of the caller: the memory that the schedule names
        // lasts until the run has ended, and nobody else uses it against the schedule.
        let run = unsafe { entry.schedule.start(entry.bound.as_deref())? };
        entry.schedule.remember(sched.0, entry.bound.as_deref())?;
        Ok(handle(run))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_RunOn(
    sched: GOAL_Schedule,
    buffers: *const *mut c_void,
    n: c_int,
) -> GOAL_Handle {
    border("GOAL_RunOn", || {
        let entry = SCHEDULES.get(sched.0)?;
        // SAFETY: the caller passes `n` addresses.
        let buffers = unsafe { array(buffers, count(n, "n")?, "buffers")? };
        let buffers: Vec<usize> = buffers.iter().map(|buffer| buffer.expose_provenance()).collect();
        let buffers = entry.schedule.with_unused(buffers);
        // SAFETY: as in `GOAL_Run`.
        unsafe { entry.schedule.start(Some(&buffers)) }.map(handle)
    })
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Sched_run(sched: GOAL_Schedule) -> c_int {
    if let Some(mut fast) = fast() {
        // SAFETY: as in `GOAL_Run`.
        if let Some(run) = unsafe { fast.start(sched.0) } {
            let has_ended = fast.wait(run);
            drop(fast);
            return if has_ended { 0 } else { finish(run, "GOAL_Sched_run") };
        }
    }
    status("GOAL_Sched_run", || {
        group()?;
        let entry = SCHEDULES.get(sched.0)?;
        // SAFETY: as in `GOAL_Run`.
        let ran = unsafe { entry.schedule.run(entry.bound.as_deref(), "GOAL_Sched_run") };
        waited();
        ran?;
        entry.schedule.remember(sched.0, entry.bound.as_deref())
    })
}
