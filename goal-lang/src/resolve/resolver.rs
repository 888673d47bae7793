//! The state that all parts of the resolution share: texts, findings and a limit.

use rustc_hash::FxHashSet;

use crate::diag::{Code, Diagnostic, Report};
use crate::limits::BLOCK_ENTRIES_MAX;
use crate::source::{Position, SourceMap};

/// The work on the blocks of all ranks, with the findings about them.
pub(super) struct Resolver<'a> {
    pub(super) sources: &'a SourceMap,
    pub(super) report: &'a mut Report,
    /// Findings that were already reported: a block may be part of several bodies.
    told: FxHashSet<(Code, Position)>,
    /// The number of entries that merging has copied so far.
    entries: u64,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(sources: &'a SourceMap, report: &'a mut Report) -> Self {
        Self { sources, report, told: FxHashSet::default(), entries: 0 }
    }

    /// Counts the entries that merging copies. Returns `None` above [`BLOCK_ENTRIES_MAX`], because
    /// a short text can ask for far too many.
    pub(super) fn count(&mut self, entries: u64) -> Option<()> {
        self.entries += entries;
        if self.entries <= BLOCK_ENTRIES_MAX {
            return Some(());
        }
        self.report.push(
            Diagnostic::new(
                Code::LimitExceeded,
                format!(
                    "copies of blocks for all ranks have more than {BLOCK_ENTRIES_MAX} entries"
                ),
            )
            .note("a rank gets a copy of its blocks if it has several, or if their peers are relative")
            .help("name fewer ranks, or write whole ranks in one block without relative peers"),
        );
        None
    }

    /// Reports a finding about a place once.
    pub(super) fn report_once(
        &mut self,
        code: Code,
        place: Position,
        describe: impl FnOnce() -> Diagnostic,
    ) {
        if self.told.insert((code, place)) {
            self.report.add(code, describe);
        }
    }
}
