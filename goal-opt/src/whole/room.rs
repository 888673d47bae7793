//! Bounded room for messages without a receive.

use super::vertices::Whole;
use goal_lang::Action;
use goal_lang::limits::KEPT_OVERHEAD;

/// The room of each rank for eager messages that no posted receive takes. A message that finds no
/// room stays with its sender and waits for its receive, like one above the eager limit.
#[derive(Debug, Clone)]
pub struct Room {
    /// By rank, the bytes that it may still keep.
    left: Vec<u64>,
    scarce: Vec<u32>,
    bytes_max: u64,
}

impl Room {
    /// Limits the room to `limit` bytes at each rank whose eager messages together need more. Each
    /// message needs its size and an overhead. Returns `None` if there is no such rank. Other ranks
    /// never lack room.
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

    /// Takes all room from the ranks that may lack it. More room only adds possible runs.
    #[must_use]
    pub fn none(mut self) -> Self {
        self.scarce.iter().for_each(|&rank| self.left[rank as usize] = 0);
        self
    }

    /// The ranks that may lack room.
    pub fn scarce(&self) -> &[u32] {
        &self.scarce
    }

    /// The largest number of bytes that a rank may need: with that much room no rank ever lacks it.
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Keeps a message of `size` bytes. Returns false, with no effect, if the rank has no room.
    pub(super) fn keep(&mut self, rank: u32, size: u64) -> bool {
        let left = &mut self.left[rank as usize];
        match left.checked_sub(kept_bytes(size)) {
            Some(rest) => *left = rest,
            None => return false,
        }
        true
    }

    /// Frees the room of a kept message that a receive has taken.
    pub(super) fn free(&mut self, rank: u32, size: u64) {
        self.left[rank as usize] += kept_bytes(size);
    }
}

/// Returns the bytes of room that a kept message takes: its size and an overhead.
fn kept_bytes(size: u64) -> u64 {
    size.saturating_add(KEPT_OVERHEAD)
}
