//! Checks the dependencies of crates against ARCHITECTURE.md, and those of modules against the
//! list of layers in the documentation of their crate.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Crate, crates, read, root};

/// Returns the names of the crates of this workspace that a `Cargo.toml` depends on outside of
/// tests, ascending.
fn dependencies(manifest: &str) -> Vec<String> {
    let section = manifest.split("\n[").find_map(|section| section.strip_prefix("dependencies]\n"));
    let names = section.unwrap_or_default().lines().filter_map(|line| {
        let name = line.split(['.', ' ', '=']).next()?;
        name.starts_with("goal").then(|| name.to_owned())
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Crates that only tests, benchmarks and installations use.
const TOOLS: [&str; 5] = ["goal-filetest", "goal-cluster", "goal-fuzz", "goal-bench", "xtask"];

#[test]
fn crates_depend_as_the_architecture_says() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let table = text.split("```crates\n").nth(1).and_then(|rest| rest.split("```").next());
    let table = table.expect("ARCHITECTURE.md has a block of crates");
    let stated: BTreeMap<&str, Vec<String>> = table
        .lines()
        .map(|line| {
            let (name, on) = line.split_once(':').expect("a line has a crate and a colon");
            let mut on: Vec<String> = on.split_whitespace().map(str::to_owned).collect();
            on.sort();
            (name.trim(), on)
        })
        .collect();
    let is_listed = |found: &&Crate| !TOOLS.contains(&&*found.name);
    let all = crates();
    let found: BTreeMap<&str, Vec<String>> = all
        .iter()
        .filter(is_listed)
        .map(|one| (&*one.name, dependencies(&read(&root().join(&one.folder).join("Cargo.toml")))))
        .collect();
    assert_eq!(stated, found, "left: ARCHITECTURE.md, right: the Cargo.toml of each crate");
}

#[test]
fn crates_use_only_crates_on_lower_lines() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let figure = text.split("on lines below its own:\n\n```text\n").nth(1);
    let figure = figure.and_then(|rest| rest.split("```").next()).expect("the figure of crates");
    let lines: BTreeMap<&str, usize> = figure
        .lines()
        .enumerate()
        .flat_map(|(at, line)| line.split_whitespace().skip(1).map(move |name| (name, at)))
        .collect();
    for one in crates() {
        let own = lines.get(&*one.name).unwrap_or_else(|| panic!("{} is missing", one.name));
        for used in dependencies(&read(&root().join(&one.folder).join("Cargo.toml"))) {
            let below = lines.get(&*used).unwrap_or_else(|| panic!("{used} is missing"));
            assert!(own < below, "{} uses {used}, which is not below it", one.name);
        }
    }
}

/// Returns the layers of modules that the documentation of a crate lists below `# Layers`, lowest
/// first; none if it has no such list.
fn layers(lib: &str) -> Vec<Vec<String>> {
    let list = lib.lines().skip_while(|line| *line != "//! # Layers");
    let lines = list.take_while(|line| line.starts_with("//!"));
    let layers = lines.filter_map(|line| line.strip_prefix("//! - "));
    let names = |line: &str| line.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    layers.map(names).collect()
}

/// Adds the source files below a folder, tests left out, with their paths as modules.
fn sources(folder: &Path, module: &[String], files: &mut Vec<(Vec<String>, PathBuf)>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if matches!(name, "tests" | "bin" | "lib" | "main") {
            continue;
        }
        let inner: Vec<String> = module.iter().cloned().chain([name.to_owned()]).collect();
        if path.is_dir() {
            sources(&path, &inner, files);
        } else if name == "mod" {
            files.push((module.to_vec(), path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push((inner, path));
        }
    }
}

/// Returns the modules at the root of the crate that the source of a module names, in code outside
/// of tests.
fn imports(source: &str, depth: usize) -> Vec<String> {
    let code = source.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let to_root = "super::".repeat(depth);
    let word = |text: &str| -> String {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut names = Vec::new();
    for path in ["crate::", &to_root] {
        for rest in code.split(path).skip(1) {
            let Some(group) = rest.strip_prefix('{') else {
                names.push(word(rest));
                continue;
            };
            // Only the names directly in the braces are modules of the root.
            let (mut level, mut is_start) = (1, true);
            for (at, letter) in group.char_indices() {
                match letter {
                    '{' => level += 1,
                    '}' => level -= 1,
                    ',' => is_start = level == 1,
                    _ if is_start && letter.is_alphabetic() => {
                        names.push(word(&group[at..]));
                        is_start = false;
                    }
                    _ => {}
                }
                if level == 0 {
                    break;
                }
            }
        }
    }
    names
}

#[test]
fn modules_import_from_lower_layers_only() {
    let mut checked = 0;
    for one in crates() {
        let source = root().join(one.folder).join("src");
        let lib = source.join("lib.rs");
        let layers = if lib.is_file() { layers(&read(&lib)) } else { vec![] };
        if layers.is_empty() {
            continue;
        }
        checked += 1;
        let level = |name: &str| layers.iter().position(|layer| layer.iter().any(|l| l == name));
        let mut files = Vec::new();
        sources(&source, &[], &mut files);
        for (module, path) in files {
            let own = level(&module[0]);
            let own = own.unwrap_or_else(|| panic!("{}: in no layer", path.display()));
            for import in imports(&read(&path), module.len()) {
                let is_lower = level(&import).is_none_or(|level| level < own);
                assert!(
                    is_lower || import == module[0],
                    "{}: imports {import}, which is not in a lower layer than {}",
                    path.display(),
                    module[0]
                );
            }
        }
    }
    assert!(checked > 0, "no crate lists its layers");
}

#[test]
fn imports_are_found_in_groups_and_above() {
    let source = "//! crate::doc\nuse crate::{a, b::{c, d},\n e as f};\nuse super::super::g::h;\n\
                  #[cfg(test)]\nmod tests {\nuse crate::x;";
    assert_eq!(imports(source, 2), ["a", "b", "e", "g"]);
}
