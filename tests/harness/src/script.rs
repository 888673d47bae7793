//! A shell script in a folder of its own, for a limited time.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What a script left behind.
pub(crate) struct Ended {
    /// `None` where a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// After this long a case is taken to hang.
const TIME_MAX: Duration = Duration::from_secs(120);

/// Runs `script` for the case `path`.
pub(crate) fn run(path: &Path, script: &str, binaries: &[PathBuf]) -> Result<Ended, String> {
    prepare_and_run(path, script, binaries)
        .map_err(|error| format!("the script can't run: {error}"))
}

fn prepare_and_run(path: &Path, script: &str, binaries: &[PathBuf]) -> std::io::Result<Ended> {
    let folder = tempfile::tempdir()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let parent = path.parent().unwrap_or(Path::new(".")).display().to_string();
    fs::copy(path, folder.path().join(&name))?;
    let script = script.replace("%s", &format!("'{name}'")).replace("%d", &format!("'{parent}'"));
    let folders = binaries.iter().filter_map(|binary| binary.parent()).map(Path::to_owned);
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let search = std::env::join_paths(folders.chain(std::env::split_paths(&inherited)))
        .map_err(std::io::Error::other)?;
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
    let start = Instant::now();
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if start.elapsed() > TIME_MAX => {
                // The script's children are in its group, which has the script's number.
                let _ = Command::new("kill")
                    .args(["-KILL", "--", &format!("-{}", child.id())])
                    .status();
                child.wait()?;
                return Err(std::io::Error::other(format!(
                    "it ran for more than {} s",
                    TIME_MAX.as_secs()
                )));
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
            // What was read before a failure is compared.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}
