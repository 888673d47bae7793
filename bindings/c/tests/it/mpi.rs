//! Programs of MPI under `libgoal-mpi.so`, with the MPI library whose `mpicc` and `mpirun` are on
//! the path and those in the folders of `GOAL_MPI_PREFIXES`. Without one, a line says so.

use goal_filetest::mpi::open_mpi;
use goal_filetest::{skipped, timeout};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// The programs in `bindings/mpi/tests/`.
const PROGRAMS: [&str; 14] = [
    "again", "values", "progress", "requests", "types", "worlds", "local", "turns", "threads",
    "sizes", "numbers", "other", "crash", "memory",
];

/// An MPI library.
struct Mpi {
    run: OsString,
    is_open_mpi: bool,
    /// It has a compiler for Fortran, and the program in Fortran is built.
    has_fortran: bool,
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = std::env::current_exe().expect("a test is a file");
    let core = own.with_file_name("libgoal_c.a");
    assert!(core.is_file(), "cargo has built no static library: {}", core.display());
    xtask::goalmpi::build(&root, &core, &mpicc, &dir.join("libgoal-mpi.so"))
        .unwrap_or_else(|error| panic!("{error}"));
    for name in PROGRAMS {
        let source = root.join(format!("bindings/mpi/tests/{name}.c"));
        let mut compiler = Command::new(&mpicc);
        // The wrappers find what the program defines in their place.
        compiler.args(["-O1", "-Wall", "-rdynamic", "-o"]).arg(dir.join(name)).arg(source);
        compiler.arg("-lpthread");
        assert!(compiler.status().is_ok_and(|status| status.success()), "{name}.c");
    }
    // Its schedules fail, so it has no libgoal.
    xtask::goalmpi::build_with(
        &root,
        &root.join("bindings/mpi/tests/failures.c"),
        &mpicc,
        &dir.join("failures"),
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let is_open_mpi = version.contains("Open MPI") || version.contains("open-mpi");
    let has_fortran = xtask::goalmpi::mpifort(&mpicc).is_some_and(|mpifort| {
        let mut compiler = Command::new(mpifort);
        compiler
            .arg("-o")
            .arg(dir.join("fortran"))
            .arg(root.join("bindings/mpi/tests/fortran.f90"));
        compiler.output().is_ok_and(|output| output.status.success())
    });
    Some(Mpi { run, is_open_mpi, has_fortran, dir })
}

/// The libraries, or what is missing.
static LIBRARIES: LazyLock<Result<Vec<Mpi>, &str>> = LazyLock::new(|| {
    if text(Command::new("timeout").arg("--version")).is_none() {
        return Err("there is no timeout");
    }
    let given = std::env::var_os("GOAL_MPI_PREFIXES").unwrap_or_default();
    let prefixes = std::env::split_paths(&given).map(|prefix| Some(prefix.join("bin")));
    let bins: Vec<Option<PathBuf>> = std::iter::once(None).chain(prefixes).collect();
    let libraries: Vec<Mpi> =
        bins.iter().enumerate().filter_map(|(at, bin)| built(at, bin.as_deref())).collect();
    if libraries.is_empty() { Err("there is no mpicc or mpirun") } else { Ok(libraries) }
});

/// Returns the libraries. If there is none, a line says so.
fn libraries() -> &'static [Mpi] {
    match &*LIBRARIES {
        Ok(libraries) => libraries,
        Err(missing) => {
            skipped(missing);
            &[]
        }
    }
}

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
    command.arg(timeout(400));
    match mpi.is_open_mpi {
        true => command.args(open_mpi(mpi.run.to_str().expect("a path in UTF-8"))),
        false => command.arg(&mpi.run),
    };
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
    for mpi in libraries().iter() {
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
fn calls_that_are_made_again_follow_their_arguments() {
    for ranges in ["all=on", "all=off", "all=off,allreduce=8-"] {
        for report in ends_well("again", &[2, 3], &[("GOALMPI_RANGES", ranges), REPORT]) {
            let count = |kind: &str| format!("libgoal-mpi: {kind}: 160 as schedules");
            assert_eq!(report.contains(&count("bcast")), ranges == "all=on", "{report}");
        }
    }
}

#[test]
fn forms_and_sizes_of_an_operation_have_ranges_of_their_own() {
    // The program has broadcasts of 4 MiB, all of them non-blocking, and blocking barriers.
    for (ranges, lines) in [
        ("all=off,bcast=4M-4M", ["bcast: 10 as schedules", "barrier: 0 as schedules"]),
        ("all=off,bcast=0-1K+1M-", ["bcast: 10 as schedules", "barrier: 0 as schedules"]),
        ("all=on,ibcast=off", ["bcast: 0 as schedules", "barrier: 10 as schedules"]),
        ("all=off,ibcast=on,bcast_init=off", ["bcast: 10 as", "barrier: 0 as schedules"]),
        ("all=on,bcast=off,bcast_init=on", ["bcast: 0 as schedules", "barrier: 10 as"]),
    ] {
        for report in ends_well("progress", &[2], &[("GOALMPI_RANGES", ranges), REPORT]) {
            for line in lines {
                assert!(report.contains(line), "{ranges}: {line}: {report}");
            }
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
    for mpi in libraries().iter() {
        let alone = run_with(mpi, "worlds", 2, &[], false);
        if !alone.status.success() {
            skipped(&format!("{} can't spawn: {}", mpi.run.display(), told(&alone).trim_end()));
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
    for mpi in libraries().iter() {
        let output = run_with(mpi, "failures", 2, &[ALL], false);
        assert!(output.status.success(), "{}", told(&output));
    }
}

#[test]
fn what_one_rank_alone_sees_does_not_decide() {
    ends_well("local", &[2, 3], &[ALL]);
}

#[test]
fn one_call_behind_a_collective_finds_what_was_sent_before_it() {
    ends_well("turns", &[2], &[ALL]);
}

#[test]
fn threads_call_at_once() {
    for mpi in libraries().iter() {
        for ranks in [2, 3] {
            let output = run(mpi, "threads", ranks, &[ALL, REPORT]);
            if output.status.code() == Some(77) {
                skipped(&format!("{} has no MPI_THREAD_MULTIPLE", mpi.run.display()));
                continue;
            }
            let told = told(&output);
            assert!(output.status.success(), "{ranks} ranks: {told}");
            assert!(told.contains("barrier: 160 as schedules"), "{told}");
        }
    }
}

#[test]
fn calls_from_fortran_run_as_schedules() {
    for mpi in libraries().iter() {
        if !mpi.has_fortran {
            skipped(&format!("{} has no Fortran", mpi.run.display()));
            continue;
        }
        let output = run(mpi, "fortran", 2, &[ALL, REPORT]);
        let told = told(&output);
        assert!(output.status.success(), "{told}");
        for line in ["allreduce: 3 as schedules", "bcast: 1 as", "barrier: 1 as"] {
            assert!(told.contains(line), "{line}: {told}");
        }
    }
}

#[test]
fn a_program_with_another_mpi_library_is_left_to_it() {
    for mpi in libraries().iter() {
        let output = run(mpi, "other", 2, &[ALL, REPORT]);
        let told = told(&output);
        assert!(output.status.success(), "{told}");
        let lines: Vec<&str> = told.lines().filter(|line| line.contains("libgoal-mpi")).collect();
        assert_eq!(lines.len(), 1, "{told}");
        assert!(lines[0].contains("it is built for"), "{told}");
        assert!(lines[0].contains("1.2.3. All calls are left to MPI"), "{told}");
    }
    // The programs of each library under that of another one.
    let pairs = libraries().iter().flat_map(|mpi| libraries().iter().map(move |it| (mpi, it)));
    for (mpi, other) in pairs {
        if mpi.is_open_mpi == other.is_open_mpi {
            continue;
        }
        let mut command = started(mpi, 2);
        command.args(["env", "GOALMPI_RANGES=all=on"]).arg(preload(other));
        let output = command.arg(mpi.dir.join("progress")).output().expect("timeout was there");
        let told = told(&output);
        assert!(output.status.success(), "{told}");
        assert_eq!(told.matches("it is built for").count(), 1, "{told}");
    }
}

/// Runs each operation in each form with `count` elements at rank 0 and more at rank 1. The error
/// handler must be told, and a line must name the operation and one of the causes.
fn sizes_differ(ranges: &str, count: &str, causes: &[&str]) {
    let operations = ["bcast", "reduce", "allreduce", "gather", "allgather", "alltoall"];
    let forms = ["blocking", "pending"];
    let all = operations.iter().flat_map(|name| forms.map(|form| (name, form)));
    for (mpi, (operation, form)) in
        libraries().iter().flat_map(|mpi| all.clone().map(move |it| (mpi, it)))
    {
        let mut command = started(mpi, 2);
        command.args(["env", &format!("GOALMPI_RANGES={ranges}")]).arg(preload(mpi));
        command.arg(mpi.dir.join("sizes")).args([operation, form, count]);
        let output = command.output().expect("timeout was there");
        let (out, told) = (String::from_utf8_lossy(&output.stdout), told(&output));
        assert!(!matches!(output.status.code(), Some(0 | 124)), "{operation} {form}: {told}");
        assert!(out.contains("the handler was told"), "{operation} {form}: {out} {told}");
        let text = format!("{operation} on the communicator");
        assert!(told.contains(&text), "{operation} {form}: {told}");
        let is_told = causes.iter().any(|cause| told.contains(cause));
        assert!(is_told, "{operation} {form}: {told}");
        assert!(!told.contains("Run the program without libgoal-mpi"), "{told}");
    }
}

#[test]
fn sizes_that_differ_reach_the_error_handler() {
    let of_linked_runs = "with another count, type, operation or root";
    sizes_differ("all=on", "2000", &["with equal counts and types", of_linked_runs]);
}

#[test]
fn sizes_of_which_some_are_left_to_mpi_reach_the_error_handler() {
    sizes_differ("all=1K-", "200", &["rank 0 has left "]);
}

#[test]
fn a_rank_without_memory_is_reported_on_all() {
    for mpi in libraries().iter() {
        let output = run(mpi, "memory", 3, &[ALL]);
        let told = told(&output);
        assert_eq!(output.status.code(), Some(7), "{told}");
        assert!(told.contains("rank 1: bcast on the communicator"), "{told}");
        assert!(
            told.contains("the job was stopped: rank 1: MPI's bcast: there is no memory"),
            "{told}"
        );
    }
}

#[test]
fn the_end_of_a_rank_is_not_blamed_on_the_library() {
    for mpi in libraries().iter() {
        let mut command = started(mpi, 2);
        let script = "[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 0 ] || export CRASH=1; exec \"$0\"";
        command.args(["env", "GOALMPI_RANGES=all=on"]).arg(preload(mpi));
        let output = command.args(["sh", "-c", script]).arg(mpi.dir.join("crash")).output();
        let output = output.expect("timeout was there");
        let told = told(&output);
        assert!(!matches!(output.status.code(), Some(0 | 124)), "{told}");
        assert!(!told.contains("Run the program without libgoal-mpi"), "{told}");
    }
}

#[test]
fn sizes_out_of_range_are_left_to_mpi() {
    let ranges = ("GOALMPI_RANGES", "all=off,bcast=1K-4M");
    for report in ends_well("progress", &[2], &[REPORT, ranges]) {
        assert!(report.contains("allreduce: 0 as schedules"), "{report}");
        assert!(report.contains("for the table or GOALMPI_RANGES"), "{report}");
        assert!(!report.contains("bcast: 0 as schedules"), "{report}");
    }
}

#[test]
fn calls_on_other_communicators_are_not_compared() {
    let ranges = ("GOALMPI_RANGES", "all=off,bcast=1K-");
    for report in ends_well("numbers", &[2, 3], &[REPORT, ranges]) {
        assert!(report.contains("bcast: 12 as schedules"), "{report}");
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
        for mpi in libraries().iter() {
            let told = after(mpi, commands);
            assert!(told.contains(why), "{commands}: {told}");
            assert!(told.contains("All calls are left to MPI"), "{commands}: {told}");
            assert!(!told.contains("as schedules"), "{commands}: {told}");
        }
    }
    for mpi in libraries().iter() {
        assert!(after(mpi, "true").contains("as schedules"));
    }
}

#[test]
fn a_wrong_setting_turns_the_library_off() {
    let long = "all=on,".repeat(10_000);
    for (value, what) in [
        ("allreduce=8-4", "write NAME=off"),
        ("allreduce", "write NAME=off"),
        ("allreduce=4-8+", "write NAME=off"),
        ("allreduce=0-1+2-3+4-5+6-7+8-9+10-11+12-13+14-15+16-17", "write NAME=off"),
        ("iallreduce_init=on", "write NAME=off"),
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
