//! Implements the border to C: errors become codes and texts, and panics become errors.

use goal::raw::is_in_function;
use goal::{Error, ErrorCode, Group, Result};
use std::cell::RefCell;
use std::ffi::{c_char, c_int};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// A type that functions of the C library return.
pub(crate) trait Outcome {
    /// The name of the kind of object, as in "the graph is NULL"; empty for numbers.
    const KIND: &str = "";

    /// Returns the value that a function returns after an error with this code.
    fn failed(code: ErrorCode) -> Self;
}

/// After an error, functions that return a code, a number or a truth value return the negative
/// error code.
impl Outcome for c_int {
    fn failed(code: ErrorCode) -> Self {
        code as c_int
    }
}

impl<T> Outcome for *const T {
    fn failed(_: ErrorCode) -> Self {
        ptr::null()
    }
}

impl<T> Outcome for *mut T {
    fn failed(_: ErrorCode) -> Self {
        ptr::null_mut()
    }
}

/// The last error of a thread. Its code is 0 before the thread's first error.
struct Last {
    code: c_int,
    text: Text,
    /// The [`Outcome::KIND`] of the NULL that led to the error or came from it.
    kind: &'static str,
}

/// A text for C whose address stays the same. C may take the address first, and then make the call
/// whose error it prints. An example is `printf("%d %s", GOAL_Send(...), GOAL_Last_error())`.
struct Text {
    /// The bytes of the text, followed by a NUL.
    bytes: Vec<u8>,
    /// The buffer before `bytes`, which was too small for a text. It is kept because C may still
    /// have its address.
    outgrown: Vec<u8>,
}

impl Text {
    /// The least size in bytes of a buffer for texts.
    const ROOM: usize = 4096;

    fn set(&mut self, text: &str) {
        if self.bytes.capacity() <= text.len() {
            let larger = Vec::with_capacity((2 * text.len()).max(Self::ROOM));
            self.outgrown = mem::replace(&mut self.bytes, larger);
        }
        self.bytes.clear();
        self.bytes.extend(text.bytes().filter(|&byte| byte != 0));
        self.bytes.push(0);
    }

    fn as_str(&self) -> &str {
        let text = self.bytes.strip_suffix(&[0]).unwrap_or_default();
        str::from_utf8(text).unwrap_or_default()
    }
}

thread_local! {
    static LAST: RefCell<Last> = const {
        let text = Text { bytes: Vec::new(), outgrown: Vec::new() };
        RefCell::new(Last { code: 0, text, kind: "" })
    };
}

/// Executes `body`, the body of the C function `call`. After an error or a panic, stores the error
/// as this thread's last one, and returns [`Outcome::failed`].
#[inline]
pub(crate) fn border<T: Outcome>(call: &'static str, body: impl FnOnce() -> Result<T>) -> T {
    if is_in_function() {
        return failed(call, &inside());
    }
    // In a fork, the body must take no lock, since a copied lock may be held for ever.
    if Group::is_fork()
        && let Err(error) = Group::current()
    {
        return failed(call, &error);
    }
    border_of_core(call, body)
}

/// Executes `body` as [`border`] does, for a body that takes the engine lock. A registered function
/// can't take this lock, so the body fails there. This function checks for that case only after an
/// error.
#[inline]
pub(crate) fn border_of_core<T: Outcome>(
    call: &'static str,
    body: impl FnOnce() -> Result<T>,
) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(_)) if is_in_function() => failed(call, &inside()),
        Ok(Err(error)) => failed(call, &error),
        Err(_) => failed(call, &Error::new(ErrorCode::Internal, "a fault of this library")),
    }
}

/// Returns the text of `body`, the body of a C function that reads the reason of an earlier result;
/// NULL after an error or a panic. This thread's last error stays, because the program may print it
/// next.
pub(crate) fn reading(body: impl FnOnce() -> Result<*const c_char>) -> *const c_char {
    if is_in_function() || Group::is_fork() {
        return ptr::null();
    }
    let text = catch_unwind(AssertUnwindSafe(body));
    text.ok().and_then(Result::ok).unwrap_or(ptr::null())
}

/// Executes `body` as [`border`] does, for a C function that returns 0 or an error code.
#[inline]
pub(crate) fn status(call: &'static str, body: impl FnOnce() -> Result<()>) -> c_int {
    border(call, || body().map(|()| 0))
}

#[cold]
fn inside() -> Error {
    let text = "a registered function can't call this library, which is executing a schedule";
    Error::new(ErrorCode::Unsupported, text)
}

/// The text between an error and the earlier error that led to it.
const BEFORE: &str = "; the error before: ";

/// Returns the text of the earlier error that led to `error`; `None` if there is none. An error
/// leads to another one if the failed call returned NULL or GOAL_INVALID_VERTEX, and the next call
/// got this value. A call between the two that got it and returned a number changes nothing. In a
/// chain of such errors, returns the first.
fn before(error: &Error) -> Option<String> {
    let text = error.to_string();
    let leads = |last: &&Last| match error.code() {
        _ if last.code == 0 => false,
        ErrorCode::Handle => text == format!("the {} is NULL", last.kind),
        ErrorCode::Vertex => {
            last.kind == "vertex" && text.ends_with("(GOAL_INVALID_VERTEX is none)")
        }
        _ => false,
    };
    let first = |last: &Last| {
        let text = last.text.as_str();
        text.split_once(BEFORE).map_or(text, |(_, first)| first).to_owned()
    };
    LAST.try_with(|kept| Some(&*kept.borrow()).filter(leads).map(first)).ok().flatten()
}

#[cold]
fn failed<T: Outcome>(call: &str, error: &Error) -> T {
    let mut text = format!("{call}: {error}");
    let first = before(error);
    if let Some(first) = &first {
        text.push_str(BEFORE);
        text.push_str(first);
    }
    // If the thread is ending, it may have dropped the value.
    let _ = LAST.try_with(|kept| {
        let mut last = kept.borrow_mut();
        last.text.set(&text);
        last.code = error.code() as c_int;
        // After a call that returned a number, the program still has the earlier NULL.
        if first.is_none() || !T::KIND.is_empty() {
            last.kind = T::KIND;
        }
    });
    T::failed(error.code())
}

/// Returns the group of this process.
///
/// # Errors
/// The group is not initialized, or is finalized.
pub(crate) fn group() -> Result<Group> {
    Group::current()
}

/// Returns the text of this thread's last error; an empty text if there was no error.
pub(crate) fn last_text() -> *const c_char {
    let text = LAST.try_with(|kept| {
        let text = &mut kept.borrow_mut().text;
        if text.bytes.is_empty() {
            text.set("");
        }
        text.bytes.as_ptr().cast()
    });
    text.unwrap_or(c"".as_ptr())
}

/// Returns the code of this thread's last error; 0 if there was no error.
pub(crate) fn last_code() -> c_int {
    LAST.try_with(|kept| kept.borrow().code).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{GOAL_Handle, GOAL_Schedule, GOAL_Vertex};
    use std::ffi::CStr;

    #[test]
    fn a_panic_becomes_an_error() {
        let code: c_int = border("GOAL_Test", || panic!("as a fault would"));
        assert_eq!(code, ErrorCode::Internal as c_int);
        assert_eq!(last_code(), code);
    }

    #[allow(unsafe_code)] // reads the text as C does
    fn text() -> &'static str {
        // SAFETY: the text is kept until the thread's next error, and tests compare it before.
        unsafe { CStr::from_ptr(last_text()) }.to_str().unwrap()
    }

    #[test]
    fn the_text_names_the_call() {
        let error = || Err(Error::new(ErrorCode::Rank, "there is\0no rank 7"));
        assert_eq!(status("GOAL_Send", error), -6);
        assert_eq!(text(), "GOAL_Send: there is\\u{0}no rank 7");
    }

    /// As in `printf("%d %s", GOAL_Send(...), GOAL_Last_error())`, where C may call the second
    /// first.
    #[test]
    fn an_address_that_was_taken_before_an_error_has_its_text() {
        let early = last_text();
        status("GOAL_Send", || Err(Error::new(ErrorCode::Rank, "no rank 7")));
        assert_eq!((last_text(), text()), (early, "GOAL_Send: no rank 7"));
    }

    #[test]
    fn the_reading_of_a_reason_keeps_the_last_error() {
        status("GOAL_Link", || Err(Error::new(ErrorCode::Handle, "the schedule is NULL")));
        let fails = || Err(Error::new(ErrorCode::Handle, "the schedule is NULL"));
        assert!(reading(fails).is_null() && reading(|| panic!("as a fault would")).is_null());
        assert_eq!(text(), "GOAL_Link: the schedule is NULL");
        assert_eq!(reading(|| Ok(c"why".as_ptr())), c"why".as_ptr());
    }

    #[test]
    fn what_a_failed_call_returned_leads_to_its_error() {
        let null = |what| Error::new(ErrorCode::Handle, format!("the {what} is NULL"));
        let compile = "GOAL_Compile: a circle";
        border::<GOAL_Schedule>("GOAL_Compile", || Err(Error::new(ErrorCode::Graph, "a circle")));
        border::<GOAL_Handle>("GOAL_Run", || Err(null("schedule")));
        let run = format!("GOAL_Run: the schedule is NULL; the error before: {compile}");
        assert_eq!(text(), run);
        assert_eq!(status("GOAL_Wait", || Err(null("handle"))), ErrorCode::Handle as c_int);
        let wait = format!("GOAL_Wait: the handle is NULL; the error before: {compile}");
        assert_eq!(text(), wait);
        // The program still has the handle after a call that returned a code, but nothing else.
        status("GOAL_Test", || Err(null("handle")));
        let test = format!("GOAL_Test: the handle is NULL; the error before: {compile}");
        assert_eq!(text(), test);
        status("GOAL_FreeSchedule", || Err(null("schedule")));
        assert_eq!(text(), "GOAL_FreeSchedule: the schedule is NULL");
        status("GOAL_Test", || Err(null("handle")));
        assert_eq!(text(), "GOAL_Test: the handle is NULL");
        border::<GOAL_Vertex>("GOAL_Send", || Err(Error::new(ErrorCode::Rank, "no rank 7")));
        let vertex = "prereq is no vertex (GOAL_INVALID_VERTEX is none)";
        status("GOAL_Requires", || Err(Error::new(ErrorCode::Vertex, vertex)));
        let requires = format!("GOAL_Requires: {vertex}; the error before: GOAL_Send: no rank 7");
        assert_eq!(text(), requires);
    }
}
