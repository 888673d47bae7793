//! The limits of pictures. A diagram above one of them is summed up.

/// Most shapes that are drawn one by one.
pub(crate) const SHAPES_MAX: usize = 2500;

/// Most rows of shapes, of all lanes together.
pub(crate) const ROWS_MAX: usize = 256;

/// Most columns of shapes in a picture by steps. More would be narrower than 4 units.
pub(crate) const COLUMNS_MAX: usize = 280;

/// Most groups of ranks in a summary.
pub(crate) const GROUPS_MAX: usize = 32;

/// Bins of time of a group. Half of them are in use once the second half was needed.
pub(crate) const BINS: usize = 256;

/// Most characters of a label in a picture. A label may be any text.
pub(crate) const LABEL_CHARS_MAX: usize = 40;

/// Most characters of a title, and of a line of text in a picture.
pub(crate) const LINE_CHARS_MAX: usize = 160;

/// Most findings that a picture tells.
pub(crate) const FINDINGS_MAX: usize = 4;

/// Most ranks that a summary names for one reason.
pub(crate) const OUTLIERS_MAX: usize = 3;

/// Most slices that are read of a trace. Each takes some 100 bytes.
pub(crate) const SLICES_MAX: usize = 1 << 22;

/// Most ranks of a trace.
pub(crate) const TRACE_RANKS_MAX: u32 = 1 << 20;
