//! Signals that end the process while a command of the user runs in a process group of its own,
//! which a terminal's signals do not reach.

use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_usize;
use signal_hook::low_level::{emulate_default_handler, unregister};
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// While this lives, a signal that would end the process is only noted. A signal that was ignored
/// when the process began stays ignored.
pub(super) struct Interruption {
    /// The number of the signal, or 0.
    signal: Arc<AtomicUsize>,
    handlers: Vec<SigId>,
}

impl Interruption {
    /// Notes signals from now on.
    ///
    /// # Errors
    /// The system does not allow signals to be handled.
    pub(super) fn new() -> io::Result<Self> {
        let mut noted = Self { signal: Arc::default(), handlers: Vec::new() };
        let ignored = ignored();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if ignored >> (signal - 1) & 1 == 0 {
                let flag = Arc::clone(&noted.signal);
                noted.handlers.push(register_usize(signal, flag, signal as usize)?);
            }
        }
        Ok(noted)
    }

    /// Returns true if a signal has come.
    pub(super) fn has_come(&self) -> bool {
        self.signal.load(Ordering::SeqCst) != 0
    }

    /// Ends the process by the signal that has come, if one has.
    pub(super) fn follow(self) {
        let signal = self.signal.load(Ordering::SeqCst);
        for &handler in &self.handlers {
            unregister(handler);
        }
        if signal != 0 {
            let _ = emulate_default_handler(signal as i32);
        }
    }
}

/// Returns the signals that this process ignores, one bit each; 0 if the system does not tell.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
