//! Returns the names of a section's actions for a trace.

use goal_asm::Nisa;
use goal_asm::nisa::{Operation, SectionDebug};
use goal_engine::trace::Kind;

/// The actions of a section. It has no actions if the section is run through a window.
pub(super) struct Names<'a> {
    debug: SectionDebug<'a>,
    section: u32,
    nisa: &'a Nisa,
    /// The offsets of the actions, in ascending order.
    offsets: Vec<u32>,
}

impl<'a> Names<'a> {
    pub(super) fn new(nisa: &'a Nisa, section: u32) -> Self {
        let offsets = nisa.section_by_id(section).records().map(|(offset, _)| offset).collect();
        Self { debug: nisa.debug_by_id(section), section, nisa, offsets }
    }

    /// Returns true if these are the names of `section`.
    pub(super) fn is_of(&self, section: u32) -> bool {
        self.section == section
    }

    /// Returns the number of the action at `offset`; `None` if it is not known.
    pub(super) fn number(&self, offset: u32) -> Option<u32> {
        self.offsets.binary_search(&offset).ok().map(|number| number as u32)
    }

    /// Returns false if it is known that no action begins at `offset`.
    pub(super) fn may_have(&self, offset: u32) -> bool {
        self.offsets.is_empty() || self.number(offset).is_some()
    }

    /// Returns the label of the action with this number. Without a label, returns its kind and
    /// number.
    pub(super) fn name(&self, kind: Kind, number: Option<u32>) -> String {
        let kind = kind.name();
        let Some(number) = number else { return kind.to_owned() };
        let label = self.debug.label(number as usize);
        label.map_or_else(|| format!("{kind} {number}"), str::to_owned)
    }

    /// Returns the source line of the action with this number; `None` if it is not known.
    pub(super) fn line(&self, number: Option<u32>) -> Option<u32> {
        self.debug.line(number? as usize)
    }

    /// Returns the tag of the send or receive at `offset`, which may be [`goal_lang::ANY`]. Returns
    /// `None` for other actions, or if the action is not known.
    pub(super) fn tag(&self, offset: u32) -> Option<u32> {
        self.number(offset)?;
        match self.nisa.section_by_id(self.section).record(offset).operation() {
            Operation::Send { tag, .. } | Operation::Recv { tag, .. } => Some(tag),
            _ => None,
        }
    }
}
