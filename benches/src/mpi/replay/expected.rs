//! The values that buffers have at the end of a replay.

use super::super::operands::{Line, operand, sum};
use super::sequence::{Part, Step};
use std::collections::{BTreeMap, VecDeque};

/// Returns the values of a rank's buffer before the replay.
pub(super) fn initial(rank: u32, buffer: u32) -> Line {
    operand(rank, buffer, 0)
}

/// Messages between two ranks with one tag: values that no receive has taken, and receives, by the
/// numbers of message and buffer, that have none.
#[derive(Default)]
struct Channel {
    values: VecDeque<Line>,
    receives: VecDeque<(usize, usize)>,
}

struct State<'a> {
    part: &'a Part,
    next: usize,
    lines: Vec<Line>,
    /// For each message, true if the rank need not wait for it.
    done: Vec<bool>,
}

/// Returns the values of all buffers of each rank, as sequences of calls leave them.
///
/// # Errors
/// The sequences wait for each other.
pub(super) fn at_end(parts: &[Part]) -> Result<Vec<Vec<Line>>, String> {
    let state = |(rank, part): (u32, &'_ Part)| -> Vec<Line> {
        (0..part.buffers.len() as u32).map(|buffer| initial(rank, buffer)).collect()
    };
    let mut states: Vec<State<'_>> = (0..)
        .zip(parts)
        .map(|(rank, part)| State { part, next: 0, lines: state((rank, part)), done: Vec::new() })
        .collect();
    let mut channels: BTreeMap<(usize, usize, u32), Channel> = BTreeMap::new();
    loop {
        let mut moved = false;
        for rank in 0..states.len() {
            while let Some(&step) = states[rank].part.steps.get(states[rank].next) {
                let state = &mut states[rank];
                let delivery = match step {
                    Step::Wait(message) if !state.done[message] => break,
                    Step::Wait(_) => None,
                    Step::Add { to, from } => {
                        state.lines[to] = sum(state.lines[to], state.lines[from]);
                        None
                    }
                    Step::Send { buffer, peer, tag } => {
                        state.done.push(true);
                        let key = (rank, peer as usize, tag);
                        channels.entry(key).or_default().values.push_back(state.lines[buffer]);
                        Some(key)
                    }
                    Step::Recv { buffer, peer, tag } => {
                        let key = (peer as usize, rank, tag);
                        let receive = (state.done.len(), buffer);
                        state.done.push(false);
                        channels.entry(key).or_default().receives.push_back(receive);
                        Some(key)
                    }
                };
                state.next += 1;
                moved = true;
                let channel = delivery.and_then(|key| Some((key.1, channels.get_mut(&key)?)));
                let Some((to, channel)) = channel else { continue };
                if channel.values.is_empty() || channel.receives.is_empty() {
                    continue;
                }
                let value = channel.values.pop_front();
                if let Some(((message, buffer), value)) = channel.receives.pop_front().zip(value) {
                    states[to].lines[buffer] = value;
                    states[to].done[message] = true;
                }
            }
        }
        if !moved {
            break;
        }
    }
    match states.iter().all(|state| state.next == state.part.steps.len()) {
        true => Ok(states.into_iter().map(|state| state.lines).collect()),
        false => Err("its messages can't be replayed in the order of the program".to_owned()),
    }
}
