//! What does not go together.

use super::host;
use crate::hosts::{Discovery, Plan, RankList};
use goal_esp::auth::Address;
use goal_esp::wire::Message;

const JOB: u64 = 5;
const NONCE: u64 = 9;
const NO_RANK: u32 = u32::MAX;

fn peers(text: &str) -> Plan {
    Plan::peers(text).unwrap()
}

fn new(plan: Plan) -> Discovery {
    Discovery::new(JOB, NONCE, host(1), 4, plan).unwrap()
}

fn answer(discovery: &mut Discovery, from: u8, rank: u32, ranks: u32) -> Result<(), String> {
    let from = Address { mac: host(from), port: 100u16.wrapping_add(rank as u16) };
    discovery.handle(from, &Message::Answer { job: JOB, nonce: NONCE, rank, ranks })
}

#[test]
fn only_answers_to_own_questions_count() {
    let mut discovery = new(Plan::Here(RankList::parse("0-2").unwrap()));
    discovery.claimed(&[7, 8, 9]);
    let from = Address { mac: host(2), port: 1 };
    for (job, nonce) in [(JOB, NONCE + 1), (JOB + 1, NONCE)] {
        discovery.handle(from, &Message::Answer { job, nonce, rank: 3, ranks: 4 }).unwrap();
        assert!(!discovery.is_complete());
    }
    assert_eq!(discovery.missing(), "rank 3 not found");
    answer(&mut discovery, 2, 3, 4).unwrap();
    let ports: Vec<u16> = discovery.addresses().unwrap().iter().map(|address| address.port).collect();
    assert_eq!(ports, [7, 8, 9, 103]);
    assert_eq!(discovery.poll_question(u64::MAX), None);
}

#[test]
fn contradictions_are_told() {
    let here = || Plan::Here(RankList::parse("0-1").unwrap());
    let listed = || peers("02:00:00:00:00:01 0-1\n02:00:00:00:00:02 2\n02:00:00:00:00:03 3");
    let cases = [
        (here(), 2, 1, 4, "both this host, 02:00:00:00:00:01, and host 02:00:00:00:00:02 have rank 1"),
        (here(), 2, NO_RANK, 8, "host 02:00:00:00:00:02 runs a program of 8 ranks, here it has 4"),
        (listed(), 2, 3, 4, "host 02:00:00:00:00:02 has rank 3, which should be on 02:00:00:00:00:03"),
        (listed(), 4, NO_RANK, 4, "host 02:00:00:00:00:04 takes part, which is not among the peers"),
        (Plan::Count(1), 2, NO_RANK, 4, "2 hosts are there, --hosts says 1"),
    ];
    for (plan, from, rank, ranks, says) in cases {
        let error = answer(&mut new(plan), from, rank, ranks).unwrap_err();
        assert!(error.starts_with(says), "{error}");
    }
    let mut discovery = new(here());
    answer(&mut discovery, 2, 3, 4).unwrap();
    let error = answer(&mut discovery, 3, 3, 4).unwrap_err();
    assert_eq!(error, "both host 02:00:00:00:00:02 and host 02:00:00:00:00:03 have rank 3");
    let stranger = Discovery::new(JOB, NONCE, host(9), 4, listed()).unwrap_err();
    assert!(stranger.contains("02:00:00:00:00:09, which is not among the peers"), "{stranger}");
    let twice = Discovery::new(JOB, NONCE, host(1), 4, Plan::Here(RankList::parse("0,0").unwrap()));
    assert_eq!(twice.unwrap_err(), "rank 0 is named twice");
}

#[test]
fn who_is_missing_is_named() {
    let mut discovery = new(peers("02:00:00:00:00:01 0\n02:00:00:00:00:02 1,3\n02:00:00:00:00:03 2"));
    discovery.claimed(&[1]);
    answer(&mut discovery, 2, 3, 4).unwrap();
    let missing = "not found: 02:00:00:00:00:02 (ranks 1), 02:00:00:00:00:03 (ranks 2)";
    assert_eq!(discovery.missing(), missing);
    let mut discovery = new(Plan::Count(3));
    answer(&mut discovery, 2, NO_RANK, 4).unwrap();
    assert_eq!(discovery.missing(), "2 of 3 hosts are there");
    assert_eq!(discovery.mine(), None);
    answer(&mut discovery, 3, NO_RANK, 4).unwrap();
    assert_eq!(discovery.mine(), Some(&[0, 1][..]));
}

#[test]
fn a_host_answers_for_itself_and_its_ranks() {
    let mut discovery = new(Plan::Here(RankList::parse("3,1").unwrap()));
    assert_eq!(discovery.answers(JOB, 1).count(), 1);
    discovery.claimed(&[10, 30]);
    let answers: Vec<_> = discovery.answers(JOB, 1).collect();
    let of = |rank| Message::Answer { job: JOB, nonce: 1, rank, ranks: 4 };
    assert_eq!(answers, [(None, of(NO_RANK)), (Some(10), of(1)), (Some(30), of(3))]);
    assert_eq!(discovery.answers(JOB + 1, 1).count(), 0);
}
