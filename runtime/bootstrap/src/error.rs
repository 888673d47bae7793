//! Defines the errors of this crate. Each text names the rank if it is known, the cause, and a
//! remedy.

use crate::limits::SHOWN_MAX;
use std::time::Duration;

/// An error of the recognition of a launcher, or of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A variable of the environment has a value that its launcher never writes.
    #[error(
        "{variable}={value} is not {expected}; start the program again by its launcher, or unset \
         the variables of launchers that did not start it"
    )]
    Variable {
        /// The name of the variable.
        variable: String,
        /// The value of the variable, shortened, with escapes.
        value: String,
        /// The form that the value should have.
        expected: &'static str,
    },
    /// A variable is missing, although another one that belongs to it is set.
    #[error("{present} is set but {missing} is not; start the program again by its launcher")]
    Incomplete {
        /// The variable that was found.
        present: String,
        /// The variable that is missing.
        missing: String,
    },
    /// Two variables contradict each other.
    #[error(
        "{first} and {second} contradict each other: {rule}; unset the variables of launchers that \
         did not start this program"
    )]
    Contradiction {
        /// The first variable and its value.
        first: String,
        /// The second variable and its value.
        second: String,
        /// The rule that the two values break.
        rule: &'static str,
    },
    /// The launcher does not carry blobs between ranks.
    #[error("rank {rank}: {launcher} started this process, but {reason}; {way_out}")]
    NoExchange {
        /// The rank of this process.
        rank: u32,
        /// The launcher.
        launcher: &'static str,
        /// The cause.
        reason: String,
        /// The commands or options that solve the problem.
        way_out: &'static str,
    },
    /// No usable PMIx library was found.
    #[error(
        "rank {rank}: no usable libpmix.so.2: {tried}; install it (Debian: libpmix2), or let \
         GOAL_LIBPMIX name the file"
    )]
    Library {
        /// The rank of this process.
        rank: u32,
        /// The files that were tried, each with the reason why it is not usable.
        tried: String,
    },
    /// A function of PMIx failed.
    #[error("rank {rank}: {call} of PMIx failed: {text} ({status}); {hint}")]
    Pmix {
        /// The rank of this process.
        rank: u32,
        /// The name of the function.
        call: &'static str,
        /// The status that the function returned.
        status: i32,
        /// The library's text for the status.
        text: String,
        /// The likely cause, or where to look.
        hint: &'static str,
    },
    /// The launcher, or another rank through it, sent something that the protocol does not allow.
    #[error(
        "rank {rank}: bad answer to `{request}`: {cause}: `{answer}`; the descriptor or the \
         launcher speaks another protocol, or another part of this process uses the connection"
    )]
    Protocol {
        /// The rank of this process.
        rank: u32,
        /// The request.
        request: String,
        /// The rule that the answer breaks.
        cause: &'static str,
        /// The answer, shortened, with escapes.
        answer: String,
    },
    /// The launcher refused a request.
    #[error("rank {rank}: the launcher refused `{request}`: `{answer}`; see the launcher's output")]
    Refused {
        /// The rank of this process.
        rank: u32,
        /// The request.
        request: String,
        /// The answer, shortened, with escapes.
        answer: String,
    },
    /// The connection to the launcher is closed or failed.
    #[error(
        "rank {rank}: the connection to the launcher is lost: {cause}; the launcher ended, or this \
         process has used its only connection before (a session or MPI_Init)"
    )]
    Closed {
        /// The rank of this process.
        rank: u32,
        /// The system's error, or the end of the stream.
        cause: String,
    },
    /// The deadline has passed.
    #[error(
        "rank {rank}: no answer to {request} within {wait:?}; a rank may not have started, may have \
         ended, or may be slower: look at the other ranks, or wait longer"
    )]
    Deadline {
        /// The rank of this process.
        rank: u32,
        /// The operation that did not end in time.
        request: String,
        /// The time that the caller gave the operation.
        wait: Duration,
    },
    /// The file of this process gave it rights that its starter lacks.
    #[error(
        "rank {rank}: {launcher} started this process, whose file gives it rights that its starter \
         lacks (set-user-ID, set-group-ID or capabilities), so nothing that the environment names \
         is loaded or opened; start a copy without these (chmod ug-s, setcap -r)"
    )]
    Rights {
        /// The rank of this process.
        rank: u32,
        /// The launcher.
        launcher: &'static str,
    },
    /// A blob is too large.
    #[error("rank {rank}: a blob of {bytes} bytes is larger than {limit} bytes; send it in parts")]
    TooLarge {
        /// The rank of this process.
        rank: u32,
        /// The size of the blob.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The launcher and the environment disagree.
    #[error(
        "rank {rank}: the environment says {what} {environment}, the launcher {launcher}; unset \
         the variables of launchers that did not start this program"
    )]
    Disagreement {
        /// The rank of this process, as the environment states it.
        rank: u32,
        /// The name of the number in question.
        what: &'static str,
        /// The value that the environment states.
        environment: u32,
        /// The value that the launcher states.
        launcher: u32,
    },
    /// The process has had a session before, or an earlier operation of the session has failed.
    #[error("rank {rank}: {cause}; the connection to a launcher can be used once only")]
    Spent {
        /// The rank of this process.
        rank: u32,
        /// The earlier use.
        cause: &'static str,
    },
}

/// Returns a text from another party, shortened and with escapes, so that it is safe to show on a
/// terminal.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let mut text = bytes[..bytes.len().min(SHOWN_MAX)].escape_ascii().to_string();
    if bytes.len() > SHOWN_MAX {
        text.push_str("...");
    }
    text
}
