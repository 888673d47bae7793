//! Only a holder of the key can make tags, and a tag is valid for one frame of one connection.

use super::{Address, Claim, JobKey, LANES, Route, tags, whole_control};
use crate::wire::{Extension, Flags, Mac, Packet, Repr};
use proptest::prelude::*;

const REPR: Repr = Repr {
    flags: Flags::ACK,
    source_port: 1,
    destination_port: 2,
    nonce: 3,
    sequence: 4,
    acknowledgement: 5,
    window: 6,
    extension: Extension::Tagged { control: 7 },
};

fn way() -> Route {
    Route { source: Mac([1; 6]), destination: Mac([2; 6]) }
}

fn ends() -> [(Address, u64); 2] {
    [(Address { mac: Mac([1; 6]), port: 1 }, 3), (Address { mac: Mac([2; 6]), port: 2 }, 4)]
}

#[test]
fn both_ends_have_the_same_key() {
    let job = JobKey::new(&[5; 32]);
    let [a, b] = ends();
    assert!(job.connection([a, b]) == job.connection([b, a]));
    assert!(job.connection([a, b]) != JobKey::new(&[6; 32]).connection([a, b]));
    assert!(job.connection([a, b]) != job.connection([a, (b.0, b.1 + 1)]));
    assert!(
        job.connection([a, b]) != job.connection([a, (b.0, b.1 | 1 << 63)]),
        "all 64 bits of a nonce count"
    );
    assert!(job.connection([a, b]) != job.connection([(a.0, b.1), (b.0, a.1)]));
}

#[test]
fn way_and_whole_number_are_proven() {
    let key = JobKey::new(&[5; 32]).connection(ends());
    let mut bytes = [0; 42 + 10];
    let mut packet = Packet::emit(&mut bytes[..], &REPR, 10);
    let tag = key.tag(way(), 1 << 32 | 7, &packet);
    packet.set_tag(&tag);
    packet.fill_checksum();
    assert!(key.verifies(way(), 1 << 32 | 7, &packet));
    assert!(!key.verifies(way(), 7, &packet));
    let back = Route { source: way().destination, destination: way().source };
    assert!(!key.verifies(back, 1 << 32 | 7, &packet));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: goal_filetest::seeds(1_000) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_changed_packet_has_another_tag(
        at in any::<prop::sample::Index>(), change in 1u8.., covers_data: bool,
    ) {
        let key = JobKey::new(&[5; 32]).connection(ends());
        let mut bytes = [0; 42 + 10];
        let extension = match covers_data {
            true => Extension::Whole { control: 7 },
            false => REPR.extension,
        };
        let mut packet = Packet::emit(&mut bytes[..], &Repr { extension, ..REPR }, 10);
        let tag = key.tag(way(), 7, &packet);
        packet.set_tag(&tag);
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        Packet::repair_checksum(&mut bytes[..]);
        if let Ok(packet) = Packet::new_checked(&bytes[..]) {
            // Form 3 covers the data; the same packet in another form has another tag.
            let is_free = (20..24).contains(&at) || (!covers_data && at >= 42);
            prop_assert_eq!(key.verifies(way(), 7, &packet), is_free);
        }
    }

    #[test]
    fn numbers_become_whole(highest in 0u64..1 << 40, ahead in -1_000_000_000i64..1_000_000_000) {
        if let Some(number) = highest.checked_add_signed(ahead) {
            prop_assert_eq!(whole_control(number as u32, highest), number);
        }
    }
}

/// Checks the `siphasher` crate against the vectors of SipHash-2-4's reference implementation, with
/// 128 bits of output (key 00..0f, input 00..).
#[test]
fn tags_are_those_of_the_reference() {
    use siphasher::sip128::{Hasher128, SipHasher24};
    use std::hash::Hasher;
    let key: [u8; 16] = std::array::from_fn(|at| at as u8);
    let tag = |len: u8| {
        let mut hasher = SipHasher24::new_with_key(&key);
        hasher.write(&(0..len).collect::<Vec<_>>());
        hasher.finish128().as_bytes()
    };
    let hex = |tag: [u8; 16]| tag.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(hex(tag(0)), "a3817f04ba25a8e66df67214c7550293");
    assert_eq!(hex(tag(1)), "da87c1d86b99af44347659119b22fc45");
}

#[test]
fn tags_of_several_packets_are_those_of_each() {
    let lens = [1458, 1452, 1456, 0, 300, 1, 9216, 258, 263, 264, 265, 1000];
    for (first, count) in (0..lens.len()).flat_map(|first| (0..=LANES).map(move |n| (first, n))) {
        let made: Vec<_> = (0..count)
            .map(|n| {
                let len = lens[(first + n) % lens.len()];
                let key = JobKey::new(&[n as u8; 32]).connection(ends());
                let control = n as u32;
                let repr = Repr { extension: Extension::Whole { control }, ..REPR };
                let mut bytes: Vec<u8> = (0..42 + len).map(|at| (at * 7 + n) as u8).collect();
                Packet::emit(&mut bytes[..], &repr, len).fill_checksum();
                (key, bytes)
            })
            .collect();
        let packets: Vec<_> =
            made.iter().map(|(_, bytes)| Packet::new_checked(&bytes[..]).unwrap()).collect();
        let claims: Vec<_> = (0..)
            .zip(made.iter().zip(&packets))
            .map(|(n, ((key, _), packet))| Claim { key, way: way(), control: n << 31, packet })
            .collect();
        let tags = tags(&claims);
        for (claim, tag) in claims.iter().zip(&tags) {
            assert_eq!(claim.key.tag(way(), claim.control, claim.packet), *tag);
        }
    }
}
