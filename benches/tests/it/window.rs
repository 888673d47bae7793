//! A schedule that is larger than the memory of its cgroup runs in a window, and not without one.

use std::process::Command;

#[test]
fn two_million_actions_run_in_16_mebibytes() {
    let output = Command::new(env!("CARGO_BIN_EXE_goal-bench"))
        .args(["window", "--actions", "1000000", "--limit", "16M"])
        .output()
        .expect("goal-bench starts");
    let (text, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() && text.is_empty() {
        let allowed = [
            "Permission denied",
            "Read-only file system",
            "No such file",
            "no cgroups",
            "is missing",
        ];
        assert!(allowed.iter().any(|cause| error.contains(cause)), "{error}");
        return goal_filetest::skipped(error.trim_end());
    }
    assert!(output.status.success(), "{text}{error}");
    let row = |name: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("| {name}")))
            .expect("a row of the table");
        line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    let number = |cell: &str| cell.parse::<u64>().expect("a number");
    let (window, whole) = (row("--window 64"), row("whole"));
    assert_eq!(window[2], "ok", "{text}");
    assert!(number(&window[4]) < 8 << 20, "{text}");
    // Only the dummy behind the window can be released before it enters.
    assert!(number(&window[6]) <= 1, "{text}");
    assert_ne!(whole[2], "ok", "{text}");
}
