//! Keeps the memory and the scratch memory of a rank. Some bytes may be unspecified: runs need not
//! agree on their values.

use goal_lang::{Piece, Program, Space};

/// Bytes with flags. The flag of a byte is true if it is unspecified, as it derives from the time
/// or from scratch memory that was never written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Bytes {
    pub(crate) bytes: Vec<u8>,
    /// The flags. Empty if the program can't have unspecified bytes.
    pub(crate) unspecified: Vec<bool>,
}

/// The memory and the scratch memory of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Memory {
    spaces: [Bytes; 2],
}

impl Memory {
    /// Returns the memory at the start of a rank. `tracked` is true if bytes can be unspecified.
    pub(crate) fn new(program: &Program, rank: u32, tracked: bool) -> Self {
        let body = program.body_of(rank);
        let mut bytes = vec![0; program.memory_size(rank) as usize];
        for datum in program.image_of(rank).map_or(&[][..], |image| &image.init) {
            bytes[datum.addr as usize..][..datum.bytes.len()].copy_from_slice(&datum.bytes);
        }
        let scratch = vec![0; body.scratch as usize];
        let flags = |len: usize, flag: bool| if tracked { vec![flag; len] } else { Vec::new() };
        Self {
            spaces: [
                Bytes { unspecified: flags(bytes.len(), false), bytes },
                Bytes { unspecified: flags(scratch.len(), true), bytes: scratch },
            ],
        }
    }

    /// Returns the bytes of a scattered buffer, one piece after the other.
    pub(crate) fn gather(&self, pieces: &[Piece]) -> Bytes {
        let mut gathered = Bytes::default();
        for piece in pieces {
            let from = &self.spaces[piece.space as usize];
            let range = piece.addr as usize..(piece.addr + piece.size) as usize;
            gathered.bytes.extend_from_slice(&from.bytes[range.clone()]);
            gathered.unspecified.extend(from.unspecified.get(range).unwrap_or_default());
        }
        gathered
    }

    /// Stores bytes into a scattered buffer of the same size. If `bytes` has no flags, all bytes
    /// are specified.
    pub(crate) fn scatter(&mut self, pieces: &[Piece], bytes: &Bytes) {
        let mut at = 0;
        for piece in pieces {
            let to = &mut self.spaces[piece.space as usize];
            let range = piece.addr as usize..(piece.addr + piece.size) as usize;
            let part = at..at + range.len();
            to.bytes[range.clone()].copy_from_slice(&bytes.bytes[part.clone()]);
            if let Some(flags) = to.unspecified.get_mut(range) {
                match bytes.unspecified.get(part.clone()) {
                    Some(part) => flags.copy_from_slice(part),
                    None => flags.fill(false),
                }
            }
            at = part.end;
        }
    }

    pub(crate) fn into_memory(self) -> Bytes {
        let [memory, _] = self.spaces;
        memory
    }

    pub(crate) fn memory(&self) -> &Bytes {
        &self.spaces[Space::Memory as usize]
    }
}
