//! Every file of `examples/` runs on every transport as the interpreter has it, and as the file itself expects.

mod common;

use common::{TRANSPORTS, run_file};
use std::fs;
use std::path::{Path, PathBuf};

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let examples: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|e| e == "goal")).collect();
    assert!(!examples.is_empty());
    examples
}

#[test]
fn every_example_is_verified() {
    for path in examples() {
        for transport in TRANSPORTS {
            for eager in ["0", "16K"] {
                let arguments = [
                    "--transport",
                    transport,
                    "--eager-limit",
                    eager,
                    "--verify",
                    "--format",
                    "json",
                    "--repeat",
                    "3",
                ];
                let ended = run_file(&path, &arguments);
                assert_eq!(ended.status, Some(0), "{path:?} on {transport}: {ended:?}");
                let report = ended.json();
                assert_eq!(report["status"], "ok");
                assert_eq!(report["unreceived"], 0, "{path:?}");
                assert!(report["verified"]["receives"].as_u64().unwrap() > 0, "{path:?}");
            }
        }
    }
}
