//! Fixes: changes of texts that remove findings.

use crate::source::{Position, Source};

/// Changes of the texts that remove a finding. Fixes only add text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The effect in words: "let `s` wait for `r`".
    pub title: String,
    /// The insertions. Several insertions at one position keep the order of this list.
    pub insertions: Vec<Insertion>,
}

/// Text to insert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insertion {
    /// The position before which the text is inserted.
    pub at: Position,
    /// The text to insert.
    pub text: String,
}

/// Returns the text of `source` with the insertions of `fixes`. If several fixes insert one text at
/// one position, it is inserted once, in the place of the last. At one position, insertions that
/// begin with a line end come before others, so that a label stays with its statement.
pub fn apply<'a>(fixes: impl IntoIterator<Item = &'a Fix>, source: &Source) -> Vec<u8> {
    let place = source.base..=source.base + source.bytes.len() as Position;
    let all = fixes.into_iter().flat_map(|fix| &fix.insertions);
    let mut insertions: Vec<&Insertion> =
        all.filter(|insertion| place.contains(&insertion.at)).collect();
    insertions.reverse();
    insertions.sort_by_key(|insertion| (insertion.at, insertion.text.starts_with(['\r', '\n'])));
    let mut fixed = Vec::with_capacity(source.bytes.len());
    let mut done = 0;
    for here in insertions.chunk_by(|a, b| a.at == b.at) {
        let at = (here[0].at - source.base) as usize;
        fixed.extend_from_slice(&source.bytes[done..at]);
        done = at;
        let mut texts: Vec<&str> = Vec::new();
        for insertion in here {
            if !texts.contains(&insertion.text.as_str()) {
                texts.push(&insertion.text);
            }
        }
        texts.iter().rev().for_each(|text| fixed.extend_from_slice(text.as_bytes()));
    }
    fixed.extend_from_slice(&source.bytes[done..]);
    fixed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceMap;
    use std::sync::Arc;

    #[test]
    fn a_label_that_two_fixes_need_is_put_in_once_behind_their_statements() {
        let mut sources = SourceMap::default();
        sources.add("first.goal", Arc::new(b"nop".to_vec()));
        let base = sources.add("second.goal", Arc::new(b"x; send;".to_vec()));
        let fix = |texts: &[(Position, &str)]| Fix {
            title: String::new(),
            insertions: texts
                .iter()
                .map(|&(at, text)| Insertion { at: base + at, text: text.to_owned() })
                .collect(),
        };
        let fixes = [
            fix(&[(3, "requ l1 -> a; "), (3, "l1: ")]),
            fix(&[(3, "requ l1 -> b; "), (3, "l1: "), (8, " end")]),
        ];
        assert_eq!(apply(&fixes, &sources.sources()[0]), b"nop");
        assert_eq!(
            String::from_utf8_lossy(&apply(&fixes, &sources.sources()[1])),
            "x; requ l1 -> a; requ l1 -> b; l1: send; end"
        );
    }
}
