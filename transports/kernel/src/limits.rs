//! The limits of schedules in the kernel. `bpf/limits.h` has the same numbers; a test compares
//! them.

/// The most actions of one rank's part of a schedule, after translation.
pub const ACTIONS_MAX: u32 = 4096;
/// The most dependencies between the actions of one rank's part.
pub const DEPENDENTS_MAX: u32 = 16384;
/// The most bytes of a part's memory: the rank's memory, scratch memory, constants, landing places,
/// kept messages.
pub const PART_BYTES: u32 = 1 << 20;
/// The most bytes of memory of all parts on one host. The verifier accepts no offset beyond 2^29.
pub const MEMORY_BYTES_MAX: u32 = 1 << 28;
/// The most floating-point numbers of one action that the kernel computes. Each takes some tens of
/// nanoseconds of an interrupt.
pub const FLOATS_MAX: u32 = 4096;
/// Bytes behind the memory of all parts that an access may touch.
pub const SLACK_BYTES: u32 = 8192;
/// The most bytes of payload of a frame.
pub const FRAGMENT_BYTES_MAX: u32 = 8192;
/// The words of the hash key: one for each word of the longest payload, and one more.
pub const HASH_KEY_WORDS: u32 = FRAGMENT_BYTES_MAX / 8 + 1;
/// The most frames of a message.
pub const FRAGMENTS_MAX: u32 = 32;
/// The most parts on one host: schedules times ranks.
pub const PARTS_MAX: u32 = 1024;
/// The most ranks of a job.
pub const PEERS_MAX: u32 = 4096;
/// The number of the last run of a schedule.
pub const EPOCH_MAX: u32 = 0xffff_fff0;
/// The most actions that one frame may set off. A frame from the host to itself continues the run.
pub const RUN_ACTIONS: u32 = 512;
/// The most requests for lost frames that a tick may send for a part.
pub const TICK_ASKS: u32 = 64;
/// The most work of operations that one frame may set off, in estimated nanoseconds. A frame from
/// the host to itself continues the run.
pub const RUN_WORK: u32 = 200_000;
/// The least nanoseconds between two ticks that count. A busy processor lets several ticks come at
/// once.
pub const TICKS_APART_NS: u32 = 500_000;
/// The most attempts to change a word that other processors change too.
pub const ATTEMPTS: u32 = 64;

/// The most schedules that a rank of a program may install: a word has a bit for each.
pub const PROGRAM_SCHEDULES_MAX: u32 = 32;
/// The most actions that a rank of a program may install, in all its schedules together.
pub const PROGRAM_ACTIONS: u32 = 4 * ACTIONS_MAX;
/// The most dependencies that a rank of a program may install, in all its schedules together.
pub const PROGRAM_DEPENDENTS: u32 = 4 * DEPENDENTS_MAX;
/// The most receives that a rank of a program may install, in all its schedules together.
pub const PROGRAM_RECEIVES: u32 = ACTIONS_MAX;
/// The most sends that a rank of a program may install, in all its schedules together.
pub const PROGRAM_SENDS: u32 = ACTIONS_MAX;
/// The most bytes of memory that the parts of a program's rank may take. On a host with many ranks
/// the limit is lower.
pub const PROGRAM_BYTES: u32 = 4 << 20;
/// The most ranks of a schedule that a program installs. Each rank translates the parts of all
/// ranks.
pub const PROGRAM_RANKS_MAX: u32 = 256;

/// Bytes of the header of schedule frames, without Ethernet's header before it.
pub const HEADER: u32 = 42;

/// Returns the most bytes of payload of a frame, as [`Plan::of`](crate::Plan::of) takes it. The
/// interface's frames have up to `mtu` bytes after Ethernet's header. Returns `None` if there is no
/// room.
pub fn fragment_of(mtu: u32) -> Option<u32> {
    let room = mtu.saturating_sub(HEADER).min(FRAGMENT_BYTES_MAX) / 8 * 8;
    (room > 0).then_some(room)
}

/// Returns the bytes of a page. Parts begin at multiples of it in the map of memory, so that a rank
/// maps only its own parts.
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
