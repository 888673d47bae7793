//! An instance that is run through a sliding window over its section (paper III.D, Theorem 3).
//!
//! Only the actions of the window are in memory. Released dependencies of later actions are counted
//! in the table H[a] -> f of the theorem's proof, and subtracted when the action enters the window.
//! On a schedule in windows (Theorem 4) the table has at most as many entries as a window.

use super::actions::ActionQueue;
use super::code::{Code, Home};
use super::ids::{Action, ActionRef, InstanceKey};
use super::step::ACTIONS_PER_POLL;
use super::storage::Storage;
use super::{Cause, Core, Engine};
use crate::seed::Seed;
use crate::transport::Transport;
use goal_asm::nisa::{
    Chunk, Offsets, Operation, ReadAt, Record, SectionPlace, SectionStream, StreamError,
    StreamLimits, Streamed,
};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// One rank's schedule in a file, to be run through a window.
#[derive(Debug, Clone)]
pub struct Windowed {
    /// The file's bytes.
    pub file: Arc<dyn ReadAt>,
    /// The place of the rank's section in it.
    pub place: SectionPlace,
    /// Bytes of the rank's memory.
    pub memory: u64,
    /// Actions of the window, at least 1.
    pub size: u32,
    /// Limits on reading ahead.
    pub limits: StreamLimits,
}

/// The figures of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowStats {
    /// Most entries of the table of actions that were released before they entered the window.
    pub table_max: u64,
    /// Receives that have entered the window.
    pub receives: u64,
    /// True if an action that stores the time has entered it.
    pub stores_time: bool,
}

/// The layout of the words that describe a window to other code: the number of its oldest action,
/// the number after its newest, one bit per place, set if the action there has ended, and one
/// offset per place. An action's place is its number modulo the window's size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Board {
    size: u64,
}

impl Board {
    /// The board of a window of `size` actions.
    pub(super) fn new(size: u32) -> Self {
        Self { size: size.into() }
    }

    /// The number of words.
    pub(super) fn words(self) -> usize {
        self.offset_word(0) + self.size as usize
    }

    /// The numbers of the actions in the window.
    pub(super) fn numbers(self, words: &[u64]) -> std::ops::Range<u64> {
        words[0]..words[1]
    }

    /// The index of a numbered action's counter.
    #[inline]
    pub(super) fn place(self, number: u64) -> usize {
        (number % self.size) as usize
    }

    /// The offset of a numbered action in the section.
    #[inline]
    pub(super) fn offset(self, words: &[u64], number: u64) -> u32 {
        words[self.offset_word(self.place(number))] as u32
    }

    /// Returns true if a numbered action has ended.
    #[inline]
    pub(super) fn has_ended(self, words: &[u64], number: u64) -> bool {
        let place = self.place(number);
        words[2 + place / 64] >> (place % 64) & 1 != 0
    }

    #[inline]
    fn offset_word(self, place: usize) -> usize {
        2 + (self.size as usize).div_ceil(64) + place
    }

    fn add(self, words: &mut [u64], offset: u32) -> usize {
        let place = self.place(words[1]);
        words[2 + place / 64] &= !(1 << (place % 64));
        words[self.offset_word(place)] = offset.into();
        words[1] += 1;
        place
    }

    /// Marks an action as ended, and moves the start of the window past ended actions.
    #[inline]
    fn mark_ended(self, words: &mut [u64], number: u64) {
        let place = self.place(number);
        words[2 + place / 64] |= 1 << (place % 64);
        while words[0] < words[1] && self.has_ended(words, words[0]) {
            words[0] += 1;
        }
    }

    /// Returns the number of the action at an offset, if it is in the window. A binary search, as
    /// offsets ascend.
    #[inline]
    fn find(self, words: &[u64], offset: u32) -> Option<u64> {
        let (mut low, mut high) = (words[0], words[1]);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.offset(words, middle) < offset { low = middle + 1 } else { high = middle }
        }
        (low < words[1] && self.offset(words, low) == offset).then_some(low)
    }
}

#[derive(Debug)]
pub(super) struct Window {
    stream: SectionStream,
    /// True if the end of the section was reached.
    is_read: bool,
    /// The offset of the newest action, plus 1.
    end: u32,
    board: Board,
    /// The chunks that contain the actions of the window, in order.
    chunks: VecDeque<Arc<Chunk>>,
    /// The number of met dependencies of actions after the window, by offset.
    table: HashMap<u32, u16, Seed>,
    stats: WindowStats,
}

impl Window {
    pub(super) fn new(
        windowed: &Windowed,
        storage: &mut Storage<'_>,
        seed: Seed,
    ) -> Result<Self, StreamError> {
        let board = Board::new(windowed.size);
        storage.home.counters.as_mut_slice()[..windowed.size as usize].fill(0);
        storage.home.finished.as_mut_slice()[..board.words()].fill(0);
        Ok(Self {
            stream: SectionStream::new(
                Arc::clone(&windowed.file),
                windowed.place,
                windowed.limits,
            )?,
            is_read: false,
            end: 0,
            board,
            chunks: VecDeque::new(),
            table: HashMap::with_hasher(seed),
            stats: WindowStats::default(),
        })
    }

    pub(super) fn stats(&self) -> WindowStats {
        self.stats
    }

    #[inline]
    pub(super) fn record(&self, action: Action) -> Record<'_> {
        self.chunk(action).record(action.0)
    }

    #[inline]
    fn chunk(&self, action: Action) -> &Arc<Chunk> {
        let behind = self.chunks.partition_point(|chunk| chunk.start() <= action.0);
        &self.chunks[behind - 1]
    }

    pub(super) fn number(&self, home: &Home, action: Action) -> Option<u64> {
        self.board.find(home.finished.as_slice(), action.0)
    }

    /// Adds actions to the window while it has room. An error is the offset at which the section is
    /// not valid, and the cause.
    fn fill(&mut self, queue: &mut ActionQueue<'_>) -> Result<(), (Action, Cause)> {
        while !self.is_read {
            let numbers = self.board.numbers(queue.home.finished.as_slice());
            if numbers.end - numbers.start == self.board.size {
                return Ok(());
            }
            let next = self
                .stream
                .next()
                .map_err(|error| (Action(self.end), Cause::Schedule(error.to_string())))?;
            let Some(Streamed { offset, chunk }) = next else {
                self.is_read = true;
                return Ok(());
            };
            let record = chunk.record(offset);
            match record.operation() {
                Operation::Recv { .. } => self.stats.receives += 1,
                Operation::Wtime { .. } => self.stats.stores_time = true,
                _ => {}
            }
            let place = self.board.add(queue.home.finished.as_mut_slice(), offset);
            let counter = record.sources - self.table.remove(&offset).unwrap_or(0);
            queue.home.counters.as_mut_slice()[place] = counter;
            if counter == 0 {
                queue.actions.ready.push(queue.heap, Action(offset));
            }
            self.end = offset + 1;
            if self.chunks.back().is_none_or(|last| !Arc::ptr_eq(last, &chunk)) {
                self.chunks.push_back(chunk);
            }
        }
        Ok(())
    }

    fn release(&mut self, queue: &mut ActionQueue<'_>, dependents: Offsets<'_>) {
        for offset in dependents.iter() {
            if offset >= self.end {
                *self.table.entry(offset).or_insert(0) += 1;
                continue;
            }
            let number = self
                .board
                .find(queue.home.finished.as_slice(), offset)
                .expect("it waits in the window");
            let counter = &mut queue.home.counters.as_mut_slice()[self.board.place(number)];
            *counter -= 1;
            if *counter == 0 {
                queue.actions.ready.push(queue.heap, Action(offset));
            }
        }
        self.stats.table_max = self.stats.table_max.max(self.table.len() as u64);
    }

    /// Finishes an action: releases its dependents, and adds actions to the window.
    fn finish(
        &mut self,
        queue: &mut ActionQueue<'_>,
        action: Action,
        record: &Record<'_>,
    ) -> Result<(), (Action, Cause)> {
        self.release(queue, record.dependents);
        let words = queue.home.finished.as_mut_slice();
        let number = self.board.find(words, action.0).expect("it was in the window");
        self.board.mark_ended(words, number);
        queue.actions.unfinished -= 1;
        let numbers = self.board.numbers(words);
        let oldest =
            if numbers.is_empty() { self.end } else { self.board.offset(words, numbers.start) };
        while self.chunks.get(1).is_some_and(|chunk| chunk.start() <= oldest) {
            self.chunks.pop_front();
        }
        self.fill(queue)
    }
}

impl<T: Transport> Engine<'_, T> {
    /// Runs an instance in a window for a bounded number of actions. Returns true if it made
    /// progress.
    #[inline(never)]
    pub(super) fn run_in_window(&mut self, key: InstanceKey, now_ns: u64) -> bool {
        let Self { transport, core, codes, .. } = self;
        let heap = &core.heap();
        let code = core.held.instances.get(heap, key).code as usize;
        let was_finished = core.held.instances.get(heap, key).actions.is_finished();
        let ready = core.held.instances.get(heap, key).actions.ready.len();
        core.held.stats.ready_max = core.held.stats.ready_max.max(ready);
        let mut actions = 0;
        if !was_finished {
            core.in_window(&mut codes[code], key, |window, queue| match window.end {
                0 => window.fill(queue),
                _ => Ok(()),
            });
        }
        while actions < ACTIONS_PER_POLL && !core.held.has_failed() {
            let Code::Window(window) = &mut codes[code] else { unreachable!("it has a window") };
            let mut queue = core.queue(heap, key);
            if let Some(action) = queue.actions.ended.pop(heap) {
                actions += 1;
                let chunk = Arc::clone(window.chunk(action));
                core.in_window(&mut codes[code], key, |window, queue| {
                    window.finish(queue, action, &chunk.record(action.0))
                });
                continue;
            }
            let Some(action) = queue.actions.ready.pop(heap) else { break };
            actions += 1;
            let chunk = Arc::clone(window.chunk(action));
            let record = chunk.record(action.0);
            window.release(&mut queue, record.start_dependents);
            if core.start_action(transport, codes, key, action, &record, now_ns) {
                core.note_end(ActionRef { instance: key, action });
                core.in_window(&mut codes[code], key, |window, queue| {
                    window.finish(queue, action, &record)
                });
            }
        }
        core.end_run(key, 0, was_finished);
        actions > 0
    }
}

impl Core {
    /// Calls `work` with the window of an instance. An error in the section ends the job.
    fn in_window(
        &mut self,
        code: &mut Code,
        key: InstanceKey,
        work: impl FnOnce(&mut Window, &mut ActionQueue<'_>) -> Result<(), (Action, Cause)>,
    ) {
        let heap = &self.heap();
        let Code::Window(window) = code else { unreachable!("it has a window") };
        if let Err((action, cause)) = work(window, &mut self.queue(heap, key)) {
            let number = window.number(&self.homes[key.index()], action);
            let failure = self.held.instances.get(heap, key).failure(action, number, cause);
            self.held.fail(heap, &failure);
        }
    }
}
