//! Programs in C under the profiler, with the MPI library whose `mpicc` and `mpirun` are on the
//! path. Without one, a line says so.

use goal_filetest::mpi::open_mpi;
use goal_filetest::{skipped, timeout};
use goal_lang::diag::Severity;
use goal_lang::{ParseOptions, SourceMap, parse};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, LazyLock};

/// The folder of the profiler and the programs; `None` if there is no MPI library.
static BUILT: LazyLock<Option<tempfile::TempDir>> = LazyLock::new(|| {
    let is_there = |tool: &str| Command::new(tool).arg("--version").output().is_ok();
    if !is_there("mpicc") || !is_there("mpirun") || !is_there("timeout") {
        return None;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = std::env::current_exe().expect("a test is a file");
    let core = own.with_file_name("libgoal_prof.a");
    assert!(core.is_file(), "cargo has built no static library: {}", core.display());
    xtask::goalprof::build(&root, &core, OsStr::new("mpicc"), &dir.path().join("libgoalprof.so"))
        .unwrap_or_else(|error| panic!("{error}"));
    let programs =
        ["mix", "collectives", "threads", "threads_in_turn", "ends", "freed", "callbacks"];
    for name in programs.into_iter().chain(["forks", "limits", "sessions", "other", "errors"]) {
        let source = root.join(format!("bindings/prof/tests/c/{name}.c"));
        let mut compiler = Command::new("mpicc");
        compiler.args(["-O1", "-w", "-o"]).arg(dir.path().join(name)).arg(source).arg("-lpthread");
        assert!(compiler.status().is_ok_and(|status| status.success()), "{name}.c");
    }
    fortran(&root, dir.path());
    let spawns = root.join("bindings/mpi/tests/worlds.c");
    let mut compiler = Command::new("mpicc");
    compiler.args(["-O1", "-w", "-o"]).arg(dir.path().join("worlds")).arg(spawns);
    assert!(compiler.status().is_ok_and(|status| status.success()), "worlds.c");
    Some(dir)
});

/// Builds `fortran` and `mixed`, if there is a compiler.
fn fortran(root: &Path, dir: &Path) {
    let folder = root.join("bindings/prof/tests/c");
    let run = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    let Some(mpifort) = xtask::goalmpi::mpifort(OsStr::new("mpicc")) else { return };
    let compiler = || {
        let mut compiler = Command::new(&mpifort);
        compiler.args(["-cpp", "-w"]).arg("-J").arg(dir);
        compiler
    };
    if compiler().arg("--version").output().map_or(true, |output| !output.status.success()) {
        return;
    }
    // Not every library has the module mpi_f08.
    let whole = |define: &[&str]| {
        let mut compiler = compiler();
        compiler.arg("-DMAIN").args(define).arg(folder.join("fortran.f90"));
        compiler.arg("-o").arg(dir.join("fortran")).stderr(std::process::Stdio::null());
        run(&mut compiler)
    };
    assert!(whole(&["-DMODERN"]) || whole(&[]), "fortran.f90");
    let (part, object) = (dir.join("part.o"), dir.join("mixed.o"));
    let mut compiler_of_c = Command::new("mpicc");
    compiler_of_c.args(["-O1", "-w", "-c"]).arg(folder.join("mixed.c")).arg("-o").arg(&object);
    let mut parts = compiler();
    parts.arg("-c").arg(folder.join("fortran.f90")).arg("-o").arg(&part);
    let mut linker = compiler();
    linker.args([&part, &object]).arg("-o").arg(dir.join("mixed"));
    assert!(run(&mut parts) && run(&mut compiler_of_c) && run(&mut linker), "mixed.c");
}

fn is_open_mpi() -> bool {
    let version = Command::new("mpirun").arg("--version").output().expect("it was there");
    let text = String::from_utf8_lossy(&version.stdout);
    text.contains("Open MPI") || text.contains("open-mpi")
}

/// Runs a program on some ranks with some variables. Returns its output and the ranks' files.
fn run(
    name: &str,
    ranks: u32,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Option<(Output, Vec<PathBuf>, tempfile::TempDir)> {
    let Some(built) = &*BUILT else {
        skipped("there is no mpicc, mpirun or timeout");
        return None;
    };
    let built = built.path();
    let out = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("timeout");
    command.arg(timeout(300));
    match is_open_mpi() {
        true => command.args(open_mpi("mpirun")),
        false => command.arg("mpirun"),
    };
    command.args(["-n", &ranks.to_string(), "env"]);
    command.arg(format!("LD_PRELOAD={}", built.join("libgoalprof.so").display()));
    command.arg(format!("GOALPROF_DIR={}", out.path().display()));
    command.args(variables.iter().map(|(name, value)| format!("{name}={value}")));
    command.arg(built.join(name)).args(arguments);
    if !built.join(name).is_file() {
        skipped(&format!("there is no mpifort for {name}"));
        return None;
    }
    let output = command.output().expect("timeout was there");
    if output.status.code() == Some(77) {
        skipped(&format!("this library lacks what {name} needs"));
        return None;
    }
    let files: Vec<PathBuf> = (0..ranks)
        .map(|rank| out.path().join(format!("{name}.{rank}.goal")))
        .filter(|file| file.is_file())
        .collect();
    Some((output, files, out))
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Parses all files as one program, and checks and replays it. Returns the number of its findings
/// that are no errors.
fn replay(files: &[PathBuf]) -> usize {
    let mut sources = SourceMap::default();
    for file in files {
        let text = fs::read(file).expect("it is there");
        sources.add(file.display().to_string(), Arc::new(text));
    }
    let parsed = parse(&sources, &ParseOptions::default());
    assert_eq!(parsed.report.diagnostics, []);
    let program = parsed.program.expect("there are no errors");
    let report = goal_check::check(&program, Some(&sources), &goal_check::Options::default());
    let errors = report.diagnostics.iter().filter(|of| of.severity() == Severity::Error);
    assert_eq!(errors.collect::<Vec<_>>(), Vec::<&goal_lang::diag::Diagnostic>::new());
    for seed in 0..3 {
        let options = goal_interp::Options { seed, ..Default::default() };
        goal_interp::run(&program, &options).expect("the program ends");
    }
    report.diagnostics.len()
}

#[test]
fn messages_of_all_kinds_replay() {
    for ranks in [2, 3, 4] {
        let Some((output, files, _out)) = run("mix", ranks, &[], &[]) else { return };
        assert!(output.status.success(), "{}", told(&output));
        assert_eq!((files.len(), replay(&files)), (ranks as usize, 0));
    }
}

#[test]
fn collectives_replay_by_any_algorithm() {
    let chosen = [("GOALPROF_ALLREDUCE", "ring"), ("GOALPROF_BCAST", "chain")];
    for (ranks, variables) in [(3, &[][..]), (4, &chosen[..])] {
        let Some((output, files, _out)) = run("collectives", ranks, &[], variables) else { return };
        assert!(output.status.success(), "{}", told(&output));
        assert_eq!((files.len(), replay(&files)), (ranks as usize, 0));
    }
}

/// Messages of threads that nothing orders may change places, so there may be warnings.
#[test]
fn threads_that_call_at_the_same_time_replay() {
    let Some((output, files, _out)) = run("threads", 2, &[], &[]) else { return };
    assert!(output.status.success(), "{}", told(&output));
    replay(&files);
}

/// A program is run on some ranks, and ends as it should. All its files replay without a finding.
#[track_caller]
fn replays(name: &str, ranks: u32, arguments: &[&str]) -> String {
    let Some((output, files, _out)) = run(name, ranks, arguments, &[]) else {
        return String::new();
    };
    assert!(output.status.success(), "{name} {arguments:?}: {}", told(&output));
    assert_eq!(told(&output), "", "{name} {arguments:?}");
    assert_eq!((files.len(), replay(&files)), (ranks as usize, 0), "{name} {arguments:?}");
    fs::read_to_string(&files[0]).expect("it is there")
}

/// Threads take turns by a lock that the profiler does not see. Their messages have one tag.
#[test]
fn messages_of_threads_keep_their_order() {
    let Some((output, files, _out)) = run("threads_in_turn", 3, &[], &[]) else { return };
    assert!(output.status.success(), "{}", told(&output));
    assert_eq!(files.len(), 3);
    replay(&files);
}

#[test]
fn requests_that_are_freed_while_they_are_active_replay() {
    for ranks in [1, 2, 3] {
        let text = replays("freed", ranks, &[]);
        let received = text.matches(": recv 4b").count();
        assert!(text.is_empty() || received >= 500, "{text}");
    }
}

#[test]
fn functions_of_attributes_are_recorded() {
    let text = replays("callbacks", 2, &[]);
    // Two functions in MPI_Finalize, and the one that frees 2,100 communicators.
    for tag in ["tag 20\n", "tag 21\n", "tag 14\n"] {
        assert!(text.is_empty() || text.contains(tag), "{tag}");
    }
    assert!(text.is_empty() || text.matches(": recv 4b").count() > 2100, "{text}");
}

#[test]
fn programs_in_fortran_and_of_several_languages_replay() {
    for ranks in [2, 3] {
        for name in ["fortran", "mixed"] {
            let text = replays(name, ranks, &[]);
            let sends = text.matches(": send ").count();
            assert!(text.is_empty() || sends >= 10, "{name}: {text}");
        }
    }
}

#[test]
fn programs_with_sessions_replay() {
    for way in ["only", "twice", "world", "before", "behind"] {
        // Open MPI 5.0 crashes when a process opens a session after it has closed all.
        if way == "twice" && is_open_mpi() {
            continue;
        }
        let text = replays("sessions", 3, &[way]);
        let blocks = text.matches("rank 0 {").count();
        assert!(text.is_empty() || blocks == 1 + usize::from(way == "twice"), "{way}: {text}");
    }
}

/// A forked child takes no lock, writes nothing and keeps no lock on the file.
#[test]
fn a_forked_child_leaves_the_recording_to_its_parent() {
    for way in ["exit", "_exit", "quick", "call"] {
        let Some((output, files, _out)) = run("forks", 1, &[way], &[]) else { return };
        assert!(output.status.success(), "{way}: {}", told(&output));
        assert_eq!(files.len(), 1);
        replay(&files);
    }
}

#[test]
fn a_program_goes_on_at_a_limit() {
    for (way, why) in [
        ("files", "raise `ulimit -f`"),
        ("none", "raise `ulimit -f`"),
        ("memory", "memory has ended"),
        ("close", "the program has closed the file"),
    ] {
        let Some((output, files, _out)) = run("limits", 2, &[way], &[]) else { return };
        let told = told(&output);
        assert!(output.status.success(), "{way}: {told}");
        assert_eq!(told.matches(why).count(), 2, "{way}: {told}");
        let text = fs::read_to_string(&files[0]).expect("rank 0 has a file");
        assert!(!text.contains("}\n"), "{way}");
    }
}

/// A call that fails is reported once. Recording ends if messages may be missing, and goes on after
/// a call with a wrong argument.
#[test]
fn calls_that_fail_are_told() {
    for (way, why, ends) in [
        ("cut", "longer than the room", true),
        ("wait", "longer than the room", true),
        ("argument", "returned an error", false),
        ("jump", "left by an exception or longjmp", true),
        ("goes on", "left by an exception or longjmp", true),
        ("waits", "left by an exception or longjmp", true),
        ("receive", "left by an exception or longjmp", true),
    ] {
        // MPICH holds a lock of its own while an error handler runs, if threads may call.
        if ["goes on", "waits", "receive"].contains(&way) && !is_open_mpi() {
            continue;
        }
        let Some((output, files, _out)) = run("errors", 1, &[way], &[]) else { return };
        let told = told(&output);
        assert!(output.status.success(), "{way}: {told}");
        assert_eq!(told.matches(why).count(), 1, "{way}: {told}");
        let text = fs::read_to_string(&files[0]).expect("rank 0 has a file");
        assert_eq!(text.contains("# Cut off by goal-prof"), ends, "{way}: {text}");
        if !ends {
            replay(&files);
        }
    }
}

/// The program's handles and constants are those of another library.
#[test]
fn the_profiler_of_another_library_steps_aside() {
    let Some((output, files, _out)) = run("other", 2, &[], &[]) else { return };
    let told = told(&output);
    assert!(output.status.success() && files.is_empty(), "{told}");
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("goal-prof")).collect();
    assert_eq!(lines.len(), 1, "{told}");
    assert!(lines[0].contains("Open MPI v") && lines[0].contains("MPICH Version:"), "{told}");
    assert!(lines[0].contains("9.8.7"), "{told}");
}

#[test]
fn a_link_in_the_place_of_the_folder_is_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let (other, link) = (dir.path().join("other"), dir.path().join("link"));
    fs::create_dir(&other).expect("a folder");
    std::os::unix::fs::symlink(&other, &link).expect("a link");
    let folder = link.display().to_string();
    let Some((output, ..)) = run("ends", 1, &[], &[("GOALPROF_DIR", &folder)]) else { return };
    assert!(output.status.success() && told(&output).contains("is a link"), "{}", told(&output));
    assert_eq!(fs::read_dir(&other).expect("it is there").count(), 0);
}

#[test]
fn a_program_that_is_not_followed_to_its_end_leaves_text_without_an_end() {
    for (way, variables, why) in [
        ("exit", &[][..], "without MPI_Finalize"),
        ("abort", &[][..], "without MPI_Finalize"),
        ("tag", &[("GOALPROF_TAG_BITS", "12")][..], "set GOALPROF_TAG_BITS to 13"),
        ("idup", &[][..], "MPI_Comm_idup"),
        ("isendrecv", &[][..], "does not tell"),
    ] {
        if way == "isendrecv" && is_open_mpi() {
            continue;
        }
        let Some((_, files, _out)) = run("ends", 2, &[way], variables) else { return };
        let text = fs::read_to_string(&files[0]).expect("rank 0 has a file");
        let last = text.lines().last().unwrap_or_default();
        assert!(
            last.starts_with("# Cut off by goal-prof: ") && last.contains(why),
            "{way}: {last}"
        );
        let mut sources = SourceMap::default();
        sources.add("ends.0.goal", Arc::new(text.into_bytes()));
        let parsed = parse(&sources, &ParseOptions::default());
        let first = parsed.report.diagnostics.first().expect("the brace is missing");
        assert!(first.help.as_deref().is_some_and(|help| help.contains("cut off")), "{way}");
    }
}

/// A communicator of two worlds is not followed, and the files of a spawned program would replace
/// those of its parent.
#[test]
fn a_program_that_is_spawned_is_not_recorded() {
    let Some((output, files, _out)) = run("worlds", 2, &[], &[]) else { return };
    let told = told(&output);
    if !output.status.success() && !told.contains("goal-prof") {
        return skipped(&format!("this library can't spawn: {}", told.trim_end()));
    }
    assert!(output.status.success(), "{told}");
    assert!(told.contains("communicator that is not followed"), "{told}");
    for (rank, file) in files.iter().enumerate() {
        let text = fs::read_to_string(file).expect("it is there");
        assert!(text.starts_with(&format!("# Written by goal-prof: rank {rank} of 2")), "{text}");
    }
}

#[test]
fn the_program_goes_on_where_nothing_can_be_recorded() {
    for (variables, what) in [
        (&[("GOALPROF_ALLREDUCE", "rig")][..], "allreduce has no such algorithm"),
        (&[("GOALPROF_DIR", "/proc/nowhere")][..], "set GOALPROF_DIR"),
        (&[("GOALPROF_DIR", "/dev/full")][..], "set GOALPROF_DIR"),
    ] {
        let Some((output, files, _out)) = run("ends", 2, &[], variables) else { return };
        assert!(output.status.success(), "{}", told(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains("the program has ended"));
        assert!(told(&output).contains(what) && files.is_empty(), "{}", told(&output));
    }
}
