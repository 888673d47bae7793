//! The programs in `docs/library.md` compile and run as it says.

use std::fs;
use std::process::Command;

/// Returns the first fenced block of a language.
fn block<'a>(text: &'a str, language: &str) -> &'a str {
    let start = format!("```{language}\n");
    let block = text.split(&start).nth(1).and_then(|rest| rest.split("```").next());
    block.unwrap_or_else(|| panic!("the guide has no block in {language}"))
}

#[test]
fn programs_of_the_guide_run() {
    if crate::support::lacks(&["gcc", "g++", "pkg-config"]) {
        return;
    }
    let guide = crate::support::folder().join("../../docs/library.md");
    let guide = fs::read_to_string(guide).expect("there is a guide");
    let goal_run = crate::support::installed("goal-run");
    let folder = tempfile::tempdir().expect("there is room");
    let bin = goal_run.parent().expect("a folder").display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    for (language, file, program) in [("c", "sum.c", "./sum"), ("cpp", "sum.cpp", "./sum-cpp")] {
        fs::write(folder.path().join(file), block(&guide, language)).expect("there is room");
        let run = |command: &mut Command| {
            let done = command.current_dir(&folder).env("PATH", &path).output().expect("it runs");
            let (out, err) =
                (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
            assert!(done.status.success(), "{file}: {out}{err}");
            out.into_owned()
        };
        run(Command::new(crate::support::folder().join("tests/bin/build")).arg(file));
        let out = run(Command::new(&goal_run).args(["-n", "4", program]));
        assert!(guide.contains(&format!("\n{out}")), "the guide lacks the output `{out}`");
    }
}
