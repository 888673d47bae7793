//! Lists of groups: the ranks that take part in collective statements, in a text of its own.
//!
//! A list may come from anywhere and may have any bytes. Memory grows with the text only. A wrong
//! line gives a finding with its place.

use crate::diag::{Code, Diagnostic};
use crate::limits::RANK_MAX;
use crate::parse::quote;
use crate::source::{Position, Span};
use rustc_hash::FxHashSet;

/// The groups that collective statements name by numbers, from 0 on.
///
/// A text has one group a line: the ranks of the group, with blanks between them. The word `Grp`
/// may come first. Comments begin with `#`. Lines without a word are no groups.
///
/// ```
/// use goal_lang::Groups;
/// let groups = Groups::parse(b"# pairs\n0 1\nGrp 3 2\n", 0).expect("a list of groups");
/// assert_eq!(groups.len(), 2);
/// assert_eq!(groups.members(1), Some(&[3, 2][..]));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups {
    members: Vec<u32>,
    /// By group, the end of its members and the place of its line.
    groups: Vec<(usize, Span)>,
}

impl Groups {
    /// Reads a list of groups. `base` is the position of its first byte in a source map.
    ///
    /// # Errors
    /// Returns the finding about the first word that is no rank, or that names a rank twice in its
    /// group.
    pub fn parse(text: &[u8], base: Position) -> Result<Self, Box<Diagnostic>> {
        let mut groups = Self::default();
        let mut seen = FxHashSet::default();
        let mut start = 0;
        for line in text.split(|&byte| byte == b'\n') {
            let end = line.iter().position(|&byte| byte == b'#').unwrap_or(line.len());
            groups.line(&line[..end], base + start as Position, &mut seen)?;
            start += line.len() + 1;
        }
        Ok(groups)
    }

    /// Adds the group of a line that begins at `base`.
    fn line(
        &mut self,
        line: &[u8],
        base: Position,
        seen: &mut FxHashSet<u32>,
    ) -> Result<(), Box<Diagnostic>> {
        let mut place: Option<Span> = None;
        let mut at = 0;
        seen.clear();
        for word in line.split(u8::is_ascii_whitespace) {
            let start = base + at as Position;
            at += word.len() + 1;
            if word.is_empty() {
                continue;
            }
            let span = Span { start, end: start + word.len() as Position };
            let is_first = place.is_none();
            place = Some(Span { start: place.map_or(start, |place| place.start), end: span.end });
            if is_first && word == b"Grp" {
                continue;
            }
            let rank = rank(word).ok_or_else(|| no_rank(word, span))?;
            if !seen.insert(rank) {
                return Err(twice(rank, span));
            }
            self.members.push(rank);
        }
        match place {
            Some(place) if seen.is_empty() => Err(empty(place)),
            Some(place) => {
                self.groups.push((self.members.len(), place));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns true if there is no group.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the ranks of a group in the order of the list.
    pub fn members(&self, group: u32) -> Option<&[u32]> {
        let at = group as usize;
        let end = self.groups.get(at)?.0;
        let start = at.checked_sub(1).map_or(0, |before| self.groups[before].0);
        Some(&self.members[start..end])
    }

    /// Returns the place of a group's line.
    pub(crate) fn place(&self, group: u32) -> Option<Span> {
        self.groups.get(group as usize).map(|group| group.1)
    }
}

fn rank(word: &[u8]) -> Option<u32> {
    let is_number = word.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(word).ok().filter(|_| is_number)?;
    number.parse().ok().filter(|&rank| rank <= RANK_MAX)
}

const NOTE: &str = "a list of groups has one group a line: ranks with blanks between them";

fn no_rank(word: &[u8], span: Span) -> Box<Diagnostic> {
    let finding = Diagnostic::new(Code::CollectiveGroups, format!("{} is no rank", quote(word)))
        .label(span, "not a number of a rank")
        .note(NOTE)
        .help("write the ranks of the group as decimal numbers; comments begin with `#`");
    Box::new(finding)
}

fn twice(rank: u32, span: Span) -> Box<Diagnostic> {
    let finding = Diagnostic::new(Code::CollectiveGroups, format!("a group has rank {rank} twice"))
        .label(span, "named again here")
        .note(NOTE)
        .help("leave one of the two out");
    Box::new(finding)
}

fn empty(span: Span) -> Box<Diagnostic> {
    let finding = Diagnostic::new(Code::CollectiveGroups, "a group has no ranks")
        .label(span, "no rank follows")
        .note(NOTE)
        .help("write the ranks of the group, or leave the line out");
    Box::new(finding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_are_no_groups() {
        let groups = Groups::parse(b"# all\r\n\r\nGrp 0 1 2 # three\n\t4\n", 0).expect("groups");
        assert_eq!((groups.len(), groups.is_empty()), (2, false));
        assert_eq!(groups.members(0), Some(&[0, 1, 2][..]));
        assert_eq!(groups.members(1), Some(&[4][..]));
        assert_eq!(groups.members(2), None);
        assert_eq!(groups.place(1), Some(Span { start: 28, end: 29 }));
    }

    #[test]
    fn a_wrong_word_has_its_place() {
        let refused = |text: &[u8]| {
            let finding = Groups::parse(text, 100).expect_err("it is wrong");
            (finding.message, finding.labels[0].span.start)
        };
        assert_eq!(refused(b"0 1\n2 x"), ("`x` is no rank".to_owned(), 106));
        assert_eq!(refused(b"0 -1"), ("`-1` is no rank".to_owned(), 102));
        assert_eq!(refused(b"4294967295"), ("`4294967295` is no rank".to_owned(), 100));
        assert_eq!(refused(b"1 2 1"), ("a group has rank 1 twice".to_owned(), 104));
        assert_eq!(refused(b"\nGrp # 1"), ("a group has no ranks".to_owned(), 101));
        assert_eq!(refused(b"\xff"), ("`\u{fffd}` is no rank".to_owned(), 100));
    }
}
