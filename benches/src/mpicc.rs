//! The MPI programs of the folder `mpi`. They are part of this program, which compiles them if
//! there is an MPI.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program in C.
pub(crate) struct Source {
    name: &'static str,
    text: &'static str,
}

macro_rules! source {
    ($name:literal) => {
        Source { name: $name, text: include_str!(concat!("../mpi/", $name, ".c")) }
    };
}

pub(crate) const COLLECTIVES: Source = source!("collectives");
pub(crate) const IDLE: Source = source!("idle");
pub(crate) const OVERLAP: Source = source!("overlap");
pub(crate) const PINGPONG: Source = source!("pingpong");

/// The header that the programs include.
const HEADER: (&str, &str) = ("meeting.h", include_str!("../mpi/meeting.h"));

/// Compiles a program into `folder`. Returns `None`, after a message, if there is no MPI.
///
/// # Errors
/// The compiler fails; it has printed the reason.
pub(crate) fn build(source: &Source, folder: &Path) -> io::Result<Option<PathBuf>> {
    let program = folder.join(source.name);
    let file = program.with_extension("c");
    std::fs::write(folder.join(HEADER.0), HEADER.1)?;
    std::fs::write(&file, source.text)?;
    match Command::new("mpicc").arg("-O3").arg(&file).arg("-o").arg(&program).status() {
        Ok(status) if status.success() => Ok(Some(program)),
        Ok(status) => Err(io::Error::other(format!("mpicc ended with {status}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            eprintln!(
                "no mpicc: MPI is left out; install it with `apt install openmpi-bin libopenmpi-dev`"
            );
            Ok(None)
        }
        Err(error) => Err(io::Error::new(error.kind(), format!("mpicc can't be started: {error}"))),
    }
}
