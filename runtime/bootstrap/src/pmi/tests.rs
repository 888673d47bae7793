//! The parsers of PMI-1, and the client against servers that behave and that do not.

use super::blob::{Decoder, encode};
use super::client::Client;
use super::mapping::local;
use super::message::Answer;
use crate::deadline::Deadline;
use crate::error::Error;
use crate::limits::{BLOB_MAX, LINE_MAX, REQUEST_MAX};
use goal_filetest::patience;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The patience with a server that answers.
fn long() -> Duration {
    patience(20)
}

#[test]
fn answers_of_the_servers_are_parsed() {
    let line = b"cmd=get_result rc=0 msg=success value=(vector,(0,1,2))";
    let answer = Answer::parse(line).expect("Intel MPI's answer");
    assert_eq!(answer.command(), "get_result");
    assert_eq!(answer.value("value"), Some("(vector,(0,1,2))"));
    assert!(answer.is_success());
    let answer = Answer::parse(b"cmd=universe_size size=-1").expect("MPICH's answer");
    assert_eq!(answer.number("size"), None);
    let answer = Answer::parse(b"cmd=a b=  c=x=y ").expect("RFC 13 allows more spaces");
    assert_eq!((answer.value("b"), answer.value("c")), (Some(""), Some("x=y")));
    assert!(!Answer::parse(b"cmd=get_result rc=-1 msg=no").expect("an error").is_success());
}

#[test]
fn malformed_answers_are_refused() {
    let many: String = (0..40).map(|i| format!(" k{i}=v")).collect();
    let many = format!("cmd=x{many}");
    for line in [
        b"".as_slice(),
        b"rc=0 cmd=x",
        b"cmd",
        b"cmd=x y",
        b"cmd=x =y",
        b"cmd=x rc=0 rc=1",
        b"cmd=x\trc=0",
        b"cmd=x v=\x1b[2J",
        b"cmd=x v=\xff",
        b"cmd=x v=\0",
        many.as_bytes(),
    ] {
        assert!(Answer::parse(line).is_err(), "{}", line.escape_ascii());
    }
}

#[test]
fn blobs_survive_any_cut() {
    let mut random = fastrand::Rng::with_seed(1);
    for size in [0, 1, 2, 3, 4, 700, 4096, BLOB_MAX] {
        for value_max in [1, 7, 63, 900, 100_000] {
            let blob: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(size).collect();
            // The first value must contain the dot.
            let values = encode(&blob, value_max.max(8));
            let mut decoder = Decoder::default();
            let (last, first) = values.split_last().expect("there is one");
            for value in first {
                assert!(value.len() <= value_max.max(8));
                assert_eq!(decoder.push(value), Ok(None));
            }
            assert_eq!(decoder.push(last), Ok(Some(blob)));
        }
    }
}

#[test]
fn values_that_are_no_blobs_are_refused() {
    let too_large = format!("{}.AAAA", BLOB_MAX + 1);
    for value in [
        "",
        "4",
        ".AAAA",
        "-1.AA",
        "+4.AAAAAA",
        "x.AA",
        "99999999999999999999.A",
        "1.",
        "1.AAA",
        "0.AA",
        "3.AA\u{e9}",
        "1.AB",
        "2.AA=",
        &too_large,
    ] {
        let mut decoder = Decoder::default();
        assert!(decoder.push(value).is_err(), "{value}");
    }
    let mut decoder = Decoder::default();
    assert_eq!(decoder.push("3.A"), Ok(None));
    assert!(decoder.push("").is_err(), "a value without progress");
}

#[test]
fn mappings_of_rfc_13_are_read() {
    // The table of RFC 13: 2 nodes with 2 ranks each, by block and cyclic; and uneven nodes.
    assert_eq!(local("(vector,(0,2,2))", 2, 4), Some((0, 2)));
    assert_eq!(local("(vector,(0,2,1),(0,2,1))", 2, 4), Some((1, 2)));
    assert_eq!(local("(vector,(0,2,2),(2,2,4))", 11, 12), Some((3, 4)));
    assert_eq!(local("(vector,(0,4,1),(0,4,1),(2,2,1),(2,2,1))", 11, 12), Some((3, 4)));
    assert_eq!(local("(vector,(0,4096,256))", 256, 4096 * 256), Some((0, 256)));
    // Blocks start over if ranks are left.
    assert_eq!(local("(vector,(0,1,2))", 3, 4), Some((3, 4)));
    for text in [
        "",
        "(vector)",
        "(vector,())",
        "(vector,(0,1))",
        "(vector,(0,1,2,3))",
        "(vector,(0,0,2))",
        "(vector,(0,1,0))",
        "(vector,(0,1,-2))",
        "(vector,(0,99999999999,1))",
        "(vector,(0,1,2)",
        "(vector(0,1,2))",
        "(list,(0,1,2))",
    ] {
        assert_eq!(local(text, 0, 4), None, "{text}");
    }
}

/// A server as simple as the protocol: keys, and a barrier of all ranks.
struct Server {
    keys: Mutex<BTreeMap<String, String>>,
    barrier: Barrier,
    value_max: usize,
}

impl Server {
    fn serve(&self, stream: &UnixStream) {
        let mut lines = BufReader::new(stream).lines();
        while let Some(Ok(line)) = lines.next() {
            assert!(line.len() < REQUEST_MAX, "Slurm would cut a request of {}", line.len());
            let words: BTreeMap<&str, &str> =
                line.split(' ').filter_map(|pair| pair.split_once('=')).collect();
            let answer = match words["cmd"] {
                "init" => "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=2".to_owned(),
                "get_maxes" => format!("cmd=maxes keylen_max=64 vallen_max={}", self.value_max),
                "get_my_kvsname" => "cmd=my_kvsname kvsname=space/1".to_owned(),
                "put" => {
                    assert!(words["value"].len() < self.value_max && words["key"].len() < 32);
                    let mut keys = self.keys.lock().expect("no panic before");
                    let earlier = keys.insert(words["key"].to_owned(), words["value"].to_owned());
                    assert_eq!(earlier, None, "a key is put once only");
                    "cmd=put_result rc=0".to_owned()
                }
                "barrier_in" => {
                    self.barrier.wait();
                    "cmd=barrier_out rc=0 tag=0".to_owned()
                }
                "get" => match self.keys.lock().expect("no panic before").get(words["key"]) {
                    Some(value) => format!("cmd=get_result rc=0 value={value}"),
                    None => "cmd=get_result rc=-1 msg=key_not_found value=unknown".to_owned(),
                },
                "finalize" => "cmd=finalize_ack rc=0".to_owned(),
                other => panic!("{other}"),
            };
            if (&mut &*stream).write_all(format!("{answer}\n").as_bytes()).is_err() {
                return;
            }
        }
    }
}

#[test]
fn ranks_exchange_blobs_of_any_size_in_rounds() {
    for value_max in [65, 1024, 4096] {
        const RANKS: u32 = 3;
        let server = Arc::new(Server {
            keys: Mutex::default(),
            barrier: Barrier::new(RANKS as usize),
            value_max,
        });
        let ranks = (0..RANKS).map(|rank| {
            let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
            let server = Arc::clone(&server);
            thread::spawn(move || server.serve(&theirs));
            thread::spawn(move || {
                let deadline = Deadline::after(long());
                let mut client = Client::open(ours.into(), rank, RANKS, &deadline).expect("opened");
                assert_eq!(client.space(), "space/1");
                assert_eq!(client.local(&deadline), Ok(None), "this server has no mapping");
                for (round, size) in [0, 1, 4096, 5000].into_iter().enumerate() {
                    let round = u32::try_from(round).expect("few rounds");
                    let blob = |rank: u32| vec![rank as u8 + 1; size + rank as usize];
                    let all = client.exchange(round, &blob(rank), &deadline).expect("exchanged");
                    assert!(all.into_iter().eq((0..RANKS).map(blob)));
                }
                client.finalize(&deadline).expect("finalized");
            })
        });
        ranks.collect::<Vec<_>>().into_iter().for_each(|rank| rank.join().expect("a rank"));
    }
}

/// Runs a client against a server that gives these answers, one a request, and then waits.
fn against(answers: &'static [&'static [u8]], wait: Duration) -> (Result<(), Error>, Duration) {
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    let server = thread::spawn(move || {
        let mut requests = BufReader::new(&theirs).lines();
        for answer in answers {
            if requests.next().is_none() || (&theirs).write_all(answer).is_err() {
                return;
            }
        }
        // Ends when the client closes.
        requests.for_each(drop);
    });
    let start = Instant::now();
    let deadline = Deadline::after(wait);
    let result = Client::open(ours.into(), 1, 2, &deadline)
        .and_then(|mut client| client.exchange(1, b"blob", &deadline))
        .map(drop);
    let time = start.elapsed();
    server.join().expect("the server ends with the client");
    (result, time)
}

const INIT: &[u8] = b"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
const MAXES: &[u8] = b"cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n";
const NAME: &[u8] = b"cmd=my_kvsname kvsname=kvs_1\n";
const PUT: &[u8] = b"cmd=put_result rc=0\n";
const BARRIER: &[u8] = b"cmd=barrier_out\n";

#[test]
fn servers_that_break_the_protocol_are_named() {
    const LONG_LINE: &[u8] = &[b'a'; LINE_MAX * 4];
    let cases: &[(&'static [&'static [u8]], &str)] = &[
        (&[LONG_LINE], "the line is too long"),
        (&[b"HTTP/1.1 400 Bad Request\r\n"], "neither visible ASCII nor spaces"),
        (&[b"cmd=response_to_init pmi_version=2 rc=0\n"], "no version 1 of PMI"),
        (&[b"cmd=response_to_init rc=-1\n"], "refused `cmd=init"),
        (&[INIT, INIT], "it belongs to another request"),
        (&[b"cmd=response_to_init pmi_version=1\ncmd=maxes\n"], "bytes follow the answer"),
        (&[INIT, b"cmd=maxes\n"], "it states no limits"),
        (&[INIT, b"cmd=maxes keylen_max=8 vallen_max=1024\n"], "too short for any use"),
        (&[INIT, b"cmd=maxes keylen_max=64 vallen_max=99999999999\n"], "it states no limits"),
        (&[INIT, MAXES, b"cmd=my_kvsname\n"], "name of the space of keys is not valid"),
        (&[INIT, MAXES, NAME, b"cmd=put_result rc=5 msg=full\n"], "refused `cmd=put"),
        (&[INIT, MAXES, NAME, PUT, BARRIER, b"cmd=get_result rc=0\n"], "it has no value"),
        (
            &[INIT, MAXES, NAME, PUT, BARRIER, b"cmd=get_result rc=0 value=4000000000.AA\n"],
            "a blob is larger than the limit",
        ),
        (
            &[INIT, MAXES, NAME, PUT, BARRIER, b"cmd=get_result rc=1\n"],
            "refused `cmd=get kvsname=kvs_1 key=goal-1-0-0`",
        ),
    ];
    for (answers, expected) in cases {
        let (result, time) = against(answers, long());
        let error = result.expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.starts_with("rank 1: "), "{error}");
        assert!(error.len() < 1000 && !error.contains('\u{1b}'), "{error}");
        assert!(time < long(), "{error}: {time:?}");
    }
}

#[test]
fn a_silent_server_meets_the_deadline() {
    let wait = Duration::from_millis(200);
    let stages: [&'static [&'static [u8]]; 4] =
        [&[], &[b"cmd=resp"], &[INIT, MAXES], &[INIT, MAXES, NAME, PUT]];
    for answers in stages {
        let (result, time) = against(answers, wait);
        assert!(matches!(result, Err(Error::Deadline { rank: 1, .. })), "{result:?}");
        assert!(time >= wait && time < long(), "{time:?}");
    }
}

#[test]
fn a_closed_connection_is_told() {
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    drop(theirs);
    let result = Client::open(ours.into(), 0, 1, &Deadline::after(long()));
    assert!(matches!(result, Err(Error::Closed { rank: 0, .. })), "{result:?}");
}

#[test]
fn bytes_before_a_request_are_told() {
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    (&theirs).write_all(INIT).expect("room for a line");
    let error = Client::open(ours.into(), 0, 1, &Deadline::after(long())).expect_err("too early");
    assert!(error.to_string().contains("bytes came before the request"), "{error}");
}

#[test]
fn only_sockets_are_taken() {
    use std::os::fd::AsRawFd;
    let file = std::fs::File::open("/dev/null").expect("every system has it");
    for descriptor in [-1, file.as_raw_fd(), 1_000_000] {
        assert!(!super::is_socket(descriptor));
        assert!(super::take(descriptor).is_err());
    }
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    let copy = super::take(ours.as_raw_fd()).expect("it is a socket");
    drop(copy);
    (&ours).write_all(b"x").expect("the original is still open");
    drop(theirs);
}
