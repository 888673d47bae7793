//! The parts of the system call bpf (linux/bpf.h) that the driver needs. `unsafe`: the kernel gets
//! addresses of structures.
#![allow(unsafe_code)]

use super::program::Instruction;
use rustix::fd::{FromRawFd, OwnedFd};
use std::io;
use std::os::fd::AsRawFd;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// Commands.
const MAP_CREATE: u32 = 0;
const MAP_UPDATE: u32 = 2;
const PROGRAM_LOAD: u32 = 5;
const PROGRAM_BY_ID: u32 = 13;
const MAP_BY_ID: u32 = 14;
const INFO: u32 = 15;
const LINK_CREATE: u32 = 28;
const LINK_BY_ID: u32 = 30;
const LINK_NEXT: u32 = 31;

const PROGRAM_TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
const LINK_TYPE_XDP: u32 = 6;
/// A flag of programs that take frames in several pieces (BPF_F_XDP_HAS_FRAGS, Linux 5.18).
const FRAGMENTS: u32 = 1 << 5;

/// The kinds of maps: an array, and an array of sockets of AF_XDP.
pub(super) const MAP_ARRAY: u32 = 2;
pub(super) const MAP_SOCKETS: u32 = 17;

/// The size of a name, with the final 0.
pub(super) const NAME_LEN: usize = 16;

fn call<T: IntoBytes>(command: u32, attributes: &mut T) -> io::Result<i32> {
    let (start, len) = (&raw mut *attributes, size_of::<T>());
    // SAFETY: the kernel reads and writes at most `len` bytes of a structure without padding that
    // outlives the call. The pointers in it point at as many bytes as the kernel reads or writes,
    // which the callers below ensure.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, start, len) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as i32) }
}

fn open<T: IntoBytes>(command: u32, attributes: &mut T) -> io::Result<OwnedFd> {
    let fd = call(command, attributes)?;
    // SAFETY: these commands return a new descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn number(fd: &OwnedFd) -> u32 {
    fd.as_raw_fd() as u32
}

/// Makes a map with keys of 4 bytes.
pub(super) fn create_map(kind: u32, value_len: u32, entries: u32) -> io::Result<OwnedFd> {
    open(MAP_CREATE, &mut [kind, size_of::<u32>() as u32, value_len, entries])
}

#[derive(IntoBytes)]
#[repr(C)]
struct Update {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// Writes an entry of a map whose values have the size of `T`.
pub(super) fn update<T: IntoBytes + Immutable>(
    map: &OwnedFd,
    key: u32,
    value: &T,
) -> io::Result<()> {
    // The kernel reads both, which outlive the call.
    let (key, value) = ((&raw const key) as u64, (&raw const *value) as u64);
    call(MAP_UPDATE, &mut Update { map: number(map), padding: 0, key, value, flags: 0 }).map(drop)
}

#[derive(IntoBytes)]
#[repr(C)]
struct Load {
    kind: u32,
    instructions: u32,
    start: u64,
    license: u64,
    log: [u32; 2],
    log_start: u64,
    version: u32,
    flags: u32,
    name: [u8; NAME_LEN],
    interface: u32,
    attach: u32,
}

/// Loads an XDP program with this name.
pub(super) fn load(name: [u8; NAME_LEN], instructions: &[Instruction]) -> io::Result<OwnedFd> {
    // The kernel copies everything that the pointers point at.
    let mut load = Load {
        kind: PROGRAM_TYPE_XDP,
        instructions: instructions.len() as u32,
        start: instructions.as_ptr() as u64,
        license: c"Apache-2.0 OR MIT".as_ptr() as u64,
        log: [0; 2],
        log_start: 0,
        version: 0,
        flags: FRAGMENTS,
        name,
        interface: 0,
        attach: ATTACH_XDP,
    };
    open(PROGRAM_LOAD, &mut load)
}

/// Attaches a program to an interface of this network namespace. The program is detached when the
/// last copy of the returned descriptor is closed.
pub(super) fn attach(program: &OwnedFd, interface: u32) -> io::Result<OwnedFd> {
    open(LINK_CREATE, &mut [number(program), interface, ATTACH_XDP, 0])
}

/// Returns the number of the first link after number `id`; `None` if there is none.
pub(super) fn next_link(id: u32) -> io::Result<Option<u32>> {
    let mut attributes = [id, 0, 0];
    match call(LINK_NEXT, &mut attributes) {
        Ok(_) => Ok(Some(attributes[1])),
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens the link with this number.
pub(super) fn link(id: u32) -> io::Result<OwnedFd> {
    open(LINK_BY_ID, &mut [id, 0, 0])
}

/// Opens the program with this number.
pub(super) fn program(id: u32) -> io::Result<OwnedFd> {
    open(PROGRAM_BY_ID, &mut [id, 0, 0])
}

/// Opens the map with this number.
pub(super) fn map(id: u32) -> io::Result<OwnedFd> {
    open(MAP_BY_ID, &mut [id, 0, 0])
}

#[derive(IntoBytes)]
#[repr(C)]
struct Info {
    object: u32,
    len: u32,
    start: u64,
}

/// Fills `info` with the first bytes of the kernel's information about an object.
fn info<T: IntoBytes + FromBytes>(object: &OwnedFd, info: &mut T) -> io::Result<()> {
    // The kernel writes at most `len` bytes of any value to `info`, which outlives the call.
    let (len, start) = (size_of::<T>() as u32, (&raw mut *info) as u64);
    call(INFO, &mut Info { object: number(object), len, start }).map(drop)
}

/// Returns the numbers of the interface and of the program of a link; `None` if it is not a link of
/// XDP.
pub(super) fn of_link(link: &OwnedFd) -> io::Result<Option<(u32, u32)>> {
    // Type, number, program, padding, interface.
    let mut all = [0_u32; 6];
    info(link, &mut all)?;
    Ok((all[0] == LINK_TYPE_XDP).then_some((all[4], all[2])))
}

#[derive(IntoBytes, FromBytes)]
#[repr(C)]
struct ProgramInfo {
    kind: u32,
    id: u32,
    tag: [u8; 8],
    lens: [u32; 2],
    code: [u64; 2],
    load_time: u64,
    user: u32,
    maps: u32,
    maps_start: u64,
    name: [u8; NAME_LEN],
}

/// Returns a program's name, and the numbers of its maps if it has two.
pub(super) fn of_program(program: &OwnedFd) -> io::Result<([u8; NAME_LEN], Option<[u32; 2]>)> {
    let mut maps = [0_u32; 2];
    let mut all = ProgramInfo::new_zeroed();
    // The kernel writes at most two numbers of maps, and the number of maps that there are.
    (all.maps, all.maps_start) = (2, (&raw mut maps) as u64);
    info(program, &mut all)?;
    Ok((all.name, (all.maps == 2).then_some(maps)))
}

/// Returns the kind of a map, and the size of its values.
pub(super) fn of_map(map: &OwnedFd) -> io::Result<(u32, u32)> {
    // Type, number, bytes of keys and of values.
    let mut all = [0_u32; 4];
    info(map, &mut all)?;
    Ok((all[0], all[3]))
}
