//! Defines the functions of the group: start, end, ranks, errors, extensions and progress.
#![allow(unsafe_code)] // exported names

use crate::border::{border, border_of_core, group, last_code, last_text, status};
use crate::types::{GOAL_ExtensionId, GOAL_Progress};
use crate::{communicator, graph, schedule};
use goal::{Error, ErrorCode, Group, IdleFunction};
use goal_job::Mode;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;

/// The most bytes that a process sends to the others when a group starts.
const BLOB_MAX: usize = 64 << 10;

#[unsafe(no_mangle)]
extern "C" fn GOAL_Init() -> c_int {
    status("GOAL_Init", || Group::init().map(drop))
}

/// The function by which processes exchange bytes: see `GOAL_Exchange` in the header.
type GOAL_Exchange =
    Option<extern "C-unwind" fn(*mut c_void, *const c_void, usize, *mut c_void) -> c_int>;

#[unsafe(no_mangle)]
extern "C" fn GOAL_Init_among(
    rank: c_int,
    size: c_int,
    exchange: GOAL_Exchange,
    context: *mut c_void,
) -> c_int {
    status("GOAL_Init_among", || {
        let wrong = |text: String| Error::new(ErrorCode::Argument, text);
        let (Ok(own), Ok(all)) = (u32::try_from(rank), u32::try_from(size)) else {
            return Err(wrong(format!("there is no rank {rank} of {size}")));
        };
        if own >= all {
            return Err(wrong(format!("there is no rank {rank} of {size}")));
        }
        let exchange = exchange.ok_or_else(|| wrong("the exchange is NULL".to_owned()))?;
        // Gives each rank the bytes of all ranks. All ranks give equally many bytes.
        let equal = |own: &[u8]| {
            let mut received = vec![0; own.len() * all as usize];
            let status =
                exchange(context, own.as_ptr().cast(), own.len(), received.as_mut_ptr().cast());
            match status {
                0 => Ok(received),
                status => Err(format!("the exchange between processes failed with {status}")),
            }
        };
        let mut of_any_length = |blob: &[u8]| {
            let lengths = equal(&(blob.len() as u64).to_ne_bytes())?;
            let lengths: Vec<usize> = (lengths.as_chunks().0.iter())
                .map(|&length| u64::from_ne_bytes(length) as usize)
                .collect();
            let most = lengths.iter().copied().max().unwrap_or(0);
            if most > BLOB_MAX {
                return Err(format!("a process wants to tell {most} bytes: it is none of libgoal"));
            }
            let mut padded = blob.to_vec();
            padded.resize(most, 0);
            let received = equal(&padded)?;
            let blobs = received.chunks(most.max(1)).zip(&lengths);
            Ok(blobs.map(|(blob, &length)| blob[..length].to_vec()).collect())
        };
        Group::init_among(own, all, &mut of_any_length).map(drop)
    })
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_IsInitialized() -> c_int {
    Group::is_initialized().into()
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_GroupSize() -> c_int {
    border("GOAL_GroupSize", || Ok(group()?.size() as c_int))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_MyRank() -> c_int {
    border("GOAL_MyRank", || Ok(group()?.rank() as c_int))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_Abort(why: *const c_char) -> c_int {
    // A function of the program may call this while the library has called it.
    border_of_core("GOAL_Abort", || {
        // SAFETY: the caller passes NULL or a string of C.
        let why = (!why.is_null()).then(|| unsafe { CStr::from_ptr(why) }.to_string_lossy());
        group()?.abort(why.as_deref().unwrap_or("the program has ended the job"));
        Ok(0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Finalize() -> c_int {
    status("GOAL_Finalize", || forget_all(group()?.finalize()))
}

/// Frees all graphs, schedules and communicators if the group has ended. Returns `ended`.
pub(crate) fn forget_all(ended: goal::Result<()>) -> goal::Result<()> {
    if Group::is_finalized() {
        graph::GRAPHS.clear();
        schedule::SCHEDULES.clear();
        communicator::COMMUNICATORS.clear();
    }
    ended
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_IsFinalized() -> c_int {
    (!Group::is_initialized() || Group::is_finalized()).into()
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_IsExtensionAvailable(extension: GOAL_ExtensionId) -> c_int {
    // Extensions have numbers from 1 on, and all that the header names are available.
    (1..=17).contains(&extension).into()
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Error_string(code: c_int) -> *const c_char {
    if code == 0 {
        return c"success".as_ptr();
    }
    let text = ErrorCode::from_number(code).map_or(c"there is no such code", text_of);
    text.as_ptr()
}

/// Returns the sentence that describes a code. The texts for C are created once.
fn text_of(code: ErrorCode) -> &'static CStr {
    use std::ffi::CString;
    use std::sync::OnceLock;
    static TEXTS: OnceLock<Vec<CString>> = OnceLock::new();
    let texts = TEXTS.get_or_init(|| {
        let text = |code: &ErrorCode| CString::new(code.text()).unwrap_or_default();
        ErrorCode::ALL.iter().map(text).collect()
    });
    let at = ErrorCode::ALL.iter().position(|&other| other == code);
    at.and_then(|at| texts.get(at)).map_or(c"", CString::as_c_str)
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Last_error() -> *const c_char {
    last_text()
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Last_error_code() -> c_int {
    last_code()
}

fn number_of(mode: Mode) -> GOAL_Progress {
    match mode {
        Mode::Caller => 0,
        Mode::Thread => 1,
        Mode::Node => 2,
    }
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Get_progress() -> c_int {
    border("GOAL_Get_progress", || Ok(number_of(group()?.progress())))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Set_progress(progress: GOAL_Progress) -> c_int {
    status("GOAL_Set_progress", || {
        let group = group()?;
        let Some(wanted) = Mode::ALL.into_iter().find(|&mode| number_of(mode) == progress) else {
            let text =
                format!("progress is {progress}: there are 0 (caller), 1 (thread), 2 (node)");
            return Err(Error::new(ErrorCode::Argument, text));
        };
        if wanted == group.progress() {
            return Ok(());
        }
        group.set_progress(wanted)
    })
}

/// A function of the program that waiting threads call.
type GOAL_Idle = Option<unsafe extern "C-unwind" fn()>;

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_Set_idle(idle: GOAL_Idle) -> c_int {
    status("GOAL_Set_idle", || {
        // SAFETY: the caller passes a function of this type, which any thread may call.
        let function = |idle| -> IdleFunction { Arc::new(move || unsafe { call(idle) }) };
        group()?.set_idle(idle.map(function))
    })
}

/// Calls a function of the program. If an exception leaves the function, the process ends here,
/// since the exception would skip frames of the library.
///
/// # Safety
/// The conditions of `function` hold.
unsafe extern "C" fn call(function: unsafe extern "C-unwind" fn()) {
    // SAFETY: as the caller says.
    unsafe { function() };
}
