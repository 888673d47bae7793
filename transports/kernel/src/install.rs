//! Lays out the contents of a host's maps: the parts of all ranks of the host in all schedules of a
//! job.
//!
//! All hosts of a job add the same schedules in the same order, so that a schedule has one number
//! everywhere.

use crate::frame;
use crate::image::{PartImage, Places};
use crate::job::{Job, Peer};
use crate::layout::{
    ActionEntry, FRAME_LENGTH, HostEntry, PEER_LOCAL, PartEntry, PeerEntry, ReceiveEntry,
    SendEntry, StatusEntry,
};
use crate::limits::{HASH_KEY_WORDS, MEMORY_BYTES_MAX, PARTS_MAX, PEERS_MAX, SLACK_BYTES, page};
use crate::room::{Room, Share};
use crate::translate::Plan;
use siphasher::sip::SipHasher24;

/// A rank of this host in a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// The number of the rank's part of the schedule.
    pub part: u32,
    /// The bytes of the rank's own memory, which is the first area of the part's memory.
    pub memory_bytes: u32,
    /// The offset at which the part's memory begins in the map of memory, a multiple of the page
    /// size.
    pub memory_at: u32,
    /// The bytes of the part's memory.
    pub(crate) part_bytes: u32,
    /// The part's first entry in the map of actions, and the first entry of its ring of handed-over
    /// actions.
    pub(crate) first_action: u32,
    /// The number of the part's actions, which is also the number of entries of its ring.
    pub(crate) actions: u32,
    /// The number of actions that are handed over to the rank's process in a run.
    pub handed: u32,
    schedule: u16,
    port: u16,
    start: [u8; FRAME_LENGTH],
}

/// The length of a member as bytes.
pub const MEMBER_BYTES: usize = 32 + FRAME_LENGTH;

impl Member {
    /// Returns the member as bytes, for another process of this host.
    pub fn to_bytes(&self) -> [u8; MEMBER_BYTES] {
        let mut bytes = [0; MEMBER_BYTES];
        bytes[..4].copy_from_slice(&self.part.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.memory_bytes.to_le_bytes());
        bytes[8..10].copy_from_slice(&self.schedule.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.port.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.memory_at.to_le_bytes());
        let more = [self.part_bytes, self.first_action, self.actions, self.handed];
        for (bytes, word) in bytes[16..32].chunks_exact_mut(4).zip(more) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes[32..].copy_from_slice(&self.start);
        bytes
    }

    /// Returns the member that [`Member::to_bytes`] turned into these bytes. They must come from
    /// the launcher, because their numbers are compared with the maps only when they are used.
    pub fn from_bytes(bytes: &[u8; MEMBER_BYTES]) -> Self {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        Self {
            part: word(0),
            memory_bytes: word(4),
            schedule: word(8) as u16,
            port: (word(8) >> 16) as u16,
            memory_at: word(12),
            part_bytes: word(16),
            first_action: word(20),
            actions: word(24),
            handed: word(28),
            start: bytes[32..].try_into().expect("the rest"),
        }
    }

    /// Returns the member for a part that has its places in the maps. `memory_at` is the offset of
    /// the part's memory.
    pub(crate) fn new(
        part: u32,
        placed: &PartImage,
        memory_at: u32,
        (schedule, port): (u16, u16),
        start: [u8; FRAME_LENGTH],
    ) -> Self {
        Self {
            part,
            memory_bytes: placed.memory_bytes,
            memory_at,
            part_bytes: placed.bytes,
            first_action: placed.part.first_action,
            actions: placed.part.actions,
            handed: placed.handed(),
            schedule,
            port,
            start,
        }
    }

    /// Returns the filter of the socket that wakes the rank. It accepts the completion events of
    /// this part.
    pub(crate) fn filter(&self, job: u32) -> Vec<libc::sock_filter> {
        frame::done_filter(Some(self.schedule), self.port, job)
    }

    /// Returns the frame that starts a run.
    pub fn start(&self, epoch: u32) -> [u8; FRAME_LENGTH] {
        frame::with_epoch(self.start, epoch)
    }

    /// Returns the first entry of the part's ring of handed-over actions, and the number of
    /// entries.
    pub fn ring(&self) -> (u32, u32) {
        (self.first_action, self.actions)
    }

    /// Returns the frame by which the rank's process gives back an action that was handed over in a
    /// run.
    pub fn give_back(&self, epoch: u32, action: u32) -> [u8; FRAME_LENGTH] {
        frame::returned(self.start, epoch, action)
    }
}

/// The contents of a host's maps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapImage {
    /// The entry of the map of the host.
    pub host: HostEntry,
    /// The parts of the host's ranks in all schedules.
    pub parts: Vec<PartEntry>,
    /// The actions of all parts.
    pub actions: Vec<ActionEntry>,
    /// The dependents of all actions.
    pub dependents: Vec<u64>,
    /// The receives of all parts.
    pub receives: Vec<ReceiveEntry>,
    /// The sends of all parts.
    pub sends: Vec<SendEntry>,
    /// The ranks of the job.
    pub peers: Vec<PeerEntry>,
    /// The key of the hash of payloads, which is derived from the job's key.
    pub hash_key: Vec<u64>,
    /// The bytes of the memory of all parts.
    pub memory_bytes: u32,
    /// By part, the place and the bytes of its constants in the memory.
    pub constants: Vec<(u32, Vec<u8>)>,
}

/// An error of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// There are too many parts on the host.
    #[error(
        "the host would have more than {PARTS_MAX} parts; run fewer ranks or schedules in the kernel"
    )]
    Parts,
    /// The parts on the host need too much memory.
    #[error(
        "the host's parts would need {0} bytes of the kernel's memory; the most is \
        {MEMORY_BYTES_MAX}; run fewer ranks or schedules in the kernel"
    )]
    Memory(u64),
    /// There are too many ranks, or none.
    #[error("the job has {0} ranks; the kernel takes 1 to {PEERS_MAX}")]
    Ranks(usize),
    /// The numbers of ranks of a schedule and of its communicator differ.
    #[error("the schedule has {schedule} ranks, its communicator {members}")]
    Members {
        /// The number of ranks of the schedule.
        schedule: u32,
        /// The number of ranks of the communicator.
        members: usize,
    },
    /// Two schedules have fragments of different lengths.
    #[error("schedules have fragments of {0} and of {1} bytes; all need the same")]
    Fragments(u32, u32),
}

/// The parts of a host's ranks, in all schedules that have been added.
#[derive(Debug, Clone)]
pub struct Installation {
    job: Job,
    /// The ranks of the job on this host, by port.
    ranks: Vec<u32>,
    image: MapImage,
    places: Places,
}

/// An ethertype of IEEE 802 for experiments.
const ETHERTYPE_LOCAL: u16 = 0x88b5;

impl Installation {
    /// Returns an installation without schedules.
    ///
    /// # Errors
    /// [`InstallError::Ranks`].
    pub fn new(job: Job) -> Result<Self, InstallError> {
        if job.peers.is_empty() || job.peers.len() > PEERS_MAX as usize {
            return Err(InstallError::Ranks(job.peers.len()));
        }
        let mut ranks: Vec<u32> = (0..job.peers.len() as u32).collect();
        ranks.retain(|&rank| job.peers[rank as usize].mac == job.mac);
        ranks.sort_by_key(|&rank| job.peers[rank as usize].port);
        let peers = job.peers.iter().map(|peer| PeerEntry {
            mac: peer.mac,
            port: peer.port,
            flags: if peer.mac == job.mac { PEER_LOCAL } else { 0 },
            zero: 0,
        });
        let image = MapImage {
            host: HostEntry {
                key: job.key,
                cookie: job.secrets[0],
                job: job.number,
                ifindex: job.ifindex,
                ranks: ranks.len() as u32,
                parts: 0,
                fragment: 0,
                ethertype: job.ethertype,
                mac: job.mac,
                zero: 0,
                ticked: 0,
            },
            parts: Vec::new(),
            actions: Vec::new(),
            dependents: Vec::new(),
            receives: Vec::new(),
            sends: Vec::new(),
            peers: peers.collect(),
            hash_key: hash_key(job.key),
            memory_bytes: 0,
            constants: Vec::new(),
        };
        Ok(Self { job, ranks, image, places: Places::default() })
    }

    /// Adds a schedule. `members` has the rank in the job of each rank of the schedule. Returns the
    /// schedule's ranks on this host, each with its rank in the job.
    ///
    /// # Errors
    /// [`InstallError`].
    pub fn add(
        &mut self,
        plan: &Plan,
        members: &[u32],
    ) -> Result<Vec<(u32, Member)>, InstallError> {
        if plan.ranks() as usize != members.len() {
            return Err(InstallError::Members { schedule: plan.ranks(), members: members.len() });
        }
        if ![0, plan.fragment()].contains(&self.image.host.fragment) {
            return Err(InstallError::Fragments(self.image.host.fragment, plan.fragment()));
        }
        let parts = self.image.parts.len() + self.ranks.len();
        if parts > PARTS_MAX as usize {
            return Err(InstallError::Parts);
        }
        // By port. A rank of the host that is not in the schedule has no part.
        let own = |rank: &u32| members.iter().position(|member| member == rank);
        let images: Vec<Option<PartImage>> =
            self.ranks.iter().map(|rank| own(rank).map(|own| plan.part(own as u32))).collect();
        let bytes = images.iter().flatten().map(|image| u64::from(whole_pages(image.bytes)));
        let needed = u64::from(self.image.memory_bytes) + bytes.sum::<u64>();
        if needed > MEMORY_BYTES_MAX.into() {
            return Err(InstallError::Memory(needed));
        }
        self.image.host.fragment = plan.fragment();
        let schedule = self.image.parts.len().checked_div(self.ranks.len()).unwrap_or(0) as u16;
        let mut added = Vec::new();
        for (port, (rank, image)) in self.ranks.clone().into_iter().zip(images).enumerate() {
            let cookie = secret(self.job.secrets[1], self.image.parts.len() as u64);
            let number = self.image.parts.len() as u32;
            let entry = PartEntry { cookie, schedule, port: port as u16, ..PartEntry::default() };
            let Some(image) = image else {
                // The rank has no part in this schedule. The number of the part stays free.
                self.image.parts.push(entry);
                self.image.constants.push((0, Vec::new()));
                continue;
            };
            let placed = image.placed(&self.places, members);
            let memory = self.image.memory_bytes;
            self.image.memory_bytes += whole_pages(image.bytes);
            self.places = self.places.behind(&image);
            let port = port as u16;
            self.image.parts.push(PartEntry { cookie, schedule, port, memory, ..placed.part });
            self.image.actions.extend(&placed.actions);
            self.image.dependents.extend(placed.dependents.iter().map(|&to| u64::from(to)));
            self.image.receives.extend(placed.receives);
            self.image.sends.extend(placed.sends);
            self.image.constants.push((memory + placed.constants_at, placed.constants));
            let start = frame::Start { schedule, port, cookie, job: &self.job };
            let member = Member {
                part: number,
                memory_bytes: placed.memory_bytes,
                memory_at: memory,
                part_bytes: image.bytes,
                first_action: placed.part.first_action,
                actions: placed.part.actions,
                handed: image.handed(),
                schedule,
                port,
                start: frame::start(&start),
            };
            added.push((rank, member));
        }
        self.image.host.parts = self.image.parts.len() as u32;
        Ok(added)
    }

    /// Makes room for schedules that the ranks of this host install themselves: `room` for each
    /// rank. Frames have at most `fragment` bytes of payload. Returns this host's ranks, each with
    /// its share. The installation can have no other schedules.
    ///
    /// # Errors
    /// [`InstallError`].
    ///
    /// # Panics
    /// If the installation has schedules.
    pub fn reserve(
        &mut self,
        room: Room,
        fragment: u32,
    ) -> Result<Vec<(u32, Share)>, InstallError> {
        assert!(self.image.parts.is_empty(), "the installation has schedules");
        let ranks = self.ranks.len();
        if ranks * room.schedules as usize > PARTS_MAX as usize {
            return Err(InstallError::Parts);
        }
        let needed = ranks as u64 * u64::from(room.bytes);
        if needed > MEMORY_BYTES_MAX.into() {
            return Err(InstallError::Memory(needed));
        }
        let all = |count: u32| ranks * count as usize;
        let image = &mut self.image;
        image.host.fragment = fragment;
        for number in 0..all(room.schedules) {
            image.parts.push(PartEntry {
                cookie: secret(self.job.secrets[1], number as u64),
                schedule: (number / ranks) as u16,
                port: (number % ranks) as u16,
                ..PartEntry::default()
            });
        }
        image.host.parts = image.parts.len() as u32;
        image.actions.resize(all(room.actions), ActionEntry::default());
        image.dependents.resize(all(room.dependents), 0);
        image.receives.resize(all(room.receives), ReceiveEntry::default());
        image.sends.resize(all(room.sends), SendEntry::default());
        image.memory_bytes = needed as u32;
        let share = |(port, &rank): (usize, &u32)| {
            let port = port as u16;
            let start = frame::Start { schedule: 0, port, cookie: 0, job: &self.job };
            let share = Share {
                start: frame::start(&start),
                ranks: ranks as u32,
                port: port.into(),
                fragment,
                room,
            };
            (rank, share)
        };
        Ok(self.ranks.iter().enumerate().map(share).collect())
    }

    /// Returns the smallest installation, for trials: a host with one rank, which has an empty
    /// part.
    pub(crate) fn smallest() -> Self {
        let peer = Peer { mac: [0; 6], port: 0 };
        let job = Job {
            number: 0,
            key: [0; 2],
            secrets: [0; 2],
            ethertype: ETHERTYPE_LOCAL,
            ifindex: 0,
            mac: [0; 6],
            peers: vec![peer],
        };
        let mut installation = Self::new(job).expect("one rank");
        let bytes = page() as u32;
        let room = Room { schedules: 1, actions: 1, dependents: 1, receives: 1, sends: 1, bytes };
        // Without a part the engine takes no frames.
        installation.reserve(room, 8).expect("one part");
        installation
    }

    /// Returns the frame that is a tick for all parts of the host.
    pub fn tick(&self) -> [u8; FRAME_LENGTH] {
        frame::tick(&self.job)
    }

    /// Returns the bytes of the kernel's memory that the maps take, without the system's overhead.
    pub fn kernel_bytes(&self) -> u64 {
        let image = &self.image;
        let tables = [
            (image.parts.len(), size_of::<PartEntry>() + size_of::<StatusEntry>()),
            (image.actions.len(), size_of::<ActionEntry>() + 3 * size_of::<u64>()),
            (image.dependents.len(), size_of::<u64>()),
            (image.receives.len(), size_of::<ReceiveEntry>()),
            (image.sends.len(), size_of::<SendEntry>()),
            (image.peers.len(), size_of::<PeerEntry>()),
        ];
        let tables = tables.iter().map(|(count, bytes)| (count * bytes) as u64);
        tables.sum::<u64>() + u64::from(image.memory_bytes) + u64::from(SLACK_BYTES)
    }

    /// Returns the contents of the maps.
    pub fn image(&self) -> MapImage {
        self.image.clone()
    }
}

/// Returns the key of the hash of payloads: SipHash-2-4 of 0, 1, 2, ... under the job's key. The
/// engine also applies SipHash with this key to data. Such data is longer than these numbers, so
/// the two uses never have the same input.
fn hash_key(key: [u64; 2]) -> Vec<u64> {
    let siphash = SipHasher24::new_with_keys(key[0], key[1]);
    (0..u64::from(HASH_KEY_WORDS)).map(|number| siphash.hash(&number.to_le_bytes())).collect()
}

/// Returns the bytes of a part's memory, rounded up to whole pages. A part without memory has one
/// page too, so that its rank has a page to map.
pub(crate) fn whole_pages(bytes: u32) -> u32 {
    bytes.max(1).next_multiple_of(page() as u32)
}

/// Returns the secret of a part: SplitMix64 of a secret of the host and the part's number. A rank
/// could compute the secrets of other ranks of its host from its own. Ranks of a host trust each
/// other.
fn secret(seed: u64, number: u64) -> u64 {
    let mut z = seed ^ number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_survives_as_bytes() {
        let start = std::array::from_fn(|at| at as u8);
        let member = Member {
            part: 7,
            memory_bytes: 1 << 20,
            memory_at: 1 << 13,
            part_bytes: 1 << 21,
            first_action: 6,
            actions: 11,
            handed: 8,
            schedule: 300,
            port: 9,
            start,
        };
        assert_eq!(Member::from_bytes(&member.to_bytes()), member);
    }
}
