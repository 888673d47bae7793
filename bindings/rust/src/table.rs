//! Reads the table of decisions of this process. The table selects the algorithm of a collective.

use crate::error::{Error, ErrorCode, Result};
use crate::file;
use goal_collectives::Table;
use goal_job::limits::TABLE_BYTES_MAX;
use goal_job::rights::are_of_file;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

/// The environment variable with the path of a table of decisions.
pub(crate) const VARIABLE: &str = "GOAL_TABLE";

static DECISIONS: OnceLock<Table> = OnceLock::new();
static PUBLISHED: OnceLock<Table> = OnceLock::new();

/// Returns the table of decisions of this process: the one that was read, or the published one.
pub(crate) fn decisions() -> &'static Table {
    DECISIONS.get().unwrap_or_else(published)
}

/// Returns the table of the thresholds that publications state.
pub(crate) fn published() -> &'static Table {
    PUBLISHED.get_or_init(Table::published)
}

/// Reads the table of decisions that the environment names, if it names one. Returns a hash of the
/// rules, by which ranks check that all have the same rules.
///
/// Threat: the starter of the process chooses the file. It is text that a library parses. It can
/// name only algorithms that exist, and each of them is correct. The file must be a regular file of
/// at most [`TABLE_BYTES_MAX`] bytes ([`file`]). A process with more rights than its starter reads
/// no file that the environment names.
///
/// # Errors
/// The file can't be read, or is no table.
pub(crate) fn read() -> Result<u64> {
    let Some(path) = std::env::var_os(VARIABLE).filter(|_| !are_of_file()) else {
        return Ok(digest_of(published()));
    };
    let refused = |why: String| {
        let text = format!("{VARIABLE}: {}: {why}", path.display());
        Error::new(ErrorCode::File, text)
    };
    let text = text_of(path.as_ref()).map_err(|error| refused(error.to_string()))?;
    let table = Table::parse(&text).map_err(|error| refused(error.to_string()))?;
    let digest = digest_of(&table);
    let _ = DECISIONS.set(table);
    Ok(digest)
}

fn digest_of(table: &Table) -> u64 {
    FxBuildHasher.hash_one(format!("{:?}", table.rules))
}

fn text_of(path: &Path) -> io::Result<String> {
    String::from_utf8(file::read(path, b"", TABLE_BYTES_MAX)?).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_with_other_rules_have_other_digests() {
        let table = Table::published();
        let (mut named, mut short) = (table.clone(), table.clone());
        named.measured.push('.');
        short.rules.pop();
        assert_eq!(digest_of(&table), digest_of(&named));
        assert_ne!(digest_of(&table), digest_of(&short));
    }
}
