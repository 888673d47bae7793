//! Checks that the two documents that everyone reads first stay short.

use crate::{read, root};

/// The most lines of `README.md`.
const README_LINES_MAX: usize = 120;
/// The most bytes of `ARCHITECTURE.md`.
const ARCHITECTURE_BYTES_MAX: usize = 15 * 1024;

#[test]
fn first_documents_stay_short() {
    let lines = read(&root().join("README.md")).lines().count();
    assert!(lines <= README_LINES_MAX, "README.md has {lines} lines of {README_LINES_MAX}");
    let bytes = read(&root().join("ARCHITECTURE.md")).len();
    let max = ARCHITECTURE_BYTES_MAX;
    assert!(bytes <= max, "ARCHITECTURE.md has {bytes} bytes of {max}");
}
