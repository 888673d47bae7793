//! The committed object is the one of the committed sources.
#![allow(missing_docs)]

use goal_filetest::skipped;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::process::Command;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("bpf")
}

/// The files in the order of `build.sh`: headers by name, then the engine.
fn sources() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut sources: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "h")).collect();
    sources.sort();
    sources.push(folder().join("engine.c"));
    sources
}

#[test]
fn the_object_is_built_from_the_sources() {
    let mut hash = Sha256::new();
    for path in sources() {
        hash.update(std::fs::read(path).unwrap());
    }
    let ours: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let noted = std::fs::read_to_string(folder().join("engine.sha256")).unwrap();
    let (hash, compiler) = noted.split_once('\n').expect("two lines");
    assert_eq!(ours, hash, "run transports/kernel/bpf/build.sh");

    let version = match Command::new("clang").arg("--version").output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) => return skipped(&format!("no clang: {error}")),
    };
    if version.lines().next() != Some(compiler.trim_end()) {
        let compiler = compiler.trim_end();
        return skipped(&format!("the object is of {compiler}, here is another clang"));
    }
    // From a copy: the object must not depend on the folder that it is built in.
    let copy = std::env::temp_dir().join(format!("goal-engine-{}", std::process::id()));
    std::fs::create_dir_all(copy.join("bpf")).unwrap();
    for path in sources().into_iter().chain([folder().join("build.sh")]) {
        std::fs::copy(&path, copy.join("bpf").join(path.file_name().unwrap())).unwrap();
    }
    let built = copy.join("built.o");
    let output = Command::new(copy.join("bpf/build.sh")).arg(&built).output().unwrap();
    let object = std::fs::read(&built);
    std::fs::remove_dir_all(&copy).unwrap();
    if !output.status.success() {
        return skipped(&String::from_utf8_lossy(&output.stderr));
    }
    let object = object.unwrap();
    let committed = std::fs::read(folder().join("engine.o")).unwrap();
    assert!(object == committed, "the object differs: run transports/kernel/bpf/build.sh");
}
