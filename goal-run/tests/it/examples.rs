//! Runs every file of `examples/` on every transport. The results are those of the interpreter, and
//! those that the file expects.

use crate::common::{TRANSPORTS, examples, run_file};

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
