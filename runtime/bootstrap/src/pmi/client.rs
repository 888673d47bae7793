//! Implements a client of PMI-1: the negotiation, the exchanges and the end.
//!
//! Threat: see `mod.rs`.

use super::blob::{Decoder, encode};
use super::channel::Channel;
use super::mapping;
use super::message::Answer;
use crate::deadline::Deadline;
use crate::error::{Error, shown};
use crate::limits::{BLOB_MAX, REQUEST_MAX};
use std::os::fd::OwnedFd;

/// The length limit of keys in bytes. A key is `goal-ROUND-RANK-PART`.
const KEY_MAX: usize = 32;

/// The least length in bytes that a server must allow for values. RFC 13 recommends at least 64.
const VALUE_MIN: usize = 64;

/// The longest name of a key-value space, in bytes.
const SPACE_MAX: usize = 256;

/// A connection to a PMI-1 server.
#[derive(Debug)]
pub(crate) struct Client {
    channel: Channel,
    size: u32,
    /// The name of the job's key-value space.
    space: String,
    /// The length in bytes of the longest value that the server takes.
    value_max: usize,
}

impl Client {
    /// Opens the session: agrees on the version, and asks for the limits and the name of the
    /// key-value space.
    pub(crate) fn open(
        socket: OwnedFd,
        rank: u32,
        size: u32,
        deadline: &Deadline,
    ) -> Result<Self, Error> {
        let channel = Channel::new(socket, rank);
        let mut client = Self { channel, size, space: String::new(), value_max: 0 };

        let request = "cmd=init pmi_version=1 pmi_subversion=1";
        client.call(request, "response_to_init", deadline, |answer| {
            match answer.number("pmi_version") {
                Some(1) => Ok(()),
                _ => Err("the server has no version 1 of PMI"),
            }
        })?;
        client.value_max = client.call("cmd=get_maxes", "maxes", deadline, |answer| {
            let limit = |key| answer.number(key).map(|limit| limit as usize);
            // The server's limits include a zero byte at the end.
            let (key, value) = (limit("keylen_max"), limit("vallen_max"));
            let (key, value) = key.zip(value).ok_or("it states no limits")?;
            if key <= KEY_MAX || value <= VALUE_MIN {
                return Err("keys or values are too short for any use");
            }
            Ok(value - 1)
        })?;
        client.space = client.call("cmd=get_my_kvsname", "my_kvsname", deadline, |answer| {
            let name = answer.value("kvsname").unwrap_or_default();
            let is_valid = !name.is_empty() && name.len() <= SPACE_MAX && !name.contains('=');
            is_valid.then(|| name.to_owned()).ok_or("the name of the space of keys is not valid")
        })?;
        Ok(client)
    }

    /// Returns the name of the job's key-value space.
    pub(crate) fn space(&self) -> &str {
        &self.space
    }

    /// Asks which ranks share this node. Returns this rank's number among them and their number;
    /// `None` if the server does not know.
    pub(crate) fn local(&self, deadline: &Deadline) -> Result<Option<(u32, u32)>, Error> {
        let request = format!("cmd=get kvsname={} key=PMI_process_mapping", self.space);
        let answer = self.channel.request(&request, deadline)?;
        let answer = self.parse(&request, "get_result", &answer)?;
        let text = answer.value("value").filter(|_| answer.is_success());
        Ok(text.and_then(|text| mapping::local(text, self.channel.rank(), self.size)))
    }

    /// Exchanges blobs: every rank gets the blobs of all ranks, by rank. `round` must differ from
    /// exchange to exchange, because a key can be put only once.
    pub(crate) fn exchange(
        &mut self,
        round: u32,
        blob: &[u8],
        deadline: &Deadline,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let rank = self.channel.rank();
        let put = |part: usize| {
            format!("cmd=put kvsname={} key={} value=", self.space, key(round, rank, part))
        };
        // The part's number has at most five digits, and the newline counts.
        let value_max = self.value_max.min(REQUEST_MAX - put(0).len() - 6);
        for (part, value) in encode(blob, value_max).into_iter().enumerate() {
            self.call(&(put(part) + &value), "put_result", deadline, |_| Ok(()))?;
        }
        self.call("cmd=barrier_in", "barrier_out", deadline, |_| Ok(()))?;
        (0..self.size).map(|of| self.get(round, of, deadline)).collect()
    }

    /// Reads the blob of `rank`.
    fn get(&self, round: u32, rank: u32, deadline: &Deadline) -> Result<Vec<u8>, Error> {
        let mut decoder = Decoder::default();
        // Each value adds at least one letter, so this many values are enough.
        for part in 0..=BLOB_MAX * 2 {
            let request = format!("cmd=get kvsname={} key={}", self.space, key(round, rank, part));
            let blob = self.call(&request, "get_result", deadline, |answer| {
                decoder.push(answer.value("value").ok_or("it has no value")?)
            })?;
            if let Some(blob) = blob {
                return Ok(blob);
            }
        }
        unreachable!("the decoder takes no more letters than a blob of the largest size has")
    }

    /// Ends the session. The connection can't be used afterwards.
    pub(crate) fn finalize(&mut self, deadline: &Deadline) -> Result<(), Error> {
        self.call("cmd=finalize", "finalize_ack", deadline, |_| Ok(()))
    }

    /// Asks the launcher to end all ranks. Waits until the launcher closes the connection, or the
    /// deadline passes. The launcher does not answer, but ends this process too.
    pub(crate) fn abort(&mut self, status: i32, deadline: &Deadline) {
        // If the launcher is gone, an error doesn't matter: the caller ends this process in any
        // case.
        if self.channel.send(&format!("cmd=abort exitcode={status}"), deadline).is_ok() {
            self.channel.wait_for_close(deadline);
        }
    }

    /// Sends a request, and checks that the answer is a successful one to `command`. Returns what
    /// `take` reads from the answer.
    fn call<T>(
        &self,
        request: &str,
        command: &str,
        deadline: &Deadline,
        take: impl FnOnce(&Answer<'_>) -> Result<T, &'static str>,
    ) -> Result<T, Error> {
        let line = self.channel.request(request, deadline)?;
        let answer = self.parse(request, command, &line)?;
        if !answer.is_success() {
            let (request, answer) = (shown(request.as_bytes()), shown(&line));
            return Err(Error::Refused { rank: self.channel.rank(), request, answer });
        }
        take(&answer).map_err(|cause| self.channel.protocol(request, cause, &line))
    }

    fn parse<'a>(&self, request: &str, command: &str, line: &'a [u8]) -> Result<Answer<'a>, Error> {
        let error = |cause| self.channel.protocol(request, cause, line);
        let answer = Answer::parse(line).map_err(error)?;
        if answer.command() != command {
            return Err(error("it belongs to another request"));
        }
        Ok(answer)
    }
}

fn key(round: u32, rank: u32, part: usize) -> String {
    format!("goal-{round}-{rank}-{part}")
}
