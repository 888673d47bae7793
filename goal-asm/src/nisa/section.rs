//! The view of a verified section, which the engine executes in place.

use super::bytes::u32_at;
use super::instruction::Type;
use super::operation::{Operation, decode, scattered_size};
use goal_lang::Placement;

/// The bytes of one rank's schedule: `<count u32> <offset u32>*` of independent actions, then the
/// actions.
///
/// Invariant: the bytes passed the verifier, or come from the encoder. Reading other bytes may
/// panic or give any actions, and is never undefined behaviour: all accesses are checked.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    bytes: &'a [u8],
}

/// One action, read in place. The lists of dependents are located at once; the parameters are
/// decoded on demand.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// The number of dependencies that the action waits for, both kinds together.
    pub sources: u16,
    kind: Type,
    parameters: &'a [u8],
    /// The offsets of the actions that wait for this action's completion.
    pub dependents: Offsets<'a>,
    /// The offsets of the actions that wait for this action's start.
    pub start_dependents: Offsets<'a>,
    /// The offset in the section of the first byte behind the action.
    pub end: u32,
}

/// A list of offsets of actions in the section.
#[derive(Debug, Clone, Copy)]
pub struct Offsets<'a>(&'a [u8]);

impl<'a> Offsets<'a> {
    /// Splits off the list that `bytes` begin with. Returns the list and the bytes behind it.
    #[inline(always)]
    fn split(bytes: &'a [u8]) -> (Self, &'a [u8]) {
        let (count, rest) = bytes.split_first_chunk().expect("four bytes");
        let (offsets, rest) = rest.split_at(4 * u32::from_le_bytes(*count) as usize);
        (Self(offsets), rest)
    }

    /// Returns the offsets in order.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = u32> + 'a {
        self.0.chunks_exact(4).map(|offset| u32_at(offset, 0))
    }

    /// Returns the offset number `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    #[inline]
    pub fn get(self, index: usize) -> u32 {
        u32_at(self.0, 4 * index)
    }

    /// Returns the number of offsets.
    #[inline]
    pub fn len(self) -> usize {
        self.0.len() / 4
    }

    /// Returns true if the list has no offsets.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> Section<'a> {
    /// Returns a section over `bytes`, which must be verified.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns the bytes of the section.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the offsets of the actions that wait for nothing.
    #[inline]
    pub fn independent(self) -> Offsets<'a> {
        Offsets::split(self.bytes).0
    }

    /// Returns the offset of the first action.
    pub fn first_action(self) -> u32 {
        (self.bytes.len() - Offsets::split(self.bytes).1.len()) as u32
    }

    /// Returns every action with its offset, in the section's order.
    pub fn records(self) -> impl Iterator<Item = (u32, Record<'a>)> {
        let mut at = self.first_action();
        std::iter::from_fn(move || {
            ((at as usize) < self.bytes.len()).then(|| {
                let record = self.record(at);
                (std::mem::replace(&mut at, record.end), record)
            })
        })
    }

    /// Returns the action at `offset`.
    // Inlined into the engine, so that parts of the record that the engine doesn't use are not
    // decoded.
    #[inline(always)]
    pub fn record(self, offset: u32) -> Record<'a> {
        let (head, rest) = self.bytes[offset as usize..].split_first_chunk().expect("four bytes");
        let head = u32::from_le_bytes(*head);
        let kind = Type((head >> 16) as u16);
        let size = match kind.parameters_size() {
            Some(size) => size,
            None => scattered_size(kind, rest),
        };
        let (parameters, rest) = rest.split_at(size);
        let (dependents, mut rest) = Offsets::split(rest);
        let mut start_dependents = Offsets(&[]);
        if kind.has_start_list() {
            (start_dependents, rest) = Offsets::split(rest);
        }
        let end = (self.bytes.len() - rest.len()) as u32;
        Record { sources: head as u16, kind, parameters, dependents, start_dependents, end }
    }
}

impl<'a> Record<'a> {
    /// Returns the action's cpu and nic. Both are 0 if the action states none.
    #[inline]
    pub fn placement(&self) -> Placement {
        match self.kind.is_placed() {
            true => {
                let [low, nic, high] = [0, 1, 2].map(|at| self.parameters[at]);
                Placement { cpu: u16::from_le_bytes([low, high]), nic }
            }
            false => Placement::default(),
        }
    }

    /// Returns the action's operation with its parameters.
    // Inlined into the caller's match, so that the operation itself is never built.
    #[inline(always)]
    pub fn operation(&self) -> Operation<'a> {
        decode(self.kind, self.parameters)
    }
}
