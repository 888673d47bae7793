//! Tests that memory becomes resident. `unsafe`: reads of boards.
#![allow(unsafe_code)]

use super::segment;
use crate::board::{Look, Ring};
use crate::mapping::Mapping;
use crate::populate::{HUGE_PAGE, PAGE, populate_read};

/// Returns the number of resident bytes of a memory file.
fn resident(mapping: &Mapping) -> u64 {
    let file = std::fs::File::from(mapping.fd().try_clone_to_owned().unwrap());
    std::os::unix::fs::MetadataExt::blocks(&file.metadata().unwrap()) * 512
}

#[test]
fn bytes_become_resident_and_stay_as_they_are() {
    let (page, huge) = (PAGE, HUGE_PAGE);
    // Ranges below, across and over blocks of huge pages.
    let ranges =
        [(0, 1), (page, 5 * page), (huge - page, 2 * page), (page, 3 * huge), (0, 2 * huge)];
    for (at, len) in ranges {
        let mapping = Mapping::create(4 * huge).unwrap();
        mapping.store(at, &[7]);
        mapping.store(at + len - 1, &[7]);
        assert_eq!(mapping.populate(&(at..at + len)), len);
        assert!(resident(&mapping) >= len as u64, "{at} {len}: {}", resident(&mapping));
        // No more than the pages that overlap the range.
        assert!(resident(&mapping) <= (len + 2 * page) as u64, "{at} {len}");
        let mut bytes = vec![0; 4 * huge];
        mapping.load(0, &mut bytes);
        assert_eq!(bytes.iter().filter(|&&byte| byte != 0).count(), 2.min(len));
        assert_eq!([bytes[at], bytes[at + len - 1]], [7, 7]);
    }
}

#[test]
fn any_bytes_can_be_mapped() {
    populate_read(&[]);
    populate_read(&[1; 3]);
    populate_read(&vec![1; 1 << 20]);
}

/// Returns the page faults of this thread that needed no device.
fn faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    fields.split_whitespace().nth(7).unwrap().parse().unwrap()
}

/// Without this, a reader would have a fault for each page, or for some pages in a row.
#[test]
fn a_mapped_board_costs_its_reader_no_faults() {
    let segment = segment(2, 1);
    segment.map_board(1, 0);
    let board = segment.board(1);
    let before = faults();
    for ring in [Ring::Short, Ring::Long] {
        let few = if ring == Ring::Short { ring.lines() } else { ring.lines() / 4 };
        for position in 0..few {
            assert_eq!(board.look(ring, position, 1), Look::Missing);
            // SAFETY: nobody writes to this segment.
            unsafe { board.payload(ring, position, 64) }
                .iter()
                .for_each(|&byte| assert_eq!(byte, 0));
        }
    }
    // The test itself allocates.
    assert!(faults() - before < 4, "{} faults", faults() - before);
}
