//! The limits of schedules in the kernel. `bpf/limits.h` has the same numbers; a test compares
//! them.

/// The most actions of one rank's part of a schedule, after translation.
pub const ACTIONS_MAX: u32 = 4096;
/// The most dependencies between them.
pub const DEPENDENTS_MAX: u32 = 16384;
/// The bytes of a part: the rank's memory, scratch memory, constants, landing places, kept
/// messages.
pub const PART_BYTES: u32 = 1 << 20;
/// Bytes of all parts on one host. The verifier takes no place beyond 2^29.
pub const MEMORY_BYTES_MAX: u32 = 1 << 28;
/// The most floating-point numbers of one action: each takes some tens of nanoseconds of an
/// interrupt.
pub const FLOATS_MAX: u32 = 4096;
/// Bytes behind the memory of all parts that an access may touch.
pub const SLACK_BYTES: u32 = 8192;
/// The most bytes of payload of a frame.
pub const FRAGMENT_BYTES_MAX: u32 = 8192;
/// Words of the hash key: one for each of a frame, and one more.
pub const HASH_KEY_WORDS: u32 = FRAGMENT_BYTES_MAX / 8 + 1;
/// The most frames of a message.
pub const FRAGMENTS_MAX: u32 = 32;
/// The most parts on one host: schedules times ranks.
pub const PARTS_MAX: u32 = 1024;
/// The most ranks of a job.
pub const PEERS_MAX: u32 = 4096;
/// The last run of a schedule.
pub const EPOCH_MAX: u32 = 0xffff_fff0;
/// Actions that one frame may set off. The rest follows with a frame to the host itself.
pub const RUN_ACTIONS: u32 = 512;
/// Requests for lost frames that a tick may send for a part.
pub const TICK_ASKS: u32 = 64;
/// Work of operations that one frame may set off, in nanoseconds or so.
pub const RUN_WORK: u32 = 200_000;
/// Nanoseconds between two ticks that count. A busy processor lets several come at once.
pub const TICKS_APART_NS: u32 = 500_000;
/// Attempts to change a word that other processors change.
pub const ATTEMPTS: u32 = 64;

/// The most schedules that a rank of a program may install: a word has a bit for each.
pub const PROGRAM_SCHEDULES_MAX: u32 = 32;
/// The actions that a rank of a program may install, of all its schedules.
pub const PROGRAM_ACTIONS: u32 = 4 * ACTIONS_MAX;
/// The dependencies that it may install.
pub const PROGRAM_DEPENDENTS: u32 = 4 * DEPENDENTS_MAX;
/// The receives that it may install.
pub const PROGRAM_RECEIVES: u32 = ACTIONS_MAX;
/// The sends that it may install.
pub const PROGRAM_SENDS: u32 = ACTIONS_MAX;
/// The bytes of memory that its parts may take, if the ranks of its host are few enough.
pub const PROGRAM_BYTES: u32 = 4 << 20;
/// The most ranks of a schedule that a program installs: each rank translates all ranks' parts.
pub const PROGRAM_RANKS_MAX: u32 = 256;

/// Bytes of the header of frames, behind Ethernet's.
pub const HEADER: u32 = 42;

/// Returns the most payload of a frame at an interface whose frames have up to `mtu` bytes behind
/// Ethernet's header, as [`Plan::of`](crate::Plan::of) takes it; `None` if there is no room.
pub fn fragment_of(mtu: u32) -> Option<u32> {
    let room = mtu.saturating_sub(HEADER).min(FRAGMENT_BYTES_MAX) / 8 * 8;
    (room > 0).then_some(room)
}

/// Returns the bytes of a page. Parts begin at multiples of it in the map of memory, so that a rank
/// maps only its own.
pub(crate) fn page() -> usize {
    rustix::param::page_size()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_fit_frames() {
        let all = [49, 50, 1500, 9000, u32::MAX].map(fragment_of);
        assert_eq!(all, [None, Some(8), Some(1456), Some(8192), Some(8192)]);
    }

    #[test]
    fn the_header_has_the_same_limits() {
        let header = include_str!("../bpf/limits.h");
        let stated = |name: &str| -> u32 {
            let line = header.lines().find_map(|line| {
                line.strip_prefix("#define ")?.strip_prefix(name)?.strip_prefix(' ')
            });
            let text = line.unwrap_or_else(|| panic!("limits.h lacks {name}"));
            match text.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).unwrap(),
                None => text.parse().unwrap(),
            }
        };
        let ours = [
            ("ACTIONS_MAX", ACTIONS_MAX),
            ("DEPENDENTS_MAX", DEPENDENTS_MAX),
            ("PART_BYTES", PART_BYTES),
            ("MEMORY_BYTES_MAX", MEMORY_BYTES_MAX),
            ("FLOATS_MAX", FLOATS_MAX),
            ("SLACK_BYTES", SLACK_BYTES),
            ("FRAGMENT_BYTES_MAX", FRAGMENT_BYTES_MAX),
            ("HASH_KEY_WORDS", HASH_KEY_WORDS),
            ("FRAGMENTS_MAX", FRAGMENTS_MAX),
            ("PARTS_MAX", PARTS_MAX),
            ("PEERS_MAX", PEERS_MAX),
            ("EPOCH_MAX", EPOCH_MAX),
            ("RUN_ACTIONS", RUN_ACTIONS),
            ("RUN_WORK", RUN_WORK),
            ("TICK_ASKS", TICK_ASKS),
            ("TICKS_APART_NS", TICKS_APART_NS),
            ("ATTEMPTS", ATTEMPTS),
        ];
        for (name, value) in ours {
            assert_eq!(stated(name), value, "{name}");
        }
        assert_eq!(header.matches("#define ").count(), ours.len() + 1, "a limit without a twin");
    }
}
