//! Lists the actions of an instance that have started and not ended. A report on a waiting rank
//! names them.

use super::code::Code;
use super::error::Failure;
use super::ids::Action;
use super::schedule::Schedule;
use super::{Engine, Handle};
use crate::transport::Transport;
use goal_asm::nisa::{Operation, Record};
use goal_lang::ANY;
use std::fmt;
use std::sync::Arc;

/// An action that has started and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Underway {
    /// The number of the action in the schedule, from 0 on.
    pub number: u64,
    /// The offset of the action in the section.
    pub offset: u32,
    /// The work that the action does.
    pub work: Work,
}

/// The work of an action that has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A message that waits for its receive, or is on its way.
    Send {
        /// The destination.
        to: u32,
        /// The tag.
        tag: u32,
        /// Bytes of the payload.
        bytes: u64,
    },
    /// A receive that waits for its message, or takes it in parts.
    Recv {
        /// The source or [`goal_lang::ANY`].
        from: u32,
        /// The tag or [`goal_lang::ANY`].
        tag: u32,
        /// Bytes of the buffer.
        bytes: u64,
    },
    /// Something that this rank does by itself.
    Local,
}

impl Underway {
    /// Returns the name of the action: `recv number 3 from rank 0, tag 5`.
    pub(crate) fn name(&self) -> impl fmt::Display {
        Name(*self)
    }
}

struct Name(Underway);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Underway { number, work, .. } = self.0;
        match work {
            Work::Send { to, tag, bytes } => {
                write!(f, "send number {number} to rank {to}, tag {tag}, {bytes} bytes")
            }
            Work::Recv { from, tag, .. } => {
                write!(f, "recv number {number} from ")?;
                match from {
                    ANY => f.write_str("any rank, ")?,
                    from => write!(f, "rank {from}, ")?,
                }
                match tag {
                    ANY => f.write_str("any tag"),
                    tag => write!(f, "tag {tag}"),
                }
            }
            Work::Local => write!(f, "action number {number}"),
        }
    }
}

impl Work {
    /// Returns the work of an action.
    pub(crate) fn of(record: &Record<'_>) -> Self {
        match record.operation() {
            Operation::Send { peer, tag, payload, .. } => {
                Work::Send { to: peer, tag, bytes: payload.size() }
            }
            Operation::Recv { peer, tag, payload, .. } => {
                Work::Recv { from: peer, tag, bytes: payload.size() }
            }
            _ => Work::Local,
        }
    }
}

/// Says what the action waits for: `recv number 3 from rank 0, tag 5, waits for a message`.
impl fmt::Display for Underway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waits = match self.work {
            Work::Send { .. } => ", waits for its receive",
            Work::Recv { .. } => ", waits for a message",
            Work::Local => " is under way",
        };
        write!(f, "{}{waits}", self.name())
    }
}

impl<T: Transport> Engine<'_, T> {
    /// Returns the schedule of the instance that a failure names; `None` if the instance was
    /// finished, or runs through a window.
    pub fn schedule_of(&self, failure: &Failure) -> Option<&Arc<Schedule>> {
        let Failure { communicator, instance, .. } = *failure;
        let heap = &self.core.held.heap;
        let running = self.core.homes.running();
        let mut found = running.map(|key| self.core.held.instances.get(heap, key));
        let found = found.find(|one| (one.communicator, one.number) == (communicator, instance))?;
        match &self.codes[found.code as usize] {
            Code::Whole(schedule) => Some(schedule),
            Code::Window(_) | Code::Ended => None,
        }
    }

    /// Returns the actions of an instance that have started and not ended, in the order of the
    /// schedule. Returns none for an instance in a window. An action that can start counts as
    /// started.
    ///
    /// # Panics
    /// If it is an instance of another engine.
    pub fn underway(&self, handle: &Handle) -> Vec<Underway> {
        let Code::Whole(schedule) = &self.codes[self.instance(handle).code as usize] else {
            return Vec::new();
        };
        let home = &self.core.homes[handle.key.index()];
        let (counters, finished) = (home.counters.as_slice(), home.finished.as_slice());
        let is_underway = |&(_, (offset, _)): &(u64, (u32, _))| {
            let slot = Action(offset).slot();
            counters[slot] == 0 && finished[slot / 64] >> (slot % 64) & 1 == 0
        };
        let numbered = (0..).zip(schedule.section().records()).filter(is_underway);
        let underway = numbered.map(|(number, (offset, record))| Underway {
            number,
            offset,
            work: Work::of(&record),
        });
        underway.collect()
    }

    /// Returns true if an instance may exchange messages with rank `rank`. It may if one of its
    /// actions names that rank or receives from any rank. An instance in a window always may.
    pub fn may_meet(&self, handle: &Handle, rank: u32) -> bool {
        let Code::Whole(schedule) = &self.codes[self.instance(handle).code as usize] else {
            return true;
        };
        let meets = |record: Record<'_>| match record.operation() {
            Operation::Send { peer, .. } => peer == rank,
            Operation::Recv { peer, .. } => peer == rank || peer == ANY,
            _ => false,
        };
        schedule.section().records().any(|(_, record)| meets(record))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{nisa, program, state};
    use crate::transport::InMemory;
    use crate::{Engine, Options, Schedule, Seed, Storage, WORLD};
    use std::sync::Arc;

    #[test]
    fn started_actions_that_have_not_ended_are_told() {
        let nisa = nisa(&program(
            "rank 0 { a: recv 8b from 1 tag 5  b: recv 8b from any tag any  c: send 8b to 1
                      d: send 100000b to 1 tag 7  e: recv 16b from 1  e requires a }
             rank 1 { recv 8b from 0
                      send 8b to 0 tag 5 }",
        ));
        let mut engines: Vec<_> = (0..)
            .zip(InMemory::group(2))
            .map(|(rank, transport)| {
                let schedule = Arc::new(Schedule::new(Arc::clone(&nisa), rank, Seed::default()));
                let mut engine = Engine::new(rank, transport, Options::default(), state());
                let handle = engine.start(&schedule, WORLD, Storage::new(&schedule));
                (engine, handle)
            })
            .collect();
        let (engine, handle) = &mut engines[0];
        while engine.poll(0).unwrap().worked {}
        let told: Vec<String> = engine.underway(handle).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "recv number 0 from rank 1, tag 5, waits for a message",
                "recv number 1 from any rank, any tag, waits for a message",
                "send number 3 to rank 1, tag 7, 100000 bytes, waits for its receive",
            ]
        );
        let (other, of_other) = &mut engines[1];
        while other.poll(0).unwrap().worked {}
        assert!(other.test(of_other));
        assert_eq!(other.underway(of_other), []);
    }

    #[test]
    fn a_failure_has_its_schedule() {
        let nisa = nisa(&program("rank 0 { init 0 = UInt8 1 0\n exec divUInt8 with 0,1 1,1 }"));
        let schedule = Arc::new(Schedule::new(Arc::clone(&nisa), 0, Seed::default()));
        let [transport] = InMemory::group(1).try_into().map_err(drop).unwrap();
        let mut engine = Engine::new(0, transport, Options::default(), state());
        let other = engine.start(&schedule, 3, Storage::new(&schedule));
        let failure = engine.poll(0).unwrap_err();
        assert_eq!((failure.communicator, failure.instance), (3, 0));
        assert!(engine.schedule_of(&failure).is_some_and(|found| Arc::ptr_eq(found, &schedule)));
        let elsewhere = crate::Failure { communicator: 4, ..failure };
        assert!(engine.schedule_of(&elsewhere).is_none());
        assert_eq!(engine.underway(&other).len(), 1);
    }
}
