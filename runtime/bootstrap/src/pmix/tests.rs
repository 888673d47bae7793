//! The types of PMIx beside the headers of the machine, the search for its library, and the thread.

use super::abi::{Data, Info, Proc, Value};
use super::library::major;
use super::search::candidates;
use super::worker::{Unfinished, Worker};
use crate::deadline::Deadline;
use goal_filetest::{patience, skipped};
use std::ffi::OsString;
use std::mem::{offset_of, size_of};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

/// The sizes and offsets that the C compiler must find too, on 64-bit machines.
fn layout() -> [usize; 9] {
    [
        size_of::<Proc>(),
        offset_of!(Proc, rank),
        size_of::<Data>(),
        size_of::<Value>(),
        offset_of!(Value, data),
        size_of::<Info>(),
        offset_of!(Info, flags),
        offset_of!(Info, value),
        super::abi::RANK_WILDCARD as usize,
    ]
}

#[test]
fn types_have_the_layout_of_pmix() {
    assert_eq!(layout(), [260, 256, 24, 32, 8, 552, 512, 520, 4_294_967_294]);
}

#[test]
fn types_have_the_layout_of_the_headers() {
    const SOURCE: &str = r#"
        #include <pmix.h>
        #include <stddef.h>
        #include <stdio.h>
        int main(void) {
            pmix_value_t value;
            printf("%zu %zu %zu %zu %zu %zu %zu %zu %zu\n", sizeof(pmix_proc_t),
                offsetof(pmix_proc_t, rank), sizeof value.data, sizeof value,
                offsetof(pmix_value_t, data), sizeof(pmix_info_t), offsetof(pmix_info_t, flags),
                offsetof(pmix_info_t, value), (size_t)(uint32_t)(PMIX_RANK_WILDCARD));
            return !(PMIX_SUCCESS == 0 && PMIX_GLOBAL == 3 && PMIX_BOOL == 1 && PMIX_STRING == 3 &&
                PMIX_UINT16 == 13 && PMIX_UINT32 == 14 && PMIX_BYTE_OBJECT == 27 &&
                sizeof(PMIX_COLLECT_DATA) == sizeof("pmix.collect") &&
                sizeof(PMIX_JOB_SIZE) == sizeof("pmix.job.size"));
        }"#;
    let flags = Command::new("pkg-config").args(["--cflags", "pmix"]).output();
    let Some(flags) = flags.ok().filter(|output| output.status.success()) else {
        return skipped("pkg-config knows no headers of PMIx (Debian: libpmix-dev)");
    };
    let flags = String::from_utf8(flags.stdout).expect("flags are a text");
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("layout.c"), folder.path().join("layout"));
    std::fs::write(&source, SOURCE).expect("the folder can be written to");
    let mut compiler = Command::new("cc");
    compiler.args(flags.split_whitespace()).arg("-o").arg(&program).arg(&source);
    assert!(compiler.status().expect("there is a C compiler").success());
    let output = Command::new(&program).output().expect("it runs");
    assert!(output.status.success(), "a constant of PMIx has another value");
    let text = String::from_utf8(output.stdout).expect("numbers");
    let theirs: Vec<usize> =
        text.split_whitespace().map(|n| n.parse().expect("a number")).collect();
    assert_eq!(theirs, layout());
}

#[test]
fn releases_are_read_from_the_librarys_text() {
    assert_eq!(major("OpenPMIx 4.2.2rc2, repo rev: v4.2.2rc2 (PMIx Standard: 4.2)"), Some(4));
    assert_eq!(major("OpenPMIx 5.0.11rc1"), Some(5));
    assert_eq!(major("PMIx OpenPMIx 3.2.3a1"), Some(3));
    for text in ["", "OpenPMIx", "none.", "99999999999.1"] {
        assert_eq!(major(text), None, "{text}");
    }
}

#[test]
fn libraries_are_looked_for_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let make = |path: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        std::fs::write(&path, "").expect("a file");
        path.into_os_string()
    };
    let bundled = make("a/lib/openmpi/libpmix.so.2");
    let beside = make("b/lib/libpmix.so.2");
    make("b/bin/mpirun");
    let prefix = folder.path().join("a").into_os_string();
    let path = folder.path().join("b/bin").into_os_string();
    let env = |name: &'static str| match name {
        "PMIX_PREFIX" => Some(prefix.clone()),
        "PATH" => Some(path.clone()),
        _ => None,
    };
    let names = ["libpmix.so.2", "libpmix.so"].map(OsString::from);
    let expected = [&[bundled][..], &names, &[beside]].concat();
    assert_eq!(candidates(env), expected);
    let only = OsString::from("/opt/pmix/libpmix.so.2");
    let env = |name| if name == "GOAL_LIBPMIX" { Some(only.clone()) } else { env(name) };
    assert_eq!(candidates(env), std::slice::from_ref(&only));
    assert_eq!(candidates(|_| None), names);
}

#[test]
fn calls_that_do_not_return_meet_the_deadline() {
    let worker = Worker::start(|| 7).expect("a thread");
    let long = Deadline::after(patience(20));
    assert_eq!(worker.call(&long, |state| *state + 1), Ok(8));
    let (release, wait) = mpsc::channel::<()>();
    let short = Deadline::after(Duration::from_millis(50));
    // The thread waits until this test lets it go.
    let stuck = move |_: &mut i32| wait.recv().is_ok();
    assert_eq!(worker.call(&short, stuck), Err(Unfinished::Late));
    assert_eq!(worker.call(&short, |state| *state), Err(Unfinished::Late));
    release.send(()).expect("the thread waits");
    assert_eq!(worker.call(&long, |state| *state), Ok(7));
    let panics = |_: &mut i32| -> u32 { std::panic::resume_unwind(Box::new("as a test")) };
    assert_eq!(worker.call(&long, panics), Err(Unfinished::Gone));
    assert_eq!(worker.call(&long, |state| *state), Err(Unfinished::Gone));
}

#[test]
fn values_of_other_programs_are_no_blobs() {
    use super::library::Content;
    let blob = |bytes: &[u8]| super::blob_in(Content::Bytes(bytes.to_vec()));
    assert_eq!(blob(b"g"), Ok(Vec::new()));
    assert_eq!(blob(b"gab"), Ok(b"ab".to_vec()));
    assert_eq!(blob(b""), Err(String::new()));
    assert_eq!(blob(b"\x1b[2J"), Err(r"\x1b[2J".to_owned()));
    assert_eq!(super::blob_in(Content::Number(3)), Err("3".to_owned()));
    assert!(super::blob_in(Content::Other).is_err());
}
