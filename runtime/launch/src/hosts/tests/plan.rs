//! Tests of peers files and lists of ranks.

use super::host;
use crate::hosts::message::Decoder;
use crate::hosts::plan::{Distribution, Peer, blocks, owners};
use crate::hosts::{Key, LauncherMessage, Plan, RankList, ranges};

fn peers(text: &str) -> Vec<Peer> {
    match Plan::peers(text).unwrap().0 {
        Distribution::Peers(peers) => peers,
        other => panic!("{other:?}"),
    }
}

#[test]
fn ranks_are_where_the_file_has_them() {
    let text = "# two hosts\n02:00:00:00:00:02 2-3,0 # the first\n\n02:00:00:00:00:01\t1\n";
    assert_eq!(owners(&peers(text), 4).unwrap(), [host(2), host(1), host(2), host(2)]);
    let text = "02:00:00:00:00:02\n02:00:00:00:00:01\n";
    assert_eq!(owners(&peers(text), 3).unwrap(), [host(2), host(2), host(1)]);
}

#[test]
fn blocks_differ_by_one_at_most() {
    let hosts: Vec<_> = (0..7).map(host).collect();
    for ranks in 7..40 {
        let owners = blocks(&hosts, ranks).unwrap();
        assert!(owners.is_sorted() && owners.len() == ranks as usize);
        let sizes: Vec<usize> =
            hosts.iter().map(|host| owners.iter().filter(|owner| *owner == host).count()).collect();
        assert!(sizes.iter().all(|&size| size == sizes[0] || size + 1 == sizes[0]), "{sizes:?}");
    }
}

#[test]
fn what_is_wrong_in_a_peers_file_is_told() {
    let cases = [
        ("02:00:00:00:00:02 0\n2:0:0:0:0:1 1", "line 2: give an address such as"),
        ("ff:ff:ff:ff:ff:ff", "line 1: give the address of one interface"),
        ("02:00:00:00:00:02 3-0", "line 1: `3-0` is no list of ranks"),
        ("02:00:00:00:00:02 +1", "line 1: `+1` is no list of ranks"),
        ("02:00:00:00:00:02 0-", "line 1: `0-` is no list of ranks"),
        (
            "02:00:00:00:00:02 0, 1",
            "line 1: a host is an address and a list of ranks without spaces",
        ),
        (
            "02:00:00:00:00:02\n\n02:00:00:00:00:02",
            "line 3: 02:00:00:00:00:02 is in line 1 already",
        ),
        ("02:00:00:00:00:02\n02:00:00:00:00:01 1", "line 2: either all hosts have their ranks"),
        ("# nobody\n", "there is no host in it"),
    ];
    for (text, says) in cases {
        let error = Plan::peers(text).unwrap_err().to_string();
        assert!(error.starts_with(says), "{text:?}: {error}");
    }
    let cases = [
        ("02:00:00:00:00:02 0\n02:00:00:00:00:01 2", "no host has ranks 1,3"),
        (
            "02:00:00:00:00:02 0-3\n02:00:00:00:00:01 2",
            "both 02:00:00:00:00:02 and 02:00:00:00:00:01 have rank 2",
        ),
        ("02:00:00:00:00:02 0-3,3", "02:00:00:00:00:02 has rank 3 twice"),
        (
            "02:00:00:00:00:02 0-4000000000",
            "the program has 4 ranks, from 0 on: there is no rank 4000000000",
        ),
    ];
    for (text, says) in cases {
        assert_eq!(owners(&peers(text), 4).unwrap_err().to_string(), says);
    }
    let three = "02:00:00:00:00:02\n02:00:00:00:00:01\n02:00:00:00:00:03";
    assert_eq!(
        owners(&peers(three), 2).unwrap_err().to_string(),
        "there are 3 hosts, but only 2 ranks: leave hosts out"
    );
}

#[test]
fn lists_are_written_as_they_are_read() {
    for text in ["0", "0-3", "0,2", "0-1,3,5-8"] {
        assert_eq!(ranges(&RankList::parse(text).unwrap().of(9).unwrap()), text);
    }
}

#[test]
fn keys_are_read_as_they_are_written_and_never_shown() {
    let key = Key::new(std::array::from_fn(|at| at as u8 * 7));
    let text = key.to_text();
    assert_eq!(Key::parse(&format!("{text}\n")), Ok(key.clone()));
    for wrong in [&text[1..], &format!("{text}0"), &text.replace('0', "g"), ""] {
        assert!(Key::parse(wrong).is_err(), "{wrong}");
    }
    let shown = format!("{key:?} {:?}", key.ranks(1));
    assert_eq!(shown, "Key Secret");
    assert_ne!(key.job(), Key::new([0; 32]).job());
}

#[test]
fn messages_come_as_they_were_said_in_parts_of_any_size() {
    let said = [
        (LauncherMessage::Hello(vec![("--repeat".to_owned(), "1".to_owned())]), vec![]),
        (LauncherMessage::Start { run: u64::MAX }, vec![]),
        (LauncherMessage::Mtu(1500), vec![]),
        (LauncherMessage::Offload(None), vec![]),
        (LauncherMessage::Offload(Some("no right".to_owned())), vec![]),
        (
            LauncherMessage::Left { rank: 7, area: crate::hosts::Area::Memory, offset: 1 << 40 },
            vec![3; 1000],
        ),
    ];
    let all: Vec<u8> = said.iter().flat_map(|(message, bytes)| message.encode(bytes)).collect();
    for size in [1, 7, 256, all.len()] {
        let mut decoder = Decoder::default();
        let mut heard = Vec::new();
        for part in all.chunks(size) {
            decoder.push(part);
            while let Some(message) = decoder.next_message().unwrap() {
                heard.push(message);
            }
        }
        assert_eq!(heard, said);
    }
    for wrong in [&[0xff; 8][..], b"\x02\0\0\0\0\0\0\0{}"] {
        let mut decoder = Decoder::default();
        decoder.push(wrong);
        assert!(decoder.next_message().is_err());
    }
    // Numbers of signals, and others.
    for (signal, is_one) in [(1, true), (64, true), (0, false), (65, false), (usize::MAX, false)] {
        let mut decoder = Decoder::default();
        decoder.push(&LauncherMessage::Interrupted { signal }.encode(&[]));
        assert_eq!(decoder.next_message().is_ok(), is_one, "{signal}");
    }
}
