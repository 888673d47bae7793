//! The places of ranks in a job on several hosts.

use crate::limits::{BURST_MAX, INITIAL_BURST};
use goal_esp::auth::{Address, JobKey};
use goal_esp::wire::{ETHERTYPE_EDP, ETHERTYPE_ESP, Mac};
use goal_eth::{AnyDriver, DriverKind, OpenError, PortGroup};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::os::fd::RawFd;

/// The most bytes of messages that a rank may send to another before it was granted any room.
const FIRST_ROOM_MAX: u64 = 8 << 10;

/// The secret of a job, which authenticates the frames between its ranks. Rank processes get it in
/// sealed memory, never through the environment or a command line.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Secret([u8; 32]);

impl Secret {
    /// Creates a secret from random bytes.
    pub(crate) fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the key of the job.
    pub(crate) fn job_key(&self) -> JobKey {
        JobKey::new(&self.0)
    }
}

/// Does not show the bytes.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The Ethertypes of a job's frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ethertypes {
    /// The Ethertype of datagrams.
    pub(crate) edp: u16,
    /// The Ethertype of streams.
    pub(crate) esp: u16,
}

impl Default for Ethertypes {
    fn default() -> Self {
        Self { edp: ETHERTYPE_EDP, esp: ETHERTYPE_ESP }
    }
}

/// The places of the ranks of a job on several hosts. A host is identified by its interface.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Network {
    /// The name of this host's interface.
    pub(crate) interface: String,
    /// The kind of driver that carries the frames of ranks.
    pub(crate) driver: DriverKind,
    /// Ethertypes of the frames.
    pub(crate) ethertypes: Ethertypes,
    /// The secret that authenticates frames between ranks.
    pub(crate) secret: Secret,
    /// True if the data between ranks is authenticated.
    pub(crate) authenticates_data: bool,
    /// The packets of an initial burst, and the most in flight, between two ranks.
    pub(crate) bursts: (u16, u16),
    /// The bytes of messages that a rank may send to another before it was granted any room.
    pub(crate) first_room: u64,
    /// True if ranks open communicators at run time, as programs do.
    pub(crate) has_communicators: bool,
    /// The descriptors of the bells of this host's ranks, ascending by rank. Rank processes inherit
    /// them under these numbers.
    pub(crate) bells: Vec<RawFd>,
    /// The address of this host's interface.
    mac: [u8; 6],
    /// For each rank, the interface of its host and its port there.
    places: Vec<([u8; 6], u16)>,
}

impl Network {
    /// Creates the network as the host with the interface `mac` sees it, from the addresses of all
    /// ranks. The launcher opens the drivers of its ranks, and holds their ports until the job
    /// ends.
    pub(crate) fn new(
        (interface, driver): (String, DriverKind),
        mac: Mac,
        ethertypes: Ethertypes,
        secret: Secret,
        addresses: &[Address],
    ) -> Self {
        let places = addresses.iter().map(|address| (address.mac.0, address.port)).collect();
        let (mac, bells) = (mac.0, Vec::new());
        Self {
            interface,
            driver,
            ethertypes,
            secret,
            authenticates_data: true,
            bursts: (INITIAL_BURST, BURST_MAX),
            first_room: 0,
            has_communicators: false,
            bells,
            mac,
            places,
        }
    }

    /// Sets whether the data between ranks is authenticated.
    pub(crate) fn authenticating(self, authenticates_data: bool) -> Self {
        Self { authenticates_data, ..self }
    }

    /// Sets the packets of an initial burst, and the most in flight, between two ranks.
    pub(crate) fn bursting(self, initial: u16, most: u16) -> Self {
        Self { bursts: (initial, most), ..self }
    }

    /// Sets whether ranks open communicators at run time.
    pub(crate) fn opening(self, has_communicators: bool) -> Self {
        Self { has_communicators, ..self }
    }

    /// Sets the most bytes of messages without a receive that each rank keeps. At most half of them
    /// are for ranks that were not granted any room.
    pub(crate) fn keeping(self, unexpected_limit: u64) -> Self {
        let share = unexpected_limit / 2 / u64::from(self.num_ranks().max(1));
        Self { first_room: share.min(FIRST_ROOM_MAX), ..self }
    }

    /// Opens the drivers of the ranks on this host, ascending. A driver of the requested kind that
    /// can't be opened is replaced by a packet socket.
    ///
    /// # Errors
    /// [`OpenError`].
    pub(crate) fn open_drivers(&self) -> Result<Vec<AnyDriver>, OpenError> {
        let open = |rank| {
            let port = self.address(rank).port;
            let opened = AnyDriver::open_claimed(
                self.driver,
                &self.interface,
                &[self.ethertypes.esp],
                port,
            )?;
            Ok(opened.0)
        };
        self.here().map(open).collect()
    }

    /// Lets the kernel find the driver of a frame at a cost that does not depend on their number.
    /// The caller must hold the result as long as the drivers are used.
    pub(crate) fn group(&self, drivers: &[AnyDriver]) -> PortGroup {
        PortGroup::of(drivers, self.ethertypes.esp)
    }

    /// Returns the ranks on this host, ascending.
    pub(crate) fn here(&self) -> impl Iterator<Item = u32> {
        (0..self.num_ranks()).filter(|&rank| self.is_here(rank))
    }

    /// Returns the number of ranks on all hosts.
    pub(crate) fn num_ranks(&self) -> u32 {
        self.places.len() as u32
    }

    /// Returns the number of ranks on this host.
    pub(crate) fn num_here(&self) -> u32 {
        self.places.iter().filter(|(mac, _)| *mac == self.mac).count() as u32
    }

    /// Returns the address at which `rank` takes frames.
    pub(crate) fn address(&self, rank: u32) -> Address {
        let (mac, port) = self.places[rank as usize];
        Address { mac: Mac(mac), port }
    }

    /// Returns the addresses of all ranks.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        (0..self.num_ranks()).map(|rank| self.address(rank)).collect()
    }

    /// Returns true if `rank` is on this host.
    pub(crate) fn is_here(&self, rank: u32) -> bool {
        self.places[rank as usize].0 == self.mac
    }

    /// Returns a number for the host of each rank, from 0 on in the order of their first ranks.
    pub(crate) fn hosts(&self) -> Vec<u32> {
        let mut numbers = HashMap::new();
        let number = |(mac, _): &([u8; 6], u16)| {
            let next = numbers.len() as u32;
            *numbers.entry(*mac).or_insert(next)
        };
        self.places.iter().map(number).collect()
    }

    /// Returns true if the launcher of this host leads the others, as that of rank 0 does. It
    /// learns how all ranks ended.
    pub(crate) fn leads(&self) -> bool {
        self.is_here(0)
    }
}
