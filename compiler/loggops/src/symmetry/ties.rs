//! Ties of messages that the number of their source may have decided.

use crate::machine::Machine;
use crate::model::{Job, Observer};
use rustc_hash::FxHashMap;

/// Looks for messages of different sources that are ready at one time, and whose order counts. That
/// is so if they need one processor or one interface, or if one of them has its effects at once.
#[derive(Debug)]
pub(super) struct Ties<'a> {
    /// By send, the rank that sends to the representative of the receiving class.
    sources: &'a [u32],
    /// By place and time of readiness, the source of a message.
    seen: FxHashMap<(u32, u64), u32>,
    /// By rank and time of readiness, the messages, if some may take no time.
    moments: Option<FxHashMap<(u32, u64), Moment>>,
    pub(super) found: bool,
}

/// The messages of a rank that are ready at one time.
#[derive(Debug)]
struct Moment {
    source: u32,
    /// True if one has another source.
    have_sources: bool,
    /// True if one is taken in as soon as this begins. What waits for it may then start before
    /// another message is taken in.
    has_instant: bool,
}

impl<'a> Ties<'a> {
    pub(super) fn new(sources: &'a [u32], machine: &Machine) -> Self {
        let moments = (machine.overhead_ps == 0).then(FxHashMap::default);
        Self { sources, seen: FxHashMap::default(), moments, found: false }
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
        if let Some(moments) = &mut self.moments {
            let new = Moment { source, have_sources: false, has_instant: false };
            let moment = moments.entry((job.rank, job.ready)).or_insert(new);
            moment.have_sources |= moment.source != source;
            moment.has_instant |= job.cpu.is_none_or(|held| held.end == job.start);
            self.found |= moment.have_sources && moment.has_instant;
        }
    }
}
