//! Tasks of the project: `cargo xtask install --prefix P`, `cargo xtask goalprof --mpicc mpicc`,
//! `cargo xtask goalmpi --mpicc mpicc`.

use clap::{Parser, Subcommand};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use xtask::install::{DebugInfo, Install, folder, install, write};
use xtask::{goalmpi, goalprof};

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
        /// Install debug information too, in folders .debug beside the files
        #[arg(long)]
        debug_info: bool,
    },
    /// Builds the profiler that writes GOAL, for one MPI library
    Goalprof {
        /// The compiler of the MPI library
        #[arg(long, default_value = "mpicc")]
        mpicc: OsString,
        /// The library to write
        #[arg(long, default_value = "libgoalprof.so")]
        out: PathBuf,
    },
    /// Builds the library that runs collectives of MPI programs as schedules, for one MPI library
    Goalmpi {
        /// The compiler of the MPI library
        #[arg(long, default_value = "mpicc")]
        mpicc: OsString,
        /// The library to write
        #[arg(long, default_value = "libgoal-mpi.so")]
        out: PathBuf,
    },
}

/// The packages that are installed.
const PACKAGES: [&str; 5] = ["libgoal", "goalc", "goal-run", "goal-sim", "goal-tune"];

/// The binaries that are installed. `goal-run tune` starts the last one.
const BINARIES: [&str; 4] = ["goalc", "goal-run", "goal-sim", "goal-tune"];

/// The shells whose completions are installed: the folder, and what precedes and follows the
/// command's name in the name of the file.
const SHELLS: [(&str, &str, &str, &str); 3] = [
    ("bash", "share/bash-completion/completions", "", ""),
    ("zsh", "share/zsh/site-functions", "_", ""),
    ("fish", "share/fish/vendor_completions.d", "", ".fish"),
];

fn main() -> ExitCode {
    let done = match Line::parse().task {
        Task::Install { prefix, debug, debug_info } => {
            let debug_info = if debug_info { DebugInfo::Apart } else { DebugInfo::Strip };
            run(&prefix, debug, debug_info)
                .map(|()| format!("installed below {}", prefix.display()))
        }
        Task::Goalprof { mpicc, out } => {
            profiler(&mpicc, &out).map(|()| format!("built {}", out.display()))
        }
        Task::Goalmpi { mpicc, out } => {
            preload(&mpicc, &out).map(|()| format!("built {}", out.display()))
        }
    };
    match done {
        Ok(done) => match writeln!(io::stdout(), "{done}") {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("cargo xtask: <stdout>: {error}");
                ExitCode::from(2)
            }
        },
        Err(error) => {
            eprintln!("cargo xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Builds packages by cargo. Returns the folder of the built files.
fn cargo_build(packages: &[&str], debug: bool) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let mut build = Command::new(cargo);
    build.arg("build").current_dir(&root).env("CARGO_TARGET_DIR", &target);
    build.args(packages.iter().flat_map(|package| ["-p", package]));
    if !debug {
        build.arg("--release");
    }
    if !build.status()?.success() {
        return Err("the build failed, see above".into());
    }
    Ok(target.join(if debug { "debug" } else { "release" }))
}

fn profiler(mpicc: &OsStr, out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let built = cargo_build(&["goal-prof"], false)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Ok(goalprof::build(&root, &built.join("libgoal_prof.a"), mpicc, out)?)
}

fn preload(mpicc: &OsStr, out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let built = cargo_build(&["libgoal"], false)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Ok(goalmpi::build(&root, &built.join("libgoal_c.a"), mpicc, out)?)
}

fn run(
    prefix: &Path,
    debug: bool,
    debug_info: DebugInfo,
) -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let built = cargo_build(&PACKAGES, debug)?;
    install(&Install {
        root: &root,
        libraries: &built,
        binaries: &BINARIES.map(|name| built.join(name)),
        prefix,
        version: env!("CARGO_PKG_VERSION"),
        debug_info,
    })?;
    let manual = folder(&prefix.join("share/man/man1"))?;
    let pages = tempfile::tempdir()?;
    // The first two binaries have the commands `man` and `completions`.
    for name in &BINARIES[..2] {
        if !Command::new(built.join(name)).arg("man").arg(pages.path()).status()?.success() {
            return Err(format!("{name} man {}: failed, see above", pages.path().display()).into());
        }
        for (shell, place, before, behind) in SHELLS {
            let made = Command::new(built.join(name)).args(["completions", shell]).output()?;
            if !made.status.success() {
                let text = String::from_utf8_lossy(&made.stderr);
                return Err(format!("{name} completions {shell}: {text}").into());
            }
            let file = folder(&prefix.join(place))?.join(format!("{before}{name}{behind}"));
            write(&file, &made.stdout)?;
        }
    }
    for page in std::fs::read_dir(pages.path())? {
        let page = page?;
        write(&manual.join(page.file_name()), &std::fs::read(page.path())?)?;
    }
    Ok(())
}
