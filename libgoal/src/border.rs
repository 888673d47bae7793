//! The border to C: errors become codes and texts, and panics become errors.

use goal::raw::is_in_function;
use goal::{Error, ErrorCode, Group, Result};
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// The result of a function of the library.
pub(crate) trait Outcome {
    /// Returns what the function returns after an error.
    fn failed(code: ErrorCode) -> Self;
}

/// Functions that return a code, a number or a truth value return a negative code.
impl Outcome for c_int {
    fn failed(code: ErrorCode) -> Self {
        code as c_int
    }
}

impl<T> Outcome for *mut T {
    fn failed(_: ErrorCode) -> Self {
        ptr::null_mut()
    }
}

/// The last error of a thread.
struct Last {
    code: c_int,
    text: CString,
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// Executes the body of the function `call`.
#[inline]
pub(crate) fn border<T: Outcome>(call: &'static str, body: impl FnOnce() -> Result<T>) -> T {
    if is_in_function() {
        return failed(call, &inside());
    }
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => failed(call, &error),
        Err(_) => failed(call, &Error::new(ErrorCode::Internal, "a fault of this library")),
    }
}

/// Executes the body of a function that returns 0 or an error.
#[inline]
pub(crate) fn status(call: &'static str, body: impl FnOnce() -> Result<()>) -> c_int {
    border(call, || body().map(|()| 0))
}

#[cold]
fn inside() -> Error {
    let text = "a registered function can't call this library, which is executing a schedule";
    Error::new(ErrorCode::Unsupported, text)
}

#[cold]
fn failed<T: Outcome>(call: &str, error: &Error) -> T {
    let text: String =
        format!("{call}: {error}").chars().filter(|&letter| letter != '\0').collect();
    let last = Last { code: error.code() as c_int, text: CString::new(text).unwrap_or_default() };
    // A thread that ends may have dropped it.
    let _ = LAST.try_with(|kept| *kept.borrow_mut() = Some(last));
    T::failed(error.code())
}

/// Checks that the group exists.
///
/// # Errors
/// It is not initialized, or is finalized.
pub(crate) fn group() -> Result<Group> {
    Group::current()
}

/// Returns the text of the last error of this thread, and an empty one if there was none.
pub(crate) fn last_text() -> *const c_char {
    let text = LAST.try_with(|kept| kept.borrow().as_ref().map(|last| last.text.as_ptr()));
    text.ok().flatten().unwrap_or(c"".as_ptr())
}

/// Returns the code of the last error of this thread.
pub(crate) fn last_code() -> c_int {
    LAST.try_with(|kept| kept.borrow().as_ref().map_or(0, |last| last.code)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn a_panic_becomes_an_error() {
        let code: c_int = border("GOAL_Test", || panic!("as a fault would"));
        assert_eq!(code, ErrorCode::Internal as c_int);
        assert_eq!(last_code(), code);
    }

    #[test]
    #[allow(unsafe_code)] // reads the text as C does
    fn the_text_names_the_call() {
        let error = || Err(Error::new(ErrorCode::Rank, "there is\0no rank 7"));
        assert_eq!(status("GOAL_Send", error), -6);
        // SAFETY: the text is kept until the thread's next error.
        let text = unsafe { CStr::from_ptr(last_text()) };
        assert_eq!(text.to_str(), Ok("GOAL_Send: there isno rank 7"));
    }
}
