//! The errors of the verifier, the encoder and the stream.

use crate::nisa::limits::{INDEGREE_MAX, SECTION_BYTES_MAX};
use goal_lang::diag::{Code, Diagnostic};
use goal_lang::limits::Limit;
use goal_lang::{ActionId, BUFFERS_MAX};
use std::fmt;
use std::io;

/// The reason why bytes are not a valid NISA file. The type is as large as a pointer.
#[derive(Debug)]
pub struct VerifyError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    code: Code,
    offset: u64,
    message: String,
    limit: Option<Limit>,
}

impl VerifyError {
    #[cold]
    pub(super) fn new(code: Code, offset: u64, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { code, offset, message: message.into(), limit: None }))
    }

    /// Returns the error about a file that exceeds `limit`. `offset` is the byte of the file that
    /// asks for too much.
    #[cold]
    pub(super) fn limit(limit: Limit, offset: u64, message: String) -> Self {
        let (code, limit) = (Code::NisaLimit, Some(limit));
        Self(Box::new(Inner { code, offset, message, limit }))
    }

    /// Returns the code of the finding.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the byte of the file at which the fault was found.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Returns the error as a diagnostic without a place in a text.
    pub fn diagnostic(&self) -> Diagnostic {
        let diagnostic = Diagnostic::new(self.0.code, self.to_string());
        if let Some(limit) = self.0.limit {
            return diagnostic.limit(limit);
        }
        match self.0.code {
            Code::NisaVersion => {
                diagnostic.help("build the schedule again with this version of goalc")
            }
            _ => diagnostic.help("build the schedule again from its text"),
        }
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {:#x} of the file)", self.0.message, self.0.offset)
    }
}

impl std::error::Error for VerifyError {}

/// The reason why a program can't be encoded as a NISA file.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// A rank has too many buffers: an address has 16 bits for the number of a buffer.
    #[error("rank {rank} works on {buffers} buffers, and {BUFFERS_MAX} are allowed")]
    TooManyBuffers {
        /// A rank that works on the buffers.
        rank: u32,
        /// The number of the rank's buffers.
        buffers: usize,
    },
    /// A section is too long for the 32-bit offsets of the format (paper III.C).
    #[error(
        "the section of rank {rank} would have {bytes} bytes, and NISA's 32-bit offsets reach {SECTION_BYTES_MAX}; \
         split the schedule in several, or let ranks share its work"
    )]
    SectionTooLarge {
        /// A rank that runs the section.
        rank: u32,
        /// The size of the section in bytes.
        bytes: u64,
    },
    /// An action has more dependencies than it can count in 16 bits (paper III.C). The join pass
    /// removes this limit.
    #[error(
        "action {action} of rank {rank} waits for {indegree} others, and NISA counts to {INDEGREE_MAX}; \
         the join pass lifts this"
    )]
    IndegreeTooLarge {
        /// A rank that has the action.
        rank: u32,
        /// The action with too many dependencies.
        action: ActionId,
        /// The number of the action's dependencies, both kinds together.
        indegree: u32,
    },
    /// The file could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The reason why a file can't be streamed, or why a stream ends early.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The file or the section breaks a rule of the format.
    #[error(transparent)]
    Invalid(#[from] VerifyError),
    /// The file can't be read.
    #[error("the schedule can't be read: {0}")]
    Io(#[from] io::Error),
    /// Too many dependencies lead to actions that the stream has not reached yet.
    #[error(
        "dependencies lead from the first {reached} actions to {entries} later ones, and the limit of the table is \
         {entries}: raise it, or build the schedule with the pass window"
    )]
    Table {
        /// The number of actions that were read.
        reached: u64,
        /// The most entries that the table of dependencies may have.
        entries: usize,
    },
    /// A part that has to be held in memory states more bytes than are allowed.
    #[error(
        "a part of {length} bytes is to be held in memory, and the limit in a window is {limit}: run the schedule without a \
         window, or build it again if it was damaged"
    )]
    LongPart {
        /// The bytes of the part, as the file states them.
        length: u64,
        /// The most bytes that such a part may have.
        limit: u64,
    },
    /// A section's memory is a table of buffers, which can't be streamed.
    #[error("a schedule on a table of buffers runs only without a window")]
    Buffers,
    /// The system has no memory for a part.
    #[error("there is no memory for {bytes} bytes of the schedule")]
    Memory {
        /// The number of bytes that the part needs.
        bytes: u64,
    },
    /// An action is larger than allowed, or damaged so that its end was not found.
    #[error(
        "no action ends within {limit} bytes, and a larger one runs only without a window: {error}"
    )]
    LongAction {
        /// The most bytes that an action may have.
        limit: usize,
        /// The verifier's error about the bytes that were read.
        error: VerifyError,
    },
}
