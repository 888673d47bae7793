//! A network namespace without a name.

use crate::Missing;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A network namespace. It lives as long as this value and the processes in it.
pub(crate) struct Namespace(File);

impl Namespace {
    /// Creates a namespace whose interfaces are all down.
    pub(crate) fn new() -> Result<Self, Missing> {
        // A new thread enters the namespace, so that the caller stays in its own.
        let make = || {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net")
        };
        let made = std::thread::scope(|scope| scope.spawn(make).join());
        let made: io::Result<File> = made.expect("nothing in it panics");
        made.map(Self).map_err(|error| {
            Missing::new(format!("no network namespaces: {error} (run it as root)"))
        })
    }

    /// Returns the path of the namespace, for `nsenter --net=` and `ip link set ... netns`.
    pub(crate) fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd()).into()
    }

    /// Calls `f` in the namespace, in a new thread. Returns its result.
    pub(crate) fn call<T: Send>(&self, f: impl FnOnce() -> T + Send) -> io::Result<T> {
        let call = || {
            setns(&self.0, CloneFlags::CLONE_NEWNET)?;
            Ok(f())
        };
        std::thread::scope(|scope| match scope.spawn(call).join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }

    /// Returns a command that runs `program` in the namespace. The program is killed when the
    /// thread that starts it ends.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.path().display()));
        command.args(["--", "setpriv", "--pdeathsig", "KILL", "--", program]);
        command
    }

    /// Runs lines of `ip -batch` in the namespace.
    pub(crate) fn ip(&self, lines: &str) -> Result<(), Missing> {
        let missing = |error| Missing::new(format!("no ip in a namespace: {error}"));
        let mut command = self.command("ip");
        command
            .args(["-batch", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(missing)?;
        child.stdin.take().expect("it is a pipe").write_all(lines.as_bytes()).map_err(missing)?;
        let output = child.wait_with_output().map_err(missing)?;
        if output.status.success() {
            return Ok(());
        }
        Err(Missing::new(format!(
            "no ip in a namespace: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )))
    }
}
