//! Defines the errors of the library. One table of codes serves all languages.

use goal_launch::report::shown;
use goal_rank::progress::Interrupted;
use std::fmt;

/// The table of codes: name in C, number, and the sentence that `GOAL_Error_string` returns.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $c:literal, $text:literal;)*) => {
        /// The kind of an error. The numbers are those of the constants in `goal.h`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(i32)]
        #[non_exhaustive]
        pub enum ErrorCode { $($(#[$doc])* $name = $code,)* }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$name),*];

            /// Returns the name of the constant in C.
            pub const fn name(self) -> &'static str {
                match self { $(ErrorCode::$name => $c,)* }
            }

            /// Returns a text of one sentence that describes this kind of error.
            pub const fn text(self) -> &'static str {
                match self { $(ErrorCode::$name => $text,)* }
            }

            /// Returns the code with this number; `None` if there is none.
            pub const fn from_number(number: i32) -> Option<Self> {
                match number { $($code => Some(ErrorCode::$name),)* _ => None }
            }
        }
    };
}

codes! {
    /// The group was not initialized before the call, or was initialized twice.
    Init = -1, "GOAL_ERR_INIT", "the group is not initialized, or was initialized before";
    /// The group was finalized before the call.
    Finalized = -2, "GOAL_ERR_FINALIZED", "the group is finalized";
    /// The handle names no object.
    Handle = -3, "GOAL_ERR_HANDLE", "the handle is not one of this library, or was freed";
    /// The vertex belongs to another graph, or does not exist.
    Vertex = -4, "GOAL_ERR_VERTEX", "the vertex is not one of this graph";
    /// An argument is not valid.
    Argument = -5, "GOAL_ERR_ARG", "an argument is not valid";
    /// The communicator has no such rank.
    Rank = -6, "GOAL_ERR_RANK", "there is no such rank";
    /// The tag is not allowed.
    Tag = -7, "GOAL_ERR_TAG", "the tag is not allowed";
    /// The number of bytes or elements is not allowed.
    Count = -8, "GOAL_ERR_COUNT", "the number of bytes or elements is not allowed";
    /// A buffer is missing, too small or misplaced, or overlaps another one.
    Buffer = -9, "GOAL_ERR_BUFFER", "a buffer is missing, too small or overlaps another";
    /// There is no such memory type.
    MemType = -10, "GOAL_ERR_MEMTYPE", "there is no such memory type";
    /// There is no such operation, or it is not defined for the datatype.
    Operation = -11, "GOAL_ERR_OP", "the operation is not defined, or not for this type";
    /// There is no such datatype, or none of this width.
    Datatype = -12, "GOAL_ERR_DATATYPE", "there is no such type, or not of this width";
    /// The graph can't be compiled.
    Graph = -13, "GOAL_ERR_GRAPH", "the graph can't be compiled";
    /// A limit of the library or of the binary form is exceeded.
    Limit = -14, "GOAL_ERR_LIMIT", "a limit is exceeded";
    /// A running schedule uses the object.
    Busy = -15, "GOAL_ERR_BUSY", "a running schedule uses it";
    /// An action of a schedule failed.
    Failed = -16, "GOAL_ERR_FAILED", "an action of a schedule failed";
    /// The job was ended.
    Stopped = -17, "GOAL_ERR_STOPPED", "the job was ended";
    /// Every rank waits, and nothing is under way.
    Stuck = -18, "GOAL_ERR_STUCK", "every rank waits, and nothing is under way";
    /// There is not enough memory.
    Memory = -19, "GOAL_ERR_MEMORY", "there is not enough memory";
    /// The file can't be read, or its content is not valid.
    File = -20, "GOAL_ERR_FILE", "the file can't be read, or is not a valid schedule";
    /// The library, or the job's mode, does not support the call.
    Unsupported = -21, "GOAL_ERR_UNSUPPORTED", "this is not supported here";
    /// The system refused a request of the library.
    System = -22, "GOAL_ERR_SYSTEM", "the system refused";
    /// A rank, or the connection to a rank, was lost.
    Lost = -23, "GOAL_ERR_RANK_LOST", "a rank of the job was lost";
    /// The library has a fault.
    Internal = -24, "GOAL_ERR_INTERNAL", "a fault of the library";
}

/// The reason why a call failed.
// The content lies behind a pointer, so that a [`Result`] fits into registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Content>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Content {
    code: ErrorCode,
    text: Box<str>,
}

/// The result of a call of the library.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Creates an error. `text` states the problem and its remedy. Parts of the text may come from
    /// other ranks and hosts, so this function escapes control characters of terminals.
    #[cold]
    pub fn new(code: ErrorCode, text: impl Into<String>) -> Self {
        let text = shown(&text.into()).into_owned();
        Self(Box::new(Content { code, text: text.into_boxed_str() }))
    }

    /// Returns the kind of the error.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl std::error::Error for Error {}

/// Returns the library's error for the reason why a rank can't go on.
#[cold]
pub(crate) fn error_of(interrupted: &Interrupted) -> Error {
    let code = match interrupted {
        Interrupted::Failed(_) => ErrorCode::Failed,
        Interrupted::Stuck => ErrorCode::Stuck,
        Interrupted::Lost(_) => ErrorCode::Lost,
        Interrupted::OutOfMemory(_) => ErrorCode::Failed,
        _ => ErrorCode::Stopped,
    };
    Error::new(code, interrupted.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_distinct_and_negative() {
        for (index, &code) in ErrorCode::ALL.iter().enumerate() {
            assert_eq!(code as i32, -(index as i32) - 1);
            assert_eq!(ErrorCode::from_number(code as i32), Some(code));
            assert!(code.name().starts_with("GOAL_ERR_") && !code.text().is_empty());
        }
        assert_eq!(ErrorCode::from_number(0), None);
    }
}
