//! Programs with more rights than their starter.

use crate::PART;
use std::fs::{Permissions, metadata, set_permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// User and group of nobody.
const NOBODY: u32 = 65534;

/// The file that a table's variable names would tell the starter of what only the program may read.
#[test]
fn a_program_that_is_set_user_id_reads_no_table() {
    if metadata("/proc/self").unwrap().uid() != 0 {
        return eprintln!("rights: skipped: it takes root to give a file to another user");
    }
    let folder = tempfile::tempdir().unwrap();
    set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let file = folder.path().join("program");
    // By another process: a child of another test may have what this one writes open.
    let mut made = Command::new("cp");
    made.arg(std::env::current_exe().unwrap()).arg(&file);
    assert!(made.status().unwrap().success());
    let run = |mode| {
        set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let mut command = Command::new(&file);
        command.args(["--exact", "this_process_is_a_rank", "--nocapture"]).current_dir("/");
        command.env(PART, "files").env("GOAL_TABLE", folder.path()).uid(NOBODY).gid(NOBODY);
        command.output().unwrap()
    };
    let refused = run(0o755);
    let says = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && says.contains("GOAL_TABLE: "), "{says}");
    let ended = run(0o4755);
    assert!(ended.status.success(), "{ended:?}");
}
