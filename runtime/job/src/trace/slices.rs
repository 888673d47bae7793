//! Turns the records of a rank into slices. A slice is an action with its start, its end, the time
//! at which it became ready, and its message.

use super::names::Names;
use super::record::Record;
use goal_asm::Nisa;
use goal_asm::nisa::{Offsets, Section};
use goal_engine::Countdown;
use goal_engine::trace::{Kind, Point};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// An item that a trace shows. Times are nanoseconds from the moment when all ranks were ready.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The start of an instance or, if `is_end`, its end.
    Instance { number: u32, time: u64, is_end: bool },
    /// A new lane, with its number.
    Lane(u32),
    /// An action.
    Slice(Slice),
}

/// An action that has started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) lane: u32,
    pub(super) kind: Kind,
    /// The number of the action in its section; `None` if it is not known.
    pub(super) number: Option<u32>,
    pub(super) instance: u32,
    /// The time at which the dependencies of the action were met; `None` if it is not known.
    pub(super) ready: Option<u64>,
    pub(super) start: u64,
    /// The time of the end; `None` if the records contain no end of the action.
    pub(super) end: Option<u64>,
    /// The peer of the action's message; [`goal_lang::ANY`] if a receive takes messages from any
    /// source.
    pub(super) peer: u32,
    /// The size of the action's message in bytes.
    pub(super) bytes: u64,
    pub(super) tag: Option<u32>,
    pub(super) message: SliceMessage,
}

/// The message of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SliceMessage {
    /// The action has no message, or its message is not known.
    Unknown,
    /// The message of a send, by its sequence number among the messages to the peer.
    Sent(u32),
    /// The message that a receive took, and the time of the match.
    Taken { source: u32, sequence: u32, time: u64 },
}

/// Builds slices from the records of one rank.
pub(super) struct Slices<'a> {
    nisa: &'a Nisa,
    names: &'a Names<'a>,
    section: u32,
    origin_ns: u64,
    lanes: Lanes,
    /// The slices that have not ended, by instance and offset of the action.
    open: FxHashMap<(u32, u32), Slice>,
    /// The number of the instance that started last, and the readiness of its actions. `None` if no
    /// instance runs, or if the section is not known. A rank of a job runs one instance at a time.
    readiness: Option<(u32, Readiness)>,
    /// The number of records that belong to no action of the section.
    foreign: u64,
}

impl<'a> Slices<'a> {
    pub(super) fn new(nisa: &'a Nisa, section: u32, names: &'a Names<'a>, origin_ns: u64) -> Self {
        Self {
            nisa,
            names,
            section,
            origin_ns,
            lanes: Lanes::default(),
            open: FxHashMap::default(),
            readiness: None,
            foreign: 0,
        }
    }

    /// Adds a record. Returns the item that the record completes; `None` if it completes none.
    /// Ignores ends of actions whose start was lost. Ignores and counts records that belong to no
    /// action of the section, which another host may have sent.
    pub(super) fn add(&mut self, record: &Record) -> Option<Shown> {
        let Record { action, instance, .. } = *record;
        let time = record.since(self.origin_ns);
        let point = record.point()?;
        let is_of_instance = matches!(point, Point::InstanceStarted | Point::InstanceEnded);
        if !is_of_instance && !self.names.may_have(action) {
            self.foreign += 1;
            return None;
        }
        match point {
            Point::InstanceStarted => {
                let section = self.nisa.section_by_id(self.section);
                let is_known = self.names.number(section.first_action()).is_some();
                self.readiness = is_known.then(|| (instance, Readiness::new(section, time)));
                Some(Shown::Instance { number: instance, time, is_end: false })
            }
            Point::InstanceEnded => {
                self.readiness.take_if(|(of, _)| *of == instance);
                Some(Shown::Instance { number: instance, time, is_end: true })
            }
            Point::Started => self.start(record, time),
            Point::Numbered => {
                let slice = self.open.get_mut(&(instance, action))?;
                slice.number = Some(record.detail);
                slice.tag = matches!(slice.kind, Kind::Send | Kind::Recv).then_some(record.peer);
                None
            }
            Point::Matched => {
                let slice = self.open.get_mut(&(instance, action))?;
                slice.message =
                    SliceMessage::Taken { source: record.peer, sequence: record.detail, time };
                None
            }
            Point::Ended => {
                let section = self.nisa.section_by_id(self.section);
                if let Some(readiness) = self.readiness_of(instance) {
                    readiness.end(section, action, time);
                }
                let mut slice = self.open.remove(&(instance, action))?;
                slice.end = Some(time);
                self.lanes.give_back(slice.lane);
                Some(Shown::Slice(slice))
            }
        }
    }

    fn start(&mut self, record: &Record, time: u64) -> Option<Shown> {
        let Record { action, instance, peer, bytes, detail, .. } = *record;
        let section = self.nisa.section_by_id(self.section);
        let ready =
            self.readiness_of(instance).map(|readiness| readiness.start(section, action, time));
        let kind = record.kind();
        let Lane { number: lane, is_new } = self.lanes.take();
        let slice = Slice {
            lane,
            kind,
            number: self.names.number(action),
            instance,
            ready,
            start: time,
            end: None,
            peer,
            bytes,
            tag: self.names.tag(action),
            message: if kind == Kind::Send {
                SliceMessage::Sent(detail)
            } else {
                SliceMessage::Unknown
            },
        };
        self.open.insert((instance, action), slice);
        is_new.then_some(Shown::Lane(lane))
    }

    fn readiness_of(&mut self, instance: u32) -> Option<&mut Readiness> {
        self.readiness.as_mut().filter(|(of, _)| *of == instance).map(|(_, readiness)| readiness)
    }

    /// Returns the number of records that belong to no action of the section.
    pub(super) fn foreign(&self) -> u64 {
        self.foreign
    }

    /// Returns the slices that have not ended, in the order of their starts.
    pub(super) fn unfinished(self) -> Vec<Slice> {
        let mut left: Vec<Slice> = self.open.into_values().collect();
        left.sort_by_key(|slice| (slice.start, slice.lane));
        left
    }
}

/// The times at which the actions of an instance became ready.
#[derive(Debug)]
struct Readiness {
    /// The start of the instance, when actions without dependencies are ready.
    start: u64,
    countdown: Countdown,
    /// The actions that are ready and have not started, with the times of their last dependencies.
    ready: FxHashMap<u32, u64>,
}

impl Readiness {
    fn new(section: Section<'_>, start: u64) -> Self {
        Self { start, countdown: Countdown::new(section), ready: FxHashMap::default() }
    }

    /// Notes the start of an action, and returns the time at which the action became ready.
    fn start(&mut self, section: Section<'_>, offset: u32, time: u64) -> u64 {
        self.release(section.record(offset).start_dependents, time);
        self.ready.remove(&offset).unwrap_or(self.start)
    }

    /// Notes the end of an action.
    fn end(&mut self, section: Section<'_>, offset: u32, time: u64) {
        self.release(section.record(offset).dependents, time);
    }

    fn release(&mut self, dependents: Offsets<'_>, time: u64) {
        let ready = self.countdown.release(dependents);
        self.ready.extend(ready.map(|offset| (offset, time)));
    }
}

/// A lane that was taken for a slice.
pub(super) struct Lane {
    pub(super) number: u32,
    /// True if the lane had no slice before.
    pub(super) is_new: bool,
}

/// The lanes of a rank. A lane has one slice at a time. Actions that are under way at the same time
/// are in different lanes.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// The number of lanes.
    count: u32,
    free: BTreeSet<u32>,
}

impl Lanes {
    /// Takes the first free lane. Adds a lane if none is free. Lanes are numbered from 1 on.
    pub(super) fn take(&mut self) -> Lane {
        match self.free.pop_first() {
            Some(number) => Lane { number, is_new: false },
            None => {
                self.count += 1;
                Lane { number: self.count, is_new: true }
            }
        }
    }

    /// Frees a lane whose slice has ended.
    pub(super) fn give_back(&mut self, lane: u32) {
        self.free.insert(lane);
    }
}
