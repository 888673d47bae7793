//! What a fault does to a rank. `unsafe`: the system call that says so.
#![allow(unsafe_code)]

/// Lets SIGSEGV and SIGBUS end the process. Rust's runtime handles them, to tell of overflown
/// stacks, and passes over the first one that somebody else sends: a rank would live on that should
/// have died.
pub(super) fn end_the_process() {
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: the default action runs no code, and nothing relies on the handler that it
        // replaces.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}
