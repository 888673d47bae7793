//! The programs in C, which are part of this program, and their compilation.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program in C.
pub(crate) struct Source {
    name: &'static str,
    text: &'static str,
    /// True for a program that computes beside what this project computes in the best instructions
    /// of the processor: it is compiled for this processor. A program whose Rust counterpart is
    /// compiled for any processor is not.
    is_native: bool,
    /// Flags with which it is compiled for MPI.
    mpi_flags: &'static [&'static str],
}

impl Source {
    /// An example of libgoal, which these flags make one of MPI. It is compiled for this processor.
    pub(crate) const fn example(
        name: &'static str,
        text: &'static str,
        mpi_flags: &'static [&'static str],
    ) -> Self {
        Self { name, text, is_native: true, mpi_flags }
    }

    pub(super) fn mpi_flags(&self) -> Vec<String> {
        self.mpi_flags.iter().map(|&flag| flag.to_owned()).collect()
    }
}

macro_rules! source {
    ($folder:literal / $name:literal, native $is_native:literal) => {
        Source {
            name: $name,
            text: include_str!(concat!("../../", $folder, "/", $name, ".c")),
            is_native: $is_native,
            mpi_flags: &[],
        }
    };
}

pub(crate) const COLLECTIVES: Source = source!("mpi" / "collectives", native false);
pub(crate) const COSTS: Source = source!("goal" / "costs", native false);
pub(crate) const IDLE: Source = source!("mpi" / "idle", native false);
pub(crate) const INSTRUCTIONS: Source = source!("c" / "instructions", native true);
pub(crate) const MACHINE: Source = source!("c" / "machine", native true);
pub(crate) const OPERATIONS: Source = source!("c" / "operations", native true);
pub(crate) const OVERLAP: Source = source!("c" / "overlap", native false);
pub(crate) const PINGPONG: Source = source!("mpi" / "pingpong", native false);
pub(crate) const ROUNDS: Source = source!("mpi" / "rounds", native false);

type Header = (&'static str, &'static str);

/// The headers that programs of all libraries include.
const COMMON: [Header; 9] = [
    ("clock.h", include_str!("../../c/clock.h")),
    ("meeting.h", include_str!("../../c/meeting.h")),
    ("mix.h", include_str!("../../c/mix.h")),
    ("operands.h", include_str!("../../c/operands.h")),
    ("operation.h", include_str!("../../c/operation.h")),
    ("placement.h", include_str!("../../c/placement.h")),
    ("second.h", include_str!("../../c/second.h")),
    ("inputs/nas.h", include_str!("../../../examples/c/inputs/nas.h")),
    ("inputs/run.h", include_str!("../../../examples/c/inputs/run.h")),
];

/// The headers of one library: the same names, with the same functions.
pub(crate) struct Headers {
    /// The folder that they are written into.
    pub(super) folder: &'static str,
    files: &'static [Header],
}

pub(super) const MPI: Headers = Headers {
    folder: "mpi",
    files: &[
        ("apps.h", include_str!("../../mpi/apps.h")),
        ("calls.h", include_str!("../../mpi/calls.h")),
        ("cg.h", include_str!("../../mpi/cg.h")),
        ("group.h", include_str!("../../mpi/group.h")),
        ("halo.h", include_str!("../../mpi/halo.h")),
        ("is.h", include_str!("../../mpi/is.h")),
        ("replay.h", include_str!("../../mpi/replay.h")),
    ],
};

pub(super) const GOAL: Headers = Headers {
    folder: "goal",
    files: &[
        ("calls.h", include_str!("../../goal/calls.h")),
        ("group.h", include_str!("../../goal/group.h")),
        ("replay.h", include_str!("../../goal/replay.h")),
        ("goal.h", include_str!("../../../bindings/c/include/goal.h")),
    ],
};

/// Compiles a program into `folder`, with the headers of a library. Flags come behind the file.
///
/// # Errors
/// The compiler is not there, or fails; it has printed the reason.
pub(super) fn compile(
    mut compiler: Command,
    source: &Source,
    headers: &Headers,
    folder: &Path,
    name: &str,
    flags: &[String],
) -> io::Result<PathBuf> {
    let program = folder.join(format!("{}-{name}", source.name));
    let file = folder.join(source.name).with_extension("c");
    let own = folder.join(headers.folder);
    for folder in [&own, &folder.join("inputs")] {
        std::fs::create_dir_all(folder)?;
    }
    for (folder, files) in [(folder, &COMMON[..]), (&own, headers.files)] {
        for (name, text) in files {
            std::fs::write(folder.join(name), text)?;
        }
    }
    std::fs::write(&file, source.text)?;
    if source.is_native {
        compiler.arg("-march=native");
    }
    // Functions and loops begin with a cache line. Otherwise the computation that two programs
    // share lies differently in them, which made 10 % of the time of an application.
    compiler
        .args(["-O3", "-falign-functions=64", "-falign-loops=64"])
        .arg("-I")
        .arg(&own)
        .arg("-I")
        .arg(folder);
    let status =
        compiler.arg(&file).arg("-o").arg(&program).args(flags).args(["-lm", "-pthread"]).status();
    let status = status.map_err(|error| {
        let name = compiler.get_program().to_string_lossy();
        io::Error::new(error.kind(), format!("{name} can't be started: {error}"))
    })?;
    if status.success() {
        Ok(program)
    } else {
        Err(io::Error::other(format!("the compiler of {} ended with {status}", source.name)))
    }
}

/// Compiles [`MACHINE`] with the system's compiler. Returns `None`, after a message, if there is
/// none.
///
/// # Errors
/// The compiler fails; it has printed the reason.
pub(crate) fn build_machine(folder: &Path) -> io::Result<Option<PathBuf>> {
    let flags = ["-pthread".to_owned()];
    match compile(Command::new("cc"), &MACHINE, &MPI, folder, "machine", &flags) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            eprintln!("no cc: the machine's limits are left out");
            Ok(None)
        }
        result => result.map(Some),
    }
}
