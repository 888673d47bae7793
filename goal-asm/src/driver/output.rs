//! Results: a file that appears when it is whole, or standard output.

use super::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Where a result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file.
    File(PathBuf),
}

impl Target {
    /// What `-o` names; `-` is standard output.
    pub fn new(path: &Path) -> Self {
        if path == Path::new("-") { Target::Stdout } else { Target::File(path.to_owned()) }
    }
}

/// A result while it is written. Unless it is [finished](Self::finish) a file keeps what it had.
pub struct Output {
    name: String,
    sink: Sink,
}

enum Sink {
    /// Standard output, a device or a pipe, which can't be replaced.
    Direct(BufWriter<File>),
    /// A temporary beside the place where it will be.
    Beside(BufWriter<NamedTempFile>, PathBuf),
}

impl Output {
    /// Begins a result.
    ///
    /// # Errors
    /// Where the place can't be written to, or is a terminal and the result `binary`.
    pub fn create(target: &Target, binary: bool) -> Result<Self, Error> {
        match target {
            Target::Stdout => {
                if binary && io::stdout().is_terminal() {
                    let message = "the result is binary and standard output a terminal: name a file with -o";
                    return Err(Error::Usage(message.to_owned()));
                }
                super::console::leave_stdout_to_result();
                let name = "<stdout>".to_owned();
                match io::stdout().as_fd().try_clone_to_owned() {
                    Ok(stdout) => Ok(Self { name, sink: Sink::Direct(BufWriter::new(stdout.into())) }),
                    Err(error) => Err(Error::io(name, error)),
                }
            }
            Target::File(path) => {
                let name = path.display().to_string();
                let sink = Sink::create(path).map_err(|error| Error::io(&name, error))?;
                Ok(Self { name, sink })
            }
        }
    }

    /// The path as given, or `<stdout>`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes what is held back and puts the file in its place.
    ///
    /// # Errors
    /// Those of the system.
    pub fn finish(self) -> Result<(), Error> {
        let finished = match self.sink {
            Sink::Direct(mut out) => out.flush(),
            Sink::Beside(out, path) => match out.into_inner() {
                Ok(file) => file.persist(path).map(drop).map_err(|error| error.error),
                Err(error) => Err(error.into_error()),
            },
        };
        finished.map_err(|error| Error::io(self.name, error))
    }
}

impl Sink {
    fn create(path: &Path) -> io::Result<Self> {
        let before = fs::metadata(path).ok();
        if before.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            return Ok(Sink::Direct(BufWriter::new(fs::OpenOptions::new().write(true).open(path)?)));
        }
        // What a link points at is replaced, not the link.
        let place = if before.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Fails under the folder's own name, where the temporary's would tell nobody anything.
        fs::metadata(folder)?;
        let mode = before.map_or(0o666, |metadata| metadata.permissions().mode());
        let file = tempfile::Builder::new()
            .prefix(".goalc-")
            .permissions(fs::Permissions::from_mode(mode & 0o777))
            .tempfile_in(folder)?;
        Ok(Sink::Beside(BufWriter::new(file), place))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Direct(out) => out.write(bytes),
            Sink::Beside(out, _) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Direct(out) => out.flush(),
            Sink::Beside(out, _) => out.flush(),
        }
    }
}
