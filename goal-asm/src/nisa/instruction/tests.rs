//! The tables of `docs/nisa.md` follow the instruction table.

use super::{Field, Form, Opcode, OperandRule};
use std::fmt::Debug;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const HEADER: &str = "\
| opcode | name | placement | fields | operands | since version |
|---|---|---|---|---|---|
";

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/nisa.md")
}

/// The table of instructions as the page has it.
fn table() -> String {
    /// Names with commas between them, as a cell of a table.
    fn cell(names: &[impl Debug]) -> String {
        let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        if names.is_empty() { " ".to_owned() } else { format!(" {} ", names.join(", ")) }
    }
    let mut table = HEADER.to_owned();
    for &opcode in Opcode::ALL {
        let row = opcode.instruction();
        let placed = if row.placed { "allowed" } else { "no" };
        let (fields, operands) = (cell(row.fields), cell(row.operands));
        let (code, name, since) = (opcode as u8, row.name, row.since);
        writeln!(table, "| {code} | {name} | {placed} |{fields}|{operands}| {since} |")
            .expect("memory");
    }
    table
}

#[test]
fn the_page_has_the_table_of_instructions() {
    let (page, wanted) = (std::fs::read_to_string(path()).expect("the page"), table());
    let start = page.find(HEADER).expect("a table of instructions");
    let end = start + page[start..].find("\n\n").expect("its end") + 1;
    if page[start..end] == wanted {
        return;
    }
    let bless = std::env::var_os("GOAL_BLESS").is_some();
    assert!(bless, "`GOAL_BLESS=1 cargo test -p goal-asm --lib instruction` writes\n{wanted}");
    let blessed = [&page[..start], &wanted, &page[end..]].concat();
    std::fs::write(path(), blessed).expect("a writable page");
}

#[test]
fn every_field_and_operand_has_its_row() {
    let page = std::fs::read_to_string(path()).expect("the page");
    let assert_row = |row: String| {
        assert!(page.lines().any(|line| line.starts_with(&row)), "no row begins with {row:?}");
    };
    for row in Opcode::ALL.iter().map(|opcode| opcode.instruction()) {
        for field in row.fields {
            assert_row(format!("| {field:?} | {} |", Field::size(*field)));
        }
        for operand in row.operands {
            assert_row(format!("| {operand:?} | {} |", forms(*operand)));
        }
    }
}

fn forms(operand: OperandRule) -> String {
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
