//! The pages hold what the code does: every pass and parameter has its row, and the annotated NISA
//! file is byte by byte what the compiler writes.

use goal_opt::{Level, PASSES, Parameter, Values};
use goalc::driver::{Options, compile};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join("docs").join(name)).expect("the page is there")
}

fn assert_row(page: &str, row: &str) {
    assert!(page.lines().any(|line| line.starts_with(row)), "no row begins with {row:?}");
}

#[test]
fn every_pass_and_parameter_has_its_row() {
    let page = page("goalc.md");
    let quoted = |names: &[&str]| {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    for pass in PASSES {
        let level = match pass.level {
            None => "by name",
            Some(Level::O0) => "-O0",
            Some(Level::O1) => "-O1",
            Some(Level::O2) => "-O2",
        };
        let names: Vec<&str> = pass.parameters.iter().map(|parameter| parameter.name).collect();
        let row =
            format!("| `{}` | {} | {level} | {} |", pass.name, pass.description, quoted(&names));
        assert_row(&page, &row);
        for parameter in pass.parameters {
            let of = |pass: &&goal_opt::Pass| {
                let same = |other: &Parameter| {
                    (other.name, other.description) == (parameter.name, parameter.description)
                };
                pass.parameters.iter().any(same)
            };
            let passes: Vec<&str> = PASSES.iter().filter(of).map(|pass| pass.name).collect();
            let values = match parameter.values {
                Values::Number { min, default: None } => format!("a number of at least {min}"),
                Values::Number { min, default: Some(default) } => {
                    format!("a number of at least {min}, else {default}")
                }
                Values::Word(words) => {
                    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
                }
            };
            let Parameter { name, description, .. } = parameter;
            assert_row(
                &page,
                &format!("| `{name}` | {} | {description} | {values} |", quoted(&passes)),
            );
        }
    }
    let rows = page
        .lines()
        .filter(|line| line.contains(" | -O") || line.contains(" | by name | "))
        .count();
    assert_eq!(rows, PASSES.len(), "a row of a pass that is not there");
}

/// The passes and the binary form don't know each other, and must agree here.
#[test]
fn passes_leave_no_more_dependencies_than_the_binary_form_counts() {
    assert_eq!(goal_opt::limits::INDEGREE_MAX, goal_asm::nisa::limits::INDEGREE_MAX);
}

/// Lines `OFFSET | BYTES | MEANING` of the page's only `nisa` block.
#[test]
fn the_annotated_file_is_what_the_compiler_writes() {
    let page = page("nisa.md");
    let (_, block) = page.split_once("```nisa\n").expect("a block with bytes");
    let (block, _) = block.split_once("```").expect("its end");
    let options = Options { strip: true, ..Options::default() };
    let compiled = compile(&[root().join("examples/paper-example-2.goal")], &options);
    let compiled = compiled.unwrap_or_else(|_| panic!("the example compiles"));
    let bytes = compiled.nisa.bytes();
    let mut at = 0;
    for line in block.lines().filter(|line| !line.is_empty()) {
        let mut columns = line.split('|').map(str::trim);
        let offset = columns.next().and_then(|offset| usize::from_str_radix(offset, 16).ok());
        assert_eq!(offset, Some(at), "offset of {line:?}");
        for byte in columns.next().expect("bytes").split(' ') {
            let byte = u8::from_str_radix(byte, 16).expect("two digits");
            assert_eq!(bytes.get(at), Some(&byte), "byte {at:#x} of the file, and of {line:?}");
            at += 1;
        }
    }
    assert_eq!(at, bytes.len(), "bytes that the page lacks");
    assert!(page.contains(&format!("these {} bytes", bytes.len())));
}
