use super::{
    Emit, Error, Form, Input, Options, Output, Status, Target, compile, emit, load_program,
    optimize,
};
use goal_lang::diag::Code;
use rustix::fs::{Mode, OFlags, open};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

const TEXT: &str = "num_ranks 2\nrank 0 { b: send 4b to 1\n b requires a\n a: calc 1 }\nrank 1 { recv 4b from 0 }\n";

/// A folder with files of the given names and contents, and their paths.
fn files(contents: &[(&str, &[u8])]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = contents.iter().map(|(name, bytes)| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        path
    });
    let paths = paths.collect();
    (folder, paths)
}

#[test]
fn every_form_compiles_to_the_same_schedule() {
    let options = Options { strip: true, ..Options::default() };
    let (folder, text) = files(&[("a.goal", TEXT.as_bytes())]);
    let of_text = compile(&text, &options).expect("right");
    let mut loaded = load_program(&text, &options).expect("right");
    optimize(&mut loaded, &options, |_, _| {}).expect("right");
    for (name, form) in [("a.nisa", Emit::Nisa), ("a.bin", Emit::Loggopsim)] {
        let path = folder.path().join(name);
        let mut out = Output::create(&Target::new(&path), true).expect("a new file");
        emit(&mut loaded, form, &options, &mut out).expect("written");
        assert!(!path.exists(), "{name} is there before it is whole");
        out.finish().expect("written");
        let again = compile(&[path], &options).expect("right");
        assert!(again.nisa.bytes() == of_text.nisa.bytes(), "{name}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_text() {
    let (_folder, paths) = files(&[("a.goal", b"rank 0 { send 4b to 3 }")]);
    let Err(error) = compile(&paths, &Options::default()) else { panic!("there is no rank 3") };
    assert_eq!(error.status(), Status::Input);
    let Error::Input(findings) = error else { panic!("{error}") };
    assert_eq!(findings.report.diagnostics[0].code, Code::PeerOutOfRange);
    assert_eq!(findings.sources.sources()[0].name, paths[0].display().to_string());
}

#[test]
fn packed_input_is_unpacked_up_to_the_limit() {
    let pack = |bytes: &[u8]| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packer, bytes).expect("in memory");
        packer.finish().expect("in memory")
    };
    let open = |bytes: Vec<u8>, limit| Input::from_bytes("a".to_owned(), Arc::new(bytes), limit);
    let input = open(pack(TEXT.as_bytes()), 1000).expect("small enough");
    assert!(input.packed && input.form == Form::Text && input.bytes[..] == *TEXT.as_bytes());
    // Two members, as `cat a.gz b.gz` makes.
    let two = [pack(b"rank 0 "), pack(b"{ }")].concat();
    assert_eq!(open(two, 1000).expect("small enough").bytes[..], *b"rank 0 { }");
    for (bytes, limit, code) in [
        (pack(&vec![b' '; 1 << 20]), 1 << 19, Code::InputLimit),
        (pack(TEXT.as_bytes())[..30].to_vec(), 1000, Code::GzipFormat),
    ] {
        let Err(Error::Input(findings)) = open(bytes, limit) else { panic!("{code} is refused") };
        assert_eq!(findings.report.diagnostics[0].code, code);
    }
}

#[test]
fn damaged_zstd_is_an_error_and_no_panic() {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    let text = TEXT.repeat(40);
    let packed = compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
    let open = |bytes: Vec<u8>| Input::from_bytes("a".to_owned(), Arc::new(bytes), 1 << 20);
    assert_eq!(open(packed.clone()).expect("whole").bytes[..], *text.as_bytes());
    for len in 4..packed.len() {
        let Err(Error::Input(findings)) = open(packed[..len].to_vec()) else {
            panic!("{len} of {} bytes are taken", packed.len())
        };
        assert_eq!(findings.report.diagnostics[0].code, Code::ZstdFormat);
    }
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..goal_filetest::seeds(2000) {
        let mut changed = packed.clone();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(4..changed.len());
            changed[at] = random.u8(..);
        }
        // A change may be without effect; what counts is that the decoder ends within its limits.
        if let Ok(input) = open(changed) {
            assert!(input.bytes.len() <= 1 << 20);
        }
    }
}

#[test]
fn a_result_that_is_not_finished_leaves_what_was_there() {
    let (folder, paths) = files(&[("a.nisa", b"before")]);
    let mut out = Output::create(&Target::new(&paths[0]), true).expect("a file");
    std::io::Write::write_all(&mut out, b"half").expect("written");
    drop(out);
    assert_eq!(fs::read(&paths[0]).expect("there"), b"before");
    assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 1);
}

#[test]
fn nothing_of_a_result_is_seen_before_it_is_whole() {
    let (folder, paths) = files(&[("a.nisa", b"before")]);
    let unnamed = OFlags::TMPFILE | OFlags::WRONLY;
    if open(folder.path(), unnamed, Mode::RUSR).is_err() {
        return goal_filetest::skipped("this file system knows no files without a name");
    }
    let entries = || fs::read_dir(folder.path()).expect("there").count();
    let (there, new) = (&paths[0], &folder.path().join("new"));
    for (path, binary) in [(there, true), (new, true), (there, false)] {
        let before = entries();
        let mut out = Output::create(&Target::new(path), binary).expect("a file");
        std::io::Write::write_all(&mut out, b"after").expect("written");
        std::io::Write::flush(&mut out).expect("written");
        assert_eq!(entries(), before, "a process that is killed now leaves something behind");
        out.finish().expect("written");
        assert_eq!(fs::read(path).expect("there"), b"after");
    }
    assert_eq!(entries(), 2);
}

#[test]
fn a_result_keeps_the_permissions_of_what_was_there() {
    let (_folder, paths) = files(&[("a.nisa", b"before")]);
    fs::set_permissions(&paths[0], fs::Permissions::from_mode(0o600)).expect("ours");
    Output::create(&Target::new(&paths[0]), true).and_then(Output::finish).expect("written");
    assert_eq!(fs::metadata(&paths[0]).expect("there").permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_folder_that_took_the_place_of_a_result_stays() {
    let (folder, paths) = files(&[("a.nisa", b"former")]);
    for binary in [true, false] {
        let mut out = Output::create(&Target::new(&paths[0]), binary).expect("a file");
        std::io::Write::write_all(&mut out, b"new").expect("written");
        let _ = fs::remove_file(&paths[0]);
        fs::create_dir_all(paths[0].join("precious")).expect("a folder");
        let error = out.finish().expect_err("a folder is there");
        assert!(error.to_string().contains("a.nisa"), "{error}");
        assert!(paths[0].join("precious").is_dir());
        let names = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(names, 1, "nothing else is left");
        fs::remove_dir_all(&paths[0]).expect("removed");
        fs::write(&paths[0], b"former").expect("written");
    }
}
