//! The program at an interface, which all ranks that use the interface share. The program is
//! detached when the last of these ranks closes its descriptor or ends. Nothing is pinned.

use super::NoXdp;
use super::bpf::{self, MAP_ARRAY, MAP_SOCKETS, NAME_LEN};
use super::program::{Owner, QUEUES_MAX, program};
use crate::Interface;
use rustix::fd::OwnedFd;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

/// The number of attempts to attach a program while other processes attach or detach one.
const TRIES: u32 = 50;
/// The pause between two attempts to attach a program.
const PAUSE: Duration = Duration::from_millis(2);

/// The maps of a program.
struct Maps {
    /// The [`Owner`]s by queue.
    owners: OwnedFd,
    /// The sockets by queue. The kernel removes a socket when its last descriptor is closed.
    sockets: OwnedFd,
}

/// The program at an interface, with its maps.
pub(crate) struct Hook {
    maps: Maps,
    /// The attachment, which the kernel removes when its last descriptor is closed.
    _link: OwnedFd,
}

impl Hook {
    /// Opens the program of the interface, and attaches one if there is none.
    pub(super) fn join(interface: &Interface) -> Result<Self, NoXdp> {
        let name = name().map_err(NoXdp::system("the network namespace has no number"))?;
        let (program, maps) = load(name)?;
        for _ in 0..TRIES {
            // A process without the right to list programs may still attach the first one.
            let found = match find(interface.index, name) {
                Err(error) if error.kind() == ErrorKind::PermissionDenied => None,
                found => found.map_err(NoXdp::system("XDP programs can't be listed"))?,
            };
            if let Some(hook) = found {
                return Ok(hook);
            }
            match bpf::attach(&program, interface.index) {
                Ok(link) => return Ok(Self { maps, _link: link }),
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                    std::thread::sleep(PAUSE)
                }
                Err(cause) => return Err(NoXdp::of("no XDP program can be attached", cause)),
            }
        }
        Err(NoXdp::Occupied { interface: interface.name.clone() })
    }

    /// Makes the program redirect frames for `owner` that arrive at `queue` to `socket`. The socket
    /// must be bound to that queue.
    pub(super) fn lead(&self, queue: u32, owner: Owner, socket: &OwnedFd) -> io::Result<()> {
        bpf::update(&self.maps.owners, queue, &owner)?;
        bpf::update(&self.maps.sockets, queue, &(socket.as_raw_fd() as u32))
    }
}

/// Loads the program, without attaching it.
fn load(name: [u8; NAME_LEN]) -> Result<(OwnedFd, Maps), NoXdp> {
    let no_map = |cause| NoXdp::of("XDP has no maps here", cause);
    let owners =
        bpf::create_map(MAP_ARRAY, size_of::<Owner>() as u32, QUEUES_MAX).map_err(no_map)?;
    let sockets =
        bpf::create_map(MAP_SOCKETS, size_of::<u32>() as u32, QUEUES_MAX).map_err(no_map)?;
    let instructions = program(owners.as_raw_fd(), sockets.as_raw_fd());
    let program = bpf::load(name, &instructions)
        .map_err(|cause| NoXdp::of("no XDP program can be loaded", cause))?;
    Ok((program, Maps { owners, sockets }))
}

/// Checks that the program can be loaded.
pub(super) fn probe() -> Result<(), NoXdp> {
    load([0; NAME_LEN]).map(drop)
}

/// Returns the name of this program in this network namespace. Programs of all namespaces are
/// listed together, and interfaces of two namespaces may have the same number.
fn name() -> io::Result<[u8; NAME_LEN]> {
    let namespace = fs::metadata("/proc/thread-self/ns/net")?.ino() as u32;
    let mut name = [0; NAME_LEN];
    let text = format!("goal1_{namespace:08x}");
    name[..text.len()].copy_from_slice(text.as_bytes());
    Ok(name)
}

/// Finds the program that another process of this namespace attached to an interface.
fn find(interface: u32, name: [u8; NAME_LEN]) -> io::Result<Option<Hook>> {
    let mut id = 0;
    while let Some(next) = bpf::next_link(id)? {
        id = next;
        // The link may have gone, or may not be complete yet.
        let Ok(link) = bpf::link(id) else { continue };
        let Ok(Some((at, program))) = bpf::of_link(&link) else { continue };
        if at == interface
            && let Ok(program) = bpf::program(program)
            && let Some(maps) = maps(&program, name)?
        {
            return Ok(Some(Hook { maps, _link: link }));
        }
    }
    Ok(None)
}

/// Returns the maps of a program; `None` if the program has another name or other kinds of maps.
fn maps(program: &OwnedFd, name: [u8; NAME_LEN]) -> io::Result<Option<Maps>> {
    let (own_name, Some(ids)) = bpf::of_program(program)? else { return Ok(None) };
    if own_name != name {
        return Ok(None);
    }
    let (mut owners, mut sockets) = (None, None);
    for id in ids {
        let map = bpf::map(id)?;
        match bpf::of_map(&map)? {
            (MAP_ARRAY, len) if len as usize == size_of::<Owner>() => owners = Some(map),
            (MAP_SOCKETS, _) => sockets = Some(map),
            _ => {}
        }
    }
    Ok(owners.zip(sockets).map(|(owners, sockets)| Maps { owners, sockets }))
}
