//! Checks the sources of the whole workspace: dependencies, layers, circles of imports, variables,
//! retired words, and the lengths of documents.

mod architecture;
mod cycles;
mod environment;
mod lengths;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

/// A crate of the workspace.
struct Crate {
    /// The name of its package.
    name: String,
    /// Its folder, from that of the workspace.
    folder: String,
}

/// Returns the folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads a file as text.
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the crates of the workspace, in the order of its `Cargo.toml`.
fn crates() -> Vec<Crate> {
    let manifest = read(&root().join("Cargo.toml"));
    let members = manifest.split("members = [").nth(1).and_then(|rest| rest.split(']').next());
    let folders = members.expect("a list of members").split('"').skip(1).step_by(2);
    let with_name = |folder: &str| {
        let own = read(&root().join(folder).join("Cargo.toml"));
        let name = own.split("name = \"").nth(1).and_then(|rest| rest.split('"').next());
        Crate { name: name.expect("a package has a name").to_owned(), folder: folder.to_owned() }
    };
    folders.map(with_name).collect()
}
