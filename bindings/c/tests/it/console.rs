//! The console examples of README and `docs/`: each command runs, and prints what the page says.
//!
//! A block that begins with ```` ```console ```` holds commands, each after `$ `, with their
//! output. Words behind `console` say more: `needs TOOL` skips the block where the tool is missing,
//! and `no-run: REASON` is for what a test can't do. Times, rates and sizes may differ from those
//! of the page. A line `...` stands for the rest of the output.
use goal_filetest::timeout;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A block of a page.
struct Block {
    line: usize,
    /// The words behind the fence.
    info: String,
    lines: Vec<String>,
}

/// Returns the fenced blocks of a page.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(info), None) => {
                let (line, info) = (index + 1, info.to_owned());
                open = Some(Block { line, info, lines: Vec::new() });
            }
            (None, Some(block)) => block.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    blocks
}

/// Returns a line with a mark in place of each time, rate and size.
fn without_figures(line: &str) -> String {
    let kind = |word: &str| match word.trim_end_matches([',', ';', ')']) {
        "ns" | "us" | "ms" | "s" => Some("TIME"),
        "B/s" | "kB/s" | "MB/s" | "GB/s" | "TB/s" => Some("RATE"),
        "KiB" | "MiB" => Some("SIZE"),
        _ => None,
    };
    let words: Vec<&str> = line.trim_end().split(' ').collect();
    let mut shown = Vec::new();
    let mut index = 0;
    while let Some(&word) = words.get(index) {
        let is_number = word.trim_start_matches('(').parse::<f64>().is_ok();
        match words.get(index + 1).and_then(|unit| kind(unit)) {
            Some(kind) if is_number => {
                shown.push(kind);
                index += 1;
            }
            _ => shown.push(word),
        }
        index += 1;
    }
    shown.join(" ")
}

/// Returns true if a command printed what its page says.
fn is_as_told(told: &[String], printed: &str) -> bool {
    let mut printed = printed.lines().map(without_figures);
    for line in told {
        if line == "..." {
            return true;
        }
        if printed.next() != Some(without_figures(line)) {
            return false;
        }
    }
    printed.next().is_none()
}

/// Runs the commands of a block in a folder. Returns what is wrong.
fn faults(block: &Block, folder: &Path, search: &str) -> Vec<String> {
    let starts = block.lines.iter().enumerate().filter(|(_, line)| line.starts_with("$ "));
    let mut starts: Vec<usize> = starts.map(|(index, _)| index).collect();
    starts.push(block.lines.len());
    let mut faults = Vec::new();
    for pair in starts.windows(2) {
        let command = &block.lines[pair[0]][2..];
        let told = &block.lines[pair[0] + 1..pair[1]];
        // The installed binary stands for the one that Cargo would build.
        let line = command.replace("cargo run --release --bin goal-run -- ", "goal-run ");
        let mut shell = Command::new("timeout");
        shell.arg(timeout(100)).args(["sh", "-c", &format!("{line} 2>&1")]).current_dir(folder);
        shell.env("PATH", search);
        // By default Open MPI refuses to run as root. It also refuses to start more ranks than the
        // machine has processors.
        shell.envs(
            ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|name| (name, "1")),
        );
        shell.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        // All launchers of Open MPI share one folder by default. One that ends removes it, even if
        // another one starts. So these tests have a folder of their own.
        shell.env("OMPI_MCA_orte_tmpdir_base", folder);
        let output = shell.output().expect("there is `timeout`");
        let printed = String::from_utf8_lossy(&output.stdout);
        let is_right = match told {
            [] => output.status.success(),
            told => is_as_told(told, &printed),
        };
        if !is_right {
            faults.push(format!("line {}: $ {command}\n{printed}", block.line + pair[0] + 1));
        }
    }
    faults
}

/// Writes the files that the text of a page asks its readers to save.
fn prepare(root: &Path, folder: &Path) {
    symlink(root.join("examples"), folder.join("examples")).expect("a link");
    let deadlock = fs::read_to_string(root.join("docs/errors/deadlock.md")).expect("a page");
    let deadlock = blocks(&deadlock).into_iter().find(|block| block.info == "goal");
    let deadlock = deadlock.expect("an example").lines.join("\n");
    fs::write(folder.join("deadlock.goal"), deadlock).expect("a file");
}

#[test]
fn commands_print_what_the_pages_say() {
    if crate::support::lacks(&["timeout"]) {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = fs::canonicalize(root).expect("the project's folder");
    let pages = fs::read_dir(root.join("docs")).expect("pages").map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|suffix| suffix == "md"));
    let mut pages: Vec<PathBuf> = pages.chain([root.join("README.md")]).collect();
    pages.sort();
    let binaries = crate::support::installed("goalc");
    let binaries = binaries.parent().expect("a folder").display().to_string();
    let search = format!("{binaries}:{}", std::env::var("PATH").unwrap_or_default());
    let (mut ran, mut wrong) = (0, Vec::new());
    for path in pages {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a page");
        let folder = tempfile::tempdir().expect("a folder");
        prepare(&root, folder.path());
        for block in blocks(&text) {
            let has_commands = block.lines.iter().any(|line| line.trim_start().starts_with("$ "));
            let Some(words) = block.info.strip_prefix("console") else {
                if has_commands {
                    wrong.push(format!("{name}, line {}: commands in no console", block.line));
                }
                continue;
            };
            let words = words.trim();
            if let Some(reason) = words.strip_prefix("no-run: ") {
                assert!(reason.len() > 5, "{name}, line {}: a reason", block.line);
                continue;
            }
            if words.strip_prefix("needs ").is_some_and(|tool| crate::support::lacks(&[tool])) {
                continue;
            }
            ran += 1;
            let faults = faults(&block, folder.path(), &search);
            wrong.extend(faults.into_iter().map(|fault| format!("{name}, {fault}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(ran > 8, "{ran} blocks ran");
}

#[test]
fn figures_may_differ_and_nothing_else() {
    let told = ["2 ranks: 4 bytes, 115.0 us, 34.78 kB/s".to_owned(), "...".to_owned()];
    assert!(is_as_told(&told, "2 ranks: 4 bytes, 9.1 ms, 1.2 MB/s\nmore\n"));
    assert!(!is_as_told(&told, "2 ranks: 5 bytes, 9.1 ms, 1.2 MB/s\nmore\n"));
    assert!(!is_as_told(&told[..1], "2 ranks: 4 bytes, 9.1 ms, 1.2 MB/s\nmore\n"));
    assert!(!is_as_told(&told[..1], ""));
}
