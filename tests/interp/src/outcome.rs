//! The outcome of a run.

use std::collections::BTreeMap;

use goal_lang::{ActionId, Datatype, Datum, MemoryImage, Program};

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The memory of each rank at the end.
    pub memory: Vec<Vec<u8>>,
    /// For each byte of each rank's memory, true if it derives from the time or from scratch memory
    /// that was never written, so that runs need not agree on it. The list of a rank without such
    /// bytes is empty.
    pub unspecified: Vec<Vec<bool>>,
    /// The number of messages sent and received.
    pub messages: u64,
    /// The number of their bytes.
    pub bytes: u64,
    /// The number of bytes that are sent as a pattern and received as one, which a runtime
    /// verifies.
    pub verified_bytes: u64,
    /// The number of messages that no receive took.
    pub unreceived: u64,
    /// The messages that receives took.
    pub matches: Matches,
}

/// A message, named by its source and its number among those from there to its receiver, in the
/// order of sends, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Taken {
    /// The rank that sent it.
    pub source: u32,
    /// Its number.
    pub sequence: u64,
}

/// A record of the choices of a run: everything in which two runs of a program without races can
/// differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matches {
    /// The number of each send (rank, action) among those from its rank to its destination.
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
    /// Its datatype.
    pub datatype: Datatype,
    /// The expected bytes.
    pub wanted: Vec<u8>,
    /// The bytes in memory; fewer if memory ends before.
    pub found: Vec<u8>,
}

impl Outcome {
    /// All elements that differ from what the program expects. Elements with an unspecified byte
    /// are left out.
    pub fn mismatches(&self, program: &Program) -> Vec<Mismatch> {
        mismatches(program, &self.memory, &self.unspecified)
    }

    /// The first byte in which the memory of another run differs, as (rank, address). Unspecified
    /// bytes are left out.
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

    /// The program with this outcome as its expected values, without unspecified bytes.
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

/// All elements in which the ranks' memory differs from what the program expects. Elements with an
/// unspecified byte are left out; `unspecified` may be empty.
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
