//! Makes numbers smaller: sizes, durations, tags, placements. Equal numbers stay equal, so that
//! both ends of a message still agree.

use super::reducer::Reducer;
use goal_lang::{ANY, Action, Payload, Placement, Program};
use std::collections::BTreeSet;

/// A kind of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    /// Sizes of buffers and patterns in bytes.
    Size,
    /// Durations of computations in nanoseconds.
    Nanos,
    Tag,
}

/// The most different values of a field that are made smaller one by one. A program with more is
/// not small yet.
const VALUES_MAX: usize = 64;

/// Makes numbers as small as they can be.
pub(super) fn reduce(reducer: &mut Reducer<'_>) {
    for (field, least) in [(Field::Size, 8), (Field::Size, 1), (Field::Nanos, 0), (Field::Tag, 0)] {
        reducer.attempt(mapped(&reducer.best, field, |value| value.min(least)));
    }
    for field in [Field::Size, Field::Nanos, Field::Tag] {
        for value in values(&reducer.best, field) {
            lower(reducer, field, value);
        }
    }
    reducer.attempt(without_placement(&reducer.best));
}

/// Makes one value as small as possible: a small power of two, or the result of a bisection.
fn lower(reducer: &mut Reducer<'_>, field: Field, value: u64) {
    let replace =
        |reducer: &mut Reducer<'_>, old, new| {
            new < old
                && reducer.attempt(mapped(&reducer.best, field, |value| {
                    if value == old { new } else { value }
                }))
        };
    let least = u64::from(field == Field::Size);
    let small = [0, 1, 2, 4, 8].into_iter().filter(|&small| small >= least);
    let mut low = 0;
    for small in small.take_while(|&small| small < value) {
        if replace(reducer, value, small) {
            return;
        }
        low = small;
    }
    // Elements have a width, so multiples of 8 are tried first.
    let mut high = value;
    for step in [8, 1] {
        let mut low = low;
        while high - low > step {
            let middle = low + ((high - low) / 2).next_multiple_of(step);
            if middle >= high {
                break;
            }
            if replace(reducer, high, middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
    }
}

/// Returns the different values of a field, the largest first; none if there are more than
/// [`VALUES_MAX`].
fn values(program: &Program, field: Field) -> Vec<u64> {
    let mut values = BTreeSet::new();
    visit(&mut program.clone(), field, |value| {
        if values.len() <= VALUES_MAX {
            values.insert(*value);
        }
    });
    if values.len() > VALUES_MAX { Vec::new() } else { values.into_iter().rev().collect() }
}

fn mapped(program: &Program, field: Field, map: impl Fn(u64) -> u64) -> Program {
    let mut program = program.clone();
    visit(&mut program, field, |value| *value = map(*value));
    program
}

/// Calls `change` with every number of a field.
fn visit(program: &mut Program, field: Field, mut change: impl FnMut(&mut u64)) {
    for body in &mut program.bodies {
        if field == Field::Size {
            body.pieces.iter_mut().for_each(|piece| change(&mut piece.size));
        }
        for action in &mut body.actions {
            match action {
                Action::Send { payload, tag, .. } | Action::Recv { payload, tag, .. } => {
                    match (field, payload) {
                        (Field::Tag, _) if *tag != ANY => {
                            let mut value = u64::from(*tag);
                            change(&mut value);
                            *tag = u32::try_from(value).expect("numbers only get smaller");
                        }
                        (Field::Size, Payload::Pattern { size }) => change(size),
                        (Field::Size, Payload::Buffer(piece)) => change(&mut piece.size),
                        _ => {}
                    }
                }
                Action::Exec { size, .. } if field == Field::Size => change(size),
                Action::Calc { nanos, .. } if field == Field::Nanos => change(nanos),
                _ => {}
            }
        }
    }
}

fn without_placement(program: &Program) -> Program {
    let mut program = program.clone();
    for action in program.bodies.iter_mut().flat_map(|body| &mut body.actions) {
        if let Action::Send { placement, .. }
        | Action::Recv { placement, .. }
        | Action::Calc { placement, .. }
        | Action::Marker { placement, .. } = action
        {
            *placement = Placement::default();
        }
    }
    program
}
