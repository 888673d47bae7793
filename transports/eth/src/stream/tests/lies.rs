//! Tests of single wrong messages of a rank that otherwise does what its program says.

use super::hostile::{Ended, MAD, run, take_all_room};
use crate::LostPeer;
use goal_engine::testing::program;
use goal_engine::transport::{Header, Kind, Transport};
use goal_engine::{Calc, Cause, Failure, Fault, Options};
use goal_fabric::StreamFault;
use goal_lang::{ANY, Program};

/// Returns a program whose rank 0 posts its receive late.
fn late() -> Program {
    program(
        "num_ranks 2
         rank 0 { c: calc 1000000000  r: recv 8b from 1 tag 9  r requires c }
         rank 1 { send 8b to 0 tag 9 }",
    )
}

#[test]
fn envelopes_that_claim_more_than_was_granted_end_the_job() {
    let limit = 8 << 20;
    let options =
        Options { unexpected_limit: limit, calc: Calc::Scaled(1.0), ..Options::default() };
    for (kind, size) in [(Kind::Long, 1 << 20), (Kind::Long, u64::MAX), (Kind::Eager, 1000)] {
        let mut sent = 0;
        let (ended, kept) = run(&late(), 1, 0, options, |_, esp| {
            take_all_room(esp);
            let mut header = Header::new(kind, MAD);
            (header.tag, header.size) = (77, size);
            while sent < 20_000 && esp.try_send(0, &header, |out| out.fill(1)).is_ok() {
                sent += 1;
                let mut part = Header::new(Kind::Part, MAD);
                part.size = 8;
                if kind == Kind::Long && size < u64::MAX {
                    // Most of the announced parts are never sent.
                    let _ = esp.try_send(0, &part, |out| out.fill(1));
                }
            }
        });
        assert!(kept <= limit, "{kept} bytes kept of {size}");
        let told = match &ended[0] {
            Ended::Lost(MAD, cause @ LostPeer::Fault(StreamFault::Overrun(_))) => cause.to_string(),
            Ended::Failed(Failure {
                cause: cause @ Cause::Foreign { source_rank: MAD, .. },
                ..
            }) => cause.to_string(),
            other => panic!("{kind:?} of {size} bytes: {other:?}"),
        };
        assert!(told.contains("granted") || told.contains("before all parts"), "{told}");
    }
}

#[test]
fn names_of_other_ranks_and_communicators_end_the_job() {
    type Change = (fn(&mut Header), LostPeer);
    let change: [Change; 2] = [
        (|header| header.source = 0, LostPeer::Fault(StreamFault::Rank)),
        (|header| header.communicator = 3, LostPeer::Fault(StreamFault::Communicator(3))),
    ];
    for (change, expected) in change {
        let mut is_sent = false;
        let (ended, _) = run(
            &late(),
            1,
            0,
            Options { calc: Calc::Scaled(1.0), ..Options::default() },
            |_, esp| {
                let mut header = Header::new(Kind::Rts, MAD);
                change(&mut header);
                is_sent = is_sent || esp.try_send(0, &header, |_| {}).is_ok();
            },
        );
        assert!(matches!(ended[0], Ended::Lost(MAD, cause) if cause == expected), "{ended:?}");
    }
}

#[test]
fn a_connection_for_another_communicator_ends_the_job() {
    let options = Options { calc: Calc::Scaled(1.0), ..Options::default() };
    let (ended, _) = run(&late(), 1, 0, options, |_, esp| esp.peers.communicator = 3);
    let [Ended::Lost(MAD, cause @ LostPeer::Fault(StreamFault::Communicator(3)))] = &ended[..]
    else {
        panic!("{ended:?}")
    };
    assert!(cause.to_string().contains("communicator 3"), "{cause}");
}

/// Runs a program whose rank 0 also gets the headers `lies` from the hostile rank, each once and as
/// soon as there is room. Returns the end of rank 0.
fn told(text: &str, lies: &[Header]) -> Ended {
    let mut left: Vec<Header> = lies.to_vec();
    left.reverse();
    let options = Options { calc: Calc::Scaled(1.0), ..Options::default() };
    let (mut ended, _) = run(&program(text), 1, 0, options, |_, esp| {
        take_all_room(esp);
        while let Some(header) = left.pop() {
            if esp.try_send(0, &header, |out| out.fill(3)).is_err() {
                left.push(header);
                break;
            }
        }
    });
    ended.remove(0)
}

fn header(kind: Kind, tag: u32, size: u64) -> Header {
    let mut header = Header::new(kind, MAD);
    (header.tag, header.size) = (tag, size);
    header
}

#[test]
fn a_message_in_parts_has_bytes() {
    // The receiver would give the next message the same name, also that of an honest rank.
    let text = "num_ranks 3
        rank 0 { u: recv 8b from 1 tag 8  r: recv 0b from 1 tag 9  q: recv 3000b from 2 tag 7
                 c: calc 1000  d: calc 900000000  r requires u  c requires r  d requires c  q requires d }
        rank 1 { send 8b to 0 tag 8 }
        rank 2 { c: calc 1000000  s: send 3000b to 0 tag 7  s requires c }";
    let lies = [header(Kind::Long, 9, 0), header(Kind::Eager, 8, 8), header(Kind::Part, 0, 8)];
    let ended = told(text, &lies);
    assert!(matches!(ended, Ended::Lost(MAD, LostPeer::Fault(StreamFault::Empty))), "{ended:?}");
}

#[test]
fn no_message_has_any_tag() {
    let text = "num_ranks 2
        rank 0 { c: calc 1000000000  r: recv 8b from 1 tag 9  s: recv 8b from any tag 4  t: recv 8b from 1 tag any
                 r requires c  s requires r  t requires r }
        rank 1 { send 8b to 0 tag 9 }";
    for kind in [Kind::Eager, Kind::Long, Kind::Rts] {
        let ended = told(text, &[header(kind, 9, 8), header(kind, ANY, 8)]);
        assert!(
            matches!(ended, Ended::Lost(MAD, LostPeer::Fault(StreamFault::Tag))),
            "{kind:?}: {ended:?}"
        );
    }
}

#[test]
fn a_send_that_is_none_is_told_by_its_offset() {
    for action in [0, 1, 20, 1 << 20, u32::MAX] {
        let mut lie = header(Kind::Eager, 9, 24);
        lie.action = action;
        // `run` checks the text of the error.
        let Ended::Failed(failure) =
            told("num_ranks 2 rank 0 { recv 8b from 1 tag 9 } rank 1 { }", &[lie])
        else {
            panic!("24 bytes for 8")
        };
        let expected = Cause::SizeMismatch {
            source_rank: MAD,
            source_action: action,
            tag: 9,
            sent: 24,
            received: 8,
        };
        assert_eq!(failure.cause, expected);
    }
}

#[test]
fn a_rank_announces_no_more_than_it_may_send() {
    // The engine counts the sends of a rank when 256 of its requests wait.
    for sends in [257, 300] {
        // The sends of the program wait for a message that never comes.
        let own: String = (0..sends)
            .map(|tag| format!("s{tag}: send 8b to 0 tag {tag}  s{tag} requires q\n"))
            .collect();
        let text = format!(
            "num_ranks 2 rank 0 {{ recv 8b from 1 }} rank 1 {{ q: recv 8b from 0\n{own} }}"
        );
        let lies: Vec<Header> = (0..=sends).map(|_| header(Kind::Rts, 77, u64::MAX)).collect();
        let ended = told(&text, &lies[1..]);
        assert!(matches!(ended, Ended::Waiting), "{sends}: {ended:?}");
        let Ended::Failed(Failure { cause, .. }) = told(&text, &lies) else {
            panic!("{sends}: too many")
        };
        let fault = Fault::Requests { most: sends };
        assert_eq!(cause, Cause::Foreign { source_rank: MAD, fault });
    }
}
