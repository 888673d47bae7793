//! Errors. Each names the rank if it is known, the cause, and a way out.

use crate::limits::SHOWN_MAX;
use std::time::Duration;

/// An error of recognition or of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A variable of the environment has a value that its launcher does not write.
    #[error(
        "{variable}={value} is not {expected}; start the program again by its launcher, or unset \
         the variables of launchers that did not start it"
    )]
    Variable {
        /// The name of the variable.
        variable: String,
        /// Its value, shortened, with escapes.
        value: String,
        /// The form that it should have.
        expected: &'static str,
    },
    /// A variable that belongs to another one is missing.
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
        /// A variable and its value.
        first: String,
        /// Another one, and its value.
        second: String,
        /// The rule that they break.
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
        /// The commands or options that help.
        way_out: &'static str,
    },
    /// No usable library of PMIx was found.
    #[error(
        "rank {rank}: no usable libpmix.so.2: {tried}; install it (Debian: libpmix2), or let \
         GOAL_LIBPMIX name the file"
    )]
    Library {
        /// The rank of this process.
        rank: u32,
        /// The files that were tried, with the cause for each.
        tried: String,
    },
    /// A function of PMIx failed.
    #[error("rank {rank}: {call} of PMIx failed: {text} ({status}); {hint}")]
    Pmix {
        /// The rank of this process.
        rank: u32,
        /// The function.
        call: &'static str,
        /// Its status.
        status: i32,
        /// The library's name of the status.
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
        /// The operation that did not end.
        request: String,
        /// The time that was given.
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
        /// The rank of this process, as the environment has it.
        rank: u32,
        /// The number.
        what: &'static str,
        /// Its value by the environment.
        environment: u32,
        /// Its value by the launcher.
        launcher: u32,
    },
    /// The process has had a session, or the session has failed before.
    #[error("rank {rank}: {cause}; the connection to a launcher can be used once only")]
    Spent {
        /// The rank of this process.
        rank: u32,
        /// The earlier use.
        cause: &'static str,
    },
}

/// Returns a text that others wrote, with escapes and shortened, so that a terminal can show it.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let mut text = bytes[..bytes.len().min(SHOWN_MAX)].escape_ascii().to_string();
    if bytes.len() > SHOWN_MAX {
        text.push_str("...");
    }
    text
}
