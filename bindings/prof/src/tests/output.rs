#![allow(unsafe_code)] // Descriptors by their numbers.
//! The file, and what becomes of a run whose file can't be written.

use super::{OWN, WORLD, from, to};
use crate::{Fault, Recorder, Settings, create};
use std::fs;
use std::io::{self, Write};

/// A disk with room for some bytes, and the number of writes.
struct Disk {
    room: usize,
    largest: usize,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.largest = self.largest.max(bytes.len());
        if bytes.len() > self.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.room -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends and receives many messages.
fn run(disk: &mut Disk, calls: u64) -> Option<String> {
    let mut recorder = Recorder::new(Settings::new("test"), 0, 1, WORLD, OWN, disk);
    for call in 0..calls {
        recorder.enter(0, 20 * call);
        recorder.send(0, "MPI_Send", to(0, 1, 8));
        recorder.recv(0, "MPI_Recv", WORLD, from(0, 1, 8));
        recorder.leave(0, 20 * call + 10);
    }
    recorder.finish();
    recorder.fault().map(|fault| {
        assert!(matches!(fault, Fault::Write(_)));
        fault.to_string()
    })
}

#[test]
fn text_leaves_in_pieces_of_bounded_size() {
    let mut disk = Disk { room: usize::MAX, largest: 0 };
    assert_eq!(run(&mut disk, 100_000), None);
    let written = usize::MAX - disk.room;
    assert!(written > 5_000_000 && disk.largest < 70_000, "{written} {}", disk.largest);
}

#[test]
fn a_full_disk_is_a_fault_and_no_panic() {
    let told = run(&mut Disk { room: 200_000, largest: 0 }, 100_000).expect("a fault");
    assert!(told.contains("make room"), "{told}");
}

#[test]
fn a_file_that_is_being_written_is_not_replaced() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("test.0.goal");
    let mut first = create(&path).expect("a file");
    let error = create(&path).expect_err("it is being written").to_string();
    assert!(error.contains("another program"), "{error}");
    first.write_all(b"text").expect("room");
    drop(first);
    create(&path).expect("nobody writes it");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "");
}

#[test]
fn a_link_in_the_place_of_the_file_is_replaced_and_not_followed() {
    let dir = tempfile::tempdir().expect("a folder");
    let (other, path) = (dir.path().join("other"), dir.path().join("new/test.0.goal"));
    fs::write(&other, "mine").expect("a file");
    create(&path).expect("the folder is made too");
    fs::remove_file(&path).expect("it is there");
    std::os::unix::fs::symlink(&other, &path).expect("a link");
    create(&path).expect("a file").write_all(b"text").expect("room");
    assert_eq!(fs::read_to_string(&other).expect("it is there"), "mine");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "text");
}

#[test]
fn a_link_in_the_place_of_the_folder_is_not_followed() {
    let dir = tempfile::tempdir().expect("a folder");
    let (other, link) = (dir.path().join("other"), dir.path().join("link"));
    fs::create_dir(&other).expect("a folder");
    for (to, name) in
        [("other", "test.0.goal"), ("other", "./test.0.goal"), ("none", "test.0.goal")]
    {
        std::os::unix::fs::symlink(dir.path().join(to), &link).expect("a link");
        let error = create(&link.join(name)).map(|_| ()).expect_err("it is a link").to_string();
        assert!(error.contains("is a link") && error.contains(to), "{error}");
        fs::remove_file(&link).expect("it is there");
    }
    assert_eq!(fs::read_dir(&other).expect("it is there").count(), 0);
    // A link further up is the user's choice.
    std::os::unix::fs::symlink(&other, &link).expect("a link");
    create(&link.join("new/test.0.goal")).expect("a file");
    assert!(other.join("new/test.0.goal").is_file());
}

/// A program may close all descriptors, and open files of its own.
#[test]
fn a_file_of_the_program_is_never_written() {
    use std::os::fd::AsRawFd;
    let dir = tempfile::tempdir().expect("a folder");
    let mut file = create(&dir.path().join("test.0.goal")).expect("a file");
    let other = dir.path().join("other");
    let opened = fs::File::create(&other).expect("a file");
    let number = file.descriptor();
    // SAFETY: both are open. The number leads to the other file from now on.
    assert_eq!(unsafe { libc::dup2(opened.as_raw_fd(), number) }, number);
    let error = file.write_all(b"text").expect_err("it is another file").to_string();
    assert!(error.contains("has closed"), "{error}");
    drop(file);
    assert_eq!(fs::read(&other).expect("it is there"), b"");
    // SAFETY: the writer has left the number alone, so nobody else has it.
    assert_eq!(unsafe { libc::close(number) }, 0);
}
