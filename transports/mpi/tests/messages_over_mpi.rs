//! Random programs over MPI, under the `mpirun` of the library that this crate was built with.
#![cfg(feature = "mpi")]

use goal_filetest::{mpi, seeds};
use std::path::PathBuf;

/// The time after which a run counts as hanging, in seconds.
const RUN_MAX: u64 = 100;

/// Returns the path of the example, which is built with the tests.
fn random() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.ancestors().nth(2).expect("it lies in `deps`").join("examples/random")
}

#[test]
fn the_memory_is_the_interpreters() {
    // The library that was linked is that of the mpicc on the path.
    let Some(launcher) = mpi::launchers().into_iter().find(|one| one.name == "mpirun") else {
        return;
    };
    for ranks in [2, 3, 4] {
        let mut command = launcher.start(ranks, RUN_MAX);
        command.arg(random()).arg(seeds(40).to_string());
        let output = command.output().expect("there is `timeout`");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{ranks} ranks: {text}{errors}");
        let ran = |line: &str| {
            let count = line.strip_suffix(" programs")?.rsplit(' ').next()?.parse::<u64>();
            count.ok()
        };
        let counts: Vec<u64> = text.lines().filter_map(ran).collect();
        assert_eq!(counts.len(), ranks as usize, "{text}");
        assert!(counts.iter().all(|&count| count > 0), "{ranks} ranks: {text}");
    }
}
