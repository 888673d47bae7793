//! Ticks from a thread of the launcher: the way that every kernel has.

use crate::install::Installation;
use crate::kernel::Kernel;
use rustix::net::{SendFlags, send};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A thread without rights that sends ticks to its host's engine. It ends when this is dropped.
#[derive(Debug)]
pub struct Ticker {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Starts the thread. The next tick follows `period` after the one before.
    ///
    /// # Errors
    /// The caller lacks CAP_NET_RAW, or the system has no thread left.
    pub fn start(
        kernel: &Kernel,
        installation: &Installation,
        period: Duration,
    ) -> io::Result<Self> {
        let socket = kernel.tick_socket()?;
        let frame = installation.tick();
        let ends = Arc::new(AtomicBool::new(false));
        let its_ends = Arc::clone(&ends);
        let thread = std::thread::Builder::new().name("goal-tick".into()).spawn(move || {
            // The thread lives longer than its starter has rights, and its socket is open. Taking
            // rights from oneself is always possible.
            let none = CapabilitySets {
                effective: CapabilitySet::empty(),
                permitted: CapabilitySet::empty(),
                inheritable: CapabilitySet::empty(),
            };
            let _ = set_capabilities(None, none);
            while !its_ends.load(Ordering::Acquire) {
                std::thread::sleep(period);
                // A tick that finds no room is followed by another one.
                let _ = send(&socket, &frame, SendFlags::empty());
            }
        })?;
        Ok(Self { ends, thread: Some(thread) })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // The message of a panic was printed already.
            let _ = thread.join();
        }
    }
}
