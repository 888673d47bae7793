//! Writes a LogGOPSim binary one rank at a time.

use super::write::{WriteError, body_length, max_of, write_body, write_outline};
use super::{ENTRY_SIZE, HEADER_SIZE};
use goal_lang::{Action, Body, Placement};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

/// A LogGOPSim binary to which ranks are added in order. It becomes the file that
/// [`write`](super::write()) makes of the whole program. The table of ranks is written at the end,
/// and has eight bytes for each rank in memory until then.
pub struct RankWriter<W: Write + Seek> {
    out: BufWriter<W>,
    num_ranks: u32,
    /// The lengths of the ranks so far.
    lengths: Vec<u64>,
    placement_max: Placement,
}

/// The bytes of a file that are gathered before they are written.
const BUFFER_SIZE: usize = 256 << 10;

impl<W: Write + Seek> RankWriter<W> {
    /// Begins a file of `num_ranks` ranks at the start of `out`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W, num_ranks: u32) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(BUFFER_SIZE, out);
        let room = HEADER_SIZE as u64 + ENTRY_SIZE as u64 * u64::from(num_ranks);
        io::copy(&mut io::Read::take(io::repeat(0), room), &mut out)?;
        Ok(Self { out, num_ranks, lengths: Vec::new(), placement_max: Placement::default() })
    }

    /// Adds the next rank.
    ///
    /// # Errors
    /// Those of [`write`](super::write()).
    ///
    /// # Panics
    /// If the file has all of its ranks.
    pub fn rank(&mut self, body: &Body) -> Result<(), WriteError> {
        let rank = self.lengths.len() as u32;
        assert!(rank < self.num_ranks, "more ranks than the file has");
        self.placement_max =
            body.actions.iter().map(Action::placement).fold(self.placement_max, max_of);
        self.lengths.push(body_length(body));
        write_body(body, rank, &mut self.out)
    }

    /// Writes what precedes the ranks, and returns the writer.
    ///
    /// # Errors
    /// Those of `out`.
    ///
    /// # Panics
    /// If a rank was not added.
    pub fn finish(mut self) -> io::Result<W> {
        assert_eq!(self.lengths.len(), self.num_ranks as usize, "ranks are missing");
        self.out.seek(SeekFrom::Start(0))?;
        write_outline(&mut self.out, self.placement_max, self.lengths.iter().copied())?;
        let mut out = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        out.seek(SeekFrom::End(0))?;
        Ok(out)
    }
}
