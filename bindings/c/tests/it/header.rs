//! The header, the sources and the shared library have the same functions with the same types, and
//! the manual pages show all of them.

use goal::ErrorCode;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use xtask::header::functions;

fn header() -> String {
    let path = crate::support::folder().join("include/goal.h");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

type Types = (String, Vec<String>);

/// Returns a type of Rust as one of C.
fn in_c(rust: &str) -> String {
    let pointed = |rest: &str, suffix: &str| {
        let inner = in_c(rest);
        if inner.ends_with('*') {
            format!("{inner}{suffix}*")
        } else {
            format!("{inner} {suffix}*")
        }
    };
    match rust.trim() {
        "c_int" | "" => "int".into(),
        "c_char" => "char".into(),
        "c_void" => "void".into(),
        "usize" => "size_t".into(),
        "i64" => "int64_t".into(),
        "In" => "const void *".into(),
        "Out" => "void *".into(),
        other => {
            if let Some(rest) = other.strip_prefix("*mut ") {
                return pointed(rest, "");
            }
            match other.strip_prefix("*const ") {
                // A constant pointer to pointers, as C writes it.
                Some(rest) if rest.starts_with('*') => format!("{}const *", in_c(rest)),
                Some(rest) => format!("const {}", pointed(rest, "")),
                None => other.trim_start_matches("Option<").trim_end_matches('>').into(),
            }
        }
    }
}

fn arguments(list: &str) -> Vec<String> {
    let types = list.split(',').filter_map(|argument| argument.rsplit_once(':'));
    types.map(|(_, of)| in_c(of)).collect()
}

/// Returns the functions of the sources, by their names.
fn of_sources() -> BTreeMap<String, Types> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(crate::support::folder().join("src")).expect("there are sources") {
        let text = fs::read_to_string(entry.expect("a source").path()).expect("a source is text");
        for part in text.split("extern \"C\" fn GOAL_").skip(1) {
            let (name, rest) = part.split_once('(').expect("a function has arguments");
            let (list, rest) = rest.split_once(')').expect("a function has arguments");
            let result = rest.split('{').next().unwrap_or_default().trim();
            let result = in_c(result.strip_prefix("->").unwrap_or_default());
            found.insert(format!("GOAL_{name}"), (result, arguments(list)));
        }
        // The table of collectives: three functions a row.
        let rows = text.split("\ncollectives! {").nth(1).unwrap_or_default();
        for row in rows.split(';') {
            let Some((names, list)) = row.split_once('(') else { continue };
            let names = names.split_once(':').expect("a row has names").1;
            let mut types = arguments(list.trim_end().trim_end_matches(')'));
            types.push("GOAL_Comm".into());
            let results = ["int", "GOAL_Handle", "GOAL_Schedule"];
            for (name, result) in names.split(',').zip(results) {
                found.insert(name.trim().to_owned(), (result.to_owned(), types.clone()));
            }
        }
    }
    found
}

#[test]
fn the_header_declares_what_the_sources_define() {
    let declared: BTreeMap<String, Types> = functions(&header())
        .iter()
        .filter_map(|item| Some((item.function.clone()?, item.types()?)))
        .collect();
    let defined = of_sources();
    assert!(defined.len() > 80, "only {} functions are found in the sources", defined.len());
    assert_eq!(declared, defined, "left: goal.h, right: the sources");
}

#[test]
fn the_library_exports_what_the_header_declares() {
    if crate::support::lacks(&["nm"]) {
        return;
    }
    let library = crate::support::built().join("libgoal_c.so");
    let symbols = Command::new("nm").args(["-D", "--defined-only"]).arg(&library).output();
    let symbols = String::from_utf8(symbols.expect("nm runs").stdout).expect("names are text");
    let names = symbols.lines().filter_map(|line| line.split_whitespace().nth(2));
    let exported: BTreeSet<&str> = names.filter(|name| name.starts_with("GOAL_")).collect();
    let declared = functions(&header());
    let declared: BTreeSet<&str> =
        declared.iter().filter_map(|item| item.function.as_deref()).collect();
    assert_eq!(declared, exported, "left: goal.h, right: {}", library.display());
}

#[test]
fn the_header_has_the_table_of_codes_and_the_version() {
    let header = header();
    for code in ErrorCode::ALL {
        let line = format!("  {} = {}", code.name(), *code as i32);
        assert!(header.contains(&line), "goal.h lacks `{line}`");
    }
    let defined = header.lines().filter(|line| line.starts_with("  GOAL_ERR_")).count();
    assert_eq!(defined, ErrorCode::ALL.len());
    let parts = env!("CARGO_PKG_VERSION").split('.').zip(["MAJOR", "MINOR", "PATCH"]);
    for (number, part) in parts {
        assert!(header.contains(&format!("#define GOAL_VERSION_{part} {number}\n")), "{part}");
    }
}

#[test]
fn every_function_has_a_page_that_man_shows() {
    let binary = crate::support::installed("goalc");
    let manual = binary.parent().and_then(|bin| bin.parent()).expect("a prefix");
    let manual = manual.join("share/man");
    for item in functions(&header()) {
        let name = item.function.expect("a function");
        assert!(!item.text.is_empty(), "{name} has no comment");
        assert!(manual.join(format!("man3/{name}.3")).is_file(), "{name} has no page");
    }
    if crate::support::lacks(&["groff"]) {
        return;
    }
    for page in ["goal_graph", "goal_errors", "goal_collectives", "goal_localop"] {
        let file = manual.join(format!("man3/{page}.3"));
        let shown =
            Command::new("groff").args(["-man", "-Tascii", "-P-cbu", "-ww"]).arg(&file).output();
        let shown = shown.expect("groff runs");
        let warnings = String::from_utf8_lossy(&shown.stderr);
        assert!(shown.status.success() && warnings.is_empty(), "{page}: {warnings}");
        assert!(String::from_utf8_lossy(&shown.stdout).contains("#include <goal.h>"));
    }
}
