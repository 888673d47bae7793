//! Tests of the filter, which the kernel runs on a pair of sockets that need no rights.

use super::*;
use crate::packet::sys;
use std::io::ErrorKind;
use std::os::unix::net::UnixDatagram;

const OWN: Mac = Mac([2, 0xff, 0, 0, 1, 7]);
const TYPES: [u16; 2] = [0x88b5, 0x88b6];

fn frame(to: Mac, ethertype: u16, port: u16) -> Vec<u8> {
    let mut frame = vec![0; 60];
    frame[..6].copy_from_slice(&to.0);
    frame[12..14].copy_from_slice(&ethertype.to_be_bytes());
    frame[20..22].copy_from_slice(&port.to_be_bytes());
    frame
}

/// Returns true if the filter for port 258 accepts a frame.
fn passes(ethertypes: &[u16], frame: &[u8]) -> bool {
    let (sender, receiver) = UnixDatagram::pair().unwrap();
    sys::attach_filter(&receiver, &program(OWN, ethertypes, 258)).unwrap();
    receiver.set_nonblocking(true).unwrap();
    // The call fails if the filter refuses the frame.
    let _ = sender.send(frame);
    let mut got = [0; 100];
    match receiver.recv(&mut got) {
        Ok(len) => {
            assert_eq!(&got[..len], frame);
            true
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            false
        }
    }
}

#[test]
fn own_frames_pass() {
    for to in [OWN, Mac::BROADCAST] {
        for ethertype in TYPES {
            for port in [258, 0] {
                assert!(passes(&TYPES, &frame(to, ethertype, port)), "{to} {ethertype:x} {port}");
            }
        }
    }
    assert!(passes(&TYPES[..1], &frame(OWN, TYPES[0], 258)));
}

#[test]
fn no_others_do() {
    let mut near = Vec::new();
    for byte in 0..6 {
        for to in [OWN, Mac::BROADCAST] {
            let mut other = to;
            other.0[byte] ^= 1;
            near.push(frame(other, TYPES[0], 258));
        }
    }
    for ethertype in [0x0800, 0x88b4, 0x88b7, 0xb588] {
        near.push(frame(OWN, ethertype, 258));
    }
    for port in [1, 2, 257, 259, 0xffff] {
        near.push(frame(OWN, TYPES[1], port));
        near.push(frame(Mac::BROADCAST, TYPES[1], port));
    }
    for frame in &near {
        assert!(!passes(&TYPES, frame), "{frame:?}");
    }
    assert!(!passes(&TYPES[..1], &frame(OWN, TYPES[1], 258)));
    for len in [1, 13, 21] {
        assert!(!passes(&TYPES, &frame(OWN, TYPES[0], 0)[..len]), "{len} bytes");
    }
}
