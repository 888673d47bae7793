//! Memory for schedules in tests, and short ways to them.
#![allow(unsafe_code, missing_docs)] // regions over the vectors that hold the ranks' memory

use crate::memory::{Cells, Region, Zeroed};
use crate::{Schedule, Storage};
use goal_asm::{EncodeOptions, Nisa, encode};
use goal_lang::limits::Limits;
use goal_lang::{Bytes, ParseOptions, Program, SourceMap, parse};
use std::sync::Arc;

/// Room for the state of an engine.
pub fn state() -> Zeroed {
    Zeroed::new(1 << 30)
}

pub fn program(text: &str) -> Program {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    parse(&sources, &ParseOptions::default()).program.expect("a valid program")
}

pub fn nisa(program: &Program) -> Arc<Nisa> {
    let mut bytes = Vec::new();
    encode(program, &EncodeOptions::default(), None, &mut bytes).expect("the program fits");
    let bytes: Bytes = Arc::new(bytes);
    Arc::new(Nisa::load(bytes, &Limits::default()).expect("what was encoded verifies"))
}

/// What one rank's instance works on. The vectors are never resized.
pub struct Held {
    pub memory: Vec<u8>,
    pub scratch: Vec<u8>,
    pub counters: Vec<u16>,
    pub finished: Vec<u64>,
    pub matches: Vec<u64>,
}

impl Held {
    pub fn new(schedule: &Schedule) -> Self {
        let (nisa, rank) = (schedule.nisa(), schedule.rank());
        let sizes = schedule.state_sizes();
        let mut memory = vec![0; nisa.memory_size(rank) as usize];
        for value in nisa.image(rank).into_iter().flat_map(|image| image.init) {
            memory[value.addr as usize..][..value.bytes.len()].copy_from_slice(value.bytes);
        }
        Self {
            memory,
            scratch: vec![0; nisa.scratch_size(rank) as usize],
            counters: vec![0; sizes.counters],
            finished: vec![0; sizes.finished],
            matches: vec![0; sizes.matches],
        }
    }

    pub fn storage(&mut self) -> Storage {
        // SAFETY: tests keep `self` until the instance has been finished and look at it only then.
        unsafe {
            Storage {
                memory: Region::new(self.memory.as_mut_ptr(), self.memory.len()),
                scratch: Region::new(self.scratch.as_mut_ptr(), self.scratch.len()),
                counters: Cells::new(self.counters.as_mut_ptr(), self.counters.len()),
                finished: Cells::new(self.finished.as_mut_ptr(), self.finished.len()),
                matches: Some(Cells::new(self.matches.as_mut_ptr(), self.matches.len())),
            }
        }
    }
}

/// What the programs call as `user 1`.
pub fn add_bytes(a: &mut [u8], b: &mut [u8]) {
    a.iter().zip(b).for_each(|(a, b)| *b = b.wrapping_add(*a));
}
