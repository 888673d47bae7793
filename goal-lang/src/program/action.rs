//! Actions: the vertices of a rank's dependency graph.

use crate::function::{Datatype, Op};

/// The memory of a rank that a piece lies in: in text, `ADDR,SIZE` is memory and `@OFF,SIZE`
/// scratch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Space {
    /// The rank's own memory.
    Memory = 0,
    /// The schedule's scratch memory; its content is undefined at the start of an instance (thesis
    /// 2.2.5).
    Scratch = 1,
}

/// Consecutive bytes of one of a rank's memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Piece {
    /// First byte.
    pub addr: u64,
    /// Bytes.
    pub size: u64,
    /// The memory that `addr` counts in.
    pub space: Space,
}

/// A scattered buffer: consecutive entries of the body's table of pieces, taken as the
/// concatenation of their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pieces {
    /// Index of the first piece.
    pub first: u32,
    /// Number of pieces.
    pub len: u32,
}

/// The bytes that a send takes, or the buffer of a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Payload {
    /// `Nb`: bytes without an address; the runtime sends a pattern and checks it (Schedgen's form).
    Pattern {
        /// Bytes.
        size: u64,
    },
    /// `ADDR,SIZE` or `@OFF,SIZE`.
    Buffer(Piece),
    /// `[A,S A,S ...]`.
    Vector(Pieces),
    /// A contiguous buffer B with an operation (`with F`), so that moving and reducing are one
    /// action: a receive computes B = message F B, a send B = A F B before it sends B.
    Reduced {
        /// The operation; not [`Op::Copy`].
        op: Op,
        /// The type of the elements.
        datatype: Datatype,
        /// The index of B in the body's table of pieces. For a send, A is the next entry.
        operands: u32,
    },
}

/// LogGOPSim's placement of an operation: the cpu and the network interface it occupies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Placement {
    /// The cpu.
    pub cpu: u16,
    /// The network interface.
    pub nic: u8,
}

/// One vertex of a rank's dependency graph.
///
/// The common forms are held inline; scattered buffers lie in the body's table of pieces
/// ([`Pieces`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// A message to another rank, or to the rank itself.
    Send {
        /// The bytes to send.
        payload: Payload,
        /// Destination rank.
        to: u32,
        /// Tag, at most [`TAG_MAX`](crate::limits::TAG_MAX).
        tag: u32,
        /// The cpu and interface that it occupies in LogGOPSim.
        placement: Placement,
    },
    /// The receipt of a message.
    Recv {
        /// The buffer for the message.
        payload: Payload,
        /// Source rank, or [`ANY`](crate::ANY).
        from: u32,
        /// Tag, or [`ANY`](crate::ANY).
        tag: u32,
        /// The cpu and interface that it occupies in LogGOPSim.
        placement: Placement,
    },
    /// Computation of a given length that touches no data (Schedgen's form).
    Calc {
        /// Nanoseconds.
        nanos: u64,
        /// The cpu and interface that it occupies in LogGOPSim.
        placement: Placement,
    },
    /// A predefined operation over contiguous buffers of the same size: `B = A op B`, or `C = A op
    /// B` with a third.
    Exec {
        /// The operation.
        op: Op,
        /// The type of the elements.
        datatype: Datatype,
        /// The memories of A, B and C.
        spaces: [Space; 3],
        /// True if there is a third buffer; otherwise `c` is 0.
        has_c: bool,
        /// Address of A.
        a: u64,
        /// Address of B.
        b: u64,
        /// Address of C.
        c: u64,
        /// The bytes of each buffer.
        size: u64,
    },
    /// A predefined operation with at least one scattered buffer.
    ExecVector {
        /// The operation.
        op: Op,
        /// The type of the elements.
        datatype: Datatype,
        /// A, B and C. C has no pieces if there is no third buffer.
        operands: [Pieces; 3],
    },
    /// A function that the embedding program registers, over two buffers of any sizes.
    User {
        /// The registered number.
        function: u32,
        /// The first and the second buffer.
        operands: [Pieces; 2],
    },
    /// Stores the time in seconds as a Float64 (thesis 2.2.3, GOAL_WTIME).
    Wtime {
        /// Address of 8 bytes.
        addr: u64,
        /// The memory that these 8 bytes lie in.
        space: Space,
    },
    /// Nothing: a dummy that only carries dependencies (paper III.D, Theorem 4).
    Nop,
    /// Nothing: a simulator tells when it is reached. Text and LogGOPSim binaries have it as a send
    /// of no bytes to one of [`MARKERS`].
    Marker {
        /// The number in place of a rank, one of [`MARKERS`].
        to: u32,
        /// Tag, at most [`TAG_MAX`](crate::limits::TAG_MAX).
        tag: u32,
        /// The cpu and interface that the text names. A marker occupies neither.
        placement: Placement,
    },
}

/// The numbers in place of a rank that make a send of no bytes a marker, as Schedgen writes it.
pub const MARKERS: [u32; 2] = [9_999_999, 999_999_999];

/// Returns true if a send of `size` bytes to `to` is a marker in a group of `num_ranks` ranks: `to`
/// is one of [`MARKERS`] and no rank.
pub fn is_marker(size: u64, to: u32, num_ranks: u32) -> bool {
    size == 0 && to >= num_ranks && MARKERS.contains(&to)
}

impl Action {
    /// The processor and the network interface; the first ones if the action names none.
    pub fn placement(&self) -> Placement {
        match *self {
            Action::Send { placement, .. }
            | Action::Recv { placement, .. }
            | Action::Calc { placement, .. }
            | Action::Marker { placement, .. } => placement,
            _ => Placement::default(),
        }
    }

    /// The kind, for counting and for messages.
    pub const fn kind(&self) -> ActionKind {
        match self {
            Action::Send { .. } => ActionKind::Send,
            Action::Recv { .. } => ActionKind::Recv,
            Action::Calc { .. } => ActionKind::Calc,
            Action::Exec { .. } | Action::ExecVector { .. } => ActionKind::Exec,
            Action::User { .. } => ActionKind::User,
            Action::Wtime { .. } => ActionKind::Wtime,
            Action::Nop => ActionKind::Nop,
            Action::Marker { .. } => ActionKind::Marker,
        }
    }
}

/// The kinds of [`Action`], without their parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ActionKind {
    /// [`Action::Send`]
    Send,
    /// [`Action::Recv`]
    Recv,
    /// [`Action::Calc`]
    Calc,
    /// [`Action::Exec`] and [`Action::ExecVector`]
    Exec,
    /// [`Action::User`]
    User,
    /// [`Action::Wtime`]
    Wtime,
    /// [`Action::Nop`]
    Nop,
    /// [`Action::Marker`]
    Marker,
}

impl ActionKind {
    /// Every kind, in the order reports list them.
    pub const ALL: [ActionKind; 8] = [
        ActionKind::Send,
        ActionKind::Recv,
        ActionKind::Calc,
        ActionKind::Exec,
        ActionKind::User,
        ActionKind::Wtime,
        ActionKind::Nop,
        ActionKind::Marker,
    ];

    /// Returns the word that begins a statement of this kind in text, the name of its function, or
    /// `marker`.
    pub const fn name(self) -> &'static str {
        match self {
            ActionKind::Send => "send",
            ActionKind::Recv => "recv",
            ActionKind::Calc => "calc",
            ActionKind::Exec => "exec",
            ActionKind::User => "user",
            ActionKind::Wtime => "wtime",
            ActionKind::Nop => "nop",
            ActionKind::Marker => "marker",
        }
    }
}

/// An operand of a local operation or a payload with addresses: one piece, or several in the body's
/// table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand<'a> {
    /// A contiguous buffer.
    One(Piece),
    /// A scattered buffer.
    Many(&'a [Piece]),
}

impl<'a> Operand<'a> {
    /// The pieces, in order.
    pub fn pieces(&self) -> &[Piece] {
        match self {
            Operand::One(piece) => std::slice::from_ref(piece),
            Operand::Many(pieces) => pieces,
        }
    }

    /// Returns the bytes of all pieces together.
    pub fn size(&self) -> u64 {
        self.pieces().iter().map(|piece| piece.size).sum()
    }
}
