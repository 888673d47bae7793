//! The installation that tests use, and the tools that they need.
#![allow(dead_code)] // each test uses a part

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use xtask::install::{DebugInfo, Install, install};

/// Returns the folder of this crate.
pub(crate) fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the folder that Cargo builds into.
pub(crate) fn built() -> PathBuf {
    let own = std::env::current_exe().expect("a test is a file");
    own.parent().expect("it lies in a folder").to_owned()
}

/// Returns the folder of the binaries that tests start. Tests of the whole workspace find them
/// there; else they are built if they are missing (`cargo build -p goal-run -p goalc` brings old
/// ones up to date).
fn binaries() -> PathBuf {
    let folder = built().parent().expect("deps lies in a folder").to_owned();
    if folder.join("goal-run").is_file() && folder.join("goalc").is_file() {
        return folder;
    }
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "-p", "goal-run", "-p", "goalc"]);
    if folder.file_name().is_some_and(|name| name == "release") {
        build.arg("--release");
    }
    let target = folder.parent().expect("a profile lies in a folder");
    let is_built = build.env("CARGO_TARGET_DIR", target).current_dir(self::folder()).status();
    assert!(is_built.is_ok_and(|status| status.success()), "goal-run can't be built");
    folder
}

/// Installs the library in a folder of this file of tests, once, and returns the path of an
/// installed binary.
pub(crate) fn installed(binary: &str) -> PathBuf {
    static PREFIX: LazyLock<PathBuf> = LazyLock::new(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME"));
        let folder = binaries();
        install(&Install {
            root: &self::folder().join("../.."),
            libraries: &built(),
            binaries: &[folder.join("goal-run"), folder.join("goalc")],
            prefix: &prefix,
            version: env!("CARGO_PKG_VERSION"),
            debug_info: DebugInfo::Keep,
        })
        .unwrap_or_else(|error| panic!("{error}"));
        prefix
    });
    PREFIX.join("bin").join(binary)
}

/// Returns the first of some tools that is missing, after a line that says so.
pub(crate) fn lacks(tools: &[&str]) -> bool {
    let is_there = |tool: &str| Command::new(tool).arg("--version").output().is_ok();
    let missing = tools.iter().find(|tool| !is_there(tool));
    if let Some(tool) = missing {
        goal_filetest::skipped(&format!("there is no {tool}"));
    }
    missing.is_some()
}
