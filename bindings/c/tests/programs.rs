//! Programs in C and C++ that use the library: each file in `tests/c/` is a test, with its expected
//! output beside it. The library is installed, and found by pkg-config, as by its users.

mod support;

fn main() {
    if support::lacks(&["gcc", "g++", "pkg-config"]) {
        return;
    }
    let folder = support::folder();
    let [build, goal_run] = [folder.join("tests/bin/build"), support::installed("goal-run")];
    let found = [build.to_str(), goal_run.to_str()].map(|path| path.expect("a name in UTF-8"));
    goal_filetest::run(&folder.join("tests/c"), &found)
}
