//! Reserves room in a host's maps for schedules that ranks install at run time.

use crate::frame;
use crate::image::Places;
use crate::layout::FRAME_LENGTH;
use crate::limits::{
    MEMORY_BYTES_MAX, PARTS_MAX, PROGRAM_ACTIONS, PROGRAM_BYTES, PROGRAM_DEPENDENTS,
    PROGRAM_RECEIVES, PROGRAM_SCHEDULES_MAX, PROGRAM_SENDS, page,
};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The entries of a host's maps, and the bytes of its map of memory, that a rank may use.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Room {
    /// The number of schedules. A schedule has the same number on all ranks.
    pub schedules: u32,
    /// The number of actions of all the rank's parts.
    pub actions: u32,
    /// The number of dependencies of all the rank's parts.
    pub dependents: u32,
    /// The number of receives of all the rank's parts.
    pub receives: u32,
    /// The number of sends of all the rank's parts.
    pub sends: u32,
    /// The bytes of memory of all the rank's parts, in whole pages for each part.
    pub bytes: u32,
}

impl Room {
    /// Returns the room of each rank on a host with `ranks` ranks; `None` if there is no room for
    /// one schedule each.
    pub fn of(ranks: u32) -> Option<Self> {
        let ranks = ranks.max(1);
        let room = Self {
            schedules: PROGRAM_SCHEDULES_MAX.min(PARTS_MAX / ranks),
            actions: PROGRAM_ACTIONS,
            dependents: PROGRAM_DEPENDENTS,
            receives: PROGRAM_RECEIVES,
            sends: PROGRAM_SENDS,
            bytes: PROGRAM_BYTES.min(MEMORY_BYTES_MAX / ranks / page() as u32 * page() as u32),
        };
        (room.schedules > 0).then_some(room)
    }

    /// Returns the room that is left after `used` is taken.
    ///
    /// # Errors
    /// The name of the first field that is not enough.
    pub fn without(self, used: Self) -> Result<Self, &'static str> {
        let left = |name, have: u32, used: u32| have.checked_sub(used).ok_or(name);
        Ok(Self {
            schedules: left("schedules", self.schedules, used.schedules)?,
            actions: left("actions", self.actions, used.actions)?,
            dependents: left("dependencies", self.dependents, used.dependents)?,
            receives: left("receives", self.receives, used.receives)?,
            sends: left("sends", self.sends, used.sends)?,
            bytes: left("bytes", self.bytes, used.bytes)?,
        })
    }
}

/// A rank's share of its host's maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Share {
    /// A frame that starts a run of the rank, without its schedule, its cookie and its epoch.
    pub(crate) start: [u8; FRAME_LENGTH],
    /// The number of ranks of the host.
    pub(crate) ranks: u32,
    /// The rank's number on its host.
    pub(crate) port: u32,
    /// The most bytes of payload of a frame.
    pub(crate) fragment: u32,
    /// The room of each rank of the host.
    pub(crate) room: Room,
}

/// The length of a share as bytes.
pub const SHARE_BYTES: usize = size_of::<Share>();

impl Share {
    /// Returns the share as bytes, for another process of this host.
    pub fn to_bytes(&self) -> [u8; SHARE_BYTES] {
        self.as_bytes().try_into().expect("all bytes")
    }

    /// Returns the share that [`Share::to_bytes`] turned into these bytes. They must come from the
    /// launcher. A wrong share is noticed when the maps are opened, or it overwrites parts of other
    /// ranks of the host.
    pub fn from_bytes(bytes: &[u8; SHARE_BYTES]) -> Self {
        Self::read_from_bytes(bytes).expect("as many bytes")
    }

    /// Returns the most bytes of payload of a frame, as [`Plan::of`](crate::Plan::of) takes it.
    pub fn fragment(&self) -> u32 {
        self.fragment
    }

    /// Returns the room of the rank.
    pub fn room(&self) -> Room {
        self.room
    }

    /// Returns the filter of the socket that wakes the rank. It accepts the completion events of
    /// all the rank's parts.
    pub(crate) fn filter(&self, job: u32) -> Vec<libc::sock_filter> {
        frame::done_filter(None, self.port as u16, job)
    }

    /// Returns the first entries and the first byte that belong to the rank.
    pub(crate) fn first(&self) -> (Places, u32) {
        let Room { actions, dependents, receives, sends, bytes, .. } = self.room;
        let first = |each: u32| self.port * each;
        let places = Places {
            action: first(actions),
            dependent: first(dependents),
            receive: first(receives),
            send: first(sends),
        };
        (places, first(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_host_share_its_maps() {
        let one = Room::of(1).unwrap();
        assert_eq!((one.schedules, one.bytes), (32, 4 << 20));
        let many = Room::of(100).unwrap();
        assert_eq!((many.schedules, many.bytes), (10, 2_682_880));
        assert!(100 * many.bytes <= MEMORY_BYTES_MAX);
        assert_eq!(Room::of(PARTS_MAX).unwrap().schedules, 1);
        assert_eq!(Room::of(PARTS_MAX + 1), None);
    }

    #[test]
    fn what_is_not_enough_has_a_name() {
        let room = Room::of(1).unwrap();
        let used = Room { sends: room.sends, ..Room::default() };
        assert_eq!(room.without(used).unwrap().sends, 0);
        let used = Room { sends: room.sends + 1, ..Room::default() };
        assert_eq!(room.without(used), Err("sends"));
    }

    #[test]
    fn a_share_survives_as_bytes() {
        let start = std::array::from_fn(|at| at as u8);
        let room = Room::of(3).unwrap();
        let share = Share { start, ranks: 3, port: 2, fragment: 1456, room };
        assert_eq!(Share::from_bytes(&share.to_bytes()), share);
        assert_eq!(share.first().1, 2 * room.bytes);
    }
}
