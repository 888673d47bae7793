//! Checks that sources and documents use no word that docs/glossary.md lists as retired.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{read, root};

/// Folders that are not read, from that of the workspace. Runs keep the words of their time.
const SKIPPED: [&str; 2] = [".git", "benches/runs"];
/// Files that mark a folder of tools: a cache such as Cargo's `target`, an environment of Python.
const MARKS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];
/// The largest text that is read, in bytes. Larger files are somebody's results.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// Returns the rows of the table of retired words: the word and what to say today.
fn retired(glossary: &str) -> Vec<(&str, &str)> {
    let (_, section) = glossary.split_once("\n## Retired words\n").expect("a section");
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let word = cells.next().expect("a cell").trim_matches('`');
        (word, cells.next().expect("a second cell"))
    })
    .collect()
}

/// Adds the files below a folder.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    let is_skipped = SKIPPED.iter().any(|skipped| folder == root().join(skipped));
    if is_skipped || MARKS.iter().any(|mark| folder.join(mark).exists()) {
        return;
    }
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("its entry")) {
        let kind = entry.metadata().expect("the kind of a file");
        if kind.is_dir() {
            files(&entry.path(), all);
        } else if kind.is_file() && kind.len() <= TEXT_BYTES_MAX {
            all.push(entry.path());
        }
    }
}

/// Returns true if `line` has a retired word as a whole word, or as a part of a name: `the_word`,
/// `WordList`. Its plural is retired too.
///
/// A word in small letters is also retired in capitals and at the start of a sentence. A word with
/// a capital is the name of a type, so the first word of a sentence is another one.
fn has(line: &str, word: &str) -> bool {
    if word.starts_with(|letter: char| letter.is_uppercase()) {
        return has_form(line, word, true);
    }
    let first = word[..1].to_uppercase() + &word[1..];
    [word, &first, &word.to_uppercase()].iter().any(|form| has_form(line, form, false))
}

fn has_form(line: &str, form: &str, is_name: bool) -> bool {
    let is_letter = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphabetic());
    let is_capital = |letter: Option<char>| letter.is_some_and(|letter| letter.is_uppercase());
    // A capital begins a part of a name, except in a name of capitals only.
    let in_capitals = form.chars().all(|letter| letter.is_uppercase());
    let parts = |letter: Option<char>| !is_letter(letter) || is_capital(letter) && !in_capitals;
    line.match_indices(form).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + form.len()..]);
        let begins = parts(form.chars().next()) || !is_letter(before.chars().next_back());
        let plural = after.strip_prefix(if in_capitals { 'S' } else { 's' });
        let ends =
            [Some(after), plural].into_iter().flatten().any(|rest| parts(rest.chars().next()));
        begins && ends && !(is_name && begins_sentence(before, after))
    })
}

/// Returns true if the capital of a word between these texts is that of a sentence.
fn begins_sentence(before: &str, after: &str) -> bool {
    let is_first = !before.contains(|letter: char| letter.is_alphanumeric())
        || before.trim_end().ends_with(['.', '!', '?', '|']);
    let next = after.strip_prefix(' ').and_then(|rest| rest.chars().next());
    is_first && next.is_some_and(|letter| letter.is_lowercase())
}

#[test]
fn no_retired_word_is_used() {
    let glossary = read(&root().join("docs/glossary.md"));
    let (words, mut all) = (retired(&glossary), Vec::new());
    assert!(words.len() > 10, "{words:?}");
    files(&root(), &mut all);
    let mut faults = Vec::new();
    for file in all.iter().filter(|file| !file.ends_with("docs/glossary.md")) {
        // Other files are not text.
        let Ok(text) = String::from_utf8(fs::read(file).expect("a file")) else { continue };
        // Most files have none of the words, in any letters. This is quicker to see.
        let small = text.to_ascii_lowercase();
        for (word, today) in words.iter().filter(|(word, _)| small.contains(&word.to_lowercase())) {
            let found = text.lines().enumerate().filter(|(_, line)| has(line, word));
            faults.extend(found.map(|(number, _)| {
                format!("{}:{}: `{word}` is retired: {today}", file.display(), number + 1)
            }));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn words_are_whole() {
    for line in ["an ox of two", "the_ox()", "OX: u8", "two oxs", "Ox comes.", "OXS", "ox2"] {
        assert!(has(line, "ox"), "{line}");
    }
    for line in ["PendingOx", "OxTable", "anOx", "OxsOfAll", "XMLOx", "MY_OX", "oxId"] {
        assert!(has(line, "ox"), "{line}");
    }
    for line in ["boxed", "Oxen", "BOX", "OXEN", "aoxTable", "Oxide"] {
        assert!(!has(line, "ox"), "{line}");
    }
}

#[test]
fn names_are_no_first_words() {
    for line in ["struct Ox;", "Ox::new()", "OxOf", "the Ox one", "// Oxs,"] {
        assert!(has(line, "Ox"), "{line}");
    }
    for line in ["an ox", "OX", "/// Ox of all.", "So. Ox of all.", "| Ox of all |"] {
        assert!(!has(line, "Ox"), "{line}");
    }
    assert!(has("no OxCartMemory", "OxCart") && !has("is Ox Cart", "OxCart"));
}

#[test]
fn files_of_all_kinds_are_read() {
    let mut all = Vec::new();
    files(&root(), &mut all);
    for file in [".ci/run", "grammar/goal.lalrpop", "Cargo.toml", "docs/pictures/way.svg"] {
        assert!(all.contains(&root().join(file)), "{file}");
    }
    assert!(!all.iter().any(|file| file.starts_with(root().join("benches/runs"))));
}

#[test]
fn the_table_is_read() {
    let table = "x\n## Retired words\n\n| word | today |\n|---|---|\n| `ox` | bull |\n";
    assert_eq!(retired(table), [("ox", "bull")]);
}
