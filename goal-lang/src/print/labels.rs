//! The names that the actions of a body are printed with.

use std::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::output::Output;
use crate::ids::ActionId;
use crate::limits::LABEL_BYTES_MAX;
use crate::program::Body;

/// Words that the language refuses as names: the reserved words of the paper, and the first words
/// of other statements.
pub(crate) const RESERVED: [&str; 11] =
    ["send", "recv", "requ", "exec", "to", "with", "from", "user", "calc", "rank", "num_ranks"];

/// The names of a body's actions.
pub(super) struct Names<'a> {
    body: &'a Body,
    /// Actions whose label cannot be printed, ascending.
    unprintable: Vec<ActionId>,
    /// The number of underscores between `l` and the number in generated names. It keeps generated
    /// names apart from all labels.
    underscores: usize,
}

impl<'a> Names<'a> {
    /// Finds the names of a body. With `for_loggopsim`, labels must be names of LogGOPSim's
    /// language too.
    pub(super) fn new(body: &'a Body, for_loggopsim: bool) -> Self {
        let labels = &body.debug.labels;
        let mut names = Self { body, unprintable: Vec::new(), underscores: 0 };
        if labels.is_empty() {
            return names;
        }
        let hasher = BuildHasherDefault::<FxHasher>::default();
        let mut seen: HashTable<ActionId> = HashTable::with_capacity(body.len());
        for id in body.ids() {
            let Some(label) = labels.get(id) else { continue };
            if let Some(underscores) = generated_form(label) {
                names.underscores = names.underscores.max(underscores + 1);
            }
            let mut keep = is_name(label) && !(for_loggopsim && label.starts_with('_'));
            if keep {
                let entry = seen.entry(
                    hasher.hash_one(label),
                    |&other| labels.get(other) == Some(label),
                    |&other| hasher.hash_one(labels.get(other).unwrap_or_default()),
                );
                match entry {
                    hashbrown::hash_table::Entry::Occupied(_) => keep = false,
                    hashbrown::hash_table::Entry::Vacant(vacant) => {
                        vacant.insert(id);
                    }
                }
            }
            if !keep {
                names.unprintable.push(id);
            }
        }
        names
    }

    /// Returns the action's own label, if the label can be printed.
    #[inline]
    pub(super) fn own(&self, id: ActionId) -> Option<&'a str> {
        let label = self.body.debug.labels.get(id)?;
        (self.unprintable.is_empty() || self.unprintable.binary_search(&id).is_err())
            .then_some(label)
    }

    /// Writes the action's own label or its generated name.
    #[inline]
    pub(super) fn write(&self, out: &mut Output<'_>, id: ActionId) {
        match self.own(id) {
            Some(label) => out.text(label),
            None => {
                out.text("l");
                for _ in 0..self.underscores {
                    out.text("_");
                }
                out.number(id.index() as u64 + 1);
            }
        }
    }
}

/// Returns true if a label is a name of the language.
fn is_name(label: &str) -> bool {
    let bytes = label.as_bytes();
    bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && bytes.len() <= LABEL_BYTES_MAX
        && !RESERVED.contains(&label)
        // These two are names, but without semicolons they can make a label of the word before
        // them.
        && !matches!(label, "requires" | "irequires")
}

/// Returns the number of underscores of a label that looks like a generated name: `l`, underscores,
/// digits.
fn generated_form(label: &str) -> Option<usize> {
    let rest = label.strip_prefix('l')?;
    let digits = rest.trim_start_matches('_');
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(rest.len() - digits.len())
}
