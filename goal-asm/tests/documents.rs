//! Every instruction, operand, operation, datatype and limit has its row in `docs/nisa.md`.

use goal_asm::nisa::{Field, Form, Opcode, OperandRule};
use goal_lang::limits::{INDEGREE_MAX, Limits, SECTION_BYTES_MAX};
use goal_lang::{Datatype, Op};
use std::fmt::Debug;
use std::path::Path;

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name))
        .expect("the page is there")
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
