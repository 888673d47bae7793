//! The time of each kind of job, divided by kinds of cost.

use super::step::Cost;
use crate::machine::Machine;

/// A part of a job's time that has one kind of cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) cost: Cost,
    pub(super) picos: u64,
    pub(super) units: u64,
}

/// The bytes of a message that a time a byte counts.
fn rest(size: u64) -> u64 {
    size.max(1) - 1
}

/// Returns the time of a message on the processor of its sender.
pub(super) fn of_send(machine: &Machine, size: u64) -> [Piece; 2] {
    let units = rest(size);
    let picos = machine.overhead_per_byte.of(units);
    [of_overhead(machine), Piece { cost: Cost::OverheadPerByte, picos, units }]
}

/// Returns the time of a message on the processor of its receiver.
pub(super) fn of_receive(machine: &Machine, size: u64) -> [Piece; 2] {
    let units = rest(size);
    let [wire, work] = [machine.gap_per_byte, machine.overhead_per_byte].map(|time| time.of(units));
    let bytes = if wire >= work {
        Piece { cost: Cost::GapPerByte, picos: wire, units }
    } else {
        Piece { cost: Cost::OverheadPerByte, picos: work, units }
    };
    [of_overhead(machine), bytes]
}

/// Returns the time of a message on an interface.
pub(super) fn of_interface(machine: &Machine, size: u64) -> [Piece; 2] {
    let units = rest(size);
    let picos = machine.gap_per_byte.of(units);
    [
        Piece { cost: Cost::Gap, picos: machine.gap_ps, units: 1 },
        Piece { cost: Cost::GapPerByte, picos, units },
    ]
}

pub(super) fn of_overhead(machine: &Machine) -> Piece {
    Piece { cost: Cost::Overhead, picos: machine.overhead_ps, units: 1 }
}

pub(super) fn of_latency(machine: &Machine) -> Piece {
    Piece { cost: Cost::Latency, picos: machine.latency_ps, units: 1 }
}

pub(super) fn of_computation(picos: u64) -> Piece {
    Piece { cost: Cost::Computation, picos, units: picos }
}

/// Returns the time of some pieces in picoseconds, at most `u64::MAX`.
pub(super) fn time_of(pieces: [Piece; 2]) -> u64 {
    pieces.iter().fold(0, |sum, piece| sum.saturating_add(piece.picos))
}
