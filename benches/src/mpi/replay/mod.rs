//! Replays the messages of a program twice: as a schedule, and by calls of MPI in a sequence that
//! the program allows.
//!
//! Messages of one peer, size and direction share a buffer, unless they are under way together.
//! Before a send, the rank adds the last message that it received in that size to its operand. This
//! stands in for the computation that would read and write the buffers.

mod expected;
mod sequence;

use super::operands::{Line, holds, write_block};
use goal_lang::Program;
use goalc::driver::{Options, load_program};
use sequence::{Part, Step};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// A program with its buffers.
pub(crate) struct Replay {
    /// The schedule.
    pub(crate) program: Program,
    parts: Vec<Part>,
    /// The values of each rank's buffers at the end.
    expected: Vec<Vec<Line>>,
}

impl Replay {
    /// Reads a program and gives its messages buffers.
    ///
    /// # Errors
    /// The program can't be read, or has actions that can't be replayed by MPI.
    pub(crate) fn load(path: &Path) -> io::Result<Self> {
        let loaded = load_program(&[path.to_owned()], &Options::default());
        let loaded = loaded.map_err(io::Error::other)?.program;
        let (program, parts) = sequence::sequences(&loaded).map_err(io::Error::other)?;
        let expected = expected::at_end(&parts).map_err(io::Error::other)?;
        Ok(Self { program, parts, expected })
    }

    pub(crate) fn ranks(&self) -> u32 {
        self.parts.len() as u32
    }

    /// Writes the initial values of a rank's buffers into its memory.
    pub(crate) fn write(&self, rank: u32, memory: &mut [u8]) {
        for (number, buffer) in (0..).zip(&self.parts[rank as usize].buffers) {
            write_block(buffer.words_mut(memory), expected::initial(rank, number));
        }
    }

    /// Reads a rank's buffers.
    ///
    /// # Errors
    /// They do not hold what they should at the end.
    pub(crate) fn check(&self, rank: u32, memory: &[u8]) -> io::Result<()> {
        let buffers = self.parts[rank as usize].buffers.iter();
        let mut right = true;
        for (buffer, &line) in buffers.zip(&self.expected[rank as usize]) {
            right &= holds(buffer.words(memory), line);
        }
        if right { Ok(()) } else { Err(io::Error::other("wrong result of the replay")) }
    }

    /// Returns the sequences of all ranks as the peer's program reads them.
    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        for (rank, part) in (0..).zip(&self.parts) {
            let messages = part.messages;
            let _ = writeln!(text, "rank {rank} {} {messages} {}", part.bytes, part.buffers.len());
            for (number, buffer) in (0..).zip(&part.buffers) {
                let (first, last) = (
                    expected::initial(rank, number),
                    self.expected[rank as usize][number as usize],
                );
                let _ =
                    write!(text, "{} {} {} {} ", buffer.at, buffer.bytes, first.start, first.step);
                let _ = writeln!(text, "{} {}", last.start, last.step);
            }
            let _ = writeln!(text, "{}", part.steps.len());
            for step in &part.steps {
                let at = |buffer: usize| part.buffers[buffer].at;
                let _ = match *step {
                    Step::Add { to, from } => {
                        writeln!(text, "a {} {} {} 0", at(to), at(from), part.buffers[to].bytes)
                    }
                    Step::Send { buffer, peer, tag } => {
                        writeln!(
                            text,
                            "s {} {} {peer} {tag}",
                            at(buffer),
                            part.buffers[buffer].bytes
                        )
                    }
                    Step::Recv { buffer, peer, tag } => {
                        writeln!(
                            text,
                            "r {} {} {peer} {tag}",
                            at(buffer),
                            part.buffers[buffer].bytes
                        )
                    }
                    Step::Wait(message) => writeln!(text, "w {message} 0 0 0"),
                };
            }
        }
        text
    }
}
