//! The reasons why a run has no outcome.

use std::fmt;

use goal_lang::{ANY, ActionId, Program};

/// An action of a rank, and its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The rank.
    pub rank: u32,
    /// The action in the rank's body.
    pub action: ActionId,
    /// The label of the action. Empty if it has none.
    pub label: String,
    /// The source line of the action, from 1 on. 0 if it is not known.
    pub line: u32,
}

impl Place {
    pub(crate) fn new(program: &Program, rank: u32, action: ActionId) -> Self {
        let debug = &program.body_of(rank).debug;
        let label = debug.labels.get(action).unwrap_or_default().to_owned();
        let line = debug.lines.get(action.index()).copied().unwrap_or(0);
        Self { rank, action, label, line }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}, action {}", self.rank, self.action)?;
        if !self.label.is_empty() {
            write!(f, " `{}`", self.label)?;
        }
        if self.line > 0 {
            write!(f, ", line {}", self.line)?;
        }
        Ok(())
    }
}

/// The reason why a run has no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An action cannot be executed.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// No step is possible, although some actions are not complete.
    #[error(transparent)]
    Stuck(#[from] Stuck),
    /// No run can have the recorded matching.
    #[error(transparent)]
    Illegal(#[from] Illegal),
}

/// An action that cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {cause}")]
pub struct Failure {
    /// The action.
    pub place: Place,
    /// The reason.
    pub cause: Cause,
}

/// The reason why an action cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// A receive took a message of another size.
    #[error("receives {received} bytes, but the message of {sender} has {sent}")]
    SizeMismatch {
        /// The send.
        sender: Place,
        /// The size of the message in bytes.
        sent: u64,
        /// The size of the receive in bytes.
        received: u64,
    },
    /// An integer is divided by zero.
    #[error("element {element} is divided by zero")]
    DivisionByZero {
        /// The number of the element, from 0 on.
        element: u64,
    },
    /// No function with this number is registered.
    #[error("no function is registered as user {0}; register one under this number")]
    UnknownUserFunction(u32),
    /// Two operands have bytes in common without being the same buffer.
    #[error("two operands overlap in part; they must be the same buffer or share no byte")]
    PartialOverlap,
    /// The operands differ in size, or their size is no multiple of the element's.
    #[error("operands of {0:?} bytes; they must have the same size, a multiple of the element's")]
    OperandSize(Vec<u64>),
    /// The operation is not defined for the datatype.
    #[error("the operation is not defined on this type")]
    IllegalOperation,
    /// The peer of the message is not in the group.
    #[error("rank {0} is not in the group")]
    PeerOutOfRange(u32),
    /// The buffer extends beyond the rank's scratch memory.
    #[error("touches scratch memory past the {0} bytes that are declared")]
    ScratchOutOfRange(u64),
}

/// The end of a run in which no step is possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// The actions that are not complete. Actions that have started come first. Both parts are
    /// sorted by rank and action.
    pub waiting: Vec<Waiting>,
}

impl std::error::Error for Stuck {}

/// An action that is not complete, and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The action.
    pub place: Place,
    /// What the action waits for.
    pub wait: Wait,
}

/// What an incomplete action waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// A receive waits for a message. [`ANY`] stands for any source or tag.
    Message {
        /// The source.
        from: u32,
        /// The tag.
        tag: u32,
    },
    /// A send above the eager limit waits for its receive.
    Receive {
        /// The destination.
        to: u32,
        /// The tag.
        tag: u32,
    },
    /// The ends of other actions of the rank (`requires`).
    Ends(Vec<ActionId>),
    /// The starts of other actions of the rank (`irequires`).
    Starts(Vec<ActionId>),
    /// A message or a receive that must come first according to the recorded matching.
    Order,
}

/// The most waiting actions that a report lists. Further ones are only counted.
const SHOWN_MAX: usize = 20;

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no rank can go on; {} actions wait", self.waiting.len())?;
        for waiting in self.waiting.iter().take(SHOWN_MAX) {
            write!(f, "\n{}: waits for {}", waiting.place, waiting.wait)?;
        }
        if self.waiting.len() > SHOWN_MAX {
            write!(f, "\nand {} more", self.waiting.len() - SHOWN_MAX)?;
        }
        Ok(())
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_any = |value: u32| if value == ANY { "any".to_owned() } else { value.to_string() };
        match self {
            Wait::Message { from, tag } => {
                write!(f, "a message from {} with tag {}", or_any(*from), or_any(*tag))
            }
            Wait::Receive { to, tag } => {
                write!(f, "rank {to} to receive its message with tag {tag}")
            }
            Wait::Ends(ids) => write!(f, "the end of {}", list(ids)),
            Wait::Order => f.write_str("what the record puts before it"),
            Wait::Starts(ids) => write!(f, "the start of {}", list(ids)),
        }
    }
}

fn list(ids: &[ActionId]) -> String {
    let mut text =
        ids.iter().take(SHOWN_MAX).map(ActionId::to_string).collect::<Vec<_>>().join(", ");
    if ids.len() > SHOWN_MAX {
        text.push_str(", ...");
    }
    format!("{} {text}", if ids.len() == 1 { "action" } else { "actions" })
}

/// The reason why no run can have a recorded matching.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// The record has no entry for a send or a receive.
    #[error("{0}: not in the record")]
    Missing(Place),
    /// The record numbers the sends between two ranks with gaps, or uses a number twice.
    #[error("{0}: the record does not number the sends between two ranks from 0 on")]
    Order(Place),
    /// A receive takes a message that is never sent, or that another receive takes.
    #[error(
        "{place}: takes message {sequence} from rank {source_rank}, which is not there to take"
    )]
    NoSuchMessage {
        /// The receive.
        place: Place,
        /// The source.
        source_rank: u32,
        /// The number of the message among all messages from the source to this rank.
        sequence: u64,
    },
    /// A receive takes a message with another source or tag.
    #[error("{recv}: does not match {send}")]
    Envelope {
        /// The receive.
        recv: Place,
        /// The send.
        send: Place,
    },
    /// No order of steps gives this matching. Dependencies and the order of messages exclude it.
    #[error("no order of steps gives this matching: {0}")]
    Impossible(Stuck),
}
