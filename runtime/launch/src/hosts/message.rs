//! Defines the messages that launchers send on their streams, and the events that a launcher
//! handles.
//!
//! A message is a JSON text with perhaps some bytes after it. The lengths of both precede it (4
//! bytes each, little-endian).

use super::error::DiscoveryError;
use crate::monitor::Stopped;
use goal_esp::wire::State;
use goal_job::host::{Host, Location};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::net::IpAddr;

/// The bytes of the two lengths before a message.
const HEAD: usize = 8;
/// The most bytes of the JSON text of a message.
const TEXT_MAX: usize = 16 << 20;
/// The highest number of a signal in a message.
const SIGNAL_MAX: usize = 64;

/// The state of all ranks of a host together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reply {
    /// Active if a rank is active, done if all ranks are done, and idle if none can go on.
    pub(crate) state: State,
    /// The number of messages that these ranks sent to other hosts.
    pub(crate) sent: u64,
    /// The number of messages that these ranks took from other hosts.
    pub(crate) taken: u64,
}

/// An event that a [`Link`](super::Link) reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LinkEvent {
    /// The ranks that are on this host. The caller must call
    /// [`Link::claimed`](super::Link::claimed) with their ports.
    Mine(Vec<u32>),
    /// A text on the hosts or ranks that have not been found yet.
    Missing(String),
    /// Several launchers have ranks on this machine, and more ranks than it has processors. It
    /// comes before [`LinkEvent::Found`].
    Crowded,
    /// The addresses of all ranks are known.
    Found(Vec<Location>),
    /// Two hosts contradict each other, or a host contradicts the distribution of ranks.
    Contradiction(DiscoveryError),
    /// A stream to a launcher was opened.
    Connected(Host),
    /// A message of a launcher, with the bytes after it.
    Message(Host, LauncherMessage, Vec<u8>),
    /// A launcher has sent its last message.
    Finished(Host),
    /// The stream to a launcher was lost, for this reason.
    Lost(Host, String),
    /// The leader asks for the state of the ranks. The caller must call
    /// [`Link::reply`](super::Link::reply).
    Probe {
        /// The host of the leader.
        from: Host,
        /// The number of the round.
        round: u64,
    },
    /// A host has answered with the state of its ranks in a round.
    Replied(Host, u64, Reply),
}

/// A machine, which several launchers in containers may share.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// A text that differs from machine to machine. It is empty if it is not known.
    pub(crate) id: String,
    /// The number of processors that ranks may use.
    pub(crate) processors: u32,
}

/// A setting that must be the same on all hosts: its name and its value.
pub(crate) type Term = (String, String);

/// A part of the memory that a rank leaves at the end of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Area {
    /// The status of the rank and its counts.
    Status,
    /// The failure record.
    Failure,
    /// The memory of the rank's program.
    Memory,
    /// The record of the messages that the rank's receives took.
    Matches,
    /// The state of the rank's instance of the schedule.
    Instance,
    /// The trace of the rank.
    Trace,
}

/// A message between launchers. The leader is the launcher of the host of rank 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LauncherMessage {
    /// To the leader: a host has found all ranks, and was started with these settings.
    Hello(Vec<Term>),
    /// The job does not start, or a host can't take part, for this reason.
    Refused(String),
    /// To the leader, over TCP: the ranks, ports and addresses of a host, and the sizes that all
    /// launchers must agree on.
    Claims {
        /// The number of ranks of the program.
        ranks: u32,
        /// The number of launchers.
        size: u32,
        /// The ranks of the host, with their ports.
        mine: Vec<(u32, u16)>,
        /// The address at which other hosts reach the ranks. `None` if the user named none.
        address: Option<IpAddr>,
        /// The address at which the leader was reached.
        reached: IpAddr,
        /// The machine, whose processors ranks of several launchers may share.
        machine: Machine,
    },
    /// Over TCP: all launchers have claimed their ranks.
    Found {
        /// The locations of all ranks.
        locations: Vec<Location>,
        /// True if several launchers have ranks on the host's machine, and more than it has
        /// processors.
        is_crowded: bool,
    },
    /// Over TCP: asks for the state of a host's ranks in a round.
    Probe {
        /// The number of the round.
        round: u64,
    },
    /// To the leader, over TCP: the state of a host's ranks in a round.
    State {
        /// The number of the round.
        round: u64,
        /// The state as an index: 0 is active, 1 is idle and 2 is done.
        state: u8,
        /// The number of messages that these ranks sent to other hosts.
        sent: u64,
        /// The number of messages that these ranks took from other hosts.
        taken: u64,
    },
    /// Over TCP: a sign of life.
    Alive,
    /// Over TCP: this is the last message of a launcher that ends by itself.
    Leaving,
    /// The settings of all hosts agree, so each host must start its ranks.
    Start {
        /// A number that no other run with the same key has.
        run: u64,
    },
    /// To the leader: the MTU of a host's interface, in bytes. To the others: the smallest MTU of
    /// all hosts.
    Mtu(u32),
    /// To the leader: `None` if a host's kernel has the schedule, otherwise the reason why not. To
    /// the others: `None` if all kernels have it, otherwise the first reason with its host.
    Offload(Option<String>),
    /// To the leader: all ranks of a host are ready.
    Ready,
    /// All ranks are ready.
    Go,
    /// To the leader: all ranks of a host have finished.
    Finished,
    /// To the leader: a rank of a host has failed.
    Failed,
    /// To the leader: a rank ended by itself.
    Died {
        /// The rank.
        rank: u32,
        /// A description of how it ended.
        how: String,
        /// The exit status of the job, if it follows from how the rank ended.
        status: Option<u8>,
    },
    /// To the leader: a rank of a host can't reach a rank of another host any more.
    Unreachable {
        /// The rank of the host.
        by: u32,
        /// The other rank.
        rank: u32,
    },
    /// The job goes on without these ranks, each with the reason. Their hosts end them.
    Lost(Vec<(u32, String)>),
    /// To the leader: no rank of a host uses messages any more, after a loss.
    Regroups {
        /// True if some ranks of the host wait for the next generation.
        regroups: bool,
        /// The ranks of the host that have come to their end.
        sits_out: Vec<u32>,
    },
    /// The next generation begins. These ranks, which have come to their end, are not in it.
    Mend(Vec<u32>),
    /// To the leader: all ranks of a host have come to their end. The ranks are programs.
    AtEnd,
    /// All ranks of all hosts have come to their end. They go on as programs without a job.
    GoOn,
    /// To the leader: a launcher got a signal.
    Interrupted {
        /// The number of the signal. A message with an impossible number is broken.
        #[serde(deserialize_with = "signal")]
        signal: usize,
    },
    /// A signal that a launcher got, for the ranks of all hosts.
    Forward {
        /// The number of the signal.
        signal: i32,
    },
    /// To the leader: nothing has moved for a while on a host whose ranks are programs. A line says
    /// what each rank does. No lines mean that ranks move again.
    Standstill(Vec<String>),
    /// To the leader: the ranks of a host that are stopped by a signal now.
    Stopped(Vec<Stopped>),
    /// The job has ended. Each host must end its ranks and send the memory that they left.
    End {
        /// True if all ranks have finished.
        is_complete: bool,
        /// True if no rank can go on.
        is_stuck: bool,
        /// True if the time is up.
        is_late: bool,
        /// The areas of each rank that must be sent.
        areas: Vec<Area>,
    },
    /// To the leader: a part of an area of a rank, in the bytes after this message.
    Left {
        /// The rank.
        rank: u32,
        /// The area.
        area: Area,
        /// The offset of the bytes in the area.
        offset: u64,
    },
    /// To the leader: a host has sent all memory of its ranks.
    Told {
        /// The time at which the host's ranks began, by its clock in nanoseconds.
        opened_ns: u64,
    },
    /// The outcome of the job. This is the last message.
    Verdict {
        /// The exit status.
        status: u8,
        /// The leader's report, as one JSON object.
        report: String,
        /// Descriptions of all errors.
        errors: Vec<String>,
    },
}

/// Reads the number of a signal. Numbers outside 1 to [`SIGNAL_MAX`] are errors, as 128 is added
/// for an exit status.
fn signal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let signal = usize::deserialize(deserializer)?;
    let is_one = (1..=SIGNAL_MAX).contains(&signal);
    is_one.then_some(signal).ok_or_else(|| D::Error::custom("no signal has this number"))
}

/// The error of bytes that are no message of a launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what it sent is no message of a launcher")]
pub(crate) struct Broken;

impl LauncherMessage {
    /// The most bytes that may follow the JSON text of a message.
    pub(crate) const BYTES_MAX: usize = 64 << 10;

    /// Returns the encoded message: both lengths, the JSON text and `bytes`.
    pub(crate) fn encode(&self, bytes: &[u8]) -> Vec<u8> {
        let text = serde_json::to_vec(self).expect("numbers and texts");
        let mut out = Vec::with_capacity(HEAD + text.len() + bytes.len());
        out.extend((text.len() as u32).to_le_bytes());
        out.extend((bytes.len() as u32).to_le_bytes());
        out.extend(text);
        out.extend(bytes);
        out
    }
}

/// Reads messages from a stream that arrives in parts.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    buffer: Vec<u8>,
    /// The number of bytes at the beginning of `buffer` that were decoded.
    read: usize,
}

impl Decoder {
    /// Appends a part of the stream.
    pub(crate) fn push(&mut self, part: &[u8]) {
        self.buffer.drain(..self.read);
        self.read = 0;
        self.buffer.extend_from_slice(part);
    }

    /// Returns the next message and the bytes after it, or `None` if it is not complete yet.
    ///
    /// # Errors
    /// [`Broken`].
    pub(crate) fn next_message(&mut self) -> Result<Option<(LauncherMessage, Vec<u8>)>, Broken> {
        let all = &self.buffer[self.read..];
        let Some((head, rest)) = all.split_at_checked(HEAD) else { return Ok(None) };
        let len = |at: usize| {
            u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes")) as usize
        };
        let (text_len, bytes_len) = (len(0), len(4));
        if text_len > TEXT_MAX || bytes_len > LauncherMessage::BYTES_MAX {
            return Err(Broken);
        }
        let Some((text, rest)) = rest.split_at_checked(text_len) else { return Ok(None) };
        let Some((bytes, _)) = rest.split_at_checked(bytes_len) else { return Ok(None) };
        let message = serde_json::from_slice(text).map_err(|_| Broken)?;
        let bytes = bytes.to_vec();
        self.read += HEAD + text_len + bytes_len;
        Ok(Some((message, bytes)))
    }
}
