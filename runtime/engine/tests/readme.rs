//! The example in README.md is the one of the crate's documentation, which the doc tests run.

/// Returns the lines between the first line that is `fence` and the next "```".
fn fenced(text: &str, fence: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| *line != fence).skip(1);
    lines.take_while(|line| *line != "```").map(str::to_owned).collect()
}

/// Returns the documentation at the beginning of a source file, as rustdoc shows it: without the
/// marks of comments, and without the hidden lines of examples.
fn documentation(source: &str) -> String {
    let comments = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines = comments.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let shown: Vec<&str> = lines.filter(|line| *line != "#" && !line.starts_with("# ")).collect();
    shown.join("\n")
}

#[test]
fn readme_shows_the_example_of_the_crate() {
    let shown = fenced(include_str!("../../../README.md"), "```rust");
    let tested = fenced(&documentation(include_str!("../src/lib.rs")), "```");
    assert!(!tested.is_empty(), "src/lib.rs begins with documentation that has an example");
    assert_eq!(shown, tested, "left: README.md, right: runtime/engine/src/lib.rs");
}
