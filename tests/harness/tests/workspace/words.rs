//! Checks that sources and documents use no word that docs/glossary.md lists as retired.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{read, root};

/// Folders at the top that are not read: what is built, and records of runs.
const SKIPPED: [&str; 2] = ["target", "runs"];
/// The ends of the names of files that are read.
const ENDS: [&str; 5] = [".rs", ".c", ".h", ".py", ".md"];

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

/// Adds the files below a folder that are read.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("its entry")) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if !name.starts_with('.') && !SKIPPED.contains(&&*name) {
                files(&path, all);
            }
        } else if ENDS.iter().any(|end| name.ends_with(end)) {
            all.push(path);
        }
    }
}

/// Returns true if `line` has `word` as a whole word, or as a whole part of a name; also in the
/// plural, and in capitals.
fn has(line: &str, word: &str) -> bool {
    let is_name = word.contains(|letter: char| letter.is_uppercase());
    let capitals = if is_name { word.to_owned() } else { word.to_uppercase() };
    [word, &format!("{word}s"), &capitals].iter().any(|word| has_exactly(line, word))
}

fn has_exactly(line: &str, word: &str) -> bool {
    let is_end = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    line.match_indices(word).any(|(at, _)| {
        is_end(line[..at].chars().next_back()) && is_end(line[at + word.len()..].chars().next())
    })
}

#[test]
fn no_retired_word_is_used() {
    let glossary = read(&root().join("docs/glossary.md"));
    let (words, mut all) = (retired(&glossary), Vec::new());
    assert!(words.len() > 10, "{words:?}");
    files(&root(), &mut all);
    let mut faults = Vec::new();
    for file in all.iter().filter(|file| !file.ends_with("docs/glossary.md")) {
        for (number, line) in read(file).lines().enumerate() {
            for (word, today) in words.iter().filter(|(word, _)| has(line, word)) {
                let place = format!("{}:{}", file.display(), number + 1);
                faults.push(format!("{place}: `{word}` is retired: {today}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn words_are_whole() {
    assert!(has("an ox of two", "ox") && has("the_ox()", "ox") && has("OX: u8", "ox"));
    assert!(has("two cows", "cow") && !has("OX: u8", "Ox"));
    assert!(!has("boxed", "ox") && !has("Oxen", "Ox"));
    let table = "x\n## Retired words\n\n| word | today |\n|---|---|\n| `ox` | bull |\n";
    assert_eq!(retired(table), [("ox", "bull")]);
}
