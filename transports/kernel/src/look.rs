//! Reads the state of the parts of a host from its maps, for reports on runs that do not end.
//!
//! The engine may change the maps meanwhile, so the values of two words may be of different times.
//! Every number is checked against the lengths of the maps.

use crate::layout::{
    ActionEntry, HANDED_OVER, PartEntry, RECEIVE_HELD, ReceiveEntry, SendEntry, StatusEntry,
};
use crate::limits::page;
use crate::sys::Mapping;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use zerocopy::{FromBytes, FromZeros, IntoBytes};

/// The maps of a host's parts.
#[derive(Debug)]
pub struct Look {
    parts: Mapping,
    status: Mapping,
    actions: Mapping,
    receives: Mapping,
    sends: Mapping,
    /// The numbers of parts, actions, receives and sends.
    counts: [u32; 4],
}

/// The event that an action waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Awaited {
    /// Messages from these ranks of the job.
    Messages(Vec<u32>),
    /// The rank's process, to which the action was handed over.
    Process,
}

/// The state of a part whose last run has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfinished {
    /// The run has not begun. These ranks of the job have not acknowledged the messages of the run
    /// before the last.
    Held(Vec<u32>),
    /// The actions of the part that have begun to wait, ascending, each with what it waits for.
    Waits(Vec<(u32, Awaited)>),
}

impl Look {
    /// Maps the maps of parts, states, actions, receives and sends. `counts` has the numbers of
    /// parts, actions, receives and sends.
    pub(crate) fn new(maps: [BorrowedFd<'_>; 5], counts: [u32; 4]) -> io::Result<Self> {
        let whole = |map: BorrowedFd<'_>, count: u32, entry: usize| {
            Mapping::new(map, 0, (count.max(1) as usize * entry).next_multiple_of(page()))
        };
        let [parts, status, actions, receives, sends] = maps;
        let [some, of_actions, of_receives, of_sends] = counts;
        Ok(Self {
            parts: whole(parts, some, size_of::<PartEntry>())?,
            status: whole(status, some, size_of::<StatusEntry>())?,
            actions: whole(actions, of_actions, size_of::<ActionEntry>())?,
            receives: whole(receives, of_receives, size_of::<ReceiveEntry>())?,
            sends: whole(sends, of_sends, size_of::<SendEntry>())?,
            counts,
        })
    }

    /// Returns the number of requests that the host's kernel has answered. It grows while frames of
    /// the host get lost.
    pub(crate) fn answered(&self) -> u64 {
        let [parts, _, _, sends] = self.counts;
        let numbers = (0..parts).filter_map(|part| entry::<PartEntry>(&self.parts, part, parts));
        let numbers = numbers.flat_map(|own| own.sends_within(sends));
        let of = |number| entry::<SendEntry>(&self.sends, number, sends);
        numbers.filter_map(of).map(|send| u64::from(send.answered)).sum()
    }

    /// Returns what the last run of a part waits for; `None` if it has ended.
    pub fn part(&self, part: u32) -> Option<Unfinished> {
        let [parts, actions, receives, _] = self.counts;
        let own: PartEntry = entry(&self.parts, part, parts)?;
        let status: StatusEntry = entry(&self.status, part, parts)?;
        let epoch = own.current;
        if status.done == own.wanted {
            return None;
        }
        let has_begun = status.done != epoch;
        let mut awaited: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut held = Vec::new();
        for number in 0..own.receives {
            let place = own.first_receive.checked_add(number)?;
            let receive: ReceiveEntry = entry(&self.receives, place, receives)?;
            let is_held = receive.flags & RECEIVE_HELD != 0;
            // The engine's ticks choose the epoch of missing messages in this way too.
            let of = if is_held { epoch.wrapping_sub(1) } else { epoch };
            let all = u32::MAX.checked_shr(32 - u32::from(receive.fragments).min(32)).unwrap_or(0);
            let claims = receive.claims[of as usize & 1];
            let has_come = claims >> 32 == u64::from(of) && claims as u32 & all == all;
            match (is_held, has_begun) {
                _ if has_come => {}
                (true, false) => held.push(receive.peer),
                (false, true) => awaited.entry(receive.action).or_default().push(receive.peer),
                _ => {}
            }
        }
        if !has_begun {
            return Some(Unfinished::Held(held));
        }
        let mut waits = Vec::new();
        for number in 0..own.actions {
            let place = own.first_action.checked_add(number)?;
            let action: ActionEntry = entry(&self.actions, place, actions)?;
            let peers = awaited.remove(&number).unwrap_or_default();
            // The action waits for nothing but messages, so it has started.
            if !peers.is_empty() && action.left[epoch as usize & 1] as usize == peers.len() {
                waits.push((number, Awaited::Messages(peers)));
            } else if action.flags & HANDED_OVER != 0 && action.out == epoch {
                waits.push((number, Awaited::Process));
            }
        }
        Some(Unfinished::Waits(waits))
    }
}

impl PartEntry {
    /// Returns the numbers of the part's sends in a map of `count` sends.
    fn sends_within(&self, count: u32) -> Range<u32> {
        self.first_send..self.first_send.saturating_add(self.sends).min(count)
    }
}

/// A record of the sends whose receivers keep requesting frames, over several looks.
#[derive(Debug, Default)]
pub struct Unheard {
    /// By number of the send, what the last look has found.
    before: HashMap<u32, Asked>,
}

/// A send whose receiver has asked for its message.
#[derive(Debug)]
struct Asked {
    /// The last two runs in which the message was sent, and the last run that its sender has ended.
    runs: [u32; 3],
    /// The number of requests that were answered.
    answered: u32,
    /// The number of looks in a row that found newly answered requests for the same runs.
    looks: u32,
}

/// A message whose frames do not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// The part that sends it.
    pub part: u32,
    /// The rank of the job that is to receive it.
    pub receiver: u32,
    /// The bytes of the message, or of the portion of it that does not arrive.
    pub bytes: u32,
}

impl Unheard {
    /// Looks at all sends. Returns a send whose frames do not arrive, if there is one. In each of
    /// the last `looks` looks, the sender's kernel had answered further requests for the same run.
    pub fn look(&mut self, look: &Look, looks: u32) -> Option<Lost> {
        let [parts, _, _, sends] = look.counts;
        let mut found = None;
        for part in 0..parts {
            let own: PartEntry = entry(&look.parts, part, parts)?;
            let done = entry::<StatusEntry>(&look.status, part, parts)?.done;
            for number in own.sends_within(sends) {
                let send: SendEntry = entry(&look.sends, number, sends)?;
                if send.answered == 0 {
                    continue;
                }
                let (runs, answered) = ([send.sent[0], send.sent[1], done], send.answered);
                let known = self.before.entry(number).or_insert(Asked { runs, answered, looks: 0 });
                let again = known.runs == runs && known.answered != answered;
                *known = Asked { runs, answered, looks: if again { known.looks + 1 } else { 0 } };
                if known.looks >= looks {
                    found = Some(Lost { part, receiver: send.peer, bytes: send.bytes });
                }
            }
        }
        found
    }
}

/// Returns entry `at` of a map of `count` entries; `None` if it is not in the map.
fn entry<T: FromBytes + FromZeros + IntoBytes>(map: &Mapping, at: u32, count: u32) -> Option<T> {
    (at < count).then(|| {
        let mut entry = T::new_zeroed();
        map.read(at as usize * size_of::<T>(), entry.as_mut_bytes());
        entry
    })
}
