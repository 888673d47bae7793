//! Makes the ticks of a host's engine: by frames that circle in the kernel, or by a thread of the
//! launcher. The thread works with every kernel.

use crate::circle::{Circle, FRAMES};
use crate::install::Installation;
use crate::kernel::Kernel;
use crate::layout::{Counter, FRAME_LENGTH};
use crate::sys::Mapping;
use rustix::net::{SendFlags, send};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The way in which ticks come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ticks {
    /// From frames that circle through a private pair of interfaces, also while the launcher is
    /// stopped.
    Circle,
    /// From a thread of the launcher.
    Thread,
}

impl fmt::Display for Ticks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Circle => "frames that circle in the kernel",
            Self::Thread => "a thread of the launcher",
        })
    }
}

/// The source of a host's ticks. The ticks end when this is dropped, and with the process. The
/// source's thread has no capabilities.
#[derive(Debug)]
pub struct Ticker {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    ticks: Ticks,
}

/// The time between two looks at which the thread checks that frames still circle.
const LOOK: Duration = Duration::from_millis(500);
/// The time within which a new circle must tick.
const TRIAL: Duration = Duration::from_secs(2);

impl Ticker {
    /// Starts ticks, about one every `period`. They come from frames that circle in the kernel, or
    /// from a thread if the kernel lacks a feature for that.
    ///
    /// The calling thread must be in the network namespace of the interface.
    ///
    /// # Errors
    /// The caller lacks CAP_NET_RAW, or the system has no thread left.
    pub fn start(
        kernel: &Kernel,
        installation: &Installation,
        period: Duration,
    ) -> io::Result<Self> {
        Self::start_as(kernel, installation, period, Ticks::Circle)
            .or_else(|_| Self::start_as(kernel, installation, period, Ticks::Thread))
    }

    /// Starts ticks that come in the given way.
    ///
    /// # Errors
    /// The errors of [`Ticker::start`]. A circle needs TCX (Linux 6.6), CAP_SYS_ADMIN for a network
    /// namespace, virtual Ethernet interfaces (CONFIG_VETH), and token buckets
    /// (CONFIG_NET_SCH_TBF).
    pub fn start_as(
        kernel: &Kernel,
        installation: &Installation,
        period: Duration,
        ticks: Ticks,
    ) -> io::Result<Self> {
        let frame = installation.tick();
        let ends = Arc::new(AtomicBool::new(false));
        let its_ends = Arc::clone(&ends);
        let thread = std::thread::Builder::new().name("goal-tick".into());
        let thread = match ticks {
            Ticks::Thread => {
                let socket = kernel.tick_socket()?;
                thread.spawn(move || {
                    drop_rights();
                    while !its_ends.load(Ordering::Acquire) {
                        std::thread::sleep(period);
                        // A tick that finds no room does no harm, because another one follows.
                        let _ = send(&socket, &frame, SendFlags::empty());
                    }
                })?
            }
            Ticks::Circle => {
                let circle = Circle::new(kernel, period)?;
                let counters = kernel.counters()?;
                set_off(&circle, &counters, &frame, period)?;
                thread.spawn(move || {
                    drop_rights();
                    let mut last = ticked(&counters);
                    while !its_ends.load(Ordering::Acquire) {
                        std::thread::park_timeout(LOOK.max(16 * period));
                        let now = ticked(&counters);
                        if now == last {
                            // All frames were lost. Frames that find no room now are sent at the
                            // next look.
                            let _ = circle.feed(&frame);
                        }
                        last = now;
                    }
                })?
            }
        };
        Ok(Self { ends, thread: Some(thread), ticks })
    }

    /// Returns the way in which ticks come.
    pub fn ticks(&self) -> Ticks {
        self.ticks
    }
}

/// Feeds a new circle until more ticks come than frames were sent. The interfaces drop frames until
/// the kernel has seen that they are up.
fn set_off(
    circle: &Circle,
    counters: &Mapping,
    frame: &[u8; FRAME_LENGTH],
    period: Duration,
) -> io::Result<()> {
    let start = Instant::now();
    let before = ticked(counters);
    let (mut sent, mut last) = (0, before);
    while start.elapsed() < TRIAL.max(64 * period) {
        let now = ticked(counters);
        if sent > 0 && now > before + sent {
            return Ok(());
        }
        if now == last {
            // The interface may refuse frames as long as it drops them.
            let _ = circle.feed(frame);
            sent += u64::from(FRAMES);
        }
        last = now;
        std::thread::sleep(Duration::from_millis(10).max(4 * period));
    }
    Err(io::Error::other("frames do not circle"))
}

/// Drops all capabilities of this thread. The thread lives on after its starter has dropped them,
/// and its sockets are open already. A thread may always drop capabilities.
fn drop_rights() {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    let _ = set_capabilities(None, none);
}

fn ticked(counters: &Mapping) -> u64 {
    let mut bytes = [0; 8];
    counters.read(8 * Counter::Ticked as usize, &mut bytes);
    u64::from_ne_bytes(bytes)
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The message of a panic was printed already.
            let _ = thread.join();
        }
    }
}
