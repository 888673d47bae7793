//! Describes the network of a job on several hosts, and locates its ranks.

use crate::host::{Host, Location};
use crate::limits::{BURST_MAX, INITIAL_BURST};
use goal_esp::auth::JobKey;
use goal_esp::wire::{ETHERTYPE_EDP, ETHERTYPE_ESP};
use goal_eth::{AnyDriver, DriverKind, OpenError};
use goal_fabric::Terms;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::os::fd::RawFd;

/// The most bytes of messages that a rank may send to another one before the receiver has granted
/// it room.
const FIRST_ROOM_MAX: u64 = 8 << 10;

/// The secret of a job, which authenticates the frames between its ranks. Rank processes get it in
/// sealed memory, never through the environment or a command line.
#[derive(Clone, Serialize, Deserialize)]
pub struct Secret([u8; 32]);

impl Secret {
    /// Creates a secret from random bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the key that authenticates the streams on Ethernet.
    pub fn job_key(&self) -> JobKey {
        JobKey::new(&self.0)
    }

    /// Returns the key of TCP connections in a generation of the job. Connections from another
    /// generation have another key, and are refused. A lost rank knows the secret too, so its
    /// processes are killed to keep it out.
    pub fn tcp_key(&self, generation: u32) -> goal_tcp::handshake::Key {
        if generation == 0 {
            return goal_tcp::handshake::Key::new(&self.0);
        }
        let mut material = self.0.to_vec();
        material.extend(generation.to_be_bytes());
        let secret = blake3::derive_key("goal-run ranks that have regrouped, version 1", &material);
        goal_tcp::handshake::Key::new(&secret)
    }
}

/// Writes only the name of the type, and not the secret.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The Ethertypes of a job's frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ethertypes {
    /// The Ethertype of datagrams.
    pub edp: u16,
    /// The Ethertype of streams.
    pub esp: u16,
}

impl Default for Ethertypes {
    fn default() -> Self {
        Self { edp: ETHERTYPE_EDP, esp: ETHERTYPE_ESP }
    }
}

/// The protocol between ranks of different hosts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Wire {
    /// ESP streams on Ethernet.
    Ethernet(Ethernet),
    /// TCP connections.
    Tcp(OverTcp),
    /// The fabric of this name, which each rank's program provides. Ranks that the fabric can't
    /// reach are reached over TCP.
    Other(String, OverTcp),
}

/// The properties of the TCP connections between hosts.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct OverTcp {
    /// The seconds of silence after which a peer counts as lost.
    pub silence_s: u32,
    /// True if all connections are encrypted.
    pub encrypts: bool,
}

impl Wire {
    /// Returns the kind of driver; `None` if the protocol is not on Ethernet.
    pub fn driver(&self) -> Option<DriverKind> {
        match self {
            Wire::Ethernet(ethernet) => Some(ethernet.driver),
            Wire::Tcp(_) | Wire::Other(..) => None,
        }
    }

    /// Returns the number of fabrics that each rank has.
    fn fabrics(&self) -> u64 {
        match self {
            Wire::Ethernet(_) | Wire::Tcp(_) => 1,
            Wire::Other(..) => 2,
        }
    }
}

/// The Ethernet interface of a host, and the properties of the streams over it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ethernet {
    /// The name of this host's interface.
    pub interface: String,
    /// The kind of driver that carries the frames of ranks.
    pub driver: DriverKind,
    /// The Ethertypes of the frames.
    pub ethertypes: Ethertypes,
    /// True if ranks authenticate the data of streams.
    pub authenticates_data: bool,
    /// The packets of an initial burst between two ranks, and the most packets in flight between
    /// them.
    pub bursts: (u16, u16),
}

impl Ethernet {
    /// Returns the properties for streams over an interface. All others have their defaults.
    pub fn new(interface: String, driver: DriverKind) -> Self {
        Self {
            interface,
            driver,
            ethertypes: Ethertypes::default(),
            authenticates_data: true,
            bursts: (INITIAL_BURST, BURST_MAX),
        }
    }
}

/// The network of a job on several hosts: its protocol, and the locations of the ranks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Network {
    /// The protocol between the hosts.
    pub wire: Wire,
    /// The secret that authenticates ranks to each other.
    pub secret: Secret,
    /// The most bytes of messages that a rank may send to another one before the receiver has
    /// granted it room.
    pub first_room: u64,
    /// True if ranks open communicators at run time, as programs do.
    pub has_communicators: bool,
    /// The descriptors of the bells of this host's ranks, in ascending order of the ranks. Rank
    /// processes inherit them under these numbers.
    pub bells: Vec<RawFd>,
    /// The host of this process.
    me: Host,
    /// The location of each rank.
    locations: Vec<Location>,
}

impl Network {
    /// Creates the network for the host `me`, from the locations of all ranks. The launcher opens
    /// the remote sockets of its ranks, and holds their ports until the job ends.
    pub fn new(wire: Wire, me: Host, secret: Secret, locations: &[Location]) -> Self {
        Self {
            wire,
            secret,
            first_room: 0,
            has_communicators: false,
            bells: Vec::new(),
            me,
            locations: locations.to_vec(),
        }
    }

    /// Sets if ranks open communicators at run time.
    pub fn opening(self, has_communicators: bool) -> Self {
        Self { has_communicators, ..self }
    }

    /// Sets `first_room` from `unexpected_limit`, the most bytes of unexpected messages that a rank
    /// keeps. At most half of these bytes are for senders to which the rank has granted no room.
    /// The fabrics of a rank share them.
    pub fn keeping(self, unexpected_limit: u64) -> Self {
        let share = unexpected_limit / 2 / u64::from(self.num_ranks().max(1)) / self.wire.fabrics();
        Self { first_room: share.min(FIRST_ROOM_MAX), ..self }
    }

    /// Opens the drivers of the ranks on this host, in ascending order of the ranks, in a job over
    /// Ethernet. If a driver of the requested kind can't be opened, opens a packet socket instead.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_drivers(&self, ethernet: &Ethernet) -> Result<Vec<AnyDriver>, OpenError> {
        let Ethernet { interface, driver, ethertypes, .. } = ethernet;
        let open = |rank| {
            let port = self.location(rank).port;
            Ok(AnyDriver::open_claimed(*driver, interface, &[ethertypes.esp], port)?.0)
        };
        self.here().map(open).collect()
    }

    /// Returns the ranks on this host, in ascending order.
    pub fn here(&self) -> impl Iterator<Item = u32> {
        (0..self.num_ranks()).filter(|&rank| self.is_here(rank))
    }

    /// Returns the number of ranks on all hosts.
    pub fn num_ranks(&self) -> u32 {
        self.locations.len() as u32
    }

    /// Returns the number of ranks on this host.
    pub fn num_here(&self) -> u32 {
        self.locations.iter().filter(|location| location.host == self.me).count() as u32
    }

    /// Returns the [`Terms`] for the fabrics of `rank`: the number of ranks, the first room, and if
    /// ranks open communicators.
    pub fn terms(&self, rank: u32) -> Terms {
        let Self { first_room, has_communicators, .. } = *self;
        Terms { rank, ranks: self.num_ranks(), first_room, has_communicators }
    }

    /// Returns the location of `rank`: its host and its port.
    pub fn location(&self, rank: u32) -> Location {
        self.locations[rank as usize]
    }

    /// Returns the locations of all ranks.
    pub fn locations(&self) -> impl Iterator<Item = Location> {
        self.locations.iter().copied()
    }

    /// Returns the host of `rank`.
    pub fn host(&self, rank: u32) -> Host {
        self.location(rank).host
    }

    /// Returns true if `rank` is on this host.
    #[inline]
    pub fn is_here(&self, rank: u32) -> bool {
        self.host(rank) == self.me
    }

    /// Returns the number of each rank's host, by rank. Hosts are numbered from 0 on in the order
    /// of their first ranks.
    pub fn hosts(&self) -> Vec<u32> {
        let mut numbers = HashMap::new();
        let number = |location: &Location| {
            let next = numbers.len() as u32;
            *numbers.entry(location.host).or_insert(next)
        };
        self.locations.iter().map(number).collect()
    }

    /// Returns true if the launcher of this host is the leader: rank 0 is on this host. The leader
    /// learns how all ranks ended.
    pub fn leads(&self) -> bool {
        self.is_here(0)
    }
}
