//! An instance that is run through a sliding window over its section (paper III.D, Theorem 3).
//!
//! Only the actions of the window are in memory. Released dependencies of later actions are counted
//! in the table H[a] -> f of the theorem's proof, and subtracted when the action enters the window.
//! On a schedule in windows (Theorem 4) the table has at most as many entries as a window.

use super::actions::ActionQueue;
use super::board::WindowState;
use super::error::Cause;
use super::home::Home;
use super::ids::Action;
use crate::seed::Seed;
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
    /// The place of the rank's section in the file.
    pub place: SectionPlace,
    /// Bytes of the rank's memory.
    pub memory: u64,
    /// The number of actions of the window, at least 1.
    pub size: u32,
    /// Limits on reading ahead.
    pub limits: StreamLimits,
}

/// The figures of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowStats {
    /// The most entries at a time of the table of actions that were released before they entered
    /// the window.
    pub table_max: u64,
    /// The number of receives that have entered the window.
    pub receives: u64,
    /// True if an action that stores the time has entered the window.
    pub stores_time: bool,
}

#[derive(Debug)]
pub(super) struct Window {
    stream: SectionStream,
    /// True if the end of the section was reached.
    is_read: bool,
    /// The offset of the newest action, plus 1.
    pub(super) end: u32,
    board: WindowState,
    /// The chunks that contain the actions of the window, in order.
    chunks: VecDeque<Arc<Chunk>>,
    /// The number of met dependencies of actions after the window, by offset.
    table: HashMap<u32, u16, Seed>,
    /// An offset within the window at which a dependency ends but no action begins; `None` if there
    /// is none so far.
    stray: Option<u32>,
    stats: WindowStats,
}

impl Window {
    pub(super) fn new(
        windowed: &Windowed,
        home: &mut Home,
        seed: Seed,
    ) -> Result<Self, StreamError> {
        let board = WindowState::new(windowed.size);
        home.counters.as_mut_slice()[..windowed.size as usize].fill(0);
        home.finished.as_mut_slice()[..board.words()].fill(0);
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
            stray: None,
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
    pub(super) fn chunk(&self, action: Action) -> &Arc<Chunk> {
        let behind = self.chunks.partition_point(|chunk| chunk.start() <= action.0);
        &self.chunks[behind - 1]
    }

    pub(super) fn number(&self, home: &Home, action: Action) -> Option<u64> {
        self.board.find(home.finished.as_slice(), action.0)
    }

    /// Adds actions to the window while it has room. If the section can't be read or is not valid,
    /// returns the offset and the cause.
    pub(super) fn fill(&mut self, queue: &mut ActionQueue<'_>) -> Result<(), (Action, Cause)> {
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

    pub(super) fn release(&mut self, queue: &mut ActionQueue<'_>, dependents: Offsets<'_>) {
        for offset in dependents.iter() {
            if offset >= self.end {
                *self.table.entry(offset).or_insert(0) += 1;
                continue;
            }
            let Some(number) = self.board.find(queue.home.finished.as_slice(), offset) else {
                // The file is damaged. The stream would report this only at the end of the section.
                self.stray = Some(offset);
                continue;
            };
            let counter = &mut queue.home.counters.as_mut_slice()[self.board.place(number)];
            *counter -= 1;
            if *counter == 0 {
                queue.actions.ready.push(queue.heap, Action(offset));
            }
        }
        self.stats.table_max = self.stats.table_max.max(self.table.len() as u64);
    }

    /// Finishes an action: releases its dependents, and adds actions to the window.
    pub(super) fn finish(
        &mut self,
        queue: &mut ActionQueue<'_>,
        action: Action,
        record: &Record<'_>,
    ) -> Result<(), (Action, Cause)> {
        self.release(queue, record.dependents);
        if let Some(stray) = self.stray {
            let why = "a dependency ends here, where no action begins";
            return Err((Action(stray), Cause::Schedule(why.to_owned())));
        }
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
