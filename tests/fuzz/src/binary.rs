//! The harnesses for binary formats. Each function takes any bytes, and panics if a promise of
//! `goal_asm` is broken.

use goal_asm::nisa::{MAGIC, reseal};
use goal_asm::{EncodeOptions, Nisa, encode, loggopsim};
use goal_lang::limits::Limits;
use goal_lang::{Action, Body, Bytes, Payload, Pieces, Program};
use std::sync::Arc;

/// Checks a NISA file: a file that the verifier accepts is a valid program, which is the same after
/// it was encoded and decoded. Checksums are corrected first if the structure allows, so that
/// changed bytes reach the checks behind them. Returns true if the file was accepted.
pub fn nisa(bytes: &[u8]) -> bool {
    let mut sealed = bytes.to_vec();
    reseal(&mut sealed);
    if !sealed.starts_with(&MAGIC) {
        assert!(load(sealed).is_none(), "accepted without its magic number");
        return false;
    }
    let Some(nisa) = load(sealed) else { return false };
    let program = nisa.decode();
    goal_opt::verify(&program).expect("what the verifier of NISA accepts, that of programs does");
    let again = load(encoded(&program)).expect("what was encoded verifies").decode();
    assert_same(&program, &again);
    true
}

/// Checks a LogGOPSim binary: a file that can be read is a valid program, which keeps its order
/// when it is written and read again, and is written to the same bytes the second time. Returns
/// true if the file was accepted.
pub fn loggopsim(bytes: &[u8]) -> bool {
    let Ok(program) = loggopsim::read(bytes, &Limits::default()) else { return false };
    goal_opt::verify(&program).expect("what is read is valid");
    let mut written = Vec::new();
    loggopsim::write(&program, &mut written).expect("written");
    let again =
        loggopsim::read(&written, &Limits::default()).expect("what was written can be read");
    assert_same(&program, &again);
    assert!(loggopsim::are_same(&program, &again), "another order");
    let mut twice = Vec::new();
    loggopsim::write(&again, &mut twice).expect("written");
    assert!(written == twice, "written again, it is another file");
    true
}

/// Checks that a valid program is the same after it was encoded and decoded, whatever the number of
/// threads, and that its file is. Returns the file.
pub fn program(program: &Program) -> Vec<u8> {
    let bytes = encoded(program);
    let mut parallel = Vec::new();
    encode(program, &EncodeOptions { threads: 2, ..EncodeOptions::default() }, None, &mut parallel)
        .expect("fits");
    assert!(bytes == parallel, "the bytes depend on the number of threads");
    let again = load(bytes.clone()).expect("what was encoded verifies").decode();
    assert_same(program, &again);
    assert!(encoded(&again) == bytes, "a decoded program encodes to other bytes");
    bytes
}

fn encoded(program: &Program) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(program, &EncodeOptions::default(), None, &mut bytes).expect("the program fits");
    bytes
}

fn load(bytes: Vec<u8>) -> Option<Nisa> {
    let bytes: Bytes = Arc::new(bytes);
    Nisa::load(bytes, &Limits::default()).ok()
}

fn assert_same(left: &Program, right: &Program) {
    assert_eq!(left.num_ranks(), right.num_ranks());
    for rank in 0..left.num_ranks() {
        let (left_body, right_body) = (left.body_of(rank), right.body_of(rank));
        let same = in_action_order(left_body).same_graph(&in_action_order(right_body));
        assert!(same, "rank {rank} has another graph");
        assert_eq!(left_body.debug.labels, right_body.debug.labels, "rank {rank}");
        let sorted = |program: &Program| {
            let mut image = program.image_of(rank).filter(|image| !image.is_empty())?.clone();
            image.init.sort_by_key(|datum| datum.addr);
            image.expect.sort_by_key(|datum| datum.addr);
            Some(image)
        };
        assert_eq!(sorted(left), sorted(right), "rank {rank}");
    }
}

/// Sorts the table of pieces into the order in which actions name them, because a file keeps no
/// other order.
fn in_action_order(body: &Body) -> Body {
    let mut ordered = body.clone();
    ordered.pieces.clear();
    let mut moved = |pieces: &mut Pieces| {
        let first = ordered.pieces.len() as u32;
        ordered.pieces.extend_from_slice(body.slice(*pieces));
        pieces.first = if pieces.len > 0 { first } else { 0 };
    };
    for action in &mut ordered.actions {
        match action {
            Action::Send { payload: Payload::Vector(pieces), .. }
            | Action::Recv { payload: Payload::Vector(pieces), .. } => moved(pieces),
            Action::Send { payload: Payload::Reduced { operands, .. }, .. } => {
                let mut pieces = Pieces { first: *operands, len: 2 };
                moved(&mut pieces);
                *operands = pieces.first;
            }
            Action::Recv { payload: Payload::Reduced { operands, .. }, .. } => {
                let mut pieces = Pieces { first: *operands, len: 1 };
                moved(&mut pieces);
                *operands = pieces.first;
            }
            Action::ExecVector { operands, .. } => operands.iter_mut().for_each(&mut moved),
            Action::User { operands, .. } => operands.iter_mut().for_each(&mut moved),
            _ => {}
        }
    }
    ordered
}
