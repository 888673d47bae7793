//! The trace events of an engine, at the same points as in ESPGOAL's PERFTRACE (thesis, chapter 6).

use goal_asm::nisa::Operation;
use std::fmt;

/// A point in the life of an instance or an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Point {
    /// An instance was started.
    InstanceStarted = 1,
    /// An ended instance was removed from the engine, or started again.
    InstanceEnded = 2,
    /// An action started. `peer` and `bytes` are the other rank and the size of its message. For a
    /// send, `detail` is the number of the message among those of the instance to that rank.
    Started = 3,
    /// Follows [`Point::Started`] in a window: `detail` is the action's number in its section,
    /// `peer` the tag of its message.
    Numbered = 4,
    /// A receive matched a message. `peer` is the rank that sent the message, `bytes` is its size.
    /// `detail` is its number among the messages of the instance from that rank.
    Matched = 5,
    /// An action ended.
    Ended = 6,
}

/// The kind of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// An action that does nothing.
    Nop = 0,
    /// A send.
    Send = 1,
    /// A receive.
    Recv = 2,
    /// A computation, which only takes time.
    Calc = 3,
    /// A local operation.
    Exec = 4,
}

impl Kind {
    /// All kinds, by their numbers.
    pub const ALL: [Kind; 5] = [Kind::Nop, Kind::Send, Kind::Recv, Kind::Calc, Kind::Exec];

    /// Returns the kind of an operation.
    pub fn from_operation(operation: &Operation<'_>) -> Self {
        match operation {
            Operation::Send { .. } => Kind::Send,
            Operation::Recv { .. } => Kind::Recv,
            Operation::Calc { .. } => Kind::Calc,
            Operation::Exec { .. } | Operation::User { .. } | Operation::Wtime { .. } => Kind::Exec,
            Operation::Nop | Operation::Marker { .. } => Kind::Nop,
        }
    }

    /// Returns the name of the kind, as in GOAL text.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Nop => "nop",
            Kind::Send => "send",
            Kind::Recv => "recv",
            Kind::Calc => "calc",
            Kind::Exec => "exec",
        }
    }
}

/// Something that happened. Fields that a [`Point`] does not name are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The point of an instance or an action that was reached.
    pub point: Point,
    /// The kind of the action, of [`Point::Started`]; [`Kind::Nop`] otherwise.
    pub kind: Kind,
    /// Number of the instance.
    pub instance: u32,
    /// Offset of the action in its section.
    pub action: u32,
    /// The other rank of a message. [`Point::Numbered`] stores a tag here.
    pub peer: u32,
    /// See [`Point`].
    pub detail: u32,
    /// Bytes of a message.
    pub bytes: u64,
}

impl Event {
    /// Creates an event with this point and instance. All other fields are 0.
    pub fn new(point: Point, instance: u32) -> Self {
        Self { point, kind: Kind::Nop, instance, action: 0, peer: 0, detail: 0, bytes: 0 }
    }
}

/// Takes the events of an engine, one at a time, in the order in which they happen.
pub trait Recorder: fmt::Debug + Send {
    /// Takes an event.
    fn record(&mut self, event: &Event);
}
