//! Defines the functions by which a group grows and shrinks while it runs.
#![allow(unsafe_code)] // exported names, texts and lists of the caller

use crate::arguments::{count, present, rank};
use crate::border::{border, group, status};
use crate::communicator::{COMMUNICATORS, communicator};
use crate::group::forget_all;
use crate::types::GOAL_Comm;
use goal::growth::{self, Command};
use goal::{Error, ErrorCode, Result};
use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The most arguments of a program that are read. A longer list is taken for one without an end.
const ARGUMENTS_MAX: usize = 1 << 16;

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_Spawn(
    command: *const c_char,
    argv: *const *mut c_char,
    n: c_int,
    root: c_int,
    comm: GOAL_Comm,
) -> GOAL_Comm {
    border("GOAL_Spawn", || {
        let (comm, root) = (communicator(comm)?, rank(root, "root")?);
        let wanted = || {
            let ranks = count(n, "n")?;
            if ranks == 0 {
                return Err(Error::new(ErrorCode::Count, "n is 0: at least one rank is started"));
            }
            // SAFETY: the caller passes a text or NULL, and a list of texts that ends with NULL.
            Ok((ranks, unsafe { command_of(command, argv)? }))
        };
        let larger = growth::spawn(&comm, root, "GOAL_Spawn", wanted)?;
        Ok(GOAL_Comm(COMMUNICATORS.add(larger)?))
    })
}

/// Returns the program that the caller names, with its arguments; `None` for the caller's own
/// program.
///
/// # Safety
/// `command` is NULL or a text. `argv` is NULL or a list of texts that ends with NULL.
unsafe fn command_of(command: *const c_char, argv: *const *mut c_char) -> Result<Option<Command>> {
    if command.is_null() {
        if argv.is_null() {
            return Ok(None);
        }
        let text = "argv is given without a command: give NULL for this program with its arguments";
        return Err(Error::new(ErrorCode::Argument, text));
    }
    // SAFETY: as the caller says.
    let text = |text: *const c_char| OsStr::from_bytes(unsafe { CStr::from_ptr(text) }.to_bytes());
    let executable = executable(Path::new(text(command)))?;
    let mut arguments: Vec<OsString> = Vec::new();
    if !argv.is_null() {
        present(argv, "argv")?;
        for at in 0.. {
            // SAFETY: as the caller says; the list has not ended before.
            let argument = unsafe { *argv.add(at) };
            if argument.is_null() {
                break;
            }
            if at == ARGUMENTS_MAX {
                let text = format!("argv has more than {ARGUMENTS_MAX} entries: it ends with NULL");
                return Err(Error::new(ErrorCode::Count, text));
            }
            arguments.push(text(argument).to_owned());
        }
    }
    Ok(Some(Command { executable: executable.into(), arguments }))
}

/// Returns the path of a program for the launcher. A path with a slash becomes absolute, because
/// the launcher may run in another folder. A name without a slash is returned unchanged, and the
/// launcher looks it up in its `PATH`.
fn executable(program: &Path) -> Result<PathBuf> {
    if program.as_os_str().is_empty() {
        return Err(Error::new(ErrorCode::Argument, "command is an empty text"));
    }
    if !program.as_os_str().as_bytes().contains(&b'/') {
        return Ok(program.to_owned());
    }
    let folder = std::env::current_dir();
    let folder = folder.map_err(|error| Error::new(ErrorCode::System, error.to_string()))?;
    Ok(folder.join(program))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Joining() -> c_int {
    border("GOAL_Joining", || Ok(group()?.joining() as c_int))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Accept(comm: GOAL_Comm) -> GOAL_Comm {
    border("GOAL_Accept", || {
        let larger = growth::accept(&*communicator(comm)?, "GOAL_Accept")?;
        Ok(GOAL_Comm(COMMUNICATORS.add(larger)?))
    })
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Has_joined() -> c_int {
    border("GOAL_Has_joined", || Ok(group()?.has_joined().into()))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Leave() -> c_int {
    status("GOAL_Leave", || forget_all(group()?.leave()))
}
