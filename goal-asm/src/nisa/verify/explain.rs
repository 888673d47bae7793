//! Descriptions of faults in a section's graph, found after the verifier has refused it.

use super::Verifier;
use crate::nisa::error::VerifyError;
use crate::nisa::section::Section;

impl Verifier<'_> {
    /// Returns the error about the first action with a wrong number of sources, or about a
    /// dependency that leads to no action. The records must be well-formed.
    #[cold]
    pub(super) fn explain_counts(&self) -> VerifyError {
        let section = Section::new(self.bytes);
        let mut incoming = std::collections::HashMap::<u32, u64>::new();
        for (_, record) in section.records() {
            for target in record.dependents.iter().chain(record.start_dependents.iter()) {
                *incoming.entry(target).or_default() += 1;
            }
        }
        for (at, record) in section.records() {
            let found = incoming.remove(&at).unwrap_or(0);
            if found != u64::from(record.sources) {
                let message = format!(
                    "the action has {} sources, and {found} dependencies end in it",
                    record.sources
                );
                return self.graph(at as usize, message);
            }
        }
        let stray = incoming.keys().min().copied().unwrap_or(0);
        self.graph(stray as usize, "a dependency ends here, where no action begins")
    }

    /// Returns the error about a cycle. Actions with a balance above 0 are still waiting.
    #[cold]
    pub(super) fn explain_cycle(&self) -> VerifyError {
        let section = Section::new(self.bytes);
        let waiting = |at: u32| self.balance[at as usize / 4] > 0;
        let mut blocker = std::collections::HashMap::new();
        for (at, record) in section.records().filter(|&(at, _)| waiting(at)) {
            for target in record
                .dependents
                .iter()
                .chain(record.start_dependents.iter())
                .filter(|&at| waiting(at))
            {
                blocker.entry(target).or_insert(at);
            }
        }
        let mut seen = std::collections::HashSet::new();
        let mut at = blocker.keys().min().copied().unwrap_or(0);
        while seen.insert(at) {
            at = blocker[&at];
        }
        let mut path = vec![format!("{at:#x}")];
        let mut next = blocker[&at];
        while next != at && path.len() < 8 {
            path.push(format!("{next:#x}"));
            next = blocker[&next];
        }
        let more = if next == at { "" } else { ", ..." };
        let message = format!("actions wait for each other: offsets {}{more}", path.join(", "));
        self.graph(at as usize, message)
    }
}
