//! Parts take as much memory as they need, and the host's limit is named.

use crate::alone;
use goal_kernel::limits::{MEMORY_BYTES_MAX, PARTS_MAX};
use goal_kernel::{InstallError, Plan};
use goal_lang::{Action, BodyBuilder, Datatype, Op, ProgramBuilder, Space};

fn plan(bytes: u64) -> Plan {
    let mut rank = BodyBuilder::default();
    rank.action(Action::Exec {
        op: Op::Copy,
        datatype: Datatype::UInt8,
        spaces: [Space::Memory; 3],
        has_c: false,
        a: 0,
        b: bytes / 2,
        c: 0,
        size: bytes / 2,
    });
    let mut program = ProgramBuilder::default();
    program.rank_with(rank.finish());
    Plan::of(&crate::nisa(&program.finish()), 64).unwrap()
}

#[test]
fn small_parts_take_a_page_each() {
    let mut installation = alone();
    let plans = [plan(64), plan(10_000)];
    let mut end = 0;
    for number in 0..PARTS_MAX {
        let member = installation.add(&plans[number as usize % 2], &[0]).unwrap()[0].1;
        assert_eq!(member.memory_at, end);
        end += if number % 2 == 0 { 4096 } else { 3 * 4096 };
    }
    assert_eq!(installation.image().memory_bytes, end);
    assert_eq!(installation.add(&plans[0], &[0]).unwrap_err(), InstallError::Parts);
}

#[test]
fn too_much_memory_is_refused() {
    let mut installation = alone();
    let plan = plan(1 << 20);
    let parts = MEMORY_BYTES_MAX >> 20;
    for _ in 0..parts {
        installation.add(&plan, &[0]).unwrap();
    }
    let before = installation.image();
    let needed = u64::from(MEMORY_BYTES_MAX) + (1 << 20);
    assert_eq!(installation.add(&plan, &[0]).unwrap_err(), InstallError::Memory(needed));
    assert_eq!(installation.image(), before);
}
