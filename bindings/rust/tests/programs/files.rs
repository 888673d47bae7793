//! Schedules that are loaded from files.

use goal::raw::{self, Schedule};
use goal::{Communicator, ErrorCode, Group};
use goal_asm::{EncodeOptions, encode};
use goal_lang::{ParseOptions, SourceMap, parse};
use std::sync::{Arc, Mutex};

/// The number of the function that sees the memory of a run.
const SEES: u32 = 9;

/// Each rank starts with a 7 and a zero, shows both, and then changes both.
fn file(ranks: u32) -> Vec<u8> {
    let text = format!(
        "num_ranks {ranks}
rank * {{
  init 0 = UInt32 7
  shown: exec user {SEES} with 0,4 4,4
  first: exec sumUInt32 with 0,4 0,4
  second: exec copyInt8 with 0,4 4,4
  first requires shown
  second requires first
}}"
    );
    let mut sources = SourceMap::default();
    sources.add("file.goal", Arc::new(text.into_bytes()));
    let program = parse(&sources, &ParseOptions::default()).program.expect("a valid program");
    let mut bytes = Vec::new();
    encode(&program, &EncodeOptions::default(), None, &mut bytes).unwrap();
    bytes
}

/// Checks that every run of a schedule with memory of its own starts with zeros and the initial
/// values. The runs use the instance of an earlier run, a second instance, and a communicator.
#[allow(unsafe_code)]
pub(crate) fn all(group: Group) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let shown = Arc::clone(&seen);
    group
        .register(SEES, move |a, b| {
            let number = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().unwrap());
            shown.lock().unwrap().push((number(a), number(b)));
        })
        .unwrap();
    let backwards: Vec<u32> = (0..group.size()).rev().collect();
    let other = group.communicator(group.world(), &backwards).unwrap();
    let runs = |communicator: &Communicator| {
        let load = |functions: &[u32]| {
            Schedule::load(file(group.size()), communicator, None, functions, "load")
        };
        let refused = load(&[SEES + 1]).map(drop).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Operation);
        assert_eq!(
            refused.to_string(),
            format!(
                "rank {}, action number 0 calls function {SEES}, and a file calls only what the program allows it to (GOAL_Allow_func)",
                communicator.rank()
            )
        );
        let schedule = load(&[SEES]).unwrap();
        // SAFETY: it works on memory of its own.
        let start = || unsafe { schedule.start(None) }.unwrap();
        let both = [start(), start()];
        both.into_iter().for_each(|run| raw::wait(run, "wait").unwrap());
        for _ in 0..3 {
            raw::wait(start(), "wait").unwrap();
        }
        std::mem::take(&mut *seen.lock().unwrap())
    };
    assert_eq!(runs(group.world()), [(7, 0); 5], "in the group");
    assert_eq!(runs(&other), [(7, 0); 5], "in a communicator");
}
