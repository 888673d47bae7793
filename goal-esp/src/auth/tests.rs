//! Only who has the key makes tags, and a tag is good for one frame of one connection.

use super::{Address, JobKey, Way, whole_control};
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

fn way() -> Way {
    Way { source: Mac([1; 6]), destination: Mac([2; 6]) }
}

fn ends() -> [(Address, u32); 2] {
    [(Address { mac: Mac([1; 6]), port: 1 }, 3), (Address { mac: Mac([2; 6]), port: 2 }, 4)]
}

#[test]
fn both_ends_have_the_same_key() {
    let job = JobKey::new(&[5; 32]);
    let [a, b] = ends();
    assert!(job.connection([a, b]) == job.connection([b, a]));
    assert!(job.connection([a, b]) != JobKey::new(&[6; 32]).connection([a, b]));
    assert!(job.connection([a, b]) != job.connection([a, (b.0, b.1 + 1)]));
    assert!(job.connection([a, b]) != job.connection([(a.0, b.1), (b.0, a.1)]));
}

#[test]
fn way_and_whole_number_are_proven() {
    let key = JobKey::new(&[5; 32]).connection(ends());
    let mut bytes = [0; 42 + 10];
    let mut packet = Packet::emit(&mut bytes[..], &REPR, 10);
    let tag = key.tag(way(), 1 << 32 | 7, true, &packet);
    packet.set_tag(&tag);
    packet.fill_checksum();
    assert!(key.proves(way(), 1 << 32 | 7, true, &packet));
    assert!(!key.proves(way(), 7, true, &packet));
    let back = Way { source: way().destination, destination: way().source };
    assert!(!key.proves(back, 1 << 32 | 7, true, &packet));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_packet_has_another_tag(
        at in any::<prop::sample::Index>(), change in 1u8.., covers_data: bool,
    ) {
        let key = JobKey::new(&[5; 32]).connection(ends());
        let mut bytes = [0; 42 + 10];
        let mut packet = Packet::emit(&mut bytes[..], &REPR, 10);
        let tag = key.tag(way(), 7, covers_data, &packet);
        packet.set_tag(&tag);
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        Packet::reseal(&mut bytes[..]);
        if let Ok(packet) = Packet::new_checked(&bytes[..]) {
            let is_free = (20..24).contains(&at) || (!covers_data && at >= 42);
            prop_assert_eq!(key.proves(way(), 7, covers_data, &packet), is_free);
        }
    }

    #[test]
    fn numbers_become_whole(highest in 0u64..1 << 40, ahead in -1_000_000_000i64..1_000_000_000) {
        if let Some(number) = highest.checked_add_signed(ahead) {
            prop_assert_eq!(whole_control(number as u32, highest), number);
        }
    }
}
