//! Drivers on hosts, and frames.
#![allow(dead_code, unreachable_pub, missing_docs)]

use goal_cluster::{Host, INTERFACE};
use goal_esp::wire::{ETHERTYPE_EDP, ETHERTYPE_ESP, Frame, Mac};
use goal_eth::{AnyDriver, Driver, DriverKind, OpenError, probe_xdp};
use goal_filetest::{patience, skipped, until};
use std::time::{Duration, Instant};

pub const BOTH: [u16; 2] = [ETHERTYPE_EDP, ETHERTYPE_ESP];

/// The patience with frames that must arrive.
pub fn limit() -> Duration {
    patience(20)
}

/// Returns the drivers that this system has. Prints a line that names one that it lacks.
pub fn kinds(test: &str) -> Vec<DriverKind> {
    let mut kinds = vec![DriverKind::Packet];
    match probe_xdp() {
        Ok(()) => kinds.push(DriverKind::Xdp),
        Err(why) => skipped(&format!("{test} with XDP: {why}")),
    }
    kinds
}

/// Opens a driver. A port that was just closed may be taken for a moment longer: a child that
/// another test has forked holds its socket until it executes its program.
pub fn open(host: &Host, kind: DriverKind, port: u16) -> AnyDriver {
    let mut opened = None;
    until("the port is free", || {
        let open = || AnyDriver::open(kind, INTERFACE, &BOTH, Some(port));
        match host.call(open).unwrap() {
            Err(OpenError::Taken { .. }) => {}
            other => opened = Some(other.unwrap()),
        }
        opened.is_some()
    });
    let (driver, note) = opened.expect("it is open");
    assert!(driver.kind() == kind && note.is_none(), "{note:?}");
    driver
}

/// Writes a frame of `len` bytes for `port`. Its bytes depend on the length.
pub fn write(out: &mut [u8], from: Mac, to: Mac, port: u16, len: usize) -> usize {
    for (at, byte) in out[..len].iter_mut().enumerate() {
        *byte = (at * 7 + len) as u8;
    }
    Frame::new_checked(&mut out[..len]).unwrap().emit(from, to, ETHERTYPE_ESP);
    out[20..22].copy_from_slice(&port.to_be_bytes());
    len
}

/// Returns the lengths of `count` frames that arrive.
pub fn lens(driver: &mut AnyDriver, count: usize) -> Vec<usize> {
    let mut got = Vec::new();
    let (start, limit) = (Instant::now(), limit());
    while got.len() < count && start.elapsed() < limit {
        driver.wait(Some(Duration::from_millis(50))).unwrap();
        driver.receive(10, |frame| got.push(frame.len()));
    }
    got.sort_unstable();
    got
}
