//! Defines functions with names of the 2009 paper (III.B). Most of them register, allow or call
//! functions of the program.
#![allow(unsafe_code)] // exported names, functions of the caller

use crate::arguments::{count, piece};
use crate::border::{border, group, status};
use crate::graph::{GRAPHS, add};
use crate::types::{GOAL_Graph, GOAL_MemType, GOAL_Vertex, USER_OP, operation, whole_type};
use goal::raw::{Data, put_off};
use goal::{Error, ErrorCode};
use parking_lot::Mutex;
use std::ffi::{c_int, c_void};

/// A function of the program. It gets both buffers with their sizes in bytes, and may write both.
type GOAL_Function =
    Option<unsafe extern "C-unwind" fn(buf1: *mut c_void, s1: usize, buf2: *mut c_void, s2: usize)>;

/// The addresses of the registered functions, by number.
static FUNCTIONS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// The numbers of the registered functions that files may call.
static ALLOWED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// The bit that marks the numbers of predefined functions (`GOAL_PREDEFINED`).
const PREDEFINED: c_int = 1 << 30;

#[unsafe(no_mangle)]
extern "C" fn GOAL_Create() -> GOAL_Graph {
    border("GOAL_Create", || crate::graph::create(group()?.world()))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Reg_func(graph: GOAL_Graph, func: GOAL_Function) -> c_int {
    border("GOAL_Reg_func", || {
        if graph.0 != 0 {
            GRAPHS.get(graph.0)?;
        }
        let group = group()?;
        let Some(func) = func else {
            return Err(Error::new(ErrorCode::Argument, "func is NULL"));
        };
        // The functions for ends of runs may register functions or ask for their numbers, so they
        // are called after the lock is released.
        put_off(|| {
            let mut functions = FUNCTIONS.lock();
            if let Some(number) = functions.iter().position(|&known| known == func as usize) {
                return Ok(number as c_int);
            }
            let number = functions.len();
            if number >= USER_OP as usize {
                return Err(Error::new(ErrorCode::Limit, "there are 65536 registered functions"));
            }
            group.register(number as u32, move |a, b| {
                // SAFETY: the caller has registered a function of this type, which uses these
                // bytes only, and only during the call.
                unsafe {
                    call(func, a.as_mut_ptr().cast(), a.len(), b.as_mut_ptr().cast(), b.len());
                }
            })?;
            functions.push(func as usize);
            Ok(number as c_int)
        })
    })
}

/// Calls a function of the program. If an exception leaves the function, the process ends here,
/// since the exception would skip frames of the library.
///
/// # Safety
/// The conditions of `function` hold.
unsafe extern "C" fn call(
    function: unsafe extern "C-unwind" fn(*mut c_void, usize, *mut c_void, usize),
    buf1: *mut c_void,
    s1: usize,
    buf2: *mut c_void,
    s2: usize,
) {
    // SAFETY: as the caller says.
    unsafe { function(buf1, s1, buf2, s2) };
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Allow_func(fid: c_int) -> c_int {
    status("GOAL_Allow_func", || {
        group()?;
        if !is_registered(fid) {
            return Err(unknown(fid));
        }
        let mut allowed = ALLOWED.lock();
        if !allowed.contains(&(fid as u32)) {
            allowed.push(fid as u32);
        }
        Ok(())
    })
}

/// Returns the numbers of the registered functions that files may call.
pub(crate) fn allowed() -> Vec<u32> {
    ALLOWED.lock().clone()
}

#[cold]
fn unknown(fid: c_int) -> Error {
    let text = format!("no function is registered as {fid} (GOAL_Reg_func)");
    Error::new(ErrorCode::Operation, text)
}

/// Returns true if a function with this number is registered.
pub(crate) fn is_registered(number: c_int) -> bool {
    usize::try_from(number).is_ok_and(|number| number < FUNCTIONS.lock().len())
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Exec(
    graph: GOAL_Graph,
    fid: c_int,
    buf1: *mut c_void,
    s1: c_int,
    buf2: *mut c_void,
    s2: c_int,
    mem1: GOAL_MemType,
    mem2: GOAL_MemType,
) -> GOAL_Vertex {
    add("GOAL_Exec", graph, |graph| {
        let a = piece(buf1, count(s1, "s1")?.into(), mem1, "mem1")?;
        let b = piece(buf2, count(s2, "s2")?.into(), mem2, "mem2")?;
        let (a, b) = (Data::One(a), Data::One(b));
        if fid >= PREDEFINED {
            let element = whole_type(fid & 0xffff)?;
            let op = operation(fid >> 16 & 0xff, element)?;
            return graph.local_op(op, element.datatype, a, b, b);
        }
        if !is_registered(fid) {
            return Err(unknown(fid));
        }
        graph.user(fid as u32, a, b)
    })
}
