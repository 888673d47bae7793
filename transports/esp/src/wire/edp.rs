//! EDP's datagrams: discovery of hosts, echoes, and the state of ranks when a job may be stuck
//! (thesis chapter 3).
//!
//! ```text
//!  0               1               2               3
//! +-------+-------+---------------+---------------+---------------+ 0
//! |version|  form |     kind      |        payload length         |
//! +-------+-------+---------------+---------------+---------------+ 4
//! |          source port          |       destination port        |
//! +---------------+---------------+---------------+---------------+ 8
//! |                            number                             |
//! +---------------+---------------+---------------+---------------+ 12
//! |                           checksum                            |
//! +---------------+---------------+---------------+---------------+ 16: form 0 ends here
//! |                              tag                              |
//! +                                                               +
//! |                                                               |
//! +                                                               +
//! |                                                               |
//! +---------------+---------------+---------------+---------------+ 28: form 1 ends here
//! ```
//!
//! Payloads by kind:
//!
//! ```text
//! 1 echo, 2 echo reply   any bytes, which come back
//! 3 discovery            job u64, nonce u64                                           tagged
//! 4 answer               job u64, nonce u64 of the question, ranks u32, 0 u32, ports   tagged
//! 5 probe                job u64, round u64                                           tagged
//! 6 probe reply          job u64, round u64, rank u32, state u32, sent u64, taken u64 tagged
//! ```
//!
//! Threat: anyone on the Ethernet may send any datagram, and repeat datagrams that it has seen.
//! Datagrams of a kind with a tag count only if the tag is correct. The receiver must detect
//! repeated datagrams itself.

use super::bytes::{checksum, fill_checksum, u16_at, u32_at, u64_at};
use super::{Malformed, Ports, TAG_LEN, Tag, VERSION};
use crate::limits::PAYLOAD_MAX;

mod field {
    use super::super::bytes::Field;
    use super::TAG_LEN;

    pub(super) const FORM: usize = 0;
    pub(super) const KIND: usize = 1;
    pub(super) const LENGTH: Field = 2..4;
    pub(super) const SOURCE_PORT: Field = 4..6;
    pub(super) const DESTINATION_PORT: Field = 6..8;
    pub(super) const NUMBER: Field = 8..12;
    pub(super) const CHECKSUM: Field = 12..16;
    pub(super) const TAG: Field = 16..16 + TAG_LEN;
}

/// The length of an answer before its ports in bytes.
const ANSWER_LEN: usize = 24;

/// The state that a rank reports when it is asked if the job can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// The rank has something to do.
    Active,
    /// The rank can do nothing until a message arrives.
    Idle,
    /// The rank has done everything.
    Done,
}

/// The contents of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message<'a> {
    /// Asks for these bytes back.
    Echo(&'a [u8]),
    /// Returns the bytes of an echo.
    EchoReply(&'a [u8]),
    /// Asks the hosts of a job to answer. Answers repeat the nonce, which distinguishes them from
    /// old ones.
    Discovery {
        /// The job.
        job: u64,
        /// A number that no other question has.
        nonce: u64,
    },
    /// Answers a discovery: a host of the job names its ranks, if it knows them yet.
    Answer {
        /// The job.
        job: u64,
        /// Nonce of the question.
        nonce: u64,
        /// The number of the job's ranks.
        ranks: u32,
        /// The ports of the host's ranks.
        ports: Ports<'a>,
    },
    /// Asks a rank for its state.
    Probe {
        /// The job.
        job: u64,
        /// The number of the question. Answers to another question are ignored.
        round: u64,
    },
    /// Answers a probe. A job is stuck if two rounds in a row find no active rank and equal counts,
    /// and `taken` equals `sent` over all ranks (Mattern's four counters).
    ProbeReply {
        /// The job.
        job: u64,
        /// Number of the question.
        round: u64,
        /// The rank.
        rank: u32,
        /// The state of the rank.
        state: State,
        /// The number of messages that the rank sent to other hosts.
        sent: u64,
        /// The number of messages that the rank took from other hosts.
        taken: u64,
    },
}

impl<'a> Message<'a> {
    fn kind(&self) -> u8 {
        match self {
            Message::Echo(_) => 1,
            Message::EchoReply(_) => 2,
            Message::Discovery { .. } => 3,
            Message::Answer { .. } => 4,
            Message::Probe { .. } => 5,
            Message::ProbeReply { .. } => 6,
        }
    }

    /// Returns true if this kind needs a tag.
    pub fn is_tagged(&self) -> bool {
        !matches!(self, Message::Echo(_) | Message::EchoReply(_))
    }

    fn parse(kind: u8, payload: &'a [u8]) -> Option<Self> {
        let long = |at: usize| u64_at(payload, at..at + 8);
        let word = |at: usize| u32_at(payload, at..at + 4);
        Some(match (kind, payload.len()) {
            (1, _) => Message::Echo(payload),
            (2, _) => Message::EchoReply(payload),
            (3, 16) => Message::Discovery { job: long(0), nonce: long(8) },
            (4, 24..) if word(20) == 0 => {
                let ports = Ports::parse(&payload[ANSWER_LEN..])?;
                Message::Answer { job: long(0), nonce: long(8), ranks: word(16), ports }
            }
            (5, 16) => Message::Probe { job: long(0), round: long(8) },
            (6, 40) => Message::ProbeReply {
                job: long(0),
                round: long(8),
                rank: word(16),
                state: [State::Active, State::Idle, State::Done].get(word(20) as usize).copied()?,
                sent: long(24),
                taken: long(32),
            },
            _ => return None,
        })
    }

    /// Returns the length of the payload in bytes.
    pub fn len(&self) -> usize {
        match self {
            Message::Echo(bytes) | Message::EchoReply(bytes) => bytes.len(),
            Message::Discovery { .. } | Message::Probe { .. } => 16,
            Message::Answer { ports, .. } => ANSWER_LEN + ports.bytes().len(),
            Message::ProbeReply { .. } => 40,
        }
    }

    /// Returns the number of 8-byte numbers with which the payload begins.
    fn words(&self) -> usize {
        match self {
            Message::Answer { .. } => ANSWER_LEN / 8,
            message => message.len() / 8,
        }
    }

    /// Returns true if the payload is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn emit(&self, out: &mut [u8]) {
        let mut words = [0; 5];
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        match *self {
            Message::Echo(bytes) | Message::EchoReply(bytes) => return out.copy_from_slice(bytes),
            Message::Discovery { job, nonce } => words[..2].copy_from_slice(&[job, nonce]),
            Message::Probe { job, round } => words[..2].copy_from_slice(&[job, round]),
            Message::Answer { job, nonce, ranks, ports } => {
                words[..3].copy_from_slice(&[job, nonce, pair(ranks, 0)]);
                out[ANSWER_LEN..].copy_from_slice(ports.bytes());
            }
            Message::ProbeReply { job, round, rank, state, sent, taken } => {
                words = [job, round, pair(rank, state as u32), sent, taken];
            }
        }
        let words = &words[..self.words()];
        for (bytes, word) in out.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
    }
}

/// The meaning of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdpRepr<'a> {
    /// The port that sends the datagram.
    pub source_port: u16,
    /// The port that the datagram is for; 0 for all ports.
    pub destination_port: u16,
    /// A number that distinguishes datagrams. An answer repeats the number of its question.
    pub number: u32,
    /// The contents of the datagram.
    pub message: Message<'a>,
}

impl EdpRepr<'_> {
    /// Returns the length of the header in bytes.
    pub fn header_len(&self) -> usize {
        if self.message.is_tagged() { field::TAG.end } else { field::CHECKSUM.end }
    }

    /// Returns the length of header and payload in bytes.
    pub fn len(&self) -> usize {
        self.header_len() + self.message.len()
    }

    /// Returns false: there is always a header.
    pub fn is_empty(&self) -> bool {
        false
    }
}

/// A view of a datagram: header and payload.
#[derive(Debug, Clone, Copy)]
pub struct Datagram<T>(T);

impl<T: AsRef<[u8]>> Datagram<T> {
    /// Checks that version, length, contents and checksum of a datagram are right, and returns a
    /// view of it. Bytes behind its payload are padding.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn new_checked(bytes: T) -> Result<Self, Malformed> {
        let datagram = Self(bytes);
        datagram.check_len()?;
        let all = datagram.0.as_ref();
        let message = Message::parse(all[field::KIND], datagram.payload());
        let fits = message.is_some_and(|message| message.is_tagged() == datagram.is_tagged());
        if datagram.payload().len() > PAYLOAD_MAX || !fits {
            return Err(Malformed::Contradiction);
        }
        if u32_at(all, field::CHECKSUM) != checksum(datagram.bytes(), field::CHECKSUM) {
            return Err(Malformed::Checksum);
        }
        Ok(datagram)
    }

    fn check_len(&self) -> Result<(), Malformed> {
        let bytes = self.0.as_ref();
        if bytes.len() < field::CHECKSUM.end {
            return Err(Malformed::Short);
        }
        if bytes[field::FORM] >> 4 != VERSION || bytes[field::FORM] & 0xf > 1 {
            return Err(Malformed::Version);
        }
        let len = self.header_len() + usize::from(u16_at(bytes, field::LENGTH));
        if bytes.len() < len { Err(Malformed::Short) } else { Ok(()) }
    }

    fn is_tagged(&self) -> bool {
        self.0.as_ref()[field::FORM] & 0xf == 1
    }

    fn header_len(&self) -> usize {
        if self.is_tagged() { field::TAG.end } else { field::CHECKSUM.end }
    }

    fn bytes(&self) -> &[u8] {
        let bytes = self.0.as_ref();
        &bytes[..self.header_len() + usize::from(u16_at(bytes, field::LENGTH))]
    }

    fn payload(&self) -> &[u8] {
        &self.bytes()[self.header_len()..]
    }

    /// Returns the meaning of the datagram.
    pub fn repr(&self) -> EdpRepr<'_> {
        let bytes = self.0.as_ref();
        EdpRepr {
            source_port: u16_at(bytes, field::SOURCE_PORT),
            destination_port: u16_at(bytes, field::DESTINATION_PORT),
            number: u32_at(bytes, field::NUMBER),
            message: Message::parse(bytes[field::KIND], self.payload())
                .expect("a view is of a datagram"),
        }
    }

    /// Returns the tag; `None` if the datagram has none.
    pub fn tag(&self) -> Option<Tag> {
        self.is_tagged()
            .then(|| self.0.as_ref()[field::TAG].try_into().expect("the bytes of a tag"))
    }

    /// Returns the bytes that the tag covers: the bytes before the checksum, and the payload.
    pub(crate) fn proven(&self) -> [&[u8]; 2] {
        [&self.bytes()[..field::CHECKSUM.start], self.payload()]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Datagram<T> {
    /// Writes a datagram without its tag and its checksum to `bytes`, which must have room for it.
    pub fn emit(bytes: T, repr: &EdpRepr<'_>) -> Self {
        let mut datagram = Self(bytes);
        let bytes = datagram.0.as_mut();
        let header_len = repr.header_len();
        bytes[field::FORM] = VERSION << 4 | u8::from(repr.message.is_tagged());
        bytes[field::KIND] = repr.message.kind();
        bytes[field::LENGTH].copy_from_slice(&(repr.message.len() as u16).to_be_bytes());
        bytes[field::SOURCE_PORT].copy_from_slice(&repr.source_port.to_be_bytes());
        bytes[field::DESTINATION_PORT].copy_from_slice(&repr.destination_port.to_be_bytes());
        bytes[field::NUMBER].copy_from_slice(&repr.number.to_be_bytes());
        repr.message.emit(&mut bytes[header_len..repr.len()]);
        datagram
    }

    /// Writes the tag.
    pub fn set_tag(&mut self, tag: &Tag) {
        self.0.as_mut()[field::TAG].copy_from_slice(tag);
    }

    /// Writes the checksum. Must be called last.
    pub fn fill_checksum(&mut self) {
        let len = self.bytes().len();
        fill_checksum(&mut self.0.as_mut()[..len], field::CHECKSUM);
    }

    /// Corrects the checksum of any bytes that are as long as their header says.
    pub(crate) fn repair_checksum(bytes: T) {
        let mut datagram = Self(bytes);
        if datagram.check_len().is_ok() {
            datagram.fill_checksum();
        }
    }
}
