//! Runs the fuzz harnesses over the corpus: its frames and chunks must be accepted.

use std::path::Path;

fn all_accepted(target: &str, accept: fn(&[u8]) -> bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(accept(&std::fs::read(&path).unwrap()), "{} is not accepted", path.display());
        count += 1;
    }
    assert!(count > 0, "there is no corpus of {target}");
}

#[test]
fn frames() {
    all_accepted("frame", goal_esp::harness::frame);
}

#[test]
fn chunks() {
    all_accepted("chunk", goal_esp::harness::chunk);
}
