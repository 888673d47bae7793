//! The pages on binary formats hold what the code does: every table row, and the annotated file
//! byte by byte.

use goal_asm::driver::{Options, compile};
use goal_asm::nisa::{Field, Opcode, OperandRule};
use goal_lang::limits::{INDEGREE_MAX, Limits, SECTION_BYTES_MAX};
use goal_lang::{Datatype, Op};
use goal_opt::{Level, PASSES, Parameter, Values};
use std::fmt::Debug;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join("docs").join(name)).expect("the page is there")
}

fn assert_row(page: &str, row: &str) {
    assert!(page.lines().any(|line| line.starts_with(row)), "no row begins with {row:?}");
}

/// Names with commas between them, as a cell of a table.
fn cell(names: &[impl Debug]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    if names.is_empty() { " ".to_owned() } else { format!(" {} ", names.join(", ")) }
}

#[test]
fn every_instruction_has_its_row() {
    let page = page("nisa.md");
    for &opcode in Opcode::ALL {
        let instruction = opcode.instruction();
        let placed = if instruction.placed { "allowed" } else { "no" };
        let (fields, operands) = (cell(instruction.fields), cell(instruction.operands));
        let row =
            format!("| {} | {} | {placed} |{fields}|{operands}|", opcode as u8, instruction.name);
        assert_row(&page, &row);
        for field in instruction.fields {
            assert_row(&page, &format!("| {field:?} | {} |", Field::size(*field)));
        }
        for operand in instruction.operands {
            assert_row(&page, &format!("| {operand:?} | {} |", forms(*operand)));
        }
    }
}

fn forms(operand: OperandRule) -> String {
    use goal_asm::nisa::Form;
    let forms = [
        (Form::Plain, "plain"),
        (Form::Memory, "memory"),
        (Form::Scratch, "scratch"),
        (Form::Vector, "vector"),
    ];
    let allowed: Vec<&str> =
        forms.into_iter().filter_map(|(form, name)| operand.allows(form).then_some(name)).collect();
    allowed.join(", ")
}

#[test]
fn every_operation_datatype_and_limit_has_its_row() {
    let page = page("nisa.md");
    for &op in Op::ALL {
        assert_row(&page, &format!("| {} | {} |", op as u8, op.name()));
    }
    for &datatype in Datatype::ALL {
        assert_row(
            &page,
            &format!("| {} | {} | {} |", datatype as u8, datatype.name(), datatype.width()),
        );
    }
    let Limits { ranks_max, memory_bytes_max, scratch_bytes_max } = Limits::default();
    for row in [
        format!("| sources of an action | {INDEGREE_MAX};"),
        format!("| bytes of a section | {SECTION_BYTES_MAX}:"),
        format!("| number of ranks | {ranks_max},"),
        format!("| bytes of one rank's memory | {memory_bytes_max},"),
        format!("| bytes of one rank's scratch memory | {scratch_bytes_max},"),
    ] {
        assert_row(&page, &row);
    }
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
