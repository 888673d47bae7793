//! Every operation, datatype and limit has its row in `docs/nisa.md`.

use goal_asm::nisa::limits::{INDEGREE_MAX, SECTION_BYTES_MAX};
use goal_lang::limits::Limits;
use goal_lang::{Datatype, Op};
use std::path::Path;

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name))
        .expect("the page is there")
}

fn assert_row(page: &str, row: &str) {
    assert!(page.lines().any(|line| line.starts_with(row)), "no row begins with {row:?}");
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
