//! Every format is the same after it was written and read, and changed bytes are refused.

use super::bytes::{checksum, fill_checksum};
use super::{Datagram, EdpRepr, Extension, Flags, Frame, Mac, Malformed};
use super::{Message, Packet, Parameters, PortRun, Ports, Range, Ranges, Repr, State};
use crate::harness;
use crate::limits::{PORT_RUNS_MAX, RANGES_MAX};
use proptest::collection::vec;
use proptest::prelude::*;

fn extensions() -> impl Strategy<Value = (Flags, Extension)> {
    let data =
        prop::sample::select(vec![Flags::NONE, Flags::TXS, Flags::TXF, Flags::TXS | Flags::TXF]);
    let tagged =
        prop::sample::select(vec![Flags::ACK, Flags::ACK | Flags::TXS, Flags::TXF | Flags::ACK]);
    let whole = prop::sample::select(vec![Flags::NONE, Flags::TXS, Flags::TXF | Flags::ACK]);
    let handshake = prop::sample::select(vec![Flags::SYN, Flags::SYN | Flags::ACK, Flags::ACK]);
    let parameters = (256u16..9216, any::<bool>()).prop_map(|(payload_max, authenticates_data)| {
        Parameters { payload_max, authenticates_data }
    });
    prop_oneof![
        data.prop_map(|flags| (flags, Extension::None)),
        (tagged, any::<u32>()).prop_map(|(flags, control)| (flags, Extension::Tagged { control })),
        (whole, any::<u32>()).prop_map(|(flags, control)| (flags, Extension::Whole { control })),
        (handshake, any::<[u32; 2]>(), parameters).prop_map(
            |(flags, [control, nonce_high], parameters)| {
                (flags, Extension::Handshake { control, nonce_high, parameters })
            }
        ),
    ]
}

fn packets() -> impl Strategy<Value = (Repr, Vec<u8>)> {
    let numbers =
        (any::<u16>(), any::<u16>(), any::<u32>(), any::<u32>(), any::<u32>(), any::<u16>());
    (extensions(), numbers, vec(any::<u8>(), 0..200)).prop_map(
        |((flags, extension), numbers, mut payload)| {
            let (source_port, destination_port, nonce, sequence, acknowledgement, window) = numbers;
            if matches!(extension, Extension::Handshake { .. }) {
                payload.clear();
            }
            let repr = Repr {
                flags,
                source_port,
                destination_port,
                nonce,
                sequence,
                acknowledgement,
                window,
                extension,
            };
            (repr, payload)
        },
    )
}

fn written(repr: &Repr, payload: &[u8]) -> Vec<u8> {
    let header_len = repr.extension.header_len();
    let mut bytes = vec![0xee; header_len + payload.len()];
    bytes[header_len..].copy_from_slice(payload);
    let mut packet = Packet::emit(&mut bytes[..], repr, payload.len());
    if repr.extension != Extension::None {
        packet.set_tag(&[7; 12]);
    }
    packet.fill_checksum();
    bytes
}

fn messages() -> impl Strategy<Value = (Message<'static>, Vec<u8>)> {
    let state = prop::sample::select(vec![State::Active, State::Idle, State::Done]);
    let echo = vec(any::<u8>(), 0..100);
    let ports = [
        &[][..],
        &[0, 0, 0, 7, 0xc0, 0, 0, 3],
        &[0, 0, 0, 1, 0, 1, 0xff, 0xff, 255, 255, 255, 255, 0, 0, 0, 1],
    ];
    let ports = ports.map(|bytes| Ports::parse(bytes).expect("a list"));
    (0..6, any::<[u64; 4]>(), any::<[u32; 2]>(), state, echo).prop_map(
        move |(kind, [job, nonce, sent, taken], [rank, ranks], state, echo)| {
            let message = match kind {
                0 => Message::Echo(&[]),
                1 => Message::EchoReply(&[]),
                2 => Message::Discovery { job, nonce },
                3 => {
                    Message::Answer { job, nonce, ranks, ports: ports[rank as usize % ports.len()] }
                }
                4 => Message::Probe { job, round: nonce },
                _ => Message::ProbeReply { job, round: nonce, rank, state, sent, taken },
            };
            (message, echo)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: goal_filetest::seeds(2_000) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn packets_come_back((repr, payload) in packets(), padding in 0usize..60) {
        let mut bytes = written(&repr, &payload);
        bytes.resize(bytes.len() + padding, 0);
        let packet = Packet::new_checked(&bytes[..]).unwrap();
        prop_assert_eq!(packet.repr(), repr);
        prop_assert_eq!(packet.payload(), &payload[..]);
        prop_assert_eq!(packet.tag().is_some(), repr.extension != Extension::None);
    }

    #[test]
    fn changed_packets_are_refused((repr, payload) in packets(), at in any::<prop::sample::Index>(), change in 1u8..) {
        let mut bytes = written(&repr, &payload);
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        // If a tag replaces the checksum, the tag differs.
        let is_left_to_tag = matches!(repr.extension, Extension::Whole { .. }) && !(20..24).contains(&at);
        prop_assert!(is_left_to_tag || Packet::new_checked(&bytes[..]).is_err());
    }

    #[test]
    fn cut_packets_are_refused((repr, payload) in packets(), at in any::<prop::sample::Index>()) {
        let bytes = written(&repr, &payload);
        prop_assert_eq!(Packet::new_checked(&bytes[..at.index(bytes.len())]).err(), Some(Malformed::Short));
    }

    #[test]
    fn datagrams_come_back((message, echo) in messages(), number: u32, ports: [u16; 2]) {
        let message = match message {
            Message::Echo(_) => Message::Echo(&echo),
            Message::EchoReply(_) => Message::EchoReply(&echo),
            message => message,
        };
        let [source_port, destination_port] = ports;
        let repr = EdpRepr { source_port, destination_port, number, message };
        let mut bytes = vec![0; repr.len()];
        let mut datagram = Datagram::emit(&mut bytes[..], &repr);
        if message.is_tagged() {
            datagram.set_tag(&[9; 12]);
        }
        datagram.fill_checksum();
        let datagram = Datagram::new_checked(&bytes[..]).unwrap();
        prop_assert_eq!(datagram.repr(), repr);
        prop_assert_eq!(datagram.tag(), message.is_tagged().then_some([9; 12]));
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in vec(any::<u8>(), 0..300), form in 0u8..5) {
        harness::frame(&bytes);
        let mut likely = bytes;
        if likely.len() > 18 {
            likely[14] = super::VERSION << 4 | form;
            likely[16] = 0;
        }
        harness::frame(&likely);
    }
}

#[test]
fn ethernet_header_comes_back() {
    let mut bytes = [0; 64];
    let (source, destination) = (Mac([1, 2, 3, 4, 5, 6]), Mac::BROADCAST);
    Frame::new_checked(&mut bytes[..]).unwrap().emit(source, destination, super::ETHERTYPE_ESP);
    let frame = Frame::new_checked(&bytes[..]).unwrap();
    assert_eq!((frame.source(), frame.destination()), (source, destination));
    assert_eq!(frame.ethertype(), super::ETHERTYPE_ESP);
    assert_eq!(source.to_string(), "01:02:03:04:05:06");
}

#[test]
fn data_behind_ethernets_header_is_aligned() {
    assert_eq!((Frame::<&[u8]>::HEADER_LEN + Packet::<&[u8]>::HEADER_LEN_MIN) % 8, 0);
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let repr = |flags, extension| Repr {
        flags,
        source_port: 1,
        destination_port: 2,
        nonce: 3,
        sequence: 4,
        acknowledgement: 5,
        window: 6,
        extension,
    };
    let tagged = Extension::Tagged { control: 1 };
    let refused = [
        (Flags::ACK, Extension::None, 0),
        (Flags::FIN | Flags::TXF, Extension::None, 0),
        (Flags::SYN, tagged, 0),
        (Flags::RST | Flags::ACK, tagged, 0),
        (Flags::RST, tagged, 1),
        (Flags::RRQ, tagged, 8),
        (Flags::RRQ | Flags::ACK, tagged, 7),
        (Flags::RRQ | Flags::ACK, tagged, 8 * RANGES_MAX + 8),
        (Flags::FIN, tagged, 1),
    ];
    for (flags, extension, len) in refused {
        let bytes = written(&repr(flags, extension), &vec![0; len]);
        assert_eq!(
            Packet::new_checked(&bytes[..]).err(),
            Some(Malformed::Contradiction),
            "{flags:?}"
        );
    }
}

#[test]
fn ranges_come_back() {
    let ranges = [Range { first: 5, count: 2 }, Range { first: u32::MAX, count: 1 }];
    let mut bytes = vec![0; Ranges::len_of(&ranges)];
    Ranges::emit(&ranges, &mut bytes);
    assert_eq!(Ranges::parse(&bytes).unwrap().iter().collect::<Vec<_>>(), ranges);
}

#[test]
fn ports_come_back_and_none_passes_the_end_of_its_numbers() {
    let run = |rank, port, count| PortRun { rank, port, count };
    let runs: Vec<_> =
        (0..PORT_RUNS_MAX as u32 + 1).map(|index| run(10 * index, 0xc000, 3)).collect();
    let bytes = Ports::emit(&runs);
    let lists: Vec<Vec<PortRun>> =
        Ports::lists(&bytes).map(|ports| ports.iter().collect()).collect();
    assert_eq!((lists.len(), lists.concat()), (2, runs));
    assert_eq!(Ports::lists(&[]).count(), 1, "a host without ranks answers too");
    assert_eq!(Ports::parse(&bytes), None, "too many");
    assert_eq!(Ports::parse(&bytes[..7]), None);
    assert_eq!(run(5, 7, 2).ranks().collect::<Vec<_>>(), [(5, 7), (6, 8)]);
    for (run, is_right) in [
        (run(0, 0, 0), false),
        (run(u32::MAX, 1, 1), true),
        (run(u32::MAX, 1, 2), false),
        (run(0, u16::MAX, 1), true),
        (run(0, u16::MAX, 2), false),
        (run(0, 0, u16::MAX), true),
    ] {
        assert_eq!(Ports::parse(&Ports::emit(&[run])).is_some(), is_right, "{run:?}");
    }
}

/// The checksum is the CRC-32C of all bytes with zeros in its own field, for every length.
#[test]
fn checksum_is_that_of_all_bytes() {
    for len in (24..600).chain([1500, 9000]) {
        let mut bytes: Vec<u8> = (0..len).map(|at: usize| (at * 37 + at / 256) as u8).collect();
        let sum = checksum(&bytes, 20..24);
        let mut filled = bytes.clone();
        fill_checksum(&mut filled, 20..24);
        assert_eq!(filled[20..24], sum.to_be_bytes(), "{len} bytes");
        bytes[20..24].fill(0);
        assert_eq!(sum, bit_by_bit(&bytes), "{len} bytes");
    }
}

/// Returns the CRC-32C of bytes by its definition (RFC 3720, appendix B.4), one bit at a time.
fn bit_by_bit(bytes: &[u8]) -> u32 {
    let step = |sum: u32| (sum >> 1) ^ (0x82f6_3b78 * (sum & 1));
    let add = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum));
    !bytes.iter().fold(u32::MAX, add)
}
