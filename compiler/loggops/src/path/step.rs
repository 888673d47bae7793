//! The parts of a critical path.

/// The kind of a cost: the parameter of the machine that it is a multiple of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cost {
    /// The time of a computation.
    Computation,
    /// `o`: the processor time of a message at one end.
    Overhead,
    /// `O`: the processor time of the bytes of a message at one end.
    OverheadPerByte,
    /// `L`: the latency of the network.
    Latency,
    /// `g`: the gap of an interface.
    Gap,
    /// `G`: the time of a message's bytes on an interface, or on the processor of the receiver.
    GapPerByte,
}

impl Cost {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Computation,
        Self::Overhead,
        Self::OverheadPerByte,
        Self::Latency,
        Self::Gap,
        Self::GapPerByte,
    ];

    /// Returns the letter of the parameter, or `calc`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Computation => "calc",
            Self::Overhead => "o",
            Self::OverheadPerByte => "O",
            Self::Latency => "L",
            Self::Gap => "g",
            Self::GapPerByte => "G",
        }
    }
}

/// The work of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// A processor computes.
    Compute,
    /// A rank sends a message.
    Send,
    /// A message is on its way.
    Travel,
    /// A rank takes a message in.
    Receive,
    /// The receiver of a large message tells its sender that the send may end.
    Release,
}

impl Work {
    /// Returns the verb.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Send => "send",
            Self::Travel => "travel",
            Self::Receive => "receive",
            Self::Release => "release",
        }
    }
}

/// A step of the critical path. One step ends where the next one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The beginning in picoseconds.
    pub start_ps: u64,
    /// The duration in picoseconds.
    pub duration_ps: u64,
    /// The rank of `action`.
    pub rank: u32,
    /// The computation; of [`Work::Receive`] the receive, and of the rest of a message its send.
    pub action: u32,
    /// The other action of a message. `None` without a message.
    pub partner: Option<u32>,
    /// The work.
    pub work: Work,
    /// The kind of cost.
    pub cost: Cost,
    /// The factor of the cost's parameter. Times of bytes have the bytes of the message but the
    /// first one, a computation its picoseconds, and other costs 1.
    pub units: u64,
}

/// The critical path of a run: steps that leave no time out, and have none twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The steps in the order of time. Some take no time, if a parameter is 0.
    pub steps: Vec<Step>,
    /// The end of the last step, which is that of the run, in picoseconds.
    pub finish_ps: u64,
    /// The action that ends last. `None` without actions.
    pub last: Option<u32>,
}
