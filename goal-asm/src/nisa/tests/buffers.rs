//! Sections whose memory is a table of buffers.

use super::{encoded, example_2, load};
use crate::nisa::container::part;
use crate::nisa::{EncodeError, EncodeOptions, encode, reseal};
use goal_lang::diag::Code;
use goal_lang::{BUFFERS_MAX, Body, Program, buffer_address, buffer_of};

/// Rank 0 on two buffers, the others on one region.
fn tabled() -> Program {
    let mut program = example_2();
    assert_eq!(
        program.bodies[0].make_table(std::slice::from_ref(&(503..504))),
        Ok(vec![503, 501, 504])
    );
    program
}

/// The place of the payload of the part on buffers.
fn part_of(bytes: &[u8]) -> usize {
    // Kind, length in 8 bytes, and the number of buffers of the first section.
    let head = [part::BUFFERS, 32, 0, 3].map(u32::to_le_bytes).concat();
    bytes.windows(16).position(|window| window == head).expect("the part") + 12
}

#[test]
fn a_table_returns_as_one_region() {
    let program = tabled();
    let bytes = encoded(&program);
    assert_eq!(bytes[8], 3);
    let nisa = load(bytes.clone()).expect("verifies");
    let buffers: Vec<u64> = nisa.buffers(0).collect();
    assert_eq!(buffers, program.body_of(0).buffers);
    assert_eq!((nisa.buffers(1).len(), nisa.memory_size(0), nisa.memory_size(1)), (0, 129, 502));
    super::assert_same(&program.clone().flattened(), &nisa.decode());
    // Graphs that differ in the table alone are two sections.
    let mut other = program;
    other.bodies.push(other.bodies[0].clone());
    other.bodies[2].buffers[2] += 1;
    other.ranks[1].body = goal_lang::BodyId(2);
    let nisa = load(encoded(&other)).expect("verifies");
    assert_eq!((nisa.num_sections(), nisa.memory_size(1)), (3, 130));
}

#[test]
fn every_changed_byte_is_seen() {
    let bytes = encoded(&tabled());
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        load(changed).expect_err("a changed bit");
    }
}

/// A file whose author chose other numbers and sealed it again.
#[test]
fn addresses_outside_the_table_are_refused() {
    let bytes = encoded(&tabled());
    let refused = |change: &dyn Fn(&mut Vec<u8>), code, text: &str| {
        let mut changed = bytes.clone();
        change(&mut changed);
        reseal(&mut changed);
        let error = load(changed).expect_err(text);
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    let address = |bytes: &[u8]| {
        let wanted = buffer_address(1, 0).to_le_bytes();
        let is_there = |&at: &usize| bytes[at..at + 8] == wanted;
        (0..bytes.len() - 8).step_by(4).find(is_there).expect("an address")
    };
    assert_eq!(buffer_of(buffer_address(1, 0)), (1, 0));
    let at = part_of(&bytes);
    refused(
        &|bytes| {
            let place = address(bytes);
            bytes[place + 6] = 9;
        },
        Code::NisaAction,
        "there is no buffer 9 among 3",
    );
    refused(
        &|bytes| {
            let place = address(bytes);
            bytes[place] = 2;
        },
        Code::NisaAction,
        "end outside its 2 bytes",
    );
    let stated = "do not make up its 129 bytes";
    refused(&|bytes| bytes[at + 20] = 2, Code::NisaData, stated);
    refused(&|bytes| bytes[at + 11] = 1, Code::NisaData, "longer ones than allowed");
    refused(&|bytes| bytes[8] = 2, Code::NisaFormat, "came with format version 3");
    refused(
        &|bytes| bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes()),
        Code::NisaData,
        "",
    );
}

#[test]
fn more_buffers_than_addresses_name_are_refused() {
    let mut program = example_2();
    program.bodies[0] = Body { buffers: vec![0; BUFFERS_MAX + 1], ..Body::default() };
    let refused = encode(&program, &EncodeOptions::default(), None, &mut Vec::new());
    assert!(matches!(refused, Err(EncodeError::TooManyBuffers { rank: 0, .. })));
    program.bodies[0].buffers.pop();
    assert_eq!(load(encoded(&program)).expect("verifies").buffers(0).len(), BUFFERS_MAX);
}
