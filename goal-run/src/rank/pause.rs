//! What a rank does while there is nothing to do.

use super::now_ns;
use crate::engine::Waiting;
use crate::shm::{State, Status};
use crate::transport::ShmTransport;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Fruitless polls, one right after the other, before a rank yields its processor: some 2 microseconds. Where every rank has
/// one it costs next to nothing; but the system may have put two on the same.
const SPINS: u32 = 50;
/// Looks for a message between two polls of a rank that waits for nothing else.
const LOOKS: u32 = 20;
/// Fruitless polls before a rank sleeps, where every rank has a processor.
const POLLS: u32 = 500;
/// The same where ranks share processors; all of these yield.
const POLLS_CROWDED: u32 = 4;
/// First and longest sleep of a rank that waits for room, which nobody announces.
const ROOM_SLEEP_MIN: Duration = Duration::from_micros(50);
const ROOM_SLEEP_MAX: Duration = Duration::from_millis(1);

/// Fruitless polls since the last one that did something.
pub(super) struct Pause {
    crowded: bool,
    fruitless: u32,
    room_sleep: Duration,
    blocked: bool,
}

impl Pause {
    pub(super) fn new(crowded: bool) -> Self {
        Self { crowded, fruitless: 0, room_sleep: ROOM_SLEEP_MIN, blocked: false }
    }

    /// Something was done.
    #[inline]
    pub(super) fn over(&mut self, status: &Status) {
        self.fruitless = 0;
        if self.blocked {
            self.run(status);
        }
    }

    #[cold]
    fn run(&mut self, status: &Status) {
        self.blocked = false;
        self.room_sleep = ROOM_SLEEP_MIN;
        status.refusing.store(0, Ordering::Relaxed);
        status.enter(State::Running);
    }

    /// After a fruitless poll: spins or yields at first, then sleeps until there may be something to do.
    pub(super) fn rest(&mut self, status: &Status, transport: &mut ShmTransport<'_>, waiting: Waiting) {
        self.fruitless = self.fruitless.saturating_add(1);
        if self.fruitless == 1 {
            transport.publish();
        }
        let (spins, polls) = if self.crowded { (0, POLLS_CROWDED) } else { (SPINS, POLLS) };
        if !self.blocked && self.fruitless <= polls {
            if self.fruitless > spins {
                std::thread::yield_now();
            } else if matches!(waiting, Waiting::Messages | Waiting::Nothing) {
                transport.spin(LOOKS);
            } else {
                std::hint::spin_loop();
            }
            return;
        }
        match waiting {
            Waiting::Until { time_ns, room } => self.until(time_ns, room, transport),
            Waiting::Room { refusing } => self.room(status, transport, refusing),
            Waiting::Messages => self.sleep(status, transport, State::Idle),
            Waiting::Nothing => self.sleep(status, transport, State::Done),
        }
    }

    fn until(&mut self, time_ns: u64, room: bool, transport: &mut ShmTransport<'_>) {
        if self.crowded {
            let left = Duration::from_nanos(time_ns.saturating_sub(now_ns()));
            if room {
                // Nobody announces it; and where messages are refused a sleep in the ring would not be one.
                std::thread::sleep(left.min(ROOM_SLEEP_MIN));
            } else {
                transport.sleep(Some(left));
            }
        } else {
            std::hint::spin_loop();
        }
    }

    /// The rank stays blocked, in the eyes of the launcher, until a poll does something; it counts the others.
    fn room(&mut self, status: &Status, transport: &mut ShmTransport<'_>, refusing: bool) {
        status.refusing.store(u32::from(refusing), Ordering::SeqCst);
        if self.blocked {
            status.retries.fetch_add(1, Ordering::SeqCst);
        } else {
            self.blocked = true;
            status.enter(State::Blocked);
        }
        if refusing {
            // The ring holds a message, so that a sleep in it would not be one.
            std::thread::sleep(self.room_sleep);
        } else {
            transport.sleep(Some(self.room_sleep));
        }
        self.room_sleep = (2 * self.room_sleep).min(ROOM_SLEEP_MAX);
    }

    fn sleep(&mut self, status: &Status, transport: &mut ShmTransport<'_>, state: State) {
        status.enter(state);
        transport.sleep(None);
        self.run(status);
    }
}
