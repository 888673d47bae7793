//! Tasks of the project: `cargo xtask install --prefix P`.

use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use xtask::install::{Install, install};

/// Tasks of the project
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Line {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Builds and installs libgoal, its header, pkg-config file and manual pages, and the binaries
    Install {
        /// The folder to install below
        #[arg(long, default_value = "/usr/local")]
        prefix: PathBuf,
        /// Install unoptimised code
        #[arg(long)]
        debug: bool,
    },
}

/// The packages that are installed.
const PACKAGES: [&str; 4] = ["libgoal", "goalc", "goal-run", "goal"];

/// The binaries that are installed. `goal-run tune` starts the last one.
const BINARIES: [&str; 3] = ["goalc", "goal-run", "goal-tune"];

fn main() -> ExitCode {
    let Task::Install { prefix, debug } = Line::parse().task;
    match run(&prefix, debug) {
        Ok(()) => {
            println!("installed below {}", prefix.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cargo xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(prefix: &Path, debug: bool) -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let mut build = Command::new(cargo);
    build.arg("build").current_dir(&root).env("CARGO_TARGET_DIR", &target);
    build.args(PACKAGES.iter().flat_map(|package| ["-p", package]));
    if !debug {
        build.arg("--release");
    }
    if !build.status()?.success() {
        return Err("the build failed, see above".into());
    }
    let built = target.join(if debug { "debug" } else { "release" });
    install(&Install {
        root: &root,
        libraries: &built,
        binaries: &BINARIES.map(|name| built.join(name)),
        prefix,
        version: env!("CARGO_PKG_VERSION"),
    })?;
    let manual = prefix.join("share/man/man1");
    std::fs::create_dir_all(&manual)?;
    // Those with the command `man`.
    for name in &BINARIES[..2] {
        if !Command::new(built.join(name)).arg("man").arg(&manual).status()?.success() {
            return Err(format!("{name} man {}: failed, see above", manual.display()).into());
        }
    }
    Ok(())
}
