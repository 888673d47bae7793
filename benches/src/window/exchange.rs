//! Two ranks that exchange numbers and add them up, for any number of steps.

use goal_lang::{
    Action, ActionId, Body, BodyBuilder, Datatype, Datum, MemoryImage, Op, Payload, Piece, Program,
    ProgramBuilder, Space,
};
use std::io;

/// Numbers that are on their way at a time.
const SLOTS: u64 = 8;
/// Actions of a step: a send, a receive, and two local ones.
const STEP: usize = 4;
/// Steps of a period.
const PERIOD: usize = 4096;

/// An exchange whose ranks have `actions` actions or somewhat more, in windows of `window`. The
/// pass puts one period in windows, which is then repeated with a dummy between two.
pub(super) fn exchange(actions: usize, window: u32) -> io::Result<Program> {
    let mut builder = ProgramBuilder::default();
    (0..2).for_each(|rank| builder.rank_with(period(rank)));
    let mut period = builder.finish();
    goal_opt::window(&mut period, window).map_err(io::Error::other)?;
    let times = actions.div_ceil(STEP * PERIOD);
    let expected = numbers(times * PERIOD);
    let mut builder = ProgramBuilder::default();
    for (rank, expected) in (0..2).zip(expected) {
        let body = builder.body(repeated(period.body_of(rank), times));
        let expect = vec![Datum { addr: 0, datatype: Datatype::UInt64, bytes: expected }];
        let init = vec![Datum { addr: 0, datatype: Datatype::UInt64, bytes: start(rank) }];
        let image = builder.image(MemoryImage { init, expect });
        builder.rank(body, Some(image));
    }
    Ok(builder.finish())
}

/// Returns the address of a slot's number. The sum of all lies before the slots.
fn number(slot: u64) -> u64 {
    8 * slot
}

/// Returns the address at which a slot's message arrives.
fn arrival(slot: u64) -> u64 {
    8 * (SLOTS + 1 + slot)
}

const SUM: u64 = 8 * SLOTS;

fn start(rank: u32) -> Vec<u8> {
    (0..SLOTS).flat_map(|slot| (1 + slot + SLOTS * u64::from(rank)).to_le_bytes()).collect()
}

/// In every step a number goes to the other rank and its number comes. Rank 0 adds what came to its
/// own, rank 1 takes it instead of its own, and both add the result to the sum of all: Fibonacci's
/// numbers, in every slot.
fn period(rank: u32) -> Body {
    let mut body = BodyBuilder::default();
    let mut before: Option<ActionId> = None;
    for step in 0..PERIOD {
        let slot = step as u64 % SLOTS;
        let buffer = |addr| Payload::Buffer(Piece { addr, size: 8, space: Space::Memory });
        let (peer, tag) = (1 - rank, slot as u32);
        let send = body.action(Action::Send {
            payload: buffer(number(slot)),
            to: peer,
            tag,
            placement: Default::default(),
        });
        let recv = body.action(Action::Recv {
            payload: buffer(arrival(slot)),
            from: peer,
            tag,
            placement: Default::default(),
        });
        let change = body.action(exec(
            if rank == 0 { Op::Sum } else { Op::Copy },
            arrival(slot),
            number(slot),
        ));
        let sum = body.action(exec(Op::Sum, number(slot), SUM));
        if let Some(before) = (step as u64).checked_sub(SLOTS) {
            let [.., change_before, sum_before] =
                [0, 1, 2, 3].map(|i| ActionId::new(STEP * before as usize + i));
            body.requires(send, change_before);
            body.requires(recv, change_before);
            body.requires(change, sum_before);
        }
        body.requires(change, send);
        body.requires(change, recv);
        body.requires(sum, change);
        if let Some(before) = before.replace(sum) {
            body.requires(sum, before);
        }
    }
    body.finish()
}

fn exec(op: Op, a: u64, b: u64) -> Action {
    let spaces = [Space::Memory; 3];
    Action::Exec { op, datatype: Datatype::UInt64, spaces, has_c: false, a, b, c: 0, size: 8 }
}

/// Repeats a body in windows, with a dummy between two copies.
fn repeated(period: &Body, times: usize) -> Body {
    let (requires, irequires) =
        (period.requires.transposed(period.len()), period.irequires.transposed(period.len()));
    let indegrees = period.indegrees();
    let mut body = BodyBuilder::default();
    let mut dummy: Option<ActionId> = None;
    for time in 0..times {
        let first = body.len();
        let here = |id: ActionId| ActionId::new(first + id.index());
        for id in period.ids() {
            let waiter = body.action(period.actions[id.index()]);
            if let Some(dummy) = dummy.filter(|_| indegrees[id.index()] == 0) {
                body.requires(waiter, dummy);
            }
            requires.row(id).iter().for_each(|&other| body.requires(waiter, here(other)));
            irequires.row(id).iter().for_each(|&other| body.irequires(waiter, here(other)));
        }
        if time + 1 < times {
            let between = body.action(Action::Nop);
            let sinks = period.ids().filter(|&id| period.requires.row(id).is_empty());
            sinks.for_each(|sink| body.requires(between, here(sink)));
            dummy = Some(between);
        }
    }
    body.finish()
}

/// Returns the numbers of both ranks and their sums after `steps` steps.
fn numbers(steps: usize) -> [Vec<u8>; 2] {
    let mut of =
        [0, 1].map(|rank: u64| (0..SLOTS).map(|slot| 1 + slot + SLOTS * rank).collect::<Vec<_>>());
    let mut sums = [0u64; 2];
    for step in 0..steps {
        let slot = step % SLOTS as usize;
        let came = [of[1][slot], of[0][slot]];
        of[0][slot] = came[0].wrapping_add(of[0][slot]);
        of[1][slot] = came[1];
        sums = [0, 1].map(|rank: usize| sums[rank].wrapping_add(of[rank][slot]));
    }
    [0, 1].map(|rank: usize| {
        of[rank].iter().chain([&sums[rank]]).flat_map(|value| value.to_le_bytes()).collect()
    })
}
