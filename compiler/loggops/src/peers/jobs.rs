//! The actions of a program as the models of the peers read them: half a cache line each, with the
//! partner of each message.

use crate::channels::{NONE, visit_channels};
use crate::workload::{Kind, Workload};

/// Several actions wait for the end of an action: see the program.
pub(super) const SEVERAL: u32 = u32::MAX - 1;
/// Some actions wait for the start of an action, and any number for its end: see the program.
pub(super) const AT_START: u32 = u32::MAX - 2;

const SEND: u8 = 1;
const RECV: u8 = 2;
const KIND: u8 = 3;
const KNOWN: u8 = 1 << 2;
const IN_ORDER: u8 = 2 << 2;
const WILD: u8 = 3 << 2;
const PAIRING: u8 = 3 << 2;
/// Of a receive: it waits for its known message, or this message waits for it.
const WAITS: u8 = 1 << 4;
/// Of a receive: it may meet a message of another size.
const UNEQUAL: u8 = 1 << 5;
/// Of a send: its message waits for a processor and an interface.
const PARKED: u8 = 1 << 6;
const ENDED: u8 = 1 << 7;

/// An action.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(super) struct Job {
    /// The bytes of a message, or the nanoseconds of a computation.
    pub(super) size: u64,
    pub(super) rank: u32,
    /// The receiver of a send.
    pub(super) to: u32,
    /// The partner if it is known, or the channel.
    pub(super) partner: u32,
    /// The only action that waits for this one, for its end, or [`NONE`], [`SEVERAL`] or
    /// [`AT_START`].
    pub(super) waiter: u32,
    /// The dependencies that are not met.
    pub(super) missing: u32,
    pub(super) cpu: u16,
    pub(super) nic: u8,
    bits: u8,
}

/// The way to find the partner of a send or a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pairing {
    /// No other message has its ranks and tag.
    Known,
    /// Messages and receives meet in the order in which they come to their channel.
    InOrder,
    /// The receiver has wildcards.
    Wild,
    /// Nobody has a partner for it.
    Never,
}

impl Job {
    fn new(workload: &Workload, rank: u32, action: u32) -> Self {
        let record = workload.record(action);
        let (size, bits) = match record.kind {
            Kind::Send => (record.size, SEND),
            Kind::Recv => (record.size, RECV),
            Kind::Calc | Kind::Local | Kind::Dummy => (record.nanos(), 0),
        };
        let waiter = match (workload.waiters(action), workload.start_waiters(action)) {
            ([], []) => NONE,
            (&[waiter], []) => waiter,
            (_, []) => SEVERAL,
            _ => AT_START,
        };
        Self {
            size,
            rank,
            to: record.peer,
            partner: NONE,
            waiter,
            missing: record.missing,
            cpu: record.cpu,
            nic: record.nic,
            bits,
        }
    }

    /// Returns [`Kind::Calc`] for all that is no message.
    #[inline]
    pub(super) fn kind(&self) -> Kind {
        match self.bits & KIND {
            SEND => Kind::Send,
            RECV => Kind::Recv,
            _ => Kind::Calc,
        }
    }

    #[inline]
    pub(super) fn pairing(&self) -> Pairing {
        match self.bits & PAIRING {
            KNOWN => Pairing::Known,
            IN_ORDER => Pairing::InOrder,
            WILD => Pairing::Wild,
            _ => Pairing::Never,
        }
    }

    /// Notes that the receive or its known message waits. Returns true if one of them did already,
    /// so that they meet.
    #[inline]
    pub(super) fn wait(&mut self) -> bool {
        let did_wait = self.bits & WAITS != 0;
        self.bits |= WAITS;
        did_wait
    }

    /// Notes that the action has ended. Returns true if it had not.
    #[inline]
    pub(super) fn end(&mut self) -> bool {
        let is_first = self.bits & ENDED == 0;
        self.bits |= ENDED;
        is_first
    }

    pub(super) fn may_be_unequal(&self) -> bool {
        self.bits & UNEQUAL != 0
    }

    #[inline]
    pub(super) fn is_parked(&self) -> bool {
        self.bits & PARKED != 0
    }

    pub(super) fn set_parked(&mut self, is_parked: bool) {
        self.bits = self.bits & !PARKED | if is_parked { PARKED } else { 0 };
    }
}

/// The actions of all ranks.
#[derive(Debug)]
pub(super) struct Jobs {
    pub(super) all: Vec<Job>,
    /// Number of channels whose messages meet in order.
    pub(super) channels: usize,
}

impl Jobs {
    /// Lists the actions and finds their partners. Ranks `with_wildcards` find them by search.
    pub(super) fn new(workload: &Workload, with_wildcards: &[bool]) -> Self {
        let mut all = Vec::with_capacity(workload.len());
        for rank in 0..workload.num_ranks() as u32 {
            all.extend(workload.actions(rank).map(|action| Job::new(workload, rank, action)));
        }
        let mut jobs = Self { all, channels: 0 };
        visit_channels(workload, with_wildcards, |sends, receives| jobs.add(sends, receives));
        if with_wildcards.contains(&true) {
            jobs.mark_wild(with_wildcards);
        }
        jobs
    }

    /// Adds the messages and the receives of a channel.
    fn add(&mut self, sends: &[u32], receives: &[u32]) {
        let (bits, partners) = match (sends, receives) {
            ([], _) | (_, []) => return,
            (&[send], &[receive]) => (KNOWN, [receive, send]),
            _ => {
                self.channels += 1;
                (IN_ORDER, [self.channels as u32 - 1; 2])
            }
        };
        for (actions, partner) in [sends, receives].into_iter().zip(partners) {
            for &action in actions {
                let job = &mut self.all[action as usize];
                job.bits |= bits;
                job.partner = partner;
            }
        }
        let size = self.all[sends[0] as usize].size;
        let is_other = |&&action: &&u32| self.all[action as usize].size != size;
        if sends.iter().chain(receives).any(|action| is_other(&action)) {
            for &receive in receives {
                self.all[receive as usize].bits |= UNEQUAL;
            }
        }
    }

    fn mark_wild(&mut self, with_wildcards: &[bool]) {
        for job in &mut self.all {
            let receiver = match job.kind() {
                Kind::Send => job.to,
                Kind::Recv => job.rank,
                Kind::Calc | Kind::Local | Kind::Dummy => continue,
            };
            if with_wildcards[receiver as usize] {
                job.bits |= WILD | UNEQUAL;
            }
        }
    }
}
