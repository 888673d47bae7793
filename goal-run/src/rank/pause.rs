//! What a rank does while there is nothing to do.

use super::now_ns;
use crate::engine::Waiting;
use crate::shm::{State, Status};
use crate::transport::Wakeup;
use std::time::Duration;

/// Fruitless polls, one right after the other, before a rank yields its processor: some 2 microseconds. Where every rank has
/// one it costs next to nothing; but the system may have put two on the same.
const SPINS: u32 = 8;
/// Fruitless polls before senders are told of all room: one that waits for an answer would have to fetch the line that says so
/// with every message.
const SILENCE: u32 = 5;
/// Looks for a message between two polls of a rank that waits for nothing else.
const LOOKS: u32 = 200;
/// Fruitless polls before a rank sleeps, where every rank has a processor.
const POLLS: u32 = 500;
/// The same where ranks share processors; all of these yield.
const POLLS_CROWDED: u32 = 4;
/// First and longest sleep of a rank that waits for room, which nobody announces.
const ROOM_SLEEP_MIN: Duration = Duration::from_micros(50);
const ROOM_SLEEP_MAX: Duration = Duration::from_millis(1);

/// Fruitless polls since the last one that did something.
pub struct Pause {
    crowded: bool,
    fruitless: u32,
    room_sleep: Duration,
}

impl Pause {
    /// `crowded`: whether ranks share processors.
    pub fn new(crowded: bool) -> Self {
        Self { crowded, fruitless: 0, room_sleep: ROOM_SLEEP_MIN }
    }

    /// Something was done.
    #[inline]
    pub fn over(&mut self) {
        self.fruitless = 0;
        self.room_sleep = ROOM_SLEEP_MIN;
    }

    /// After a fruitless poll: spins or yields at first, then sleeps until there may be something to do.
    pub fn rest(&mut self, status: &Status, transport: &mut impl Wakeup, waiting: Waiting) {
        self.fruitless = self.fruitless.saturating_add(1);
        if self.fruitless == SILENCE {
            transport.publish();
        }
        let (spins, polls) = if self.crowded { (0, POLLS_CROWDED) } else { (SPINS, POLLS) };
        if self.fruitless <= polls {
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
            Waiting::Room => self.room(transport),
            Waiting::Messages => rest_as(status, transport, State::Idle),
            Waiting::Nothing => rest_as(status, transport, State::Done),
        }
    }

    fn until(&mut self, time_ns: u64, room: bool, transport: &mut impl Wakeup) {
        if self.crowded {
            let left = Duration::from_nanos(time_ns.saturating_sub(now_ns()));
            // Nobody announces room.
            sleep(transport, Some(if room { left.min(ROOM_SLEEP_MIN) } else { left }));
        } else {
            std::hint::spin_loop();
        }
    }

    /// In the eyes of the launcher the rank runs: there will be room, as its peer takes whatever comes.
    fn room(&mut self, transport: &mut impl Wakeup) {
        sleep(transport, Some(self.room_sleep));
        self.room_sleep = (2 * self.room_sleep).min(ROOM_SLEEP_MAX);
    }
}

fn rest_as(status: &Status, transport: &mut impl Wakeup, state: State) {
    status.enter(state);
    sleep(transport, None);
    status.enter(State::Running);
}

fn sleep(transport: &mut impl Wakeup, limit: Option<Duration>) {
    if transport.arm() {
        transport.wait(limit);
    }
}
