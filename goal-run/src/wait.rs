//! What a rank does while there is nothing to do.

use goal_engine::Waiting;
use goal_eth::now_ns;
use goal_shm::{State, Status};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Fruitless polls, one right after the other, before a rank yields its processor: some 2
/// microseconds. Where every rank has one it costs next to nothing; but the system may have put two
/// on the same.
const SPINS: u32 = 8;
/// Fruitless polls before senders are told of all room: one that waits for an answer would have to
/// fetch the line that says so with every message.
const SILENCE: u32 = 5;
/// Fruitless polls before a rank says that it waits, some microsecond: others may leave a part of
/// what they do to it.
const PATIENCE: u32 = 4;
/// Looks for a message between two polls of a rank that waits for nothing else.
const LOOKS: u32 = 200;
/// Fruitless polls before a rank sleeps, where every rank has a processor: at first and at least,
/// and at most. Less would let a rank sleep while its peer copies a message, which takes it longer
/// to wake from than the copy.
const POLLS_MIN: u32 = 500;
const POLLS_MAX: u32 = 4000;
/// The same where ranks share processors; all of these yield.
const POLLS_CROWDED: u32 = 4;
/// A sleep so short was not worth it, one so long was more than worth it.
const SLEEP_SHORT_NS: u64 = 20_000;
const SLEEP_LONG_NS: u64 = 1_000_000;
/// How much earlier than it has to a rank wakes that waits for the time to pass, where it has a
/// processor.
const EARLY_NS: u64 = 60_000;
/// First and longest sleep of a rank that waits for room, which nobody announces.
const ROOM_SLEEP_MIN: Duration = Duration::from_micros(50);
const ROOM_SLEEP_MAX: Duration = Duration::from_millis(1);

/// How a rank waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Wait {
    /// Looks again and again, and never sleeps
    Spin,
    /// Looks for a while that adapts to how long waits are, then sleeps
    #[default]
    Adaptive,
    /// Sleeps at once
    Block,
}

/// Fruitless polls since the last one that did something.
pub(crate) struct Pause {
    crowded: bool,
    wait: Wait,
    fruitless: u32,
    /// Fruitless polls before it sleeps.
    polls: u32,
    room_sleep: Duration,
    /// Sleeps so far, and nanoseconds of all.
    slept: (u64, u64),
}

impl Pause {
    /// `crowded`: whether ranks share processors.
    pub(crate) fn new(crowded: bool, wait: Wait) -> Self {
        let polls = match (wait, crowded) {
            (Wait::Spin, _) => POLLS_MAX,
            (Wait::Block, _) => 0,
            (Wait::Adaptive, true) => POLLS_CROWDED,
            (Wait::Adaptive, false) => POLLS_MIN,
        };
        Self { crowded, wait, fruitless: 0, polls, room_sleep: ROOM_SLEEP_MIN, slept: (0, 0) }
    }

    /// Something was done.
    #[inline]
    pub(crate) fn over(&mut self) {
        self.fruitless = 0;
        self.room_sleep = ROOM_SLEEP_MIN;
    }

    /// How often the rank slept, and how many nanoseconds.
    pub(crate) fn slept(&self) -> (u64, u64) {
        self.slept
    }

    /// Whether the next rest may become a long one, so that the rank tells before what it counted.
    pub(crate) fn is_silent(&self) -> bool {
        self.fruitless == self.polls.min(SILENCE - 1)
    }

    /// Whether the rank has waited for longer than a message takes that is on its way.
    pub(crate) fn has_waited(&self) -> bool {
        self.fruitless >= PATIENCE
    }

    /// Whether senders are to be told of all room before the rest that comes now.
    pub(crate) fn begins_silence(&self) -> bool {
        self.fruitless + 1 == SILENCE
    }

    /// After a fruitless poll: spins or yields. Whether that has been done for long enough, and
    /// nothing was done this time.
    pub(crate) fn is_over(&mut self, waiting: Waiting, has_message: impl Fn() -> bool) -> bool {
        self.fruitless = self.fruitless.saturating_add(1).min(u32::MAX - 1);
        if self.fruitless <= self.polls {
            if self.crowded || self.fruitless > SPINS {
                std::thread::yield_now();
            } else if matches!(waiting, Waiting::Messages | Waiting::Nothing) {
                let _ = (0..LOOKS).any(|_| has_message());
            } else {
                std::hint::spin_loop();
            }
            return false;
        }
        match waiting {
            Waiting::Until { .. } | Waiting::Room if self.wait == Wait::Spin => {
                std::hint::spin_loop();
                false
            }
            Waiting::Until { time_ns, .. }
                if !self.crowded && time_ns.saturating_sub(now_ns()) <= EARLY_NS =>
            {
                std::hint::spin_loop();
                false
            }
            _ => true,
        }
    }

    /// Sleeps with `wait`, for as long as it is told at most; or, if ranks never sleep, looks with
    /// `look` until there may be something to do.
    pub(crate) fn sleep(
        &mut self,
        status: &Status,
        waiting: Waiting,
        wait: impl FnOnce(Option<Duration>),
        look: impl FnOnce(),
    ) {
        if self.wait == Wait::Spin {
            status.enter(if waiting == Waiting::Nothing { State::Done } else { State::Idle });
            look();
            status.enter(State::Running);
            return;
        }
        let began = now_ns();
        match waiting {
            // In the eyes of the launcher a rank runs that waits for the time, or for room: its
            // peer takes whatever comes.
            Waiting::Until { time_ns, room } => {
                let early = if self.crowded { 0 } else { EARLY_NS };
                let left =
                    Duration::from_nanos(time_ns.saturating_sub(now_ns()).saturating_sub(early));
                // Nobody announces room.
                wait(Some(if room { left.min(ROOM_SLEEP_MIN) } else { left }));
            }
            Waiting::Room => {
                wait(Some(self.room_sleep));
                self.room_sleep = (2 * self.room_sleep).min(ROOM_SLEEP_MAX);
            }
            Waiting::Messages => self.rest_as(status, State::Idle, wait),
            Waiting::Nothing => self.rest_as(status, State::Done, wait),
        }
        self.slept = (self.slept.0 + 1, self.slept.1 + (now_ns() - began));
    }

    fn rest_as(&mut self, status: &Status, state: State, wait: impl FnOnce(Option<Duration>)) {
        status.enter(state);
        if self.wait == Wait::Adaptive && !self.crowded {
            let began = now_ns();
            wait(None);
            match now_ns() - began {
                0..SLEEP_SHORT_NS => self.polls = (2 * self.polls).min(POLLS_MAX),
                SLEEP_LONG_NS.. => self.polls = (self.polls / 2).max(POLLS_MIN),
                _ => {}
            }
        } else {
            wait(None);
        }
        status.enter(State::Running);
    }
}
