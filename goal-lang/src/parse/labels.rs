//! The labels of one block.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::ids::ActionId;

/// Most letters before the number of a numbered label.
const PREFIX_MAX: usize = 8;

/// The entries that the array by number may have in addition to twice the number of labels.
const SLACK: usize = 1024;

/// Maps labels to actions. Names stay in the text.
///
/// Generators number their labels `l1`, `l2`, ... So numbered labels with the prefix of the first
/// label are kept in an array by number, and all others in a hash table.
#[derive(Debug, Default)]
pub(crate) struct LabelTable {
    prefix: [u8; PREFIX_MAX],
    prefix_len: usize,
    /// The action's id plus one for each label's number, or 0 for a number without a label.
    numbered: Vec<u32>,
    named: HashTable<Named>,
    len: usize,
}

#[derive(Debug)]
struct Named {
    start: usize,
    len: u32,
    action: ActionId,
}

impl LabelTable {
    /// Defines the label at `text[start..start + len]`.
    ///
    /// # Errors
    /// Returns the action that already has the label.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        text: &[u8],
        start: usize,
        len: u32,
        action: ActionId,
    ) -> Result<(), ActionId> {
        let name = &text[start..start + len as usize];
        if self.len == 0 {
            self.set_prefix(name);
        }
        if let Some(number) = self.number(name)
            && (number < self.numbered.len() || number <= 2 * self.len + SLACK)
        {
            if !self.named.is_empty()
                && let Some(first) = self.find_named(text, name)
            {
                return Err(first);
            }
            if number >= self.numbered.len() {
                self.numbered.resize(number + 1, 0);
            }
            let entry = &mut self.numbered[number];
            if *entry != 0 {
                return Err(ActionId(*entry - 1));
            }
            *entry = action.0 + 1;
        } else {
            if let Some(first) = self.find_named(text, name) {
                return Err(first);
            }
            self.named.insert_unique(hash(name), Named { start, len, action }, |entry| {
                hash(&text[entry.start..entry.start + entry.len as usize])
            });
        }
        self.len += 1;
        Ok(())
    }

    /// Returns the action with the label `name`.
    #[inline]
    pub(crate) fn find(&self, text: &[u8], name: &[u8]) -> Option<ActionId> {
        if let Some(number) = self.number(name)
            && let Some(&entry) = self.numbered.get(number)
            && entry != 0
        {
            return Some(ActionId(entry - 1));
        }
        if self.named.is_empty() { None } else { self.find_named(text, name) }
    }

    /// Removes all labels and keeps the memory for the next block's labels.
    pub(crate) fn clear(&mut self) {
        self.numbered.clear();
        self.named.clear();
        self.len = 0;
    }

    fn find_named(&self, text: &[u8], name: &[u8]) -> Option<ActionId> {
        let same = |entry: &Named| text[entry.start..entry.start + entry.len as usize] == *name;
        self.named.find(hash(name), same).map(|entry| entry.action)
    }

    fn set_prefix(&mut self, name: &[u8]) {
        let letters = name.iter().rev().skip_while(|byte| byte.is_ascii_digit()).count();
        self.prefix_len = if letters <= PREFIX_MAX { letters } else { 0 };
        self.prefix[..self.prefix_len].copy_from_slice(&name[..self.prefix_len]);
    }

    /// Returns the number behind the prefix. Returns `None` for a name without the prefix, and for
    /// a number with leading zeros or more than 9 digits.
    #[inline]
    fn number(&self, name: &[u8]) -> Option<usize> {
        let (prefix, digits) = name.split_at_checked(self.prefix_len)?;
        // For so few bytes, a loop is cheaper than the call that a comparison of slices makes.
        let has_prefix = prefix.iter().zip(&self.prefix).all(|(a, b)| a == b);
        if !has_prefix
            || digits.is_empty()
            || digits.len() > 9
            || (digits[0] == b'0' && digits.len() > 1)
        {
            return None;
        }
        let mut number = 0;
        for &digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            number = number * 10 + usize::from(digit - b'0');
        }
        Some(number)
    }
}

fn hash(name: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> (LabelTable, Vec<Result<(), ActionId>>) {
        let mut table = LabelTable::default();
        let mut start = 0;
        let mut results = Vec::new();
        for (i, name) in text.split(' ').enumerate() {
            results.push(table.insert(text.as_bytes(), start, name.len() as u32, ActionId::new(i)));
            start += name.len() + 1;
        }
        (table, results)
    }

    #[test]
    fn numbered_and_named_labels_are_found() {
        let text = "l1 l2 l02 x l999999999 l3 b7 l";
        let (table, results) = table(text);
        assert!(results.iter().all(Result::is_ok));
        for (i, name) in text.split(' ').enumerate() {
            assert_eq!(
                table.find(text.as_bytes(), name.as_bytes()),
                Some(ActionId::new(i)),
                "{name}"
            );
        }
        for name in ["l4", "l0", "l01", "", "y", "l9999999999"] {
            assert_eq!(table.find(text.as_bytes(), name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn a_second_definition_names_the_first() {
        let (_, results) = table("l1 l5000 x l1 l5000 x");
        assert_eq!(results[3..], [Err(ActionId(0)), Err(ActionId(1)), Err(ActionId(2))]);
    }

    #[test]
    fn a_label_that_went_to_the_hash_table_is_found_after_the_array_has_grown() {
        let names: Vec<String> =
            std::iter::once(5000).chain(1..=4000).map(|n| format!("l{n}")).collect();
        let text = format!("{} l5000", names.join(" "));
        let (_, results) = table(&text);
        assert_eq!(results.last(), Some(&Err(ActionId(0))));
    }
}
