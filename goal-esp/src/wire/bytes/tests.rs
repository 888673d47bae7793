use super::{checksum, fill_checksum};

/// The checksum of a packet whose field for it counts as zeros is CRC-32C, however long the packet
/// is, and so is what is written there.
#[test]
fn checksum_is_that_of_all_bytes() {
    for len in (24..600).chain([1500, 9000]) {
        let mut bytes: Vec<u8> = (0..len).map(|at: usize| (at * 37 + at / 256) as u8).collect();
        let sum = checksum(&bytes, 20..24);
        let mut filled = bytes.clone();
        fill_checksum(&mut filled, 20..24);
        assert_eq!(filled[20..24], sum.to_be_bytes(), "{len} bytes");
        bytes[20..24].fill(0);
        assert_eq!(sum, crc32c::crc32c(&bytes), "{len} bytes");
    }
}
