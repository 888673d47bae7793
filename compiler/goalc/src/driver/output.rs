//! Results of commands: standard output, or a file that appears only when it is complete.

use super::Error;
use super::streams::{self, Patient, descriptor, end_of_links};
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, RenameFlags, access};
use rustix::fs::{linkat, open, renameat_with};
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;

/// From now on a write beyond the limit on the size of files returns an error, which names the
/// limit. Without this call the signal SIGXFSZ would end the process without a message.
pub fn survive_file_size() {
    // If the signal can't be handled, reaching the limit ends the process.
    let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::default());
}

/// The destination of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file.
    File(PathBuf),
}

impl Target {
    /// Returns the destination that `-o` names; `-` is standard output.
    pub fn new(path: &Path) -> Self {
        if path == Path::new("-") { Target::Stdout } else { Target::File(path.to_owned()) }
    }

    /// Returns the destination of a result that replaces an input: the input's file, or standard
    /// output if the input can't be replaced.
    pub fn in_place(input: &Path) -> Self {
        if streams::is_stream(input) { Target::Stdout } else { Target::File(input.to_owned()) }
    }

    /// Returns the target unless it is the same file as one of the inputs, also under another name.
    ///
    /// # Errors
    /// Returns an error if the result would replace an input.
    pub fn apart_from<P: AsRef<Path>>(
        self,
        inputs: impl IntoIterator<Item = P>,
    ) -> Result<Self, Error> {
        if let Target::File(path) = &self
            && let Some(file) = identity(path)
            && inputs.into_iter().any(|input| identity(input.as_ref()) == Some(file))
        {
            let name = path.display();
            let message = format!("the result would replace the input {name}: name another file");
            return Err(Error::Usage(message));
        }
        Ok(self)
    }
}

/// Returns the device and the inode of a regular file, which identify the file. `-` is standard
/// input.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let path = if path == Path::new("-") { Path::new("/dev/stdin") } else { path };
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino()))
}

/// Returns true if two results would become one file, also under two names.
pub fn are_one_file(one: &Path, other: &Path) -> bool {
    one == other || place(one).is_some_and(|place_of_one| place(other) == Some(place_of_one))
}

/// Returns the place at which a result becomes a file. Devices and pipes have none.
fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(metadata) = fs::metadata(path) {
        return fs::canonicalize(path).ok().filter(|_| metadata.is_file());
    }
    let end = end_of_links(path).ok()?;
    Some(fs::canonicalize(folder(&end)).ok()?.join(end.file_name()?))
}

/// A result that is being written. A file keeps its former content until [`finish`](Self::finish).
pub struct Output {
    name: String,
    sink: Sink,
    /// True if the result is binary, and so can be made again from its input.
    binary: bool,
}

enum Sink {
    /// Standard output, a device or a pipe, which can't be replaced.
    Direct(BufWriter<Patient<File>>),
    /// A file without a name, in the folder of its destination. Nothing is left of it if the
    /// process ends early.
    Unnamed(BufWriter<File>, PathBuf),
    /// A temporary file in the folder of its destination, if the file system has no files without a
    /// name.
    Named(BufWriter<NamedTempFile>, PathBuf),
}

/// Most bytes of one write to the system. The system keeps larger writes in larger pages. If it
/// must make such pages first, a write takes up to six times as long.
const WRITE_MAX: usize = 256 << 10;

/// The prefix of the names of temporary files.
const PREFIX: &str = ".goalc-";

impl Output {
    /// Begins a result.
    ///
    /// # Errors
    /// Returns an error if the destination can't be written, or if it is a terminal and the result
    /// is `binary`.
    pub fn create(target: &Target, binary: bool) -> Result<Self, Error> {
        match target {
            Target::Stdout => {
                if binary && io::stdout().is_terminal() {
                    let message =
                        "the result is binary and standard output a terminal: name a file with -o";
                    return Err(Error::Usage(message.to_owned()));
                }
                super::stage::leave_stdout_to_result();
                let name = "<stdout>".to_owned();
                match streams::stdout().and_then(|stdout| stdout.0.as_fd().try_clone_to_owned()) {
                    Ok(stdout) => {
                        let sink = Sink::Direct(BufWriter::new(Patient(stdout.into())));
                        Ok(Self { name, sink, binary })
                    }
                    Err(error) => Err(Error::io(name, error)),
                }
            }
            Target::File(path) => {
                let name = path.display().to_string();
                if descriptor(path) == Some(1) {
                    return Self::create(&Target::Stdout, binary);
                }
                let sink = Sink::create(path).map_err(|error| Error::io(&name, error))?;
                Ok(Self { name, sink, binary })
            }
        }
    }

    /// Returns the path as given, or `<stdout>`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if bytes can be written again: if the result is a file that appears when it is
    /// complete.
    pub fn is_seekable(&self) -> bool {
        !matches!(self.sink, Sink::Direct(_))
    }

    /// Writes the rest of the buffer and moves the file to its destination.
    ///
    /// # Errors
    /// An error of the system.
    pub fn finish(self) -> Result<(), Error> {
        let finished = match self.sink {
            Sink::Direct(mut out) => out.flush(),
            Sink::Unnamed(out, place) => {
                finish(out).and_then(|file| name(&file, &place, self.binary))
            }
            Sink::Named(out, place) => finish(out)
                .and_then(|file| file.persist(place).map(drop).map_err(|error| error.error)),
        };
        finished.map_err(|error| Error::io(self.name, error))
    }
}

impl Sink {
    fn create(path: &Path) -> io::Result<Self> {
        let before = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // A path that names an open descriptor is written through it, so that bytes of other
        // writers are kept.
        let is_open = descriptor(path).is_some();
        if is_open || before.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            let mut how = fs::OpenOptions::new();
            return Ok(Sink::Direct(BufWriter::new(Patient(
                how.write(true).append(is_open).open(path)?,
            ))));
        }
        // Replaces the target of a link, not the link, and creates it if it is missing.
        let place = if before.is_some() { fs::canonicalize(path)? } else { end_of_links(path)? };
        if before.is_some() {
            // The folder may be writable although the file is not.
            access(&place, Access::WRITE_OK)?;
        }
        let folder = folder(&place);
        // Reports a missing folder by its own name instead of the temporary file's.
        fs::metadata(folder)?;
        let mode = before.as_ref().map_or(0o666, |metadata| metadata.permissions().mode()) & 0o777;
        // Only root may do this if the owners differ. The groups may differ because a folder can
        // give its group to new files.
        let keep_owner = |file: &File| {
            if let Some(before) = &before {
                let _ = fchown(file, Some(before.uid()), Some(before.gid()));
            }
        };
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        if let Ok(file) = open(folder, flags, Mode::from_raw_mode(mode)) {
            let file = File::from(file);
            keep_owner(&file);
            return Ok(Sink::Unnamed(BufWriter::new(file), place));
        }
        let file = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(fs::Permissions::from_mode(mode))
            .tempfile_in(folder)?;
        keep_owner(file.as_file());
        Ok(Sink::Named(BufWriter::new(file), place))
    }
}

/// Writes the rest of the buffer.
fn finish<W: Write>(out: BufWriter<W>) -> io::Result<W> {
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

/// Gives a file without a name the name `place`. A link can't replace an existing file, so the new
/// file is linked under a temporary name first.
///
/// Before a file replaces another, ext4 sends its bytes to the disk, so that a crash of the machine
/// leaves one of the two whole. This takes a fifth of the time of a build, and a binary result can
/// be built again. If the two files exchange their names instead, which is atomic too, no bytes are
/// sent to the disk.
fn name(file: &File, place: &Path, binary: bool) -> io::Result<()> {
    let folder = folder(place);
    let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
    let named = tempfile::Builder::new()
        .prefix(PREFIX)
        .make_in(folder, |path| Ok(linkat(CWD, &unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW)?))?;
    let exchange = || renameat_with(CWD, named.path(), CWD, place, RenameFlags::EXCHANGE);
    if !binary || exchange().is_err() {
        return named.persist(place).map(drop).map_err(|error| error.error);
    }
    // The former file has the temporary name now, and is removed with it. If something other than a
    // file has come to this place since the result was begun, it is put back.
    if !fs::symlink_metadata(named.path())?.is_file() {
        exchange()?;
        return Err(io::Error::other("it is no longer a file"));
    }
    named.close()
}

/// Returns the folder of a file.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(WRITE_MAX)];
        match &mut self.sink {
            Sink::Direct(out) => out.write(bytes),
            Sink::Unnamed(out, _) => out.write(bytes),
            Sink::Named(out, _) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Direct(out) => out.flush(),
            Sink::Unnamed(out, _) => out.flush(),
            Sink::Named(out, _) => out.flush(),
        }
    }
}

impl Seek for Output {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        match &mut self.sink {
            Sink::Direct(_) => Err(io::ErrorKind::NotSeekable.into()),
            Sink::Unnamed(out, _) => out.seek(place),
            Sink::Named(out, _) => out.seek(place),
        }
    }
}
