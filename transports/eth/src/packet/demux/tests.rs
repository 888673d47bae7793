//! Tests of the group's program, which the kernel runs as a filter: its result is the number of
//! bytes that pass.

use super::*;
use std::os::unix::net::UnixDatagram;

/// Returns the number that the program for `ports` computes for a frame to `port`.
fn number_of(ports: &[u16], port: u16) -> usize {
    let (sender, receiver) = UnixDatagram::pair().unwrap();
    sys::attach_filter(&receiver, &program(ports).unwrap()).unwrap();
    receiver.set_nonblocking(true).unwrap();
    let mut bytes = [0; 2000];
    bytes[6..8].copy_from_slice(&port.to_be_bytes());
    // The call fails if no byte passes.
    let _ = sender.send(&bytes);
    receiver.recv(&mut bytes).unwrap_or(0)
}

#[test]
fn each_port_has_its_place() {
    let ports: Vec<u16> = [&[1, 2, 3], &[7][..], &[0xc000, 0xc001], &[0xffff]].concat();
    for (index, &port) in ports.iter().enumerate() {
        assert_eq!(number_of(&ports, port), index + 1, "{port}");
    }
    for other in [0, 4, 6, 8, 0xbfff, 0xc002, 0xfffe] {
        assert_eq!(number_of(&ports, other), 0, "{other}");
    }
}

#[test]
fn many_ports_in_a_row_need_few_instructions() {
    let ports: Vec<u16> = (0xc000..0xc400).collect();
    assert!(program(&ports).unwrap().len() < 10);
    assert_eq!(number_of(&ports, 0xc3ff), 1024);
    // Every second one: too many runs for the kernel.
    let ports: Vec<u16> = (0..10_000).step_by(2).collect();
    assert!(program(&ports).is_none());
}
