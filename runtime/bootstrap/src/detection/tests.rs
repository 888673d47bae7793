//! Recognition over the environments in `tests/environments/`, and over broken ones.
//!
//! To add an environment, add a file. Its first lines name three things: the starter of the
//! process, the descriptors that are sockets, and the launcher to recognise.

use super::slurm::tasks_of_node;
use super::{Exchange, Launcher};
use crate::error::Error;
use crate::{LauncherKind, Session};
use goal_filetest::patience;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// Recognises the launcher in a text of lines `NAME=value`.
fn detect(environment: &str, sockets: &[i32]) -> Result<Option<Launcher>, Error> {
    let pairs = environment.lines().filter(|line| !line.starts_with('#'));
    let variables: BTreeMap<&str, &str> = pairs.filter_map(|line| line.split_once('=')).collect();
    Launcher::detect(
        |name| variables.get(name).map(OsString::from),
        |descriptor| sockets.contains(&descriptor),
    )
}

/// Writes a launcher as the files do.
fn shown(launcher: Option<&Launcher>) -> String {
    let Some(launcher) = launcher else { return "no launcher".to_owned() };
    let number = |number: Option<u32>| number.map_or("?".to_owned(), |number| number.to_string());
    let exchange = match launcher.exchange() {
        Exchange::Pmi { .. } => "Pmi",
        Exchange::Pmix { .. } => "Pmix",
        Exchange::None { .. } => "None",
    };
    format!(
        "{:?}: rank {} of {}, {} of {} on its node, {exchange}",
        launcher.kind(),
        launcher.rank(),
        number(launcher.size()),
        number(launcher.local_rank()),
        number(launcher.local_size())
    )
}

#[test]
fn every_environment_is_recognised() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/environments");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        let text = std::fs::read_to_string(&path).expect("it is a text");
        let head = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_else(|| panic!("{}: no line `{name}`", path.display())).trim()
        };
        let sockets: Vec<i32> =
            head("# sockets:").split(' ').filter_map(|number| number.parse().ok()).collect();
        let found = detect(&text, &sockets).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(shown(found.as_ref()), head("# expected:"), "{}", path.display());
        count += 1;
    }
    assert!(count >= 20, "only {count} environments");
}

#[test]
fn errors_name_variable_and_value() {
    let cases = [
        ("PMI_FD=9\nPMI_RANK=x1\nPMI_SIZE=2", "PMI_RANK=x1 is not a decimal number"),
        ("PMI_FD=9\nPMI_RANK=\nPMI_SIZE=2", "PMI_RANK= is not a decimal number"),
        ("PMI_FD=9\nPMI_RANK=-1\nPMI_SIZE=2", "PMI_RANK=-1 is not"),
        ("PMI_FD=9\nPMI_RANK= 1\nPMI_SIZE=2", "PMI_RANK= 1 is not"),
        ("PMI_FD=9\nPMI_RANK=1\nPMI_SIZE=99999999999", "PMI_SIZE=99999999999 is not"),
        ("PMI_FD=9\nPMI_RANK=1\nPMI_SIZE=16777217", "PMI_SIZE=16777217 is not"),
        ("PMI_FD=9\nPMI_RANK=2\nPMI_SIZE=2", "PMI_RANK=2 and PMI_SIZE=2 contradict"),
        ("PMI_FD=9\nPMI_RANK=0\nPMI_SIZE=0", "PMI_RANK=0 and PMI_SIZE=0 contradict"),
        ("PMI_FD=9\nPMI_RANK=0", "PMI_FD is set but PMI_SIZE is not"),
        ("PMI_FD=9\nPMI_SIZE=2", "PMI_FD is set but PMI_RANK is not"),
        ("PMI_FD=nine\nPMI_RANK=0\nPMI_SIZE=2", "PMI_FD=nine is not"),
        (
            "PMI_FD=9\nPMI_RANK=0\nPMI_SIZE=2\nMPI_LOCALRANKID=2\nMPI_LOCALNRANKS=2",
            "MPI_LOCALRANKID=2 and MPI_LOCALNRANKS=2 contradict",
        ),
        (
            "PMI_FD=9\nPMI_RANK=0\nPMI_SIZE=2\nMPI_LOCALRANKID=2\nMPI_LOCALNRANKS=3",
            "MPI_LOCALNRANKS=3 and PMI_SIZE=2 contradict",
        ),
        ("OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_RANK is set but OMPI_COMM_WORLD_SIZE is not"),
        ("OMPI_COMM_WORLD_RANK=4\nOMPI_COMM_WORLD_SIZE=4", "contradict"),
        (
            "PMIX_RANK=0\nPMIX_NAMESPACE=a\nOMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=2",
            "OMPI_COMM_WORLD_RANK=1 and PMIX_RANK=0 contradict",
        ),
        ("PMIX_RANK=0", "PMIX_RANK is set but PMIX_NAMESPACE is not"),
        ("PMIX_RANK=0\nPMIX_NAMESPACE=", "PMIX_NAMESPACE= is not a name"),
        ("SLURM_STEP_ID=0\nSLURM_PROCID=3\nSLURM_STEP_NUM_TASKS=3", "contradict"),
        (
            "SLURM_STEP_ID=0\nSLURM_PROCID=0\nSLURM_NODEID=2\nSLURM_STEP_TASKS_PER_NODE=2(x2)",
            "SLURM_STEP_TASKS_PER_NODE=2(x2) is not a list of tasks per node",
        ),
        ("RANK=1\nWORLD_SIZE=one", "WORLD_SIZE=one is not"),
        ("JOB_COMPLETION_INDEX=a", "JOB_COMPLETION_INDEX=a is not"),
    ];
    for (environment, expected) in cases {
        let error = detect(environment, &[9]).expect_err(environment).to_string();
        assert!(error.contains(expected), "{environment}: {error}");
    }
}

#[test]
fn hostile_values_are_shown_with_escapes_and_short() {
    let value = [b"\x1b[2J\xff".as_slice(), &[b'7'; 100_000]].concat();
    let env = |name: &str| (name == "PMIX_RANK").then(|| OsString::from_vec(value.clone()));
    let error = Launcher::detect(env, |_| false).expect_err("it is no number").to_string();
    assert!(error.contains(r"\x1b[2J\xff777"), "{error}");
    assert!(error.len() < 500, "{} bytes", error.len());
}

#[test]
fn tasks_per_node_are_read_up_to_the_node() {
    assert_eq!(tasks_of_node("2", 0), Some(2));
    assert_eq!(tasks_of_node("4(x2),3", 1), Some(4));
    assert_eq!(tasks_of_node("4(x2),3", 2), Some(3));
    for list in ["", "4(x2),3", "4(x", "4(x2", "(x2)", "4(x99999999999)", "4(x4294967295),1(x2)"] {
        assert_eq!(tasks_of_node(list, u32::MAX), None, "{list}");
    }
}

#[test]
fn launchers_without_exchange_say_what_to_do() {
    let open = |environment| {
        let launcher = detect(environment, &[]).expect("it is valid").expect("it is recognised");
        let error = Session::open(&launcher, patience(60)).expect_err("nothing is there");
        error.to_string()
    };
    let slurm = open("SLURM_STEP_ID=0\nSLURM_PROCID=1\nSLURM_STEP_NUM_TASKS=2");
    assert!(slurm.starts_with("rank 1: Slurm's srun started this process, but"), "{slurm}");
    assert!(slurm.contains("srun --mpi=pmix") && slurm.contains("--rendezvous"), "{slurm}");
    let torch = open("RANK=1\nWORLD_SIZE=2\nMASTER_ADDR=node0");
    assert!(torch.contains("MASTER_ADDR is node0") && torch.contains("--rendezvous"), "{torch}");
    let kubernetes = open("JOB_COMPLETION_INDEX=1");
    assert!(kubernetes.contains("--rendezvous HOST:PORT"), "{kubernetes}");
    let closed = open("PMI_FD=77\nPMI_RANK=0\nPMI_SIZE=1");
    assert!(closed.contains("PMI_FD=77 is not an open socket"), "{closed}");
}

#[test]
fn a_namespace_of_slurm_beats_ranks_of_an_outer_open_mpi() {
    let text = "OMPI_COMM_WORLD_RANK=0\nOMPI_COMM_WORLD_SIZE=1\nPMIX_RANK=1\n\
                PMIX_NAMESPACE=slurm.pmix.3.0\nSLURM_STEP_ID=0\nSLURM_STEP_NUM_TASKS=2";
    let launcher = detect(text, &[]).expect("it is valid").expect("it is recognised");
    assert_eq!(
        (launcher.kind(), launcher.rank(), launcher.size()),
        (LauncherKind::Slurm, 1, Some(2))
    );
}
