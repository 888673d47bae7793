//! Runs a shell script in a folder of its own, for a limited time.

use crate::patience;
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The results of a script.
pub(crate) struct Ended {
    /// The exit status of the script. `None` if a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The seconds, as for [`patience`](crate::patience), after which a script counts as stuck.
const SECONDS_MAX: u64 = 120;

/// Runs `script` for the test at `path`. The commands find `binaries` by their names.
pub(crate) fn run(path: &Path, script: &str, binaries: &[PathBuf]) -> io::Result<Ended> {
    let folder = tempfile::tempdir()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let parent = path.parent().unwrap_or(Path::new(".")).display().to_string();
    fs::copy(path, folder.path().join(&name))?;
    let script = script.replace("%s", &format!("'{name}'")).replace("%d", &format!("'{parent}'"));
    let folders = binaries.iter().filter_map(|binary| binary.parent()).map(Path::to_owned);
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let search = std::env::join_paths(folders.chain(std::env::split_paths(&inherited)))
        .map_err(io::Error::other)?;
    let mut child = Command::new("sh")
        .args(["-e", "-c", &script])
        .current_dir(folder.path())
        .env("PATH", search)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let out = collect(child.stdout.take());
    let err = collect(child.stderr.take());
    let (start, limit) = (Instant::now(), patience(SECONDS_MAX));
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if start.elapsed() > limit => {
                // The script is the leader of its process group, so its children are killed too.
                let _ = Command::new("kill")
                    .args(["-KILL", "--", &format!("-{}", child.id())])
                    .status();
                child.wait()?;
                return Err(io::Error::other(format!("it ran for more than {limit:?}")));
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    let text = |thread: thread::JoinHandle<Vec<u8>>| {
        let bytes = thread.join().unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace(&parent, "%d")
    };
    Ok(Ended { status: status.code(), out: text(out), err: text(err) })
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // After an error, the bytes that were read before are still compared.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}
