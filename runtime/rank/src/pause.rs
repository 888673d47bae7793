//! Lets a rank wait: it polls, then yields its processor, then sleeps.

use goal_engine::Waiting;
use goal_eth::now_ns;
use goal_job::{Sharing, Wait};
use goal_shm::{StartBarrier, State, Status};
use std::time::Duration;

/// The number of polls in a row without work after which a rank yields its processor: about 2
/// microseconds. A yield costs next to nothing if every rank has a processor. It helps if the
/// system has put two ranks on one processor.
const SPINS: u32 = 8;
/// The number of polls in a row without work after which a rank publishes all room in its mailbox.
/// If it published the room with every message, each sender that waits for an answer would fetch
/// the cache line again.
const SILENCE: u32 = 5;
/// The number of polls in a row without work after which a rank counts as waiting: about a
/// microsecond. Other ranks then share large copies and reductions with it.
const PATIENCE: u32 = 4;
/// The number of looks at the mailbox between two polls of a rank that waits for messages only. The
/// processor pauses after each look. Looks in close succession would take the cache line away from
/// a sender that has not finished writing to it.
const LOOKS: u32 = 16;
/// The fewest polls in a row without work after which a rank sleeps, if every rank has a processor.
/// After fewer polls a rank would sleep while its peer copies a message, and waking up takes longer
/// than the copy. [`POLLS_MAX`] is the most such polls.
const POLLS_MIN: u32 = 500;
const POLLS_MAX: u32 = 4000;
/// The number of polls before a rank sleeps if ranks share processors. Each of these polls yields
/// the processor.
const POLLS_CROWDED: u32 = 4;
/// The number of polls before a rank sleeps if ranks are bound and at most two share a processor. A
/// yield then passes the processor to the other rank. That is cheaper than a sleep and a wakeup.
const POLLS_PAIRED: u32 = 20;
/// Nanoseconds of a sleep. After a shorter sleep, which was not worth its cost, the rank polls for
/// longer before the next one.
const SLEEP_SHORT_NS: u64 = 20_000;
/// Nanoseconds of a sleep. After a longer sleep the rank polls for a shorter time before the next
/// one.
const SLEEP_LONG_NS: u64 = 1_000_000;
/// Nanoseconds by which a rank wakes before a deadline if it has a processor of its own. The rank
/// polls for the rest of the time.
const EARLY_NS: u64 = 60_000;
/// The first sleep of a rank that waits for room in a mailbox. Room wakes nobody, so the rank has
/// to look again. Later sleeps take up to [`ROOM_SLEEP_MAX`].
const ROOM_SLEEP_MIN: Duration = Duration::from_micros(50);
const ROOM_SLEEP_MAX: Duration = Duration::from_millis(1);

/// The number and the total time of a rank's sleeps.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slept {
    /// The number of sleeps.
    pub(crate) sleeps: u64,
    /// The total time of all sleeps in nanoseconds.
    pub(crate) ns: u64,
}

/// The state of a rank's wait: how often it has polled without work, and after how many such polls
/// it sleeps.
pub(crate) struct Pause {
    /// True if ranks share processors.
    crowded: bool,
    wait: Wait,
    /// The number of polls in a row without work.
    fruitless: u32,
    /// The number of polls in a row without work after which the rank sleeps.
    polls: u32,
    /// The length of the next sleep that waits for room in a mailbox.
    room_sleep: Duration,
    /// The time in nanoseconds at which a group of one began to wait for itself, and true once
    /// [`Pause::has_waited_alone`] has reported that.
    alone: Option<(u64, bool)>,
    slept: Slept,
    /// True if the rank must not sleep.
    pub(crate) is_awake: bool,
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
            is_awake: false,
        }
    }

    /// Notes that a rank in a group of one waits. Returns true once in a wait: when the wait has
    /// taken `long`.
    pub(crate) fn has_waited_alone(&mut self, long: Duration) -> bool {
        if self.fruitless == 0 {
            self.alone = None;
        }
        self.fruitless = self.fruitless.saturating_add(1).min(u32::MAX - 1);
        let (since, is_known) = self.alone.get_or_insert_with(|| (now_ns(), false));
        let is_long = Duration::from_nanos(now_ns() - *since) >= long;
        is_long && !std::mem::replace(is_known, is_long)
    }

    /// Notes that a poll did some work.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.fruitless = 0;
        self.room_sleep = ROOM_SLEEP_MIN;
    }

    /// Returns the number and the total time of the sleeps so far.
    pub(crate) fn slept(&self) -> Slept {
        self.slept
    }

    /// Returns true once in each wait, when the wait may become long. The caller then publishes its
    /// counts.
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

    /// Spins or yields after a poll without work, and returns false. Returns true, without a spin
    /// or a yield, if the rank has polled for long enough and should sleep. A rank that must not
    /// sleep yields in place of that.
    #[inline]
    pub(crate) fn should_sleep(
        &mut self,
        waiting: Waiting,
        has_message: impl Fn() -> bool,
    ) -> bool {
        self.fruitless = self.fruitless.saturating_add(1).min(u32::MAX - 1);
        if self.fruitless <= self.polls || self.is_awake {
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

    /// Sleeps by a call of `wait` with the longest time that the sleep may take; `None` is no
    /// limit. If the rank never sleeps, calls `look` instead, which must return when there may be
    /// something to do. If the job is stopped meanwhile, a rank that waited for a message keeps its
    /// status, since it rests until the end.
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
            // The status stays `Running`. A rank that waits for a deadline or for room goes on
            // without a message, so the launcher must not take this rank for stuck.
            Waiting::Until { time_ns, room } => {
                let early = if self.crowded { 0 } else { EARLY_NS };
                let left =
                    Duration::from_nanos(time_ns.saturating_sub(now_ns()).saturating_sub(early));
                // Room in a mailbox wakes nobody, so the sleep is short.
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

    /// Sleeps with the status `state`, and adapts the number of polls before the next sleep to the
    /// time that this one took.
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
