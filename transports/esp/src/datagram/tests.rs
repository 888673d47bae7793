//! Datagrams between three ranks.

use super::{Datagrams, FRAME_LEN_MAX};
use crate::auth::{Address, JobKey};
use crate::wire::{Mac, Message};

fn rank(number: u8, secret: u8) -> Datagrams {
    Datagrams::new(
        Address { mac: Mac([2, 0, 0, 0, 0, number]), port: number.into() },
        &JobKey::new(&[secret; 32]),
    )
}

const DISCOVERY: Message<'_> = Message::Discovery { job: 1, nonce: 2 };

#[test]
fn an_echo_comes_back() {
    let (a, b) = (rank(1, 0), rank(2, 0));
    let mut out = vec![0; FRAME_LEN_MAX];
    let len = a.write(b.address.mac, 2, 9, Message::Echo(b"there?"), &mut out);
    let (from, datagram) = b.read(&out[..len]).unwrap();
    let mut answer = vec![0; FRAME_LEN_MAX];
    let len = b.answer_echo(from, &datagram.repr(), &mut answer).unwrap();
    let (from, datagram) = a.read(&answer[..len]).unwrap();
    assert_eq!((from, datagram.repr().number), (b.address.mac, 9));
    assert_eq!(datagram.repr().message, Message::EchoReply(b"there?"));
    assert_eq!(a.answer_echo(from, &datagram.repr(), &mut out), None);
}

#[test]
fn all_hear_a_question_to_all() {
    let ranks = [rank(1, 0), rank(2, 0), rank(3, 0)];
    let mut out = vec![0; FRAME_LEN_MAX];
    let len = ranks[0].write(Mac::BROADCAST, 0, 1, DISCOVERY, &mut out);
    // Ethernet pads it.
    let frame = &out[..len.max(60)];
    assert!(ranks[0].read(frame).is_none(), "one's own question");
    for rank in &ranks[1..] {
        assert_eq!(rank.read(frame).unwrap().1.repr().message, DISCOVERY);
    }
}

#[test]
fn only_who_has_the_key_is_heard() {
    let mut out = vec![0; FRAME_LEN_MAX];
    let len = rank(1, 5).write(Mac::BROADCAST, 0, 1, DISCOVERY, &mut out);
    assert!(rank(2, 0).read(&out[..len]).is_none());
    assert!(rank(2, 5).read(&out[..len]).is_some());
    // A tag is valid for the addresses that it was made for.
    out[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 7]);
    assert!(rank(2, 5).read(&out[..len]).is_none());
    // An echo needs no tag.
    let len = rank(1, 5).write(rank(2, 0).address.mac, 0, 1, Message::Echo(b""), &mut out);
    assert!(rank(2, 0).read(&out[..len]).is_some());
}
