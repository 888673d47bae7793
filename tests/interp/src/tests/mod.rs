//! Programs that are small enough to compute by hand.

mod exploring;
mod local;
mod matching;
mod operations;
mod refused;
mod replaying;

use goal_lang::{
    Action, ActionId, Body, BodyBuilder, Datatype, Datum, MemoryImage, Op, Payload, Piece,
    Placement, Program, ProgramBuilder, Space,
};

fn memory(addr: u64, size: u64) -> Piece {
    Piece { addr, size, space: Space::Memory }
}

fn scratch(addr: u64, size: u64) -> Piece {
    Piece { addr, size, space: Space::Scratch }
}

fn send(payload: Payload, to: u32, tag: u32) -> Action {
    Action::Send { payload, to, tag, placement: Placement::default() }
}

fn recv(payload: Payload, from: u32, tag: u32) -> Action {
    Action::Recv { payload, from, tag, placement: Placement::default() }
}

fn bytes(size: u64) -> Payload {
    Payload::Pattern { size }
}

fn buffer(addr: u64, size: u64) -> Payload {
    Payload::Buffer(memory(addr, size))
}

fn exec(op: Op, datatype: Datatype, a: u64, b: u64, c: Option<u64>, size: u64) -> Action {
    Action::Exec {
        op,
        datatype,
        spaces: [Space::Memory; 3],
        has_c: c.is_some(),
        a,
        b,
        c: c.unwrap_or(0),
        size,
    }
}

/// A body of actions in a row, each requiring the one before.
fn chain(actions: &[Action]) -> Body {
    let mut body = BodyBuilder::default();
    let ids: Vec<ActionId> = actions.iter().map(|&action| body.action(action)).collect();
    ids.windows(2).for_each(|pair| body.requires(pair[1], pair[0]));
    body.finish()
}

/// A body of actions without dependencies.
fn free(actions: &[Action]) -> Body {
    let mut body = BodyBuilder::default();
    actions.iter().for_each(|&action| _ = body.action(action));
    body.finish()
}

/// A program of bodies; a rank's memory starts with the given bytes at address 0.
fn program(ranks: Vec<(Body, &[u8])>) -> Program {
    let mut program = ProgramBuilder::default();
    for (body, bytes) in ranks {
        let body = program.body(body);
        let init = vec![Datum { addr: 0, datatype: Datatype::UInt8, bytes: bytes.to_vec() }];
        let image = program.image(MemoryImage { init, expect: Vec::new() });
        program.rank(body, Some(image));
    }
    program.finish()
}
