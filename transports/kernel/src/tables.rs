//! Lets the process of a program's rank install parts of schedules in the engine's maps, and run
//! them.
//!
//! Threat: a process with these descriptors can write any bytes to the parts of all ranks of its
//! host, and to their memory. Ranks of a host trust each other, as they share memory anyway. The
//! engine takes all words as plain numbers, so no access leaves a map. Frames go only to the job's
//! peers and with the job's ethertype, because only the launcher can write these two maps. Made-up
//! actions can make the engine compute for long whenever a frame arrives. So a program gets these
//! descriptors only if its user may load programs into the kernel, which could do this too.

use crate::events::CompletionEvents;
use crate::frame;
use crate::image::{PartImage, Places};
use crate::install::{Member, whole_pages};
use crate::layout::{ActionEntry, PartEntry, ReceiveEntry, SendEntry, StatusEntry};
use crate::limits::page;
use crate::look::Look;
use crate::rank::Rank;
use crate::room::{Room, Share};
use crate::sys::Mapping;
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// The descriptors that the process of a program's rank needs. They may be passed to another
/// process.
#[derive(Debug)]
pub struct TableDescriptors {
    /// The map of parts.
    pub parts: OwnedFd,
    /// The map of the states of parts.
    pub status: OwnedFd,
    /// The map of actions.
    pub actions: OwnedFd,
    /// The map of dependents.
    pub dependents: OwnedFd,
    /// The map of receives.
    pub receives: OwnedFd,
    /// The map of sends.
    pub sends: OwnedFd,
    /// The map of memory.
    pub memory: OwnedFd,
    /// The map of the rings of actions that are handed over.
    pub handed: OwnedFd,
    /// The socket by which the rank sends starts and returns of actions. It also receives the
    /// rank's completion events.
    pub socket: OwnedFd,
}

/// The maps of a rank's host, with the share that the rank may use.
#[derive(Debug)]
pub struct Tables {
    share: Share,
    actions: Mapping,
    dependents: Mapping,
    receives: Mapping,
    sends: Mapping,
    parts: Mapping,
    memory: OwnedFd,
    handed: OwnedFd,
    events: Arc<CompletionEvents>,
    /// The first free entries of the rank's share of the maps.
    places: Places,
    /// The first free byte of the rank's share of the map of memory.
    memory_at: u32,
    used: Room,
    /// A bit for each schedule whose number this rank has used.
    numbers: u32,
}

impl Tables {
    /// Opens the maps.
    ///
    /// # Errors
    /// The system refuses a mapping: the maps are shorter than the share says.
    pub fn open(descriptors: TableDescriptors, share: Share) -> io::Result<Self> {
        let Room { schedules, actions, dependents, receives, sends, .. } = share.room;
        let map = |map: &OwnedFd, each: u32, entry: usize| {
            let bytes = (share.ranks as usize).checked_mul(each as usize * entry);
            let bytes = bytes.ok_or(io::ErrorKind::InvalidData)?;
            Mapping::new(map, 0, bytes.max(1).next_multiple_of(page()))
        };
        let parts = || map(&descriptors.parts, schedules, size_of::<PartEntry>());
        let status = Arc::new(map(&descriptors.status, schedules, size_of::<StatusEntry>())?);
        let (places, memory_at) = share.first();
        let counts = [schedules, actions, receives, sends].map(|each| share.ranks * each);
        let TableDescriptors { parts: some, status: states, actions: all, .. } = &descriptors;
        let maps = [some, states, all, &descriptors.receives, &descriptors.sends];
        let look = Look::new(maps.map(AsFd::as_fd), counts)?;
        let socket = Arc::new(descriptors.socket);
        Ok(Self {
            actions: map(&descriptors.actions, actions, size_of::<ActionEntry>())?,
            dependents: map(&descriptors.dependents, dependents, size_of::<u64>())?,
            receives: map(&descriptors.receives, receives, size_of::<ReceiveEntry>())?,
            sends: map(&descriptors.sends, sends, size_of::<SendEntry>())?,
            parts: parts()?,
            events: Arc::new(CompletionEvents::new(status, parts()?, socket, look)),
            memory: descriptors.memory,
            handed: descriptors.handed,
            places,
            memory_at,
            used: Room::default(),
            numbers: 0,
            share,
        })
    }

    /// Returns the rank's share of the maps.
    pub fn share(&self) -> &Share {
        &self.share
    }

    /// Returns the completion events of the rank's runs. Code that starts or settles a run must
    /// report that to them.
    pub fn events(&self) -> &Arc<CompletionEvents> {
        &self.events
    }

    /// Returns the schedule numbers that this rank has not used: one bit for each, from bit 0 on.
    pub fn free_numbers(&self) -> u32 {
        let all = u32::MAX.checked_shr(u32::BITS - self.share.room.schedules.min(u32::BITS));
        all.unwrap_or(0) & !self.numbers
    }

    /// Returns the room that is left. Its field `schedules` counts the free schedule numbers.
    pub fn left(&self) -> Room {
        let used = Room { schedules: self.numbers.count_ones(), ..self.used };
        self.share.room.without(used).expect("no more was used")
    }

    /// Returns the room that a part takes.
    pub fn taken(part: &PartImage) -> Room {
        Room {
            schedules: 1,
            actions: part.actions.len() as u32,
            dependents: part.dependents.len() as u32,
            receives: part.receives.len() as u32,
            sends: part.sends.len() as u32,
            bytes: whole_pages(part.bytes),
        }
    }

    /// Installs this rank's part of a schedule. `members` has the rank in the job of each rank of
    /// the schedule. All these ranks must use the same `number`, which must be free on each of
    /// them. The number stays used. Frames that arrive before this call are dropped, and requested
    /// again later.
    ///
    /// # Errors
    /// The system refuses a mapping.
    ///
    /// # Panics
    /// If the number is not free, or if there is not enough room.
    pub fn install(&mut self, part: &PartImage, members: &[u32], number: u32) -> io::Result<Rank> {
        assert!(self.free_numbers() >> number & 1 > 0, "the number {number} is not free");
        let taken = Self::taken(part);
        self.left().without(taken).unwrap_or_else(|what| panic!("there is no room: {what}"));
        let slot = number * self.share.ranks + self.share.port;
        let placed = part.placed(&self.places, members);
        let entry_at = slot as usize * size_of::<PartEntry>();
        let mut bytes = [0; size_of::<PartEntry>()];
        self.parts.read(entry_at, &mut bytes);
        // The launcher has written these three fields.
        let PartEntry { cookie, schedule, port, .. } =
            PartEntry::read_from_bytes(&bytes).expect("as many bytes");
        let start = frame::start_of(self.share.start, schedule, cookie);
        let member = Member::new(slot, &placed, self.memory_at, (schedule, port), start);
        let socket = Arc::clone(&self.events.socket);
        let state = (Arc::clone(&self.events.status), slot as usize * size_of::<StatusEntry>());
        let rank = Rank::over(member, &self.memory, state, &self.handed, socket)?;
        if !placed.constants.is_empty() {
            let whole = page() as u32;
            let (first, behind) =
                (placed.constants_at / whole * whole, placed.constants_at % whole);
            let length = (behind as usize + placed.constants.len()).next_multiple_of(page());
            let from = u64::from(self.memory_at + first);
            let mut memory = Mapping::new(self.memory.as_fd(), from, length)?;
            memory.write(behind as usize, &placed.constants);
        }
        let dependents: Vec<u64> = placed.dependents.iter().map(|&to| u64::from(to)).collect();
        store(&mut self.actions, self.places.action, &placed.actions);
        store(&mut self.dependents, self.places.dependent, &dependents);
        store(&mut self.receives, self.places.receive, &placed.receives);
        store(&mut self.sends, self.places.send, &placed.sends);
        // Frames of other ranks may be arriving. The engine takes none for a part without sends and
        // receives, so these two counts are written last.
        let (memory, closed) = (self.memory_at, PartEntry { receives: 0, sends: 0, ..placed.part });
        let entry = PartEntry { cookie, schedule, port, memory, ..closed };
        self.parts.write(entry_at, entry.as_bytes());
        for (field, count) in [
            (offset_of!(PartEntry, sends), placed.part.sends),
            (offset_of!(PartEntry, receives), placed.part.receives),
        ] {
            self.parts.word(entry_at + field).store(count, Ordering::SeqCst);
        }
        self.places = self.places.behind(part);
        self.memory_at += taken.bytes;
        self.numbers |= 1 << number;
        self.used = Room {
            schedules: 0,
            actions: self.used.actions + taken.actions,
            dependents: self.used.dependents + taken.dependents,
            receives: self.used.receives + taken.receives,
            sends: self.used.sends + taken.sends,
            bytes: self.used.bytes + taken.bytes,
        };
        Ok(rank)
    }
}

/// Writes entries of a map from its entry `first` on.
fn store<T: IntoBytes + Immutable>(map: &mut Mapping, first: u32, entries: &[T]) {
    map.write(first as usize * size_of::<T>(), entries.as_bytes());
}
