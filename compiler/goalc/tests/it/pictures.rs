//! The pictures of `docs/` that commands draw are those that the commands draw today.
//!
//! `GOAL_BLESS=1` draws them anew. Look at them before you commit them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The pictures: a file in `docs/pictures`, the program, and the options of `goalc draw`. A program
/// of a page is its first block in the language.
const PICTURES: [(&str, &str, &str); 5] = [
    // The tests of goal-sim compare this one with `goal-sim --timeline`.
    ("allreduce.svg", "tests/cases/goal-sim/files/allreduce.goal", "--by sim --no-critical-path"),
    ("deadlock.svg", "docs/pictures/programs/deadlock.goal", ""),
    ("draw.svg", "examples/allreduce-ring.goal", ""),
    ("language.svg", "docs/language.md", "--dependencies"),
    ("large.svg", "docs/pictures/programs/large.goal", "--by sim"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the first block of a page in the language.
fn first_block(page: &str) -> &str {
    let (_, block) = page.split_once("```goal\n").expect("a block");
    block.split_once("```").expect("the end of the block").0
}

#[test]
fn pictures_are_drawn_by_their_commands() {
    let bless = std::env::var_os("GOAL_BLESS").is_some();
    let folder = tempfile::tempdir().expect("a folder");
    for (picture, program, options) in PICTURES {
        let program = root().join(program);
        let text = fs::read_to_string(&program).expect("the program is there");
        let is_page = program.extension().is_some_and(|extension| extension == "md");
        let text = if is_page { first_block(&text) } else { &text };
        // The name is a part of the picture.
        let name =
            if is_page { "sum.goal".into() } else { program.file_name().unwrap().to_owned() };
        fs::write(folder.path().join(&name), text).expect("a file");
        let drawn = Command::new(env!("CARGO_BIN_EXE_goalc"))
            .current_dir(folder.path())
            .arg("draw")
            .arg(&name)
            .args(["-o", "-"])
            .args(options.split_whitespace())
            .output()
            .expect("goalc starts");
        assert!(drawn.status.success(), "{picture}: {}", String::from_utf8_lossy(&drawn.stderr));
        let path = root().join("docs/pictures").join(picture);
        if bless {
            fs::write(&path, &drawn.stdout).expect("the picture is written");
        }
        let committed = fs::read(&path).unwrap_or_default();
        assert!(
            committed == drawn.stdout,
            "`GOAL_BLESS=1 cargo test -p goalc --test it pictures` draws {picture}"
        );
    }
}
