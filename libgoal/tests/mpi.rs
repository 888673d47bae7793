//! Programs of MPI under `libgoal-mpi.so`, with the MPI library whose `mpicc` and `mpirun` are on
//! the path and those in the folders of `GOAL_MPI_PREFIXES`. Without one, a line says so.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// The programs in `libgoal-mpi/tests/`.
const PROGRAMS: [&str; 5] = ["values", "progress", "requests", "types", "worlds"];

/// An MPI library.
struct Mpi {
    run: OsString,
    is_open_mpi: bool,
    /// The folder of what was built.
    dir: PathBuf,
}

fn text(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Builds the library and the programs with one MPI library. `None` if it is not there.
fn built(number: usize, bin: Option<&Path>) -> Option<Mpi> {
    let tool = |name: &str| bin.map_or(OsString::from(name), |bin| bin.join(name).into());
    let (mpicc, run) = (tool("mpicc"), tool("mpirun"));
    let version = text(Command::new(&run).arg("--version"))?;
    text(Command::new(&mpicc).arg("--version"))?;
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("libgoal-mpi-{number}"));
    std::fs::create_dir_all(&dir).expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let own = std::env::current_exe().expect("a test is a file");
    let core = own.with_file_name("libgoal_c.a");
    assert!(core.is_file(), "cargo has built no static library: {}", core.display());
    xtask::goalmpi::build(&root, &core, &mpicc, &dir.join("libgoal-mpi.so"))
        .unwrap_or_else(|error| panic!("{error}"));
    for name in PROGRAMS {
        let source = root.join(format!("libgoal-mpi/tests/{name}.c"));
        let mut compiler = Command::new(&mpicc);
        compiler.args(["-O1", "-Wall", "-o"]).arg(dir.join(name)).arg(source);
        assert!(compiler.status().is_ok_and(|status| status.success()), "{name}.c");
    }
    // Its schedules fail, so it has no libgoal.
    xtask::goalmpi::build_with(
        &root,
        &root.join("libgoal-mpi/tests/failures.c"),
        &mpicc,
        &dir.join("failures"),
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let is_open_mpi = version.contains("Open MPI") || version.contains("open-mpi");
    Some(Mpi { run, is_open_mpi, dir })
}

static LIBRARIES: LazyLock<Vec<Mpi>> = LazyLock::new(|| {
    if text(Command::new("timeout").arg("--version")).is_none() {
        eprintln!("skipped: there is no timeout");
        return Vec::new();
    }
    let given = std::env::var_os("GOAL_MPI_PREFIXES").unwrap_or_default();
    let prefixes = std::env::split_paths(&given).map(|prefix| Some(prefix.join("bin")));
    let bins: Vec<Option<PathBuf>> = std::iter::once(None).chain(prefixes).collect();
    let libraries: Vec<Mpi> =
        bins.iter().enumerate().filter_map(|(at, bin)| built(at, bin.as_deref())).collect();
    if libraries.is_empty() {
        eprintln!("skipped: there is no mpicc or mpirun");
    }
    libraries
});

/// Runs a program under the library, with some variables.
fn run(mpi: &Mpi, name: &str, ranks: u32, variables: &[(&str, &str)]) -> Output {
    run_with(mpi, name, ranks, variables, true)
}

fn run_with(
    mpi: &Mpi,
    name: &str,
    ranks: u32,
    variables: &[(&str, &str)],
    is_preloaded: bool,
) -> Output {
    let mut command = started(mpi, ranks);
    command.arg("env");
    if is_preloaded {
        command.arg(preload(mpi));
    }
    command.args(variables.iter().map(|(name, value)| format!("{name}={value}")));
    command.arg(mpi.dir.join(name));
    command.output().expect("timeout was there")
}

/// Runs the program for progress under the library on two ranks, each behind commands of a shell
/// that know its rank as `$rank`. The program must end well. Returns what was told.
fn after(mpi: &Mpi, commands: &str) -> String {
    let mut command = started(mpi, 2);
    let script =
        format!("rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; {commands}; exec env \"$0\" \"$1\"");
    command.args(["env", "GOALMPI_RANGES=all=on", "GOALMPI_REPORT=1", "sh", "-c", &script]);
    let output = command.arg(preload(mpi)).arg(mpi.dir.join("progress")).output();
    let output = output.expect("timeout was there");
    assert!(output.status.success(), "{commands}: {}", told(&output));
    told(&output)
}

/// Returns the command that starts some ranks.
fn started(mpi: &Mpi, ranks: u32) -> Command {
    let mut command = Command::new("timeout");
    command.arg("400").arg(&mpi.run);
    if mpi.is_open_mpi {
        command.args(["--allow-run-as-root", "--oversubscribe"]);
    }
    command.args(["-n", &ranks.to_string()]);
    command
}

fn preload(mpi: &Mpi) -> String {
    format!("LD_PRELOAD={}", mpi.dir.join("libgoal-mpi.so").display())
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a program that must end well on some numbers of ranks. Returns the reports.
fn ends_well(name: &str, all: &[u32], variables: &[(&str, &str)]) -> Vec<String> {
    let mut reports = Vec::new();
    for mpi in LIBRARIES.iter() {
        for &ranks in all {
            let output = run(mpi, name, ranks, variables);
            assert!(output.status.success(), "{name} on {ranks} ranks: {}", told(&output));
            reports.push(told(&output));
        }
    }
    reports
}

const REPORT: (&str, &str) = ("GOALMPI_REPORT", "1");
/// Short blocks too, which the default leaves to some MPI libraries.
const ALL: (&str, &str) = ("GOALMPI_RANGES", "all=on");

#[test]
fn results_are_those_of_mpi() {
    for report in ends_well("values", &[2, 3, 4], &[REPORT, ALL]) {
        for name in ["barrier", "bcast", "reduce", "allreduce", "gather", "allgather", "alltoall"] {
            let line = report.lines().find(|line| line.contains(&format!(": {name}: ")));
            let line = line.unwrap_or_else(|| panic!("{name} is missing in {report}"));
            assert!(!line.contains(" 0 as schedules"), "{line}");
        }
    }
}

#[test]
fn a_rank_that_waits_makes_progress_for_others() {
    ends_well("progress", &[2, 3], &[ALL]);
}

#[test]
fn requests_of_schedules_and_of_mpi_mix() {
    ends_well("requests", &[2, 3], &[ALL]);
}

#[test]
fn types_may_be_freed_and_buffers_interleave() {
    ends_well("types", &[2, 3], &[ALL]);
}

#[test]
fn a_communicator_with_processes_of_another_world_is_left_to_mpi() {
    for mpi in LIBRARIES.iter() {
        let alone = run_with(mpi, "worlds", 2, &[], false);
        if !alone.status.success() {
            eprintln!("skipped: {} can't spawn: {}", mpi.run.display(), told(&alone));
            continue;
        }
        for ranks in [2, 3] {
            let output = run(mpi, "worlds", ranks, &[ALL]);
            assert!(output.status.success(), "{ranks} ranks: {}", told(&output));
        }
    }
}

#[test]
fn a_schedule_that_fails_tells_the_program_once() {
    for mpi in LIBRARIES.iter() {
        let output = run_with(mpi, "failures", 2, &[ALL], false);
        assert!(output.status.success(), "{}", told(&output));
    }
}

#[test]
fn sizes_out_of_range_are_left_to_mpi() {
    let ranges = ("GOALMPI_RANGES", "all=off,bcast=1K-4M");
    for report in ends_well("progress", &[2], &[REPORT, ranges]) {
        assert!(report.contains("allreduce: 0 as schedules"), "{report}");
        assert!(!report.contains("bcast: 0 as schedules"), "{report}");
    }
}

/// The program goes on with MPI alone, whichever rank fails and at whatever step.
#[test]
fn a_job_that_can_not_begin_leaves_all_calls_to_mpi() {
    let table = Path::new(env!("CARGO_TARGET_TMPDIR")).join("other-table.json");
    std::fs::write(&table, r#"{"measured": "never", "rules": []}"#).expect("a file");
    let other = format!("[ $rank = 0 ] || export GOAL_TABLE={}", table.display());
    for (commands, why) in [
        ("[ $rank = 0 ] || export GOAL_TABLE=/nowhere/at/all", "rank 1: GOAL_TABLE: /nowhere"),
        ("[ $rank = 1 ] || export GOAL_TABLE=/nowhere/at/all", "rank 0: GOAL_TABLE: /nowhere"),
        (&other, "all ranks must have the same"),
        // Its launcher fails when the ranks have agreed.
        ("ulimit -v 2000000", "address space"),
    ] {
        for mpi in LIBRARIES.iter() {
            let told = after(mpi, commands);
            assert!(told.contains(why), "{commands}: {told}");
            assert!(told.contains("All calls are left to MPI"), "{commands}: {told}");
            assert!(!told.contains("as schedules"), "{commands}: {told}");
        }
    }
    for mpi in LIBRARIES.iter() {
        assert!(after(mpi, "true").contains("as schedules"));
    }
}

#[test]
fn a_wrong_setting_turns_the_library_off() {
    let long = "all=on,".repeat(600);
    for (value, what) in [
        ("allreduce=8-4", "write NAME=off"),
        ("allreduce", "write NAME=off"),
        ("all=0-99999999999999999999", "write NAME=off"),
        ("@/dev/zero", "it is no text"),
        ("@/proc/self/exe", "it is no text"),
        ("@/", "names the file"),
        ("@/dev/full", "it is no text"),
        (&long, "longer than"),
        ("@/nowhere/at/all", "names the file"),
    ] {
        for report in ends_well("progress", &[2], &[("GOALMPI_RANGES", value)]) {
            assert!(report.contains(what), "{value}: {report}");
        }
    }
}
