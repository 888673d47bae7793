//! The table of decisions of this process: which algorithm a collective takes.

use crate::error::{Error, ErrorCode, Result};
use goal_collectives::Table;
use std::sync::OnceLock;

/// The variable with the path of a table of decisions.
const TABLE: &str = "GOAL_TABLE";

static DECISIONS: OnceLock<Table> = OnceLock::new();
static PUBLISHED: OnceLock<Table> = OnceLock::new();

/// The table of decisions of this process.
pub(crate) fn decisions() -> &'static Table {
    DECISIONS.get().unwrap_or_else(published)
}

/// The table of the thresholds that publications state.
pub(crate) fn published() -> &'static Table {
    PUBLISHED.get_or_init(Table::published)
}

/// Reads the table of decisions that the environment names, if it names one. All ranks must have
/// the same one.
///
/// Threat: the starter of the process chooses the file. It is text that is parsed by a library, it
/// can name only algorithms that there are, and each of them is right.
///
/// # Errors
/// The file can't be read, or is no table.
pub(crate) fn read_table() -> Result<()> {
    let Some(path) = std::env::var_os(TABLE) else { return Ok(()) };
    let refused = |why: String| {
        let text = format!("{TABLE}: {}: {why}", path.display());
        Error::new(ErrorCode::File, text)
    };
    let text = std::fs::read_to_string(&path).map_err(|error| refused(error.to_string()))?;
    let table = Table::parse(&text).map_err(|error| refused(error.to_string()))?;
    let _ = DECISIONS.set(table);
    Ok(())
}
