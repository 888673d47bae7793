//! Lets a rank wait: it polls, then yields its processor, then sleeps.

use goal_engine::Waiting;
use goal_eth::now_ns;
use goal_job::{Sharing, Wait};
use goal_shm::{StartBarrier, State, Status};
use std::time::Duration;

/// Fruitless polls in a row before a rank yields its processor, about 2 microseconds. A yield costs
/// next to nothing if every rank has a processor, and helps if the system put two on the same.
const SPINS: u32 = 8;
/// Fruitless polls before a rank publishes all room in its mailbox. Published with every message,
/// the line would have to be fetched by each sender that waits for an answer.
const SILENCE: u32 = 5;
/// Fruitless polls before a rank counts as waiting, about a microsecond. Others then share large
/// operations with it.
const PATIENCE: u32 = 4;
/// Looks at the mailbox between two polls of a rank that waits for messages only. The processor
/// pauses after each: looks in close succession take the line away from a sender that has not
/// finished writing to it.
const LOOKS: u32 = 16;
/// Fewest and most fruitless polls before a rank sleeps, if every rank has a processor. With fewer
/// a rank would sleep while its peer copies a message, and waking up takes longer than the copy.
const POLLS_MIN: u32 = 500;
const POLLS_MAX: u32 = 4000;
/// The polls before a rank sleeps if ranks share processors. Each of these polls yields.
const POLLS_CROWDED: u32 = 4;
/// The polls before a rank sleeps if ranks are bound and at most two share a processor. A yield
/// then passes the processor to the other rank, which is cheaper than a sleep and waking up.
const POLLS_PAIRED: u32 = 20;
/// A shorter sleep was not worth its cost, so the rank polls longer next time.
const SLEEP_SHORT_NS: u64 = 20_000;
/// After a longer sleep the rank polls for a shorter time.
const SLEEP_LONG_NS: u64 = 1_000_000;
/// The time by which a rank with a processor of its own wakes early to meet a deadline.
const EARLY_NS: u64 = 60_000;
/// First and longest sleep of a rank that waits for room in a mailbox, which sends no signal.
const ROOM_SLEEP_MIN: Duration = Duration::from_micros(50);
const ROOM_SLEEP_MAX: Duration = Duration::from_millis(1);

/// The sleeps of a rank.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slept {
    /// The number of sleeps.
    pub(crate) sleeps: u64,
    /// Nanoseconds of all of them.
    pub(crate) ns: u64,
}

/// The state of a rank's waiting: how long it has polled in vain, and when it sleeps.
pub(crate) struct Pause {
    /// True if ranks share processors.
    crowded: bool,
    wait: Wait,
    /// Fruitless polls in a row.
    fruitless: u32,
    /// Fruitless polls before the rank sleeps.
    polls: u32,
    /// The next sleep while waiting for room.
    room_sleep: Duration,
    /// The time at which the rank began to wait alone, and true once that has taken long.
    alone: Option<(u64, bool)>,
    slept: Slept,
}

impl Pause {
    /// Returns the state of a rank that has not waited yet.
    pub(crate) fn new(sharing: Sharing, wait: Wait) -> Self {
        let polls = match (wait, sharing) {
            (Wait::Spin, _) => POLLS_MAX,
            (Wait::Block, _) => 0,
            (Wait::Adaptive, Sharing::Crowded) => POLLS_CROWDED,
            (Wait::Adaptive, Sharing::Paired) => POLLS_PAIRED,
            (Wait::Adaptive, Sharing::None) => POLLS_MIN,
        };
        Self {
            crowded: sharing != Sharing::None,
            wait,
            fruitless: 0,
            polls,
            room_sleep: ROOM_SLEEP_MIN,
            alone: None,
            slept: Slept::default(),
        }
    }

    /// Notes that a rank without others waits. Returns true once, when it has done so for `long`.
    pub(crate) fn has_waited_alone(&mut self, long: Duration) -> bool {
        if self.fruitless == 0 {
            self.alone = None;
        }
        self.fruitless = self.fruitless.saturating_add(1).min(u32::MAX - 1);
        let (since, is_known) = self.alone.get_or_insert_with(|| (now_ns(), false));
        let is_long = Duration::from_nanos(now_ns() - *since) >= long;
        is_long && !std::mem::replace(is_known, is_long)
    }

    /// Notes that a poll did something.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.fruitless = 0;
        self.room_sleep = ROOM_SLEEP_MIN;
    }

    /// Returns the sleeps so far.
    pub(crate) fn slept(&self) -> Slept {
        self.slept
    }

    /// Returns true once a wait, when it may become long: the caller then publishes its counts.
    pub(crate) fn publishes_counts(&self) -> bool {
        self.fruitless == self.polls.min(SILENCE - 1)
    }

    /// Returns true if the rank has waited for longer than a message takes to arrive.
    pub(crate) fn has_waited(&self) -> bool {
        self.fruitless >= PATIENCE
    }

    /// Returns true if the caller is to publish all room in its mailbox before it waits on.
    pub(crate) fn publishes_room(&self) -> bool {
        self.fruitless + 1 == SILENCE
    }

    /// Spins or yields after a fruitless poll. Returns true, without doing either, if the rank has
    /// done so for long enough and should sleep.
    #[inline]
    pub(crate) fn should_sleep(
        &mut self,
        waiting: Waiting,
        has_message: impl Fn() -> bool,
    ) -> bool {
        self.fruitless = self.fruitless.saturating_add(1).min(u32::MAX - 1);
        if self.fruitless <= self.polls {
            if self.crowded || self.fruitless > SPINS {
                std::thread::yield_now();
            } else if matches!(waiting, Waiting::Messages | Waiting::Nothing) {
                let _ = (0..LOOKS).any(|_| {
                    let has_message = has_message();
                    if !has_message {
                        std::hint::spin_loop();
                    }
                    has_message
                });
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

    /// Sleeps by calling `wait` with the longest time that it may take. If the rank never sleeps,
    /// calls `look` instead, which must return when there may be something to do. If the job is
    /// stopped meanwhile, a rank that waited for a message keeps its status, since it rests until
    /// the end.
    pub(crate) fn sleep(
        &mut self,
        (status, start_barrier): (&Status, &StartBarrier),
        waiting: Waiting,
        wait: impl FnOnce(Option<Duration>),
        look: impl FnOnce(),
    ) {
        if self.wait == Wait::Spin {
            status.enter(if waiting == Waiting::Nothing { State::Done } else { State::Idle });
            look();
            go_on(status, start_barrier);
            return;
        }
        let began = now_ns();
        match waiting {
            // The status stays `Running`: a rank that waits for a deadline or for room goes on
            // without a message, so the launcher must not take it for stuck.
            Waiting::Until { time_ns, room } => {
                let early = if self.crowded { 0 } else { EARLY_NS };
                let left =
                    Duration::from_nanos(time_ns.saturating_sub(now_ns()).saturating_sub(early));
                // Room sends no signal.
                wait(Some(if room { left.min(ROOM_SLEEP_MIN) } else { left }));
            }
            Waiting::Room => {
                wait(Some(self.room_sleep));
                self.room_sleep = (2 * self.room_sleep).min(ROOM_SLEEP_MAX);
            }
            Waiting::Messages => self.sleep_as(State::Idle, status, start_barrier, wait),
            Waiting::Nothing => self.sleep_as(State::Done, status, start_barrier, wait),
        }
        self.slept.sleeps += 1;
        self.slept.ns += now_ns() - began;
    }

    /// Sleeps with the given status, and adapts the number of polls to the time it took.
    fn sleep_as(
        &mut self,
        state: State,
        status: &Status,
        start_barrier: &StartBarrier,
        wait: impl FnOnce(Option<Duration>),
    ) {
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
        go_on(status, start_barrier);
    }
}

/// Enters [`State::Running`] after a sleep, unless the job was stopped.
fn go_on(status: &Status, start_barrier: &StartBarrier) {
    if !start_barrier.is_stopped() {
        status.enter(State::Running);
    }
}
