//! The outcome of a run.

use std::collections::BTreeMap;

use goal_lang::{ActionId, Datatype, Datum, MemoryImage, Program};

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The memory of each rank at the end.
    pub memory: Vec<Vec<u8>>,
    /// For each rank, a flag for each byte of its memory. The flag is true if the byte derives from
    /// the time, or from scratch memory that was never written, so that runs need not agree on it.
    /// The list of a rank is empty if it has no such bytes.
    pub unspecified: Vec<Vec<bool>>,
    /// The number of messages that were sent and received.
    pub messages: u64,
    /// The number of payload bytes of these messages.
    pub bytes: u64,
    /// The number of bytes that are sent and received as a pattern, which a runtime verifies.
    pub verified_bytes: u64,
    /// The number of messages that no receive took.
    pub unreceived: u64,
    /// The recorded matching.
    pub matches: Matches,
}

/// A message. Its number counts all messages from its source to its receiver in the order of sends,
/// from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Taken {
    /// The rank that sent the message.
    pub source: u32,
    /// The number of the message.
    pub sequence: u64,
}

/// A record of all choices in which two runs of a program without races can differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matches {
    /// The number of each send (rank, action) among the sends of its rank to its destination.
    pub sends: BTreeMap<(u32, ActionId), u64>,
    /// The message that each receive (rank, action) took.
    pub receives: BTreeMap<(u32, ActionId), Taken>,
}

/// An element of `expect` that differs from memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The rank.
    pub rank: u32,
    /// The address of the element.
    pub addr: u64,
    /// The datatype of the element.
    pub datatype: Datatype,
    /// The expected bytes.
    pub wanted: Vec<u8>,
    /// The bytes in memory. They are fewer than `wanted` if memory ends before.
    pub found: Vec<u8>,
}

impl Outcome {
    /// Returns all elements that differ from what the program expects. Leaves out elements with an
    /// unspecified byte.
    pub fn mismatches(&self, program: &Program) -> Vec<Mismatch> {
        mismatches(program, &self.memory, &self.unspecified)
    }

    /// Returns the rank and the address of the first byte that differs in `memory`, the memory of
    /// another run. Ignores unspecified bytes.
    pub fn first_difference(&self, memory: &[impl AsRef<[u8]>]) -> Option<(u32, u64)> {
        for (rank, mine) in self.memory.iter().enumerate() {
            let flags = self.unspecified.get(rank).map_or(&[][..], Vec::as_slice);
            let theirs = memory.get(rank).map_or(&[][..], AsRef::as_ref);
            for (addr, byte) in mine.iter().enumerate() {
                if !flags.get(addr).is_some_and(|&flag| flag) && theirs.get(addr) != Some(byte) {
                    return Some((rank as u32, addr as u64));
                }
            }
        }
        None
    }

    /// Returns the program with this outcome as its expected values, without unspecified bytes.
    pub fn expected_by(&self, program: &Program) -> Program {
        let mut expecting = program.clone();
        expecting.images.clear();
        for rank in 0..program.num_ranks() {
            let init = program.image_of(rank).map_or_else(Vec::new, |image| image.init.clone());
            let image = MemoryImage { init, expect: self.expectations(rank as usize) };
            expecting.ranks[rank as usize].image = (!image.is_empty()).then(|| {
                let known = expecting.images.iter().position(|other| *other == image);
                let index = known.unwrap_or_else(|| {
                    expecting.images.push(image);
                    expecting.images.len() - 1
                });
                goal_lang::ImageId::new(index)
            });
        }
        expecting
    }

    fn expectations(&self, rank: usize) -> Vec<Datum> {
        let flags = &self.unspecified[rank];
        let mut data: Vec<Datum> = Vec::new();
        for (addr, &byte) in self.memory[rank].iter().enumerate() {
            let addr = addr as u64;
            if flags.get(addr as usize).is_some_and(|&flag| flag) {
                continue;
            }
            match data.last_mut() {
                Some(last) if last.addr + last.bytes.len() as u64 == addr => last.bytes.push(byte),
                _ => data.push(Datum { addr, datatype: Datatype::UInt8, bytes: vec![byte] }),
            }
        }
        data
    }
}

/// Returns all elements in which the memory of ranks differs from what the program expects. Leaves
/// out elements with an unspecified byte. `unspecified` may be empty, if all bytes are specified.
pub fn mismatches(
    program: &Program,
    memory: &[impl AsRef<[u8]>],
    unspecified: &[Vec<bool>],
) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    for (rank, memory) in memory.iter().enumerate() {
        let memory = memory.as_ref();
        let flags = unspecified.get(rank).map_or(&[][..], Vec::as_slice);
        let expect = program.image_of(rank as u32).map_or(&[][..], |image| &image.expect);
        for datum in expect {
            let width = datum.datatype.width() as usize;
            for (index, wanted) in datum.bytes.chunks(width).enumerate() {
                let addr = datum.addr + (index * width) as u64;
                let start = (addr as usize).min(memory.len());
                let end = (start + wanted.len()).min(memory.len());
                let unspecified = flags.get(start..end).is_some_and(|flags| flags.contains(&true));
                if &memory[start..end] != wanted && !unspecified {
                    mismatches.push(Mismatch {
                        rank: rank as u32,
                        addr,
                        datatype: datum.datatype,
                        wanted: wanted.to_vec(),
                        found: memory[start..end].to_vec(),
                    });
                }
            }
        }
    }
    mismatches
}
