//! Programs with more rights than their starter.
#![allow(unsafe_code)] // prctl

use crate::PART;
use goal_filetest::skipped;
use std::fs::{Permissions, metadata, set_permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// User and group of nobody.
const NOBODY: u32 = 65534;
/// The variable that lets a program take rights from those that it executes.
const CONFINES: &str = "GOAL_TEST_CONFINES";

/// Sets `no_new_privs`, as a careful program does after it has got its rights.
pub(crate) fn confine_if_asked() {
    if std::env::var_os(CONFINES).is_some() {
        // SAFETY: a call that changes one flag of this thread.
        assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    }
}

/// This file as a program of root that others may execute.
struct Copy {
    folder: TempDir,
}

impl Copy {
    /// Returns `None` if this process can't give a file away.
    fn or_skip() -> Option<Self> {
        if metadata("/proc/self").unwrap().uid() != 0 {
            skipped("it takes root to give a file to another user");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let copy = Self { folder };
        // By another process: a child of another test may have what this one writes open.
        let mut made = Command::new("cp");
        made.arg(std::env::current_exe().unwrap()).arg(copy.path("program"));
        assert!(made.status().unwrap().success());
        Some(copy)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs it as nobody, with the permissions and capabilities that are given. Returns true if it
    /// was successful, and what it said.
    fn run(&self, mode: u32, variables: &[(&str, &str)]) -> (bool, String) {
        let file = self.path("program");
        set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        self.execute(variables)
    }

    fn execute(&self, variables: &[(&str, &str)]) -> (bool, String) {
        let mut command = Command::new(self.path("program"));
        command.args(["--exact", "this_process_is_a_rank", "--nocapture"]).current_dir("/");
        command.env(PART, "files").envs(variables.iter().copied()).uid(NOBODY).gid(NOBODY);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The file that a table's variable names would tell the starter of what only the program may read.
#[test]
fn a_program_that_is_set_user_id_reads_no_table() {
    let Some(copy) = Copy::or_skip() else { return };
    let table = ("GOAL_TABLE", copy.folder.path().to_str().unwrap());
    let (is_done, says) = copy.run(0o755, &[table]);
    assert!(!is_done && says.contains("GOAL_TABLE: "), "{says}");
    for variables in [&[table][..], &[table, (CONFINES, "1")]] {
        let (is_done, says) = copy.run(0o4755, variables);
        assert!(is_done, "{variables:?}: {says}");
    }
}

/// The variables of a launcher lead to a library whose code the program would execute.
#[test]
fn a_program_with_rights_of_its_file_loads_no_library() {
    let Some(copy) = Copy::or_skip() else { return };
    let (source, library) = (copy.path("mark.c"), copy.path("libpmix.so.2"));
    let (mark, lib) = (copy.path("mark"), copy.path("lib"));
    let text = format!(
        "#include <fcntl.h>\n__attribute__((constructor)) static void mark(void) {{ open(\"{}\", O_CREAT | O_WRONLY, 0666); }}\n",
        mark.display()
    );
    std::fs::write(&source, text).unwrap();
    let mut made = Command::new("cc");
    made.args(["-shared", "-fPIC", "-w", "-o"]).arg(&library).arg(&source);
    if !made.status().is_ok_and(|made| made.success()) {
        return skipped("there is no compiler of C");
    }
    std::fs::create_dir(&lib).unwrap();
    std::fs::copy(&library, lib.join("libpmix.so.2")).unwrap();
    std::fs::create_dir(copy.path("bin")).unwrap();
    std::fs::write(copy.path("bin/mpirun"), "").unwrap();
    let (library, bin) = (library.to_str().unwrap(), copy.path("bin"));
    let prefix = copy.folder.path().to_str().unwrap();
    let started = [
        ("PMIX_RANK", "0"),
        ("PMIX_NAMESPACE", "a"),
        ("OMPI_COMM_WORLD_RANK", "0"),
        ("OMPI_COMM_WORLD_SIZE", "2"),
    ];
    let ways =
        [("GOAL_LIBPMIX", library), ("PMIX_PREFIX", prefix), ("PATH", bin.to_str().unwrap())];
    for way in ways {
        let variables = [&started[..], &[way]].concat();
        let (is_done, says) = copy.run(0o755, &variables);
        // Without these rights it is the user's own choice. The loader may have a library, which
        // then comes before that beside mpirun.
        assert!(!is_done && (mark.exists() || way.0 == "PATH"), "{way:?}: {says}");
        let _ = std::fs::remove_file(&mark);
        for confines in [&[][..], &[(CONFINES, "1")]] {
            let (is_done, says) = copy.run(0o4755, &[&variables[..], confines].concat());
            assert!(!is_done && says.contains("rights that its starter lacks"), "{way:?}: {says}");
            assert!(!mark.exists(), "{way:?}: it was loaded");
        }
    }
    // As with capabilities.
    set_permissions(copy.path("program"), Permissions::from_mode(0o755)).unwrap();
    let mut given = Command::new("setcap");
    given.arg("cap_net_raw=ep").arg(copy.path("program"));
    match given.status().is_ok_and(|given| given.success()) {
        true => {
            let (is_done, says) = copy.execute(&[&started[..], &ways[..1]].concat());
            assert!(!is_done && says.contains("rights that its starter lacks"), "{says}");
            assert!(!mark.exists(), "it was loaded");
        }
        false => skipped("setcap can't give a file a capability here"),
    }
    // An order is refused too, although the program has set no_new_privs.
    let order = [("GOAL_RUN_PROGRAM", "{}"), (CONFINES, "1")];
    let (is_done, says) = copy.run(0o4755, &order);
    assert!(!is_done && says.contains("rights that its starter lacks"), "{says}");
}
