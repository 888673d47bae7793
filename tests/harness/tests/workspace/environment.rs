//! Checks that docs/goal-run.md lists every variable of the environment that the programs and
//! libraries read. A source reads some if it asks the system for them. Other sources name variables
//! that their callers ask for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// Words of code that asks the system.
const ASKS: [&str; 5] = ["env::var", "env::vars", "var_os(", "getenv(", "VARIABLE"];
/// Folders and files with the names of variables, whatever they ask.
const NAMES: [&str; 4] = [
    "runtime/bootstrap/src/detection",
    "runtime/bootstrap/src/pmix/search.rs",
    "bindings/prof/src/settings.rs",
    "runtime/job/src/transport/choice/request.rs",
];
/// Folders at the top that hold tools for the project itself.
const TOOLS: [&str; 3] = ["benches", "tests", "tools"];
/// Words that look like variables.
const WORDS: [&str; 3] = ["CARGO_PKG_VERSION", "OUT_DIR", "OPTIONS"];

/// Adds the sources below a folder, without those of tests.
fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("its entry")) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() && name != "tests" {
            sources(&path, all);
        } else if [".rs", ".c", ".h"].iter().any(|end| name.ends_with(end)) && name != "tests.rs" {
            all.push(path);
        }
    }
}

/// Returns the words in quotes that may be names of variables.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |word: &&str| {
        let is_letter =
            |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        word.len() >= 4
            && word.bytes().all(is_letter)
            && word.starts_with(|c: char| c.is_ascii_uppercase())
    };
    text.split('"').filter(is_name)
}

/// Returns the variables that the sources read.
fn read() -> BTreeSet<String> {
    let mut all = Vec::new();
    for folder in ["bindings", "compiler", "runtime", "transports", "."] {
        let inner = fs::read_dir(root().join(folder)).expect("a folder of the workspace");
        for entry in inner.map(|entry| entry.expect("its entry")) {
            let is_tool = TOOLS.contains(&&*entry.file_name().to_string_lossy());
            for part in ["src", "shim"].map(|part| entry.path().join(part)) {
                if part.is_dir() && !is_tool {
                    sources(&part, &mut all);
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    for file in all {
        let text = fs::read_to_string(&file).expect("a source");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let names_some = NAMES.iter().any(|name| file.starts_with(root().join(name)));
        if names_some || ASKS.iter().any(|ask| code.contains(ask)) {
            let are_known = |name: &&str| !WORDS.contains(name) && !name.starts_with("GOAL_TEST_");
            found.extend(names(code).filter(are_known).map(str::to_owned));
        }
    }
    found
}

#[test]
fn every_variable_is_in_the_table() {
    let text = fs::read_to_string(root().join("docs/goal-run.md")).expect("the document");
    let (_, rest) = text.split_once("## Variables of the environment").expect("its section");
    let table = rest.split("\n## ").next().unwrap_or_default();
    let found = read();
    assert!(found.contains("GOAL_LIBPMIX") && found.contains("GOALMPI_RANGES"), "{found:?}");
    assert!(found.contains("GOALPROF_DIR") && found.contains("SLURM_PROCID"), "{found:?}");
    let missing: Vec<&String> =
        found.iter().filter(|name| !table.contains(&format!("`{name}"))).collect();
    assert!(missing.is_empty(), "docs/goal-run.md lacks {missing:?}");
}
