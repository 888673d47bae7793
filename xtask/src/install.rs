//! Installation below a prefix, as C programs expect it.

use crate::{header, man};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The files to install, and the place.
#[derive(Debug)]
pub struct Install<'a> {
    /// The folder of the project.
    pub root: &'a Path,
    /// The folder of `libgoal_c.so` and `libgoal_c.a`.
    pub libraries: &'a Path,
    /// The binaries.
    pub binaries: &'a [PathBuf],
    /// The folder that the files will be found in.
    pub prefix: &'a Path,
    /// The version of the library, as 0.1.0.
    pub version: &'a str,
}

/// Adds the path to an error.
fn at<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    at(path, fs::write(path, text))
}

/// Copies a file. One that is there is replaced, not written over: programs may use it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let new = to.with_extension("new");
    at(from, fs::copy(from, &new))?;
    at(to, fs::rename(&new, to))
}

fn link(to: &str, path: &Path) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        at(path, fs::remove_file(path))?;
    }
    at(path, symlink(to, path))
}

/// The libraries of the system that the static library needs.
const PRIVATE: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";

/// Installs everything.
///
/// # Errors
/// A file can't be read or written; the text names it.
pub fn install(install: &Install<'_>) -> io::Result<()> {
    let Install { root, libraries, binaries, prefix, version } = *install;
    let folder = |name: &str| {
        let path = prefix.join(name);
        at(&path, fs::create_dir_all(&path)).map(|()| path)
    };
    let lib = folder("lib")?;
    let major = version.split('.').next().unwrap_or("0");
    let (full, soname) = (format!("libgoal.so.{version}"), format!("libgoal.so.{major}"));
    copy(&libraries.join("libgoal_c.so"), &lib.join(&full))?;
    link(&full, &lib.join(&soname))?;
    link(&soname, &lib.join("libgoal.so"))?;
    copy(&libraries.join("libgoal_c.a"), &lib.join("libgoal.a"))?;
    let include = root.join("libgoal/include/goal.h");
    copy(&include, &folder("include")?.join("goal.h"))?;
    copy(&root.join("libgoal/include/goal_mpi.h"), &folder("include")?.join("goal_mpi.h"))?;
    // A prefix that is relative would be found from one folder only.
    let there = at(prefix, fs::canonicalize(prefix))?;
    let description = format!(
        "prefix={}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\nName: goal\nDescription: Schedules of group communication\nVersion: {version}\nCflags: -I${{includedir}}\nLibs: -L${{libdir}} -lgoal\nLibs.private: {PRIVATE}\n",
        there.display()
    );
    write(&folder("lib/pkgconfig")?.join("goal.pc"), &description)?;
    let manual = folder("share/man/man3")?;
    let table = root.join("goal/src/error.rs");
    let errors = man::errors(&at(&table, fs::read_to_string(&table))?);
    let pages = header::pages(&at(&include, fs::read_to_string(&include))?);
    for page in &pages {
        let text = man::roff(page, &pages, &errors, version);
        write(&manual.join(format!("{}.3", page.name)), &text)?;
        for name in page.items.iter().filter_map(|item| item.function.as_ref()) {
            write(&manual.join(format!("{name}.3")), &man::alias(page))?;
        }
    }
    let bin = folder("bin")?;
    for binary in binaries {
        copy(binary, &bin.join(binary.file_name().unwrap_or_default()))?;
    }
    Ok(())
}
