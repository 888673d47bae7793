//! Bounded room for messages without a receive.

use super::Whole;
use goal_lang::Action;
use goal_lang::limits::KEPT_OVERHEAD;

/// The room of each rank for eager messages that no receive waits for. A message that finds no room
/// waits for its receive with its sender, like one above the eager limit.
#[derive(Debug, Clone)]
pub struct Room {
    /// By rank, bytes that it may still keep.
    left: Vec<u64>,
    scarce: Vec<u32>,
    bytes_max: u64,
}

impl Room {
    /// Room for `limit` bytes, an overhead for each message included, at each rank that more eager
    /// messages may come to in all; `None` if there is none. The other ranks never lack room.
    pub fn new(whole: &Whole<'_>, eager_limit: u64, limit: u64) -> Option<Self> {
        let mut bytes = vec![0u64; whole.program.ranks.len()];
        for vertex in whole.vertices() {
            if let Action::Send { payload, to, .. } = *whole.action(vertex) {
                let size = whole.body(vertex).payload_size(payload);
                if size <= eager_limit {
                    let bytes = &mut bytes[to as usize];
                    *bytes = bytes.saturating_add(kept_bytes(size));
                }
            }
        }
        let scarce: Vec<u32> =
            (0..).zip(&bytes).filter(|&(_, &bytes)| bytes > limit).map(|(rank, _)| rank).collect();
        if scarce.is_empty() {
            return None;
        }
        let bytes_max = bytes.iter().copied().max().unwrap_or(0);
        let left =
            bytes.into_iter().map(|bytes| if bytes > limit { limit } else { u64::MAX }).collect();
        Some(Self { left, scarce, bytes_max })
    }

    /// The same with no room at all where it may lack. Room only ever makes more possible.
    #[must_use]
    pub fn none(mut self) -> Self {
        self.scarce.iter().for_each(|&rank| self.left[rank as usize] = 0);
        self
    }

    /// The ranks that may lack room.
    pub fn scarce(&self) -> &[u32] {
        &self.scarce
    }

    /// Most bytes that may come to a rank in all: with room for so many no rank ever lacks it.
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Whether a rank has room for a message of `size` bytes, which then is kept.
    pub(super) fn keep(&mut self, rank: u32, size: u64) -> bool {
        let left = &mut self.left[rank as usize];
        match left.checked_sub(kept_bytes(size)) {
            Some(rest) => *left = rest,
            None => return false,
        }
        true
    }

    /// A message that was kept has its receive.
    pub(super) fn free(&mut self, rank: u32, size: u64) {
        self.left[rank as usize] += kept_bytes(size);
    }
}

/// What a message counts that is kept.
fn kept_bytes(size: u64) -> u64 {
    size.saturating_add(KEPT_OVERHEAD)
}
