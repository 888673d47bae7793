//! Ties of messages that the number of their source may have decided.

use crate::model::{Job, Observer};
use rustc_hash::FxHashMap;

/// Looks for messages of different sources that are ready at one time and need one processor or one
/// interface.
#[derive(Debug)]
pub(super) struct Ties<'a> {
    /// By send, the rank that sends to the representative of the receiving class.
    sources: &'a [u32],
    /// By place and time of readiness, the source of a message.
    seen: FxHashMap<(u32, u64), u32>,
    pub(super) found: bool,
}

impl<'a> Ties<'a> {
    pub(super) fn new(sources: &'a [u32]) -> Self {
        Self { sources, seen: FxHashMap::default(), found: false }
    }
}

impl Observer for Ties<'_> {
    fn start(&mut self, job: Job) {
        if !job.is_message {
            return;
        }
        let source = self.sources[job.action as usize];
        for held in [job.cpu, job.side].into_iter().flatten() {
            let first = *self.seen.entry((held.place, job.ready)).or_insert(source);
            self.found |= first != source;
        }
    }
}
