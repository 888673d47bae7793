//! What a rank knows of the ranks on other hosts.

use goal_esp::auth::{Address, JobKey};
use goal_esp::wire::Mac;
use goal_eth::{AnyDriver, DriverKind, OpenError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::os::fd::RawFd;

/// Secret bytes that the frames between ranks are proven with. They are told to rank processes in
/// memory only.
#[derive(Clone, Serialize, Deserialize)]
pub struct Secret([u8; 32]);

impl Secret {
    /// A secret that nobody can guess.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The key of a job.
    pub fn job_key(&self) -> JobKey {
        JobKey::new(&self.0)
    }
}

/// Tells nothing.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Ethertypes of a job's frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ethertypes {
    /// Of datagrams.
    pub edp: u16,
    /// Of streams.
    pub esp: u16,
}

/// Where the ranks of a job on several hosts are. A host is the interface that it uses.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Network {
    /// Name of this host's interface.
    pub interface: String,
    /// What carries the ranks' frames.
    pub driver: DriverKind,
    /// Ethertypes of the frames.
    pub ethertypes: Ethertypes,
    /// What frames between ranks are proven with.
    pub secret: Secret,
    /// Data is authenticated, all of it.
    pub authenticates_data: bool,
    /// The bells of this host's ranks, ascending by rank. Rank processes inherit them under these
    /// numbers.
    pub(crate) bells: Vec<RawFd>,
    /// Address of this host's interface.
    mac: [u8; 6],
    /// Of each rank, the interface of its host and its port there.
    places: Vec<([u8; 6], u16)>,
}

impl Network {
    /// What the ranks on the host with the interface `mac` know, where the ranks have these
    /// addresses. The launcher holds the ports of its ranks as long as the job lasts, and opens
    /// their drivers.
    pub fn new(
        (interface, driver): (String, DriverKind),
        mac: Mac,
        ethertypes: Ethertypes,
        secret: Secret,
        addresses: &[Address],
    ) -> Self {
        let places = addresses.iter().map(|address| (address.mac.0, address.port)).collect();
        let (mac, bells) = (mac.0, Vec::new());
        Self { interface, driver, ethertypes, secret, authenticates_data: true, bells, mac, places }
    }

    /// The same where data is authenticated, or is not.
    pub fn authenticating(self, authenticates_data: bool) -> Self {
        Self { authenticates_data, ..self }
    }

    /// Opens the drivers of the ranks on this host, ascending: of the kind that was asked for or,
    /// where it can't be had, packet sockets.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_drivers(&self) -> Result<Vec<AnyDriver>, OpenError> {
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

    /// The ranks on this host, ascending.
    pub fn here(&self) -> impl Iterator<Item = u32> {
        (0..self.num_ranks()).filter(|&rank| self.is_here(rank))
    }

    /// Number of ranks of the job, on all hosts.
    pub fn num_ranks(&self) -> u32 {
        self.places.len() as u32
    }

    /// Number of ranks on this host.
    pub fn num_here(&self) -> u32 {
        self.places.iter().filter(|(mac, _)| *mac == self.mac).count() as u32
    }

    /// Where a rank takes frames.
    pub fn address(&self, rank: u32) -> Address {
        let (mac, port) = self.places[rank as usize];
        Address { mac: Mac(mac), port }
    }

    /// Where each rank takes frames.
    pub fn addresses(&self) -> Vec<Address> {
        (0..self.num_ranks()).map(|rank| self.address(rank)).collect()
    }

    /// Whether a rank is on this host.
    pub fn is_here(&self, rank: u32) -> bool {
        self.places[rank as usize].0 == self.mac
    }

    /// Whether the launcher of this host leads the others: that of rank 0 does, and gets to know
    /// how all ranks ended.
    pub fn leads(&self) -> bool {
        self.is_here(0)
    }
}
