use super::*;
use goal_lang::limits::Limits;
use goal_lang::{Action, BodyBuilder, Payload, Placement, Program, ProgramBuilder};

fn two_ranks() -> Program {
    let placement = Placement { cpu: 2, nic: 1 };
    let mut first = BodyBuilder::default();
    let calc = first.action(Action::Calc { nanos: 100, placement: Placement::default() });
    let send = first.action(Action::Send { payload: Payload::Pattern { size: 8 }, to: 1, tag: 3, placement });
    let after = first.action(Action::Calc { nanos: 5, placement });
    first.requires(send, calc);
    first.irequires(after, send);
    first.requires(after, calc);
    let mut second = BodyBuilder::default();
    second.action(Action::Recv {
        payload: Payload::Pattern { size: 8 },
        from: goal_lang::ANY,
        tag: 3,
        placement,
    });
    let mut program = ProgramBuilder::default();
    program.rank_with(first.finish());
    program.rank_with(second.finish());
    program.finish()
}

fn written(program: &Program) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(program, &mut bytes).expect("written");
    bytes
}

#[test]
fn programs_return() {
    let program = two_ranks();
    let bytes = written(&program);
    assert_eq!(bytes.len(), 14 + 2 * 24 + 2 * 4 + 4 * 39 + 3 * 4);
    assert_eq!(bytes[12..14], [2, 1]);
    let again = read(&bytes, &Limits::default()).expect("read");
    assert_eq!(again.num_ranks(), 2);
    for rank in 0..2 {
        assert!(again.body_of(rank).same_graph(program.body_of(rank)), "rank {rank}");
    }
    assert!(losses(&program).is_none());
}

#[test]
fn what_has_no_place_is_counted() {
    let mut program = two_ranks();
    program.bodies[1].actions.push(Action::Nop);
    let loss = losses(&program);
    assert_eq!(loss, Loss { operations: 1, ..Loss::default() });
    let again = read(&written(&program), &Limits::default()).expect("read");
    assert_eq!(again.bodies[1].actions[1], Action::Calc { nanos: 0, placement: Placement::default() });
}

#[test]
fn every_prefix_is_refused() {
    let bytes = written(&two_ranks());
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length], &Limits::default()).is_err(), "{length} bytes");
    }
}

#[test]
fn changed_bytes_are_read_or_refused() {
    let bytes = written(&two_ranks());
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            if let Ok(program) = read(&changed, &Limits::default()) {
                goal_opt::verify(&program).expect("what is read is valid");
            }
        }
    }
}

#[test]
fn hostile_counts_are_refused() {
    let mut bytes = written(&two_ranks());
    bytes[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = read(&bytes, &Limits::default()).expect_err("4 billion ranks");
    assert!(error.to_string().contains("--max-ranks"), "{error}");
    let mut bytes = written(&two_ranks());
    let start = 8 + u64::from_le_bytes(bytes[14..22].try_into().expect("eight bytes")) as usize;
    bytes[start..start + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = read(&bytes, &Limits::default()).expect_err("4 billion operations");
    assert!(error.to_string().contains("4294967295 operations"), "{error}");
}

#[test]
fn the_page_has_a_row_for_every_field_of_a_record() {
    let page = include_str!("../../../docs/interop.md");
    let (_, rows) = page.split_once("A record:").expect("a table of the record");
    let one = |at: usize| at..at + 1;
    for field in [
        node::DEPENDENCIES,
        one(node::TYPE),
        node::PEER,
        node::BYTES,
        node::TAG,
        one(node::CPU),
        one(node::NIC),
        node::DEPENDENTS,
        node::FIRST_DEPENDENT,
        node::START_DEPENDENTS,
        node::FIRST_START_DEPENDENT,
    ] {
        let row = format!("\n| {} | {} |", field.start, field.len());
        assert!(rows.contains(&row), "no row {row:?}");
    }
    let types = format!("type: {} send, {} recv, {} calc", node::SEND, node::RECV, node::CALC);
    assert!(rows.contains(&types));
    assert!(page.contains(&format!("| {} *N* |", node::LENGTH)));
    assert!(page.contains(&format!("| {HEADER_SIZE} | {ENTRY_SIZE} *R* |")));
    assert!(page.contains(&format!("magic number {MAGIC}")));
}
