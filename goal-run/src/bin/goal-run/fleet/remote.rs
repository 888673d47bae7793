//! `goal-run launcher`: starts the launcher of this host, and ends it when its own standard input
//! ends. The launcher of another host starts this command by ssh.
//!
//! Threat: a user who can start this command has the user's rights already. So the order may name
//! any program. Its size is bounded nevertheless, so that a terminal or a wrong file as input does
//! no harm.

use super::order::Order;
use crate::output::{Failure, name_host};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// The time that the launcher has to end after the first signal. Then it is killed.
const END_LIMIT: Duration = Duration::from_secs(5);

/// Starts the launcher of this host and waits for its end. Returns its exit status.
pub(crate) fn run() -> Result<u8, Failure> {
    let failed = |error: io::Error| Failure::System(error.to_string());
    let no_order = |error: io::Error| {
        Failure::System(format!(
            "standard input has no order ({error}): this command is started by goal-run --hosts on another host"
        ))
    };
    let mut input = File::from(rustix::io::dup(io::stdin()).map_err(|error| failed(error.into()))?);
    let order = Order::read(&mut input).map_err(no_order)?;
    name_host(&order.host);
    if order.version != env!("CARGO_PKG_VERSION") {
        let (theirs, own) = (&order.version, env!("CARGO_PKG_VERSION"));
        return Err(Failure::System(format!(
            "goal-run here has version {own}, the one that starts it {theirs}: install the same on all hosts"
        )));
    }
    let schedule = match order.schedule_len {
        Some(len) => Some(receive(&mut input, len).map_err(no_order)?),
        None => None,
    };
    let child = start(&order, schedule.as_ref())?;
    let status = attend(child, input).map_err(failed)?;
    Ok(status.code().map_or_else(|| 128 + status.signal().unwrap_or(0) as u8, |code| code as u8))
}

/// Reads a schedule into a file in memory, which a child inherits.
fn receive(input: &mut File, len: u64) -> io::Result<File> {
    let mut file = File::from(memfd_create("goal-run received", MemfdFlags::CLOEXEC)?);
    match io::copy(&mut input.take(len), &mut file)? {
        got if got == len => Ok(file),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Starts the launcher. It reads the key from a pipe.
fn start(order: &Order, schedule: Option<&File>) -> Result<Child, Failure> {
    let failed = |what: &str, error: io::Error| Failure::System(format!("{what}: {error}"));
    let own = std::env::current_exe().map_err(|error| failed("goal-run", error))?;
    let mut command = Command::new(own);
    // Options must come before the user's program.
    match schedule {
        Some(file) => command.arg(format!("/proc/self/fd/{}", file.as_raw_fd())),
        None => &mut command,
    };
    command.args(&order.arguments).envs(order.variables.iter().cloned());
    if Path::new(&order.folder).is_dir() {
        command.current_dir(&order.folder);
    } else if schedule.is_none() {
        return Err(Failure::System(format!(
            "there is no folder {}: a program needs the same path on all hosts",
            order.folder
        )));
    }
    // No other thread of this process could start a program now, which would inherit the file.
    let lend = |flags| schedule.map_or(Ok(()), |file| fcntl_setfd(file, flags));
    let spawned = lend(FdFlags::empty())
        .map_err(io::Error::from)
        .and_then(|()| command.stdin(Stdio::piped()).spawn());
    let mut child = spawned.map_err(|error| failed("goal-run", error))?;
    lend(FdFlags::CLOEXEC).map_err(|error| failed("goal-run", error.into()))?;
    let mut key = child.stdin.take().expect("it is a pipe");
    // An error is ignored. If the launcher has ended already, its exit status shows that.
    let _ = key.write_all(order.key.as_bytes());
    Ok(child)
}

/// Waits for the end of the launcher. Ends it if the standard input ends before.
fn attend(mut child: Child, mut input: File) -> io::Result<ExitStatus> {
    let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    thread::spawn(move || {
        // Nothing follows the order, so this waits until the standard input ends.
        let _ = io::copy(&mut input, &mut io::sink());
        let _ = pidfd_send_signal(&process, Signal::TERM);
        thread::sleep(END_LIMIT);
        let _ = pidfd_send_signal(&process, Signal::KILL);
    });
    child.wait()
}
