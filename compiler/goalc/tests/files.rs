//! The cases of `tests/cases/goalc`.

use std::path::Path;

fn main() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/goalc");
    goal_filetest::run(&cases, &[env!("CARGO_BIN_EXE_goalc")]);
}
