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
const PACKAGES: [&str; 3] = ["libgoal", "goalc", "goal-run"];

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
        binaries: &[built.join("goalc"), built.join("goal-run")],
        prefix,
        version: env!("CARGO_PKG_VERSION"),
    })?;
    Ok(())
}
