//! From the records of a rank to slices: what started and ended, when it was ready, what it met.

use super::lanes::Lanes;
use super::names::Names;
use super::ready::Readiness;
use super::record::Record;
use goal_asm::Nisa;
use goal_engine::trace::{Kind, Point};
use rustc_hash::FxHashMap;

/// Something to be shown. Times are nanoseconds from the origin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// An instance starts or, if `is_end`, has ended.
    Instance { number: u32, time: u64, is_end: bool },
    /// A lane is there from now on.
    Lane(u32),
    /// An action.
    Slice(Slice),
}

/// An action that started, and how far it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) lane: u32,
    pub(super) kind: Kind,
    /// Its number in its section, where it is known.
    pub(super) number: Option<u32>,
    pub(super) instance: u32,
    /// When its dependencies were met, where that is known.
    pub(super) ready: Option<u64>,
    pub(super) start: u64,
    /// `None` if it had not ended when the record did.
    pub(super) end: Option<u64>,
    /// The peer and the bytes of its message. A receive may name any rank.
    pub(super) peer: u32,
    pub(super) bytes: u64,
    pub(super) tag: Option<u32>,
    pub(super) message: Message,
}

/// What is known of the message of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Message {
    /// Nothing, or there is none.
    Unknown,
    /// It is the send's, with this number among those to the peer.
    Sent(u32),
    /// The receive took it.
    Taken { source: u32, sequence: u32, time: u64 },
}

/// The records of one rank, on their way to slices.
pub(super) struct Slices<'a> {
    nisa: &'a Nisa,
    names: &'a Names<'a>,
    section: u32,
    origin_ns: u64,
    lanes: Lanes,
    /// Slices under way, by instance and offset.
    open: FxHashMap<(u32, u32), Slice>,
    /// The instance that started last, if its section is known: a rank of a job runs one at a time.
    readiness: Option<(u32, Readiness)>,
    /// Records of what is no action of the section.
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

    /// Returns what a record adds to what is shown. Ends of actions whose start was lost add
    /// nothing, and neither do records of what is no action of the section: a rank on another host
    /// may have left anything.
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
                    Message::Taken { source: record.peer, sequence: record.detail, time };
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
        let (lane, is_new) = self.lanes.take();
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
            message: if kind == Kind::Send { Message::Sent(detail) } else { Message::Unknown },
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

    /// The actions that have not ended, in the order of their starts.
    pub(super) fn unfinished(self) -> Vec<Slice> {
        let mut left: Vec<Slice> = self.open.into_values().collect();
        left.sort_by_key(|slice| (slice.start, slice.lane));
        left
    }
}
