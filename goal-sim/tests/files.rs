//! The cases of `tests/cases/goal-sim`.

use std::path::Path;

fn main() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/goal-sim");
    goal_filetest::run(&cases, &[env!("CARGO_BIN_EXE_goal-sim")]);
}
