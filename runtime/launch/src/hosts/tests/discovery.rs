//! Tests of the search for hosts, and of answers that contradict each other.

use super::host;
use crate::hosts::{Discovery, DiscoveryError, Plan, RankList};
use goal_esp::wire::{Message, PortRun, Ports};

const JOB: u64 = 5;
const NONCE: u64 = 9;
const NO_RANK: u32 = u32::MAX;
/// A rank that no test has.
const FAR: u32 = 1 << 20;

fn peers(text: &str) -> Plan {
    Plan::peers(text).unwrap()
}

fn new(plan: Plan) -> Discovery {
    Discovery::new(JOB, NONCE, host(1), 4, plan).unwrap()
}

/// Handles the answer of a host that has this rank, or none yet.
fn answer(
    discovery: &mut Discovery,
    from: u8,
    rank: u32,
    ranks: u32,
) -> Result<(), DiscoveryError> {
    let port = 100u16.wrapping_add(rank as u16);
    let runs = [PortRun { rank, port, count: 1 }];
    let bytes = Ports::emit(if rank == NO_RANK { &[] } else { &runs });
    answer_with(discovery, from, (JOB, NONCE), ranks, &bytes)
}

fn answer_with(
    discovery: &mut Discovery,
    from: u8,
    (job, nonce): (u64, u64),
    ranks: u32,
    ports: &[u8],
) -> Result<(), DiscoveryError> {
    let ports = Ports::parse(ports).expect("a list");
    discovery.handle(host(from), &Message::Answer { job, nonce, ranks, ports })
}

#[test]
fn only_answers_to_own_questions_count() {
    let mut discovery = new(Plan::here(RankList::parse("0-2").unwrap()));
    discovery.claimed(&[7, 8, 9]);
    let ports = Ports::emit(&[PortRun { rank: 3, port: 1, count: 1 }]);
    for question in [(JOB, NONCE + 1), (JOB + 1, NONCE)] {
        answer_with(&mut discovery, 2, question, 4, &ports).unwrap();
        assert!(!discovery.is_complete());
    }
    assert_eq!(discovery.missing(), "rank 3 not found");
    answer(&mut discovery, 2, 3, 4).unwrap();
    let ports: Vec<u16> =
        discovery.addresses().unwrap().iter().map(|address| address.port).collect();
    assert_eq!(ports, [7, 8, 9, 103]);
    assert_eq!(discovery.poll_question(u64::MAX), None);
}

#[test]
fn contradictions_are_told() {
    let here = || Plan::here(RankList::parse("0-1").unwrap());
    let listed = || peers("02:00:00:00:00:01 0-1\n02:00:00:00:00:02 2\n02:00:00:00:00:03 3");
    let cases = [
        (
            here(),
            2,
            1,
            4,
            "both this host, 02:00:00:00:00:01, and host 02:00:00:00:00:02 have rank 1",
        ),
        (here(), 2, NO_RANK, 8, "host 02:00:00:00:00:02 runs a program of 8 ranks, here it has 4"),
        (
            listed(),
            2,
            3,
            4,
            "host 02:00:00:00:00:02 has rank 3, which should be on 02:00:00:00:00:03",
        ),
        (
            listed(),
            4,
            NO_RANK,
            4,
            "host 02:00:00:00:00:04 takes part, which is not among the peers",
        ),
        (here(), 2, FAR, 4, "host 02:00:00:00:00:02 has rank 1048576, and the program has 4 ranks"),
        (Plan::count(1), 2, NO_RANK, 4, "2 hosts are there, 1 were expected"),
    ];
    for (plan, from, rank, ranks, says) in cases {
        let error = answer(&mut new(plan), from, rank, ranks).unwrap_err().to_string();
        assert!(error.starts_with(says), "{error}");
    }
    let mut discovery = new(here());
    answer(&mut discovery, 2, 3, 4).unwrap();
    let error = answer(&mut discovery, 3, 3, 4).unwrap_err().to_string();
    assert_eq!(error, "both host 02:00:00:00:00:02 and host 02:00:00:00:00:03 have rank 3");
    let caller = Discovery::new(JOB, NONCE, host(9), 4, listed()).unwrap_err().to_string();
    assert!(caller.contains("02:00:00:00:00:09, which is not among the peers"), "{caller}");
    let twice = Discovery::new(JOB, NONCE, host(1), 4, Plan::here(RankList::parse("0,0").unwrap()));
    assert_eq!(twice.unwrap_err(), DiscoveryError::NamedTwice(0));
}

#[test]
fn who_is_missing_is_named() {
    let mut discovery =
        new(peers("02:00:00:00:00:01 0\n02:00:00:00:00:02 1,3\n02:00:00:00:00:03 2"));
    discovery.claimed(&[1]);
    answer(&mut discovery, 2, 3, 4).unwrap();
    let missing = "not found: 02:00:00:00:00:02 (ranks 1), 02:00:00:00:00:03 (ranks 2)";
    assert_eq!(discovery.missing(), missing);
    let mut discovery = new(Plan::count(3));
    answer(&mut discovery, 2, NO_RANK, 4).unwrap();
    assert_eq!(discovery.missing(), "2 of 3 hosts are there");
    assert_eq!(discovery.mine(), None);
    answer(&mut discovery, 3, NO_RANK, 4).unwrap();
    assert_eq!(discovery.mine(), Some(&[0, 1][..]));
}

#[test]
fn a_host_answers_for_all_of_its_ranks_at_once() {
    let answers = |discovery: &Discovery, job| -> Vec<Vec<(u32, u16)>> {
        let ranks = |message| match message {
            Message::Answer { job: JOB, nonce: 1, ranks, ports } if ranks == discovery.ranks() => {
                ports.iter().flat_map(PortRun::ranks).collect()
            }
            other => panic!("{other:?}"),
        };
        discovery.answers(job, 1).map(ranks).collect()
    };
    let mut discovery = new(Plan::here(RankList::parse("3,1-2").unwrap()));
    assert_eq!(answers(&discovery, JOB), [vec![]], "it is there");
    discovery.claimed(&[10, 11, 30]);
    assert_eq!(answers(&discovery, JOB), [[(1, 10), (2, 11), (3, 30)]]);
    assert!(answers(&discovery, JOB + 1).is_empty());
    let many = 60_000;
    let mut large = Discovery::new(JOB, NONCE, host(1), many, Plan::count(1)).unwrap();
    large.claimed(&(1000..=u16::MAX).take(many as usize).collect::<Vec<_>>());
    assert_eq!(answers(&large, JOB).len(), 1, "one datagram for all");
    // Ports in very many pieces take more than one, and all arrive.
    large.claimed(&(0..many).map(|rank| 1 + 2 * (rank % 32_000) as u16).collect::<Vec<_>>());
    let lists = answers(&large, JOB);
    assert!(lists.len() > 1 && lists.concat().len() == many as usize);
}
