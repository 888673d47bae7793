//! The reasons why there is no picture.

use goal_opt::whole::TooLarge;

/// The reason why something is not drawn.
#[derive(Debug, thiserror::Error)]
pub enum DrawError {
    /// The program has too many actions.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A rank that is asked for is not there.
    #[error("there is no rank {rank}: ranks are 0 to {last}")]
    NoRank {
        /// The rank.
        rank: u32,
        /// The last rank.
        last: u32,
    },
    /// The text is no trace.
    #[error("no trace in the form of Chrome's trace events: {0}")]
    NoTrace(String),
    /// A trace is too large.
    #[error("the trace has more than {} slices", crate::limits::SLICES_MAX)]
    LongTrace,
    /// A PNG needs a font.
    #[error("no font is installed for a PNG: install one, as fonts-dejavu-core, or write SVG")]
    NoFont,
    /// The picture has no bitmap.
    #[error("the picture is no bitmap: {0}")]
    NoBitmap(String),
}
