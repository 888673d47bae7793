//! Installs files below a prefix, as C programs expect it.
//!
//! Threat: other users may be able to create files in the prefix, and the umask may have any value.
//! So each file is written under a new random name and then renamed. A link with the final name is
//! replaced and never followed. Modes are 644 and 755, whatever the umask is.

use crate::{header, man};
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::NamedTempFile;

/// The files to install, and where to install them.
#[derive(Debug)]
pub struct Install<'a> {
    /// The folder of the project.
    pub root: &'a Path,
    /// The folder with `libgoal_c.so` and `libgoal_c.a`.
    pub libraries: &'a Path,
    /// The paths of the binaries.
    pub binaries: &'a [PathBuf],
    /// The folder below which the files are installed.
    pub prefix: &'a Path,
    /// The version of the library, such as 0.1.0.
    pub version: &'a str,
    /// The treatment of debug information.
    pub debug_info: DebugInfo,
}

/// The treatment of debug information in an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DebugInfo {
    /// Debug information stays in the files.
    Keep,
    /// Debug information is removed (`strip`).
    Strip,
    /// Debug information goes to folders `.debug` beside the files, where debuggers look for it.
    Apart,
}

/// Adds the path to the text of an error.
fn at<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Returns a new temporary file in the folder of `path`, which it will replace later.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    at(folder, tempfile::Builder::new().prefix(".goal-").tempfile_in(folder))
}

/// Gives a temporary file its mode, and renames it to `path`. Replaces a file or link there.
fn place(new: NamedTempFile, path: &Path, mode: u32) -> io::Result<()> {
    // The mode is set by name, because some tools have replaced the file under this name.
    at(path, fs::set_permissions(new.path(), Permissions::from_mode(mode)))?;
    new.persist(path).map(drop).map_err(|error| at::<()>(path, Err(error.error)).unwrap_err())
}

/// Writes a text file.
pub fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut new = beside(path)?;
    at(path, new.write_all(text))?;
    place(new, path, 0o644)
}

/// Runs a tool of binutils.
fn tool(command: &mut Command) -> io::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(io::Error::other(format!("{name}: {status}, see above"))),
        Err(error) => {
            let text = format!("{name}: {error}; install binutils");
            Err(io::Error::new(error.kind(), text))
        }
    }
}

/// Copies a file with machine code, and handles its debug information.
fn copy(from: &Path, to: &Path, mode: u32, debug_info: DebugInfo) -> io::Result<()> {
    let mut new = beside(to)?;
    at(from, File::open(from).and_then(|mut from| io::copy(&mut from, new.as_file_mut())))?;
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    // The linker needs the symbols of an archive. Debug information of archives can't be in other
    // files.
    let is_archive = name.ends_with(".a");
    if debug_info == DebugInfo::Apart && !is_archive {
        let folder = folder(&to.with_file_name(".debug"))?;
        let path = folder.join(format!("{name}.debug"));
        let apart = beside(&path)?;
        let mut objcopy = Command::new("objcopy");
        tool(objcopy.arg("--only-keep-debug").arg(new.path()).arg(apart.path()))?;
        place(apart, &path, 0o644)?;
        tool(Command::new("strip").arg("--strip-unneeded").arg(new.path()))?;
        let link = format!("--add-gnu-debuglink={}", path.display());
        tool(Command::new("objcopy").arg(link).arg(new.path()))?;
    } else if debug_info != DebugInfo::Keep {
        let what: &[&str] = if is_archive {
            // An archive also has the code in the compiler's own form, for optimisation across
            // crates. It is not needed.
            &["--strip-debug", "--remove-section=.llvmbc", "--remove-section=.llvmcmd"]
        } else {
            &["--strip-unneeded"]
        };
        tool(Command::new("strip").args(what).arg(new.path()))?;
    }
    place(new, to, mode)
}

/// Creates a folder and its missing parents.
pub fn folder(path: &Path) -> io::Result<PathBuf> {
    let mut missing: Vec<&Path> = path.ancestors().take_while(|path| !path.is_dir()).collect();
    while let Some(next) = missing.pop() {
        if next.as_os_str().is_empty() {
            continue;
        }
        at(next, fs::DirBuilder::new().mode(0o755).create(next))?;
        at(next, fs::set_permissions(next, Permissions::from_mode(0o755)))?;
    }
    Ok(path.to_owned())
}

/// Creates a symbolic link. Replaces a file or link with this name.
fn link(to: &str, path: &Path) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        at(path, fs::remove_file(path))?;
    }
    at(path, symlink(to, path))
}

/// The linker arguments for system libraries that the static library needs. The compiler adds
/// further ones, such as the library that unwinds the stack.
const PRIVATE: &str = "-lutil -lrt -lpthread -lm -ldl";

/// The files with licences.
const LICENCES: [&str; 3] = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];

/// Installs everything.
///
/// # Errors
/// A file can't be read or written; the text names it.
pub fn install(install: &Install<'_>) -> io::Result<()> {
    let Install { root, libraries, binaries, prefix, version, debug_info } = *install;
    let folder = |name: &str| folder(&prefix.join(name));
    let lib = folder("lib")?;
    let major = version.split('.').next().unwrap_or("0");
    let (full, soname) = (format!("libgoal.so.{version}"), format!("libgoal.so.{major}"));
    copy(&libraries.join("libgoal_c.so"), &lib.join(&full), 0o755, debug_info)?;
    link(&full, &lib.join(&soname))?;
    link(&soname, &lib.join("libgoal.so"))?;
    copy(&libraries.join("libgoal_c.a"), &lib.join("libgoal.a"), 0o644, debug_info)?;
    let (headers, licences) = (folder("include")?, folder("share/licenses/goal")?);
    let include = root.join("bindings/c/include/goal.h");
    let texts = ["goal.h", "goal_mpi.h"]
        .map(|name| (root.join("bindings/c/include").join(name), headers.join(name)))
        .into_iter()
        .chain(LICENCES.map(|name| (root.join(name), licences.join(name))));
    for (from, to) in texts {
        write(&to, &at(&from, fs::read(&from))?)?;
    }
    // A relative prefix would be valid in one working folder only, so the file has the absolute
    // one.
    let there = at(prefix, fs::canonicalize(prefix))?;
    let description = format!(
        "prefix={}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\nName: goal\nDescription: Schedules of group communication\nVersion: {version}\nCflags: -I${{includedir}}\nLibs: -L${{libdir}} -lgoal\nLibs.private: {PRIVATE}\n",
        there.display()
    );
    write(&folder("lib/pkgconfig")?.join("goal.pc"), description.as_bytes())?;
    let manual = folder("share/man/man3")?;
    let table = root.join("bindings/rust/src/error.rs");
    let errors = man::errors(&at(&table, fs::read_to_string(&table))?);
    let pages = header::pages(&at(&include, fs::read_to_string(&include))?);
    for page in &pages {
        let text = man::roff(page, &pages, &errors, version);
        write(&manual.join(format!("{}.3", page.name)), text.as_bytes())?;
        for name in page.items.iter().filter_map(|item| item.function.as_ref()) {
            write(&manual.join(format!("{name}.3")), man::alias(page).as_bytes())?;
        }
    }
    let bin = folder("bin")?;
    for binary in binaries {
        copy(binary, &bin.join(binary.file_name().unwrap_or_default()), 0o755, debug_info)?;
    }
    Ok(())
}
